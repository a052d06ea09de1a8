"""Singling out: conditions from the release that exactly one original person fulfills."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import codes, numbers
from rwn_core.measures.attacks.guessing import canonical_sample, guess_reading
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import beyond_a_guess

VARIABLES = 3  # conditions in a predicate
ATTACKS = 1000
_CELLS = 4_000_000  # predicates times records that are looked at together
_SEED = 90

Counted = tuple[NDArray[np.int64], int]
"""How many fulfill each predicate, of how many people."""


def _columns(comparison: Comparison, table: Microdata) -> tuple[NDArray[np.float64], list[bool]]:
    """Return all variables as numbers, NaN where missing, and True for ordered ones."""
    original = comparison.original
    columns, ordered = [], []
    for variable in original.schema.released:
        if variable.kind is Kind.CATEGORICAL:
            code = codes(original, table, variable.name)[0]
            columns.append(np.where(code < 0, np.nan, code.astype(np.float64)))
        else:
            columns.append(numbers(original, table, variable.name))
        ordered.append(variable.kind is not Kind.CATEGORICAL)
    return np.column_stack(columns), ordered


class Conditions:
    """Predicates of three conditions each: a category, or beyond a number on its far side.

    Parameters
    ----------
    values : ndarray of float64, shape (m, p)
        One row for each predicate: the category, or the number that is reached (`edges`).
    above : ndarray of bool, shape (m, p)
        Whether at least as much is asked for, or at most.
    chosen : ndarray of int64, shape (m, VARIABLES)
    ordered : list of bool, length p
    """

    def __init__(
        self,
        values: NDArray[np.float64],
        above: NDArray[np.bool_],
        chosen: NDArray[np.int64],
        ordered: list[bool],
    ) -> None:
        self.values, self.above, self.chosen, self.ordered = values, above, chosen, ordered

    def counts(self, table: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count the records of a table that fulfill each predicate, shape (m,)."""
        many = max(1, _CELLS // max(1, len(table)))
        parts = np.split(np.arange(len(self.values)), range(many, len(self.values), many))
        return np.concatenate([self._counts(table, part) for part in parts])

    def _counts(self, table: NDArray[np.float64], part: NDArray[np.int64]) -> NDArray[np.int64]:
        fits = np.ones((len(part), len(table)), dtype=bool)
        for column in self.chosen[part].T:
            at = part, column
            asked, above = self.values[at][:, None], self.above[at][:, None]
            known = table[:, column].T
            order = np.array(self.ordered)[column][:, None]
            beyond = np.where(above, known >= asked, known <= asked)
            fits &= np.where(order, beyond, known == asked)
        return np.asarray(fits.sum(axis=1), dtype=np.int64)


def edges(
    released: NDArray[np.float64], rows: NDArray[np.int64], ordered: list[bool]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return thresholds of conditions from some rows, shape (m, p), and True for lower bounds."""
    # A threshold is half way to the next released value nearer the median: the same released rows
    # fulfill the condition, and so does their person after a small change.
    asked, above = released[rows].copy(), np.zeros((len(rows), released.shape[1]), dtype=bool)
    for column, known in enumerate(released.T):
        values = np.unique(known[~np.isnan(known)])
        if not ordered[column] or not values.size:
            continue
        above[:, column] = asked[:, column] >= np.nanmedian(known)
        place = np.searchsorted(values, asked[:, column])
        inward = np.clip(place + np.where(above[:, column], -1, 1), 0, len(values) - 1)
        asked[:, column] += (values[inward] - asked[:, column]) / 2
    return asked, above


def alone_among(inside: Counted, outside: Counted, replaced: int) -> NDArray[np.float64]:
    """Return P(exactly one person fulfills a predicate after random replacements), shape (m,)."""
    # `inside` and `outside` are (counts, number of people); `replaced` of the former give way.
    from scipy.stats import hypergeom

    (counts, n), (others, m) = inside, outside
    stay = [hypergeom.pmf(number, n, counts, n - replaced) for number in (0, 1)]
    come = [hypergeom.pmf(number, m, others, replaced) for number in (0, 1)]
    return np.asarray(stay[1] * come[0] + stay[0] * come[1], dtype=np.float64)


def _predicates(
    released: NDArray[np.float64], ordered: list[bool], rows: NDArray[np.int64]
) -> tuple[Conditions, Conditions]:
    """Return conditions from random released rows, and the same of shuffled rows."""
    generator = np.random.default_rng(_SEED)
    width, many = released.shape[1], max(len(rows), 1)
    order = [generator.permutation(width)[:VARIABLES] for _ in range(many)]
    chosen = np.array(order)
    asked, above = edges(released, rows, ordered)
    shuffled = np.array([generator.permutation(len(rows)) for _ in range(width)]).T
    each = np.arange(width)
    return (
        Conditions(asked, above, chosen, ordered),
        Conditions(asked[shuffled, each], above[shuffled, each], chosen, ordered),
    )


def compute(comparison: Comparison) -> Reading:
    """Return the risk that unique conditions single out an original, beyond the control."""
    released, ordered = _columns(comparison, comparison.masked)
    original, _ = _columns(comparison, comparison.original)
    rows = canonical_sample(comparison.masked, ATTACKS)
    attack, guess = _predicates(released, ordered, rows)
    alone = attack.counts(released) == 1
    if not alone.any():
        raise NotApplicable("No conditions that were tried single out a released record.")
    attacks, counts = int(alone.sum()), attack.counts(original)[alone]
    success, control, wider = float((counts == 1).sum()), None, 1.0
    if comparison.holdout is not None:
        held, _ = _columns(comparison, comparison.holdout)
        others = attack.counts(held)[alone], len(held)
        control, wider = _outside(success, (counts, len(original)), others)
    return guess_reading(
        (success, attacks),
        None if control is None else (control, attacks),
        float((guess.counts(original) == 1).mean()),
        wider=wider,
        tried=len(rows),
        variables=int(attack.chosen.shape[1]),
    )


def _outside(success: float, inside: Counted, outside: Counted) -> tuple[float, float]:
    """Return successes among as many people outside, and the factor of their error."""
    # A unique person among few is not unique among many: so as many people of the file as there are
    # outside are replaced by these, and the lost successes are extrapolated.
    attacks, people, others = len(inside[0]), inside[1], outside[1]
    replaced = min(people, others)
    lost = success - float(alone_among(inside, outside, replaced).sum())
    control = float(np.clip(success - lost * people / replaced, 0.0, attacks))
    return control, float(np.sqrt(2 * people / replaced - 1))


MEASURE = Measure(
    key="singling_out",
    title="Singling out",
    side="risk",
    unit="risk beyond control",
    question="How often do three conditions that fit one released row fit exactly one original "
    "person, more often than among people who are not in the file?",
    sentence=beyond_a_guess(
        "Conditions read off the release single people out",
        "It assumes somebody who has nothing but the release, neither anybody's values nor the "
        "method.",
    ),
    source="WP216 (2014), singling out; prior work: Giomi et al. 2023 (multivariate predicates); "
    "people of the file replaced by those outside; without a control group, beyond a random guess",
    compute=compute,
)
