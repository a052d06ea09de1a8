"""Singling out: conditions from the release that exactly one original person fulfills."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.guessing import canonical_sample, guess_reading
from rwn_core.measures.comparison import Comparison, codes, numbers
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import beyond_a_guess

VARIABLES = 3  # conditions in a predicate
ROWS = 20_000  # released rows that are tried at most
GUESSES = 1000
NARROW = 0.05
"""Half-width of the interval at which the attacks end, after at least so many:"""
ENOUGH = 385  # the interval of any success rate has this half-width
_TRIES = 1000  # predicates of one released row
_ROUND = 50  # rows between two looks at the interval
_WORK = 1_000_000_000  # values that are compared, and sixteenths of predicates' records
_BITS = 1 << 25  # predicates times records that are looked at together
_SEED = 90

Counted = tuple[Integers, int]
"""How many fulfill each predicate, of how many people."""


def _columns(comparison: Comparison, table: Microdata) -> tuple[Floats, list[bool]]:
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

    A row of `values`, shape (m, p), has the categories, or the numbers that are reached (`edges`)
    of one predicate; `above`, shape (m, p), says whether at least as much is asked for, or at most;
    `chosen` has shape (m, VARIABLES).
    """

    def __init__(
        self, values: Floats, above: Booleans, chosen: Integers, ordered: list[bool]
    ) -> None:
        self.values, self.above, self.chosen, self.ordered = values, above, chosen, ordered

    def counts(self, table: Floats, units: Integers | None = None) -> Integers:
        """Count the records of a table, or their units, that fulfill each predicate, shape (m,)."""
        columns = [np.ascontiguousarray(column) for column in table.T]
        found = np.empty(len(self.values), dtype=np.int64)
        for row, chosen in enumerate(self.chosen):
            fits = [self._fits(columns[column], row, column) for column in chosen]
            all_fit = np.logical_and.reduce(fits)
            found[row] = np.count_nonzero(all_fit)
            if units is not None and found[row] > 1:
                found[row] = len(np.unique(units[all_fit]))
        return found

    def _fits(self, known: Floats, row: int, column: int) -> Booleans:
        asked = self.values[row, column]
        fits: Booleans
        if not self.ordered[column]:
            fits = known == asked
        else:
            fits = known >= asked if self.above[row, column] else known <= asked
        return fits

    def first_unique(self, columns: list[Floats], row: int) -> int | None:
        """Return the first of all choices by which a row's conditions fit exactly one record."""
        fits = np.packbits([self._fits(known, row, i) for i, known in enumerate(columns)], axis=1)
        bits = np.pad(fits, ((0, 0), (0, -fits.shape[1] % 8))).view(np.uint64)
        many = max(1, _BITS // (64 * max(1, bits.shape[1])))
        for start in range(0, len(self.chosen), many):
            chosen = self.chosen[start : start + many].T
            all_fit = np.bitwise_and.reduce([bits[column] for column in chosen])
            alone = np.flatnonzero(np.bitwise_count(all_fit).sum(axis=1, dtype=np.int64) == 1)
            if alone.size:
                return start + int(alone[0])
        return None


def edges(released: Floats, rows: Integers, ordered: list[bool]) -> tuple[Floats, Booleans]:
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


def alone_among(inside: Counted, outside: Counted, replaced: int) -> Floats:
    """Return P(exactly one person fulfills a predicate after random replacements), shape (m,)."""
    # `inside` and `outside` are (counts, number of people); `replaced` of the former give way.
    from scipy.stats import hypergeom

    (counts, n), (others, m) = inside, outside
    stay = [hypergeom.pmf(number, n, counts, n - replaced) for number in (0, 1)]
    come = [hypergeom.pmf(number, m, others, replaced) for number in (0, 1)]
    return np.asarray(stay[1] * come[0] + stay[0] * come[1], dtype=np.float64)


def _choices(width: int, generator: np.random.Generator) -> Integers:
    """Return all sets of variables of a predicate, or as many random ones as a row tries."""
    size = min(VARIABLES, width)
    if comb(width, size) <= _TRIES:
        return np.array(list(combinations(range(width), size)))
    some = [np.sort(generator.permutation(width)[:size]) for _ in range(_TRIES)]
    return np.unique(some, axis=0)


class _Attacks:
    """Predicates of random released rows that fit no other row, at most one for each row."""

    def __init__(self, released: Floats, ordered: list[bool], rows: Integers) -> None:
        generator, width = np.random.default_rng(_SEED), released.shape[1]
        self.rows, self.ordered = generator.permutation(rows), ordered
        self.columns = [np.ascontiguousarray(column) for column in released.T]
        self.asked, self.above = edges(released, self.rows, ordered)
        self.choices = _choices(width, generator)
        self.generator = generator
        self.used = self.tried = 0

    @property
    def left(self) -> bool:
        """True while there are rows to try, and their work is not too much."""
        work = len(self.columns[0]) * (self.used * len(self.columns) + self.tried / 16)
        return self.used < len(self.rows) and work <= _WORK

    def next(self, many: int) -> Conditions:
        """Return what was found for so many further rows."""
        found, chosen = [], []
        for row in range(self.used, min(self.used + many, len(self.rows))):
            order = self.choices[self.generator.permutation(len(self.choices))]
            rows = Conditions(self.asked, self.above, order, self.ordered)
            first = rows.first_unique(self.columns, row)
            self.used, self.tried = self.used + 1, self.tried + len(order)
            if first is not None:
                self.tried += first + 1 - len(order)
                found.append(row)
                chosen.append(order[first])
        at = np.array(found, dtype=np.int64)
        picked = np.array(chosen, dtype=np.int64).reshape(len(at), self.choices.shape[1])
        return Conditions(self.asked[at], self.above[at], picked, self.ordered)

    def guesses(self) -> Conditions:
        """Return predicates of the values of shuffled rows."""
        width, many = len(self.columns), min(len(self.rows), GUESSES)
        generator = np.random.default_rng(_SEED)
        chosen = np.array([generator.permutation(width)[:VARIABLES] for _ in range(many)])
        shuffled = np.array([generator.permutation(many) for _ in range(width)]).T
        each = np.arange(width)
        return Conditions(
            self.asked[shuffled, each], self.above[shuffled, each], chosen, self.ordered
        )


def compute(comparison: Comparison) -> Reading:
    """Return the risk that unique conditions single out an original, beyond the control."""
    released, ordered = _columns(comparison, comparison.masked)
    original, _ = _columns(comparison, comparison.original)
    holdout, own, others = comparison.holdout, [], []
    held = None if holdout is None else _columns(comparison, holdout)[0]
    attacks = _Attacks(released, ordered, canonical_sample(comparison.masked, ROWS))
    units = comparison.units
    people = len(original) if units is None else int(units.max()) + 1
    guess = float((attacks.guesses().counts(original, units) == 1).mean())
    reading: Reading | None = None
    while attacks.left and not _narrow(reading):
        found = attacks.next(_ROUND)
        own.append(found.counts(original, units))
        if held is not None:
            others.append(found.counts(held))
        reading = _reading(guess, own, people, others, 0 if held is None else len(held))
    if reading is None:
        raise NotApplicable(
            f"None of {attacks.tried:,} sets of conditions that were tried singles out a released "
            "record."
        )
    all_used = attacks.used == len(released)
    ended = "narrow" if _narrow(reading) else "rows" if all_used else "work"
    detail = {"tried": attacks.tried, "rows": attacks.used, "ended": ended}
    return replace(reading, detail={**reading.detail, **detail})


def _narrow(reading: Reading | None) -> bool:
    if reading is None or reading.interval is None:
        return False
    half = (reading.interval[1] - reading.interval[0]) / 2
    return half <= NARROW and reading.detail["attacks"] >= ENOUGH


def _reading(
    guess: float, own: list[Integers], people: int, others: list[Integers], outside: int
) -> Reading | None:
    """Return the reading of the attacks so far; None without any."""
    counts = np.concatenate(own)
    if not counts.size:
        return None
    success, control, wider = float((counts == 1).sum()), None, 1.0
    if others:
        on_others = np.concatenate(others), outside
        control, wider = _outside(success, (counts, people), on_others)
    return guess_reading(
        (success, len(counts)),
        None if control is None else (control, len(counts)),
        guess,
        wider=wider,
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


_success = beyond_a_guess(
    "Conditions read off the release single people out",
    "It assumes somebody who has nothing but the release, neither anybody's values nor the method.",
)
_ENDS = {
    "rows": "The interval stays wide, because no more rows are left to try.",
    "work": "The interval stays wide, because a larger search would take too long.",
}


def _sentence(reading: Reading, n: int) -> str:
    """Say the risk, and how many conditions it took."""
    tried, rows = reading.detail["tried"], reading.detail["rows"]
    said = [
        _success(reading, n),
        f"{tried:,} sets of conditions of {rows:,} released rows were tried.",
        _ENDS.get(reading.detail["ended"], ""),
    ]
    return " ".join(part for part in said if part)


MEASURE = Measure(
    key="singling_out",
    title="Singling out",
    side="risk",
    unit="risk beyond control",
    question="How often do three conditions that fit one released row fit exactly one original "
    "person, more often than among people who are not in the file?",
    sentence=_sentence,
    source="WP216 (2014), singling out; prior work: Giomi et al. 2023 (multivariate predicates); "
    "people of the file replaced by those outside; without a control group, beyond a random guess",
    compute=compute,
    against_control=True,
    view=View(charts=("guessing_attacks",), label="singling out", on={"report": 30, "guesses": 1}),
)
