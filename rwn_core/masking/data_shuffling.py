"""Data shuffling: confidential numbers exchange places, as a model of the other variables says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.data.variable import NUMBERS, Kind, Role
from rwn_core.errors import ParameterError
from rwn_core.laws.correlated_noise_law import spread_axes
from rwn_core.laws.donors import copy_columns
from rwn_core.laws.invariants import Keeps
from rwn_core.masking.lever import Lever
from rwn_core.masking.method import NumberMethod, Prepared
from rwn_core.masking.option import Others, maskable, name_tuple, require_masked
from rwn_core.randomness import SecretKey

_LEAST_RECORDS = 10  # of a level with a term of its own; fewer would be fitted nearly exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class DataShuffling(NumberMethod):
    """The parameters of data shuffling.

    Ranks of the confidential numbers become normal scores, and a linear model predicts them from
    the scores and levels (those of ten records or more) of all other released variables. New scores
    are drawn from the model's conditional normal distribution, together for all confidential
    numbers of a record; then each number's own values are put in the order of its new scores. Every
    variable keeps exactly the values that it has. Missing values stay missing.

    Parameters
    ----------
    anew : float
        The share of the unexplained variance of the scores that is drawn anew, from 0 (nothing is
        masked) to 1 (the new scores depend on the other variables alone, as in the first source).
    variables : tuple of str
        The numbers that are shuffled; by default the confidential ones, or all numbers where none
        is confidential. As a text: names with commas.
    others : {"keep", "refuse"}
        What happens to variables that are to be masked and have no numbers, where no variables are
        named: they are released unmasked, or the table is refused.

    Raises
    ------
    ParameterError

    When to use
    -----------
    For confidential numbers next to other variables that may stay true, where every single
    distribution must stay exact and relations that rise or fall steadily shall be kept.

    What it destroys
    ----------------
    Relations that are not monotone, and interactions: a group with a relation of its own gets the
    common one. The other variables are not masked at all, so that a sample unique on them is
    found, and their relation to the confidential number is kept on purpose. Extremes stay in the
    file. New ranks depend on the scores of all records, so that rows are not independent and there
    is no law: a policy with a limit on the worst case is not kept.

    References
    ----------
    Muralidhar and Sarathy 2006, "Data shuffling: a new masking approach for numerical data"; 2008,
    "Generating sufficiency-based non-synthetic perturbed data", for a share below 1.

    Examples
    --------
    >>> DataShuffling(variables="income").anew
    1.0
    """

    anew: float = 1.0
    variables: tuple[str, ...] | str = ()
    others: Others = "keep"

    method: ClassVar[str] = "data_shuffling"
    title: ClassVar[str] = "Data shuffling"
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            name="anew",
            title="Variance drawn anew (share of the unexplained)",
            help="What the other variables do not explain is kept less, the larger it is; at 0 "
            "nothing is masked.",
            presets={"Light": 0.5, "Standard": 0.8, "Strong": 1.0},
        ),
    )
    keeps: ClassVar[tuple[Keeps, ...]] = (
        Keeps(what="records", when={"anew": 0}),
        Keeps(what="values"),
    )
    warns: ClassVar[tuple[str, ...]] = (
        "The variables that are not shuffled are released unmasked: a person with "
        "unique values of them is recognized.",
        "Every released number is somebody's true value of that variable, extremes included.",
        "Relations that are not monotone, and those of single groups, are lost.",
    )

    def masked_names(self, microdata: Microdata) -> tuple[str, ...]:
        """Return the variables that the method masks on a table."""
        others = "keep" if self.variables else self.others
        numbers = maskable(microdata, lambda v: v.kind in NUMBERS, others, self.kinds_in_words)
        if not self.variables:
            secret = [n for n in numbers if microdata.schema.variable(n).role is Role.CONFIDENTIAL]
            return tuple(secret) or numbers
        for name in require_masked(microdata, name_tuple(self.variables)):
            if name not in numbers:
                raise ParameterError(f"variables must name numbers only, not {name}.")
        return tuple(name for name in numbers if name in self.variables)

    def draw(self, table: Prepared, key: SecretKey) -> Microdata:
        """The table with shuffled numbers."""
        microdata, records = table.microdata, table.records
        donors = dict[str, Integers]()
        chosen = self.masked_names(microdata)
        if self.anew:
            fit = partial(_fitted, microdata, chosen)
            expected, residual, root = table.cached(("model", chosen), fit)
            normal = np.column_stack([ndtri(table.uniforms(key, name)[0]) for name in chosen])
            stays = np.sqrt(1 - self.anew) * np.where(np.isnan(residual), 0.0, residual)
            scores = expected + stays + np.sqrt(self.anew) * normal @ root.T
            for name, own in zip(chosen, np.round(scores, _DIGITS).T, strict=True):
                values = microdata.values(name)
                donors[name] = records.copy()
                known = np.flatnonzero(~np.isnan(values))
                ordered = known[np.argsort(values[known], kind="stable")]
                donors[name][known[np.argsort(own[known], kind="stable")]] = ordered
        return copy_columns(microdata, donors)

    def law(self, table: Prepared) -> None:
        """A value's rank depends on the new scores of all records; rows are not independent."""


_DIGITS = 9
"""Decimals of a score: what is beyond them is rounding, which differs between processors."""

_Model = tuple[Floats, Floats, Floats]
"""Normal scores given all other variables: what these explain (n, k), what not, and R (k, k).

What they do not explain is NaN of a missing number; R R' is its covariance.
"""


def _fitted(microdata: Microdata, chosen: tuple[str, ...]) -> _Model:
    """Regress the scores of the chosen numbers on all other released variables."""
    others = [v.name for v in microdata.schema.released if v.name not in chosen]
    terms = [np.ones(microdata.n)]
    for name in others:
        terms += _terms(microdata, name)
    design = np.column_stack(terms)
    expected, residual = np.empty((2, microdata.n, len(chosen)))
    for j, name in enumerate(chosen):
        scores = _normal_scores(microdata.values(name))
        known = ~np.isnan(scores)
        expected[:, j] = design @ np.linalg.lstsq(design[known], scores[known], rcond=None)[0]
        # of a variable that the others explain wholly, nothing is left
        residual[:, j] = np.round(scores - expected[:, j], _DIGITS)
    complete = residual[~np.isnan(residual).any(axis=1)]
    covariance = np.diag(np.nansum(residual**2, axis=0) / microdata.n)
    if len(complete) > len(chosen) + 1:
        covariance = complete.T @ complete / len(complete)
    scale, values, vectors = spread_axes(covariance)
    return expected, residual, scale[:, np.newaxis] * (vectors * np.sqrt(values))


def _normal_scores(values: Floats) -> Floats:
    """Return the normal quantile of each value's rank; equal values have their mean rank."""
    # Shapes: values, the answer (n,).
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    rank = rankdata(values, nan_policy="omit")
    return np.asarray(ndtri((rank - 0.5) / max(int(known.sum()), 1)))


def _terms(microdata: Microdata, name: str) -> list[Floats]:
    """Return a variable's columns in the model: scores, or a dummy of each frequent level."""
    if microdata.schema.variable(name).kind is Kind.CATEGORICAL:
        codes, levels = value_codes(microdata, name)
        frequent = np.flatnonzero(np.bincount(codes, minlength=len(levels)) >= _LEAST_RECORDS)
        return [(codes == level).astype(np.float64) for level in frequent]
    scores = _normal_scores(microdata.values(name))
    missing = np.isnan(scores)
    indicator = [missing.astype(np.float64)] if missing.any() else []
    return [np.where(missing, 0.0, scores), *indicator]
