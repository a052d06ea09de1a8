"""Usual slices of a table: by the roles of its variables, or by how they hang together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.slices import Slices, as_slices
from rwn_core.data.variable import Kind, Role
from rwn_core.errors import ParameterError

_NO_KEYS = tuple(role for role in Role if role is not Role.KEY)
MOST_LEVELS = 200  # of one variable; more would be a name, not a category


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A usual choice of slices.

    Attributes
    ----------
    title : str
    slices : callable
        From a table to its slices.
    """

    title: str
    slices: Callable[[Microdata], Slices]


def preset_slices(microdata: Microdata, preset: str) -> Slices:
    """The slices of a preset on a table.

    Parameters
    ----------
    microdata : Microdata
    preset : str
        A key of `PRESETS`.

    Returns
    -------
    tuple of tuple of str
        Every masked variable that is in none of them stands alone.

    Raises
    ------
    ParameterError
        There is no such preset.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> preset_slices(rwn.load_demo("cps1988"), "keys_apart")
    (('parttime', 'wage'),)
    """
    if preset not in PRESETS:
        raise ParameterError(f"There are no slices {preset}; known are: {', '.join(PRESETS)}.")
    rules = tuple(rule.text for rule in microdata.schema.edit_rules)
    key = (
        "slices",
        preset,
        rules,
        *((v.name, v.role, v.masked) for v in microdata.schema.variables),
    )
    return microdata.cached(key, lambda: PRESETS[preset].slices(microdata))


def preset_of(microdata: Microdata, slices: Slices) -> str | None:
    """The first preset that has these slices on a table, None where they are somebody's own."""
    return next((key for key in PRESETS if preset_slices(microdata, key) == slices), None)


def association(microdata: Microdata) -> NDArray[np.float64]:
    """How strongly the masked variables hang together, two by two.

    Returns
    -------
    ndarray of float64, shape (p, p)
        From 0 to 1: between two numbers the absolute correlation, between two categories Cramér's
        V, between the two kinds the correlation ratio. 0 where it cannot be computed, and for
        categories of more than 200 levels.
    """
    names = masked_names(microdata)
    square, numbers = np.eye(len(names)), _complete_numbers(microdata, names)
    square[np.ix_(numbers, numbers)] = _all_correlated(
        microdata.matrix([names[place] for place in numbers])
    )
    for (i, one), (j, two) in combinations(enumerate(names), 2):
        if i not in numbers or j not in numbers:
            square[i, j] = square[j, i] = _associated(microdata, one, two)
    return square


def _complete_numbers(microdata: Microdata, names: list[str]) -> list[int]:
    """The places of the variables that are numbers, and never missing."""
    kinds = [microdata.schema.variable(name).kind for name in names]
    return [
        place
        for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
        if kind is not Kind.CATEGORICAL and not np.isnan(microdata.values(name)).any()
    ]


def _all_correlated(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The absolute correlations of columns, 0 with one that never varies; shape (p, p)."""
    values = values - values.mean(axis=0)
    spread = np.sqrt((values**2).sum(axis=0))
    values /= np.where(spread > 0, spread, 1.0)
    square = np.minimum(np.abs(values.T @ values), 1.0)
    square[np.diag_indices_from(square)] = 1.0
    return np.where(np.isfinite(square), square, 0.0)


def masked_names(microdata: Microdata, *roles: Role) -> list[str]:
    """The masked variables of a release, those of some roles if any are given."""
    return [
        variable.name
        for variable in microdata.schema.released
        if variable.masked and (not roles or variable.role in roles)
    ]


def _associated(microdata: Microdata, one: str, two: str) -> float:
    categories = [microdata.schema.variable(name).kind is Kind.CATEGORICAL for name in (one, two)]
    if all(categories):
        value = _cramer(microdata, one, two)
    elif any(categories):
        value = _ratio(microdata, *((one, two) if categories[0] else (two, one)))
    else:
        value = _correlated(microdata.values(one), microdata.values(two))
    return min(value, 1.0) if np.isfinite(value) else 0.0


def _correlated(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    known = ~(np.isnan(one) | np.isnan(two))
    one, two = (values[known] - values[known].mean() for values in (one, two) if known.any())
    spread = np.sqrt((one**2).sum() * (two**2).sum())
    return float(abs((one * two).sum() / spread)) if spread > 0 else 0.0


def _cramer(microdata: Microdata, one: str, two: str) -> float:
    from scipy.stats.contingency import association as cramer
    from scipy.stats.contingency import crosstab

    codes = [microdata.codes(name)[0] for name in (one, two)]
    counts = crosstab(*codes).count
    if min(counts.shape) < 2 or max(counts.shape) > MOST_LEVELS:
        return 0.0
    return float(cramer(counts, method="cramer"))


def _ratio(microdata: Microdata, category: str, number: str) -> float:
    """The correlation ratio: the root of the share of a number's variance between categories."""
    values, codes = microdata.values(number), microdata.codes(category)[0]
    known = ~np.isnan(values)
    values, group = values[known], np.unique(codes[known], return_inverse=True)[1]
    size = np.bincount(group)
    if not len(values) or len(size) > MOST_LEVELS:
        return 0.0
    values = values - values.mean()
    between = float((np.bincount(group, weights=values) ** 2 / size).sum())
    total = float((values**2).sum())
    return float(np.sqrt(between / total)) if total > 0 else 0.0


def _alone(microdata: Microdata) -> Slices:
    return ()


def _partition(*slices: list[str]) -> Slices:
    return as_slices(each for each in slices if len(each) > 1)


def _keys_apart(microdata: Microdata) -> Slices:
    return _partition(masked_names(microdata, *_NO_KEYS))


def _keys_together(microdata: Microdata) -> Slices:
    return _partition(masked_names(microdata, Role.KEY), masked_names(microdata, *_NO_KEYS))


def _confidential_apart(microdata: Microdata) -> Slices:
    others = tuple(role for role in _NO_KEYS if role is not Role.CONFIDENTIAL)
    return _partition(masked_names(microdata, Role.KEY), masked_names(microdata, *others))


def _by_edit_rules(microdata: Microdata) -> Slices:
    """Variables that a rule names together, also through others."""
    masked, slices = set(masked_names(microdata)), list[set[str]]()
    for rule in microdata.schema.edit_rules:
        named = set(rule.names) & masked
        apart = [each for each in slices if not each & named]
        slices = [*apart, named.union(*(each for each in slices if each & named))]
    return _partition(*(sorted(each) for each in slices))


def _whole(microdata: Microdata) -> Slices:
    return _partition(masked_names(microdata))


def _related(count: int) -> Callable[[Microdata], Slices]:
    """So many slices by complete linkage, 1 minus the association as the distance."""

    def cut(microdata: Microdata) -> Slices:
        names = masked_names(microdata)
        if len(names) < 2:
            return ()
        from scipy.cluster.hierarchy import cut_tree, linkage
        from scipy.spatial.distance import squareform

        def joined() -> NDArray[np.float64]:
            apart = squareform(1.0 - association(microdata), checks=False)
            return np.asarray(linkage(apart, "complete"))

        tree = microdata.cached(("joined variables", *names), joined)
        number = cut_tree(tree, n_clusters=min(count, len(names))).ravel()
        return _partition(
            *(
                [name for name, own in zip(names, number, strict=True) if own == each]
                for each in range(number.max() + 1)
            )
        )

    return cut


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "alone": Preset(title="Each alone (RWN 2022)", slices=_alone),
        "keys_apart": Preset(title="Keys alone, rest together", slices=_keys_apart),
        "keys_together": Preset(title="Keys together | rest", slices=_keys_together),
        "confidential_apart": Preset(
            title="Confidential ones alone",
            slices=_confidential_apart,
        ),
        "edit_rules": Preset(title="Of the edit rules together", slices=_by_edit_rules),
        "related_2": Preset(title="By correlation, 2 slices", slices=_related(2)),
        "related_3": Preset(title="By correlation, 3 slices", slices=_related(3)),
        "related_5": Preset(title="By correlation, 5 slices", slices=_related(5)),
        "whole": Preset(title="Whole rows", slices=_whole),
    }
)
"""By key, in the order on screen."""
