"""Usual slices of a table: by the roles of its variables, or by how they hang together.

Also the steps of a search from one choice of slices or weights to the next, and where it looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices, as_slices
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.data.variable import Role
from rwn_core.errors import ParameterError
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.association import associations
from rwn_core.measures.statistics.usual_use import use_of

_KEYS = (Role.KEY,)
_NO_KEYS = tuple(role for role in Role if role is not Role.KEY)
_OPEN = tuple(role for role in _NO_KEYS if role is not Role.CONFIDENTIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A usual choice of slices."""

    title: str
    slices: Callable[[Microdata], Slices]  # from a table to its slices


def preset_slices(microdata: Microdata, preset: str) -> Slices:
    """The slices of a preset on a table.

    >>> import rwn_core as rwn
    >>> preset_slices(rwn.load_demo("cps1988"), "keys_apart")
    (('parttime', 'wage'),)
    """
    if preset not in PRESETS:
        raise ParameterError(f"There are no slices {preset}; known are: {', '.join(PRESETS)}.")
    rules = tuple(rule.text for rule in microdata.schema.edit_rules)
    about = ((v.name, v.role, v.masked) for v in microdata.schema.variables)
    key = ("slices", preset, rules, microdata.schema.use, microdata.schema.question, *about)
    return microdata.cached(key, lambda: PRESETS[preset].slices(microdata))


def preset_key(microdata: Microdata, slices: Slices) -> str | None:
    """Return the first preset that has these slices on a table, or None."""
    return next((key for key in PRESETS if preset_slices(microdata, key) == slices), None)


def masked_names(microdata: Microdata, *roles: Role) -> list[str]:
    """The masked variables of a release, those of some roles if any are given."""
    masked = (variable for variable in microdata.schema.released if variable.masked)
    return [each.name for each in masked if not roles or each.role in roles]


def _by_roles(*several: Sequence[Role]) -> Callable[[Microdata], Slices]:
    """Return slices of the masked variables of some roles, one slice for each set of roles."""
    return lambda microdata: _partition(*(masked_names(microdata, *each) for each in several))


def _partition(*slices: list[str]) -> Slices:
    return as_slices(each for each in slices if len(each) > 1)


def _responses(microdata: Microdata) -> list[str]:
    """The masked variables that the use of a file is about: confidential ones, and responses."""
    responses = use_of(microdata).responses
    return [name for name in masked_names(microdata) if name in responses]


def _all_but_responses(microdata: Microdata) -> Slices:
    """All variables but the responses together, and each response alone."""
    responses = _responses(microdata)
    return _partition([name for name in masked_names(microdata) if name not in responses])


def _responses_together(microdata: Microdata) -> Slices:
    """All variables but the responses together, and the responses together."""
    responses = _responses(microdata)
    return _partition(
        [name for name in masked_names(microdata) if name not in responses], responses
    )


def _keys_rest_responses(microdata: Microdata) -> Slices:
    """Keys together, the responses together, and the rest together."""
    responses = _responses(microdata)
    keys = [name for name in masked_names(microdata, Role.KEY) if name not in responses]
    rest = [name for name in masked_names(microdata) if name not in (*responses, *keys)]
    return _partition(keys, rest, responses)


def _by_edit_rules(microdata: Microdata) -> Slices:
    """Variables that a rule names together, also through others."""
    masked = set(masked_names(microdata))
    slices = list[set[str]]()
    for rule in microdata.schema.edit_rules:
        named = set(rule.names) & masked
        apart = [each for each in slices if not each & named]
        slices = [*apart, named.union(*(each for each in slices if each & named))]
    return _partition(*(sorted(each) for each in slices))


def slice_steps(slices: Slices, names: Sequence[str]) -> list[Slices]:
    """Return slices one step away: two blocks joined, or one variable moved."""
    inside = set(chain.from_iterable(slices))
    blocks = [*slices, *((name,) for name in names if name not in inside)]
    steps = list(map(_sliced, _blocks_joined(blocks)))
    for name in names:
        steps += map(_sliced, _blocks_with_moved(blocks, name))
    return list(dict.fromkeys(steps))


def _sliced(blocks: Iterable[Sequence[str]]) -> Slices:
    """Return the blocks of several variables as slices."""
    return as_slices(block for block in blocks if len(block) > 1)


def _blocks_joined(blocks: Sequence[Names]) -> Iterator[list[Names]]:
    """Yield the blocks with each two of them joined."""
    for one, two in combinations(blocks, 2):
        others = (block for block in blocks if block not in (one, two))
        yield [*others, (*one, *two)]


def _blocks_with_moved(blocks: Sequence[Names], name: str) -> Iterator[list[Names]]:
    """Yield the blocks with one variable moved into each of them, and into one of its own."""
    without = [_without(block, name) for block in (*blocks, ())]
    for to in range(len(without)):
        yield [*without[:to], (*without[to], name), *without[to + 1 :]]


def _without(block: Names, name: str) -> Names:
    """Return the variables of a block but one."""
    return tuple(other for other in block if other != name)


Names = tuple[str, ...]
Weights = tuple[tuple[str, float], ...]
"""Weights that differ from 1, by name."""
_LIGHTEST = 1 / 8
_HEAVIEST = 8.0


def weight_steps(weights: Weights, names: Sequence[str]) -> Iterator[Weights]:
    """Yield the weights of some variables halved, and doubled, within their ends."""
    own = dict(weights)
    for factor in (0.5, 2.0):
        moved = {name: own.get(name, 1.0) * factor for name in names}
        if all(_LIGHTEST <= each <= _HEAVIEST for each in moved.values()):
            every = {**own, **moved}
            yield tuple(sorted((each, value) for each, value in every.items() if value != 1))


def related(count: int) -> Callable[[Microdata], Slices]:
    """So many slices by complete linkage, 1 minus the association as the distance."""

    def cut(microdata: Microdata) -> Slices:
        names = masked_names(microdata)
        if len(names) < 2:
            return ()
        from scipy.cluster.hierarchy import cut_tree, linkage
        from scipy.spatial.distance import squareform

        def joined() -> NDArray[np.float64]:
            every = associations(Comparison(original=microdata, masked=microdata), microdata)
            released = [variable.name for variable in microdata.schema.released]
            places = [released.index(name) for name in names]
            strength = np.nan_to_num(np.abs(every[np.ix_(places, places)]))
            np.fill_diagonal(strength, 1.0)
            return np.asarray(linkage(squareform(1.0 - strength, checks=False), "complete"))

        tree = microdata.cached(("joined variables", *names), joined)
        number = cut_tree(tree, n_clusters=min(count, len(names))).ravel()
        slices: list[list[str]] = [[] for _ in range(number.max() + 1)]
        for name, own in zip(names, number, strict=True):
            slices[own].append(name)
        return _partition(*slices)

    return cut


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "alone": Preset(title="Each alone (RWN 2022)", slices=_by_roles()),
        "keys_apart": Preset(title="Keys alone, rest together", slices=_by_roles(_NO_KEYS)),
        "keys_together": Preset(title="Keys together | rest", slices=_by_roles(_KEYS, _NO_KEYS)),
        "confidential_apart": Preset(
            title="Confidential ones alone", slices=_by_roles(_KEYS, _OPEN)
        ),
        "all_but_responses": Preset(
            title="All but the responses together", slices=_all_but_responses
        ),
        "responses_together": Preset(
            title="Responses together | rest together", slices=_responses_together
        ),
        "keys_rest_responses": Preset(title="Keys | rest | responses", slices=_keys_rest_responses),
        "edit_rules": Preset(title="Of the edit rules together", slices=_by_edit_rules),
        "related_2": Preset(title="By correlation, 2 slices", slices=related(2)),
        "related_3": Preset(title="By correlation, 3 slices", slices=related(3)),
        "related_5": Preset(title="By correlation, 5 slices", slices=related(5)),
        "whole": Preset(title="Whole rows", slices=_by_roles(tuple(Role))),
    }
)
"""By key, in the order on screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRanges:
    """The ranges in which a slice search looks.

    Attributes
    ----------
    starts : sequence of Slices, optional
        Slices to begin with; those of `PRESETS` by default.
    only_starts : bool
        Whether no other slices are tried.
    weights : bool
        Whether weights are halved and doubled, too, where table and setting give every variable
        the same.
    strengths : sequence of float, optional
        Values of the method's strength, weakest first; forty between the ends of its slider by
        default.
    records : int
        Of a table with more than so many, random ones are searched.
    tries : int
        Slices, weights and strengths that are tried at most.
    seed : int
        Of the first trial release, a teaching seed.
    kernels : bool
        Whether soft and balanced neighborhoods are tried as well as even ones; of the method rwn.
    seconds : float
        Within which it answers. Choices are tried until the check on fresh releases has to begin,
        by what one release took; where that ends too early, the answer says what was not read.
    """

    starts: Sequence[Slices] | None = None
    only_starts: bool = False
    weights: bool = True
    strengths: Sequence[float] | None = None
    records: int = QUICK_RECORDS
    tries: int = 240
    seed: int = 1
    kernels: bool = False
    seconds: float = math.inf

    def __post_init__(self) -> None:
        """Check each number."""
        if self.records < 2 or self.tries < 1:
            raise ParameterError("A slice search needs at least two records and one try.")
