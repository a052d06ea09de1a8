"""Guesses about a person: singling out, linkability and inference, against a control."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import combinations
from math import comb, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.units import unit_of
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.attribute_guesses import SECRETS_OF_UNITS
from rwn_core.measures.attacks.guessing import (
    Closest,
    Guesses,
    attacked_people,
    canonical_sample,
    control_sample,
    guess_reading,
)
from rwn_core.measures.attacks.likeliest_value import (
    WORDS,
    secret_weights,
    tolerance,
)
from rwn_core.measures.comparison import Comparison, codes, numbers, released_rows, values_of
from rwn_core.measures.measure import SHARE, Measure, Reading, with_parts
from rwn_core.measures.sentence import Sentence, percent
from rwn_core.measures.statistics.key_variables import key_names, required_confidential

guessing_measure = partial(
    Measure, unit="risk beyond control", against_control=True, shared="guessing_attacks"
)


def beyond_a_guess(what: str, assumes: str = "") -> Sentence:
    """Make the sentence of an attack compared with people outside the file, or with a guess."""
    # `what` is what the attack does, such as "Two halves of a record meet in one released row" (or
    # "The nearest row tells {}", a confidential variable); `assumes` a sentence on the knowledge it
    # needs.

    def sentence(reading: Reading[Guesses], n: int) -> str:
        detail = reading.detail
        alone = reading.detail.control is None
        reference = detail.control
        other = "people who are not in the file"
        if reference is None:
            reference = detail.guess
            other = "a guess"
        attacks = "1 attack" if detail.attacks == 1 else f"{detail.attacks:,} attacks"
        ends = ""
        if reading.interval is not None:
            ends = " (95 % interval {} to {})".format(*map(percent, reading.interval))
        return (
            f"{what.format(detail.secret)} in {percent(detail.attack)} of {attacks}, for "
            f"{other} in {percent(reference)}: a risk of {percent(reading.value)} beyond "
            f"that{ends}."
            + " What is learned of the population counts, too." * alone
            + (" The attack is no better than a guess." if detail.void else "")
            + (f" {assumes}" if assumes else "")
        )

    return sentence


# Singling out: conditions from the release that exactly one original person fulfills

VARIABLES = 3  # conditions in a predicate
ROWS = 20_000  # released rows that are tried at most
GUESSES = 1000
NARROW = 0.05
"""Half-width of the interval at which the attacks end, after at least so many:"""
ENOUGH = 385  # the interval of any success rate has this half-width
_TRIES = 1000  # predicates of one released row
_ROUND = 50  # rows between two looks at the interval
_WORK = 1_000_000_000  # values that are compared, and sixteenths of predicates' records
_GLANCE = 16  # words of 64 records that are looked at before all others
_FIRST = 16  # predicates of a row that are looked at at once, at least
_CELLS = 1 << 20  # values, or records of predicates, that are compared at once
_SEED = 90
_NEARLY_HALF = sqrt(26) / 10
"""The part of the way between two values at which a threshold stands.

It is irrational: half way between two values often stands a third one, which rounding puts on
either side of the threshold as the unit of the column is. Ranks of the released values alone say
nothing of others between them, and with the ranks of the originals the attack would use the truth.
"""

NumbersAsked = NDArray[np.unsignedinteger[Any]]

Counted = tuple[Integers, int]
"""How many fulfill each predicate, of how many people."""


def _columns(comparison: Comparison, table: Microdata) -> tuple[Floats, list[bool]]:
    """Return all variables as numbers, NaN where missing, and True for ordered ones."""
    # Shapes: the answer (n, p), and p truth values.
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


class NumberedTable:
    """The values of a table by their numbers, so that a condition is a range of numbers.

    One comparison of few bytes then tells whether a record fulfills it.

    Parameters
    ----------
    table : ndarray of float64, shape (n, p)

    Attributes
    ----------
    n : int
    codes : ndarray of unsigned integers, shape (p, n or up to 63 more)
        Records are whole words of 64; the last ones, and a missing value, have the largest number.
    """

    def __init__(self, table: Floats) -> None:
        self.n, p = table.shape
        self._distinct = [np.unique(known[~np.isnan(known)]) for known in table.T]
        most = max(map(len, self._distinct), default=0)
        short = most < np.iinfo(np.uint16).max - 1
        kind: type[np.unsignedinteger[Any]] = np.uint16 if short else np.uint32
        self._missing = int(np.iinfo(kind).max)
        self.codes = np.full((p, self.n + -self.n % 64), self._missing, dtype=kind)
        for numbers_of, known, distinct in zip(self.codes, table.T, self._distinct, strict=True):
            there = np.flatnonzero(~np.isnan(known))
            numbers_of[there] = np.searchsorted(distinct, known[there])

    def ranges(self, thresholds: Thresholds) -> tuple[NumbersAsked, NumbersAsked]:
        """Return the first number that fulfills each condition, and how many follow, (m, p)."""
        kind: type[np.unsignedinteger[Any]] = self.codes.dtype.type
        # nobody has the number before the last one
        first: NumbersAsked = np.full(thresholds.values.shape, self._missing - 1, dtype=kind)
        length: NumbersAsked = np.zeros(thresholds.values.shape, dtype=kind)
        for place, distinct in enumerate(self._distinct):
            asked = thresholds.values[:, place]
            low = np.searchsorted(distinct, asked)
            high = np.searchsorted(distinct, asked, side="right") - 1
            if thresholds.ordered[place]:
                above = thresholds.above[:, place]
                low = np.where(above, low, 0)
                high = np.where(above, len(distinct) - 1, high)
            some = np.flatnonzero((low <= high) & ~np.isnan(asked))
            first[some, place] = low[some]
            length[some, place] = (high - low)[some]
        return first, length


class Thresholds(NamedTuple):
    """The values that are asked for."""

    values: Floats  # shape (m, p): categories, or the numbers that are reached (`edges`)
    above: Booleans  # shape (m, p): whether at least as much is asked for, or at most
    ordered: list[bool]  # for each variable


class Predicates(NamedTuple):
    """The predicates of three conditions each: a category, or beyond a number on its far side."""

    rows: Integers  # shape (m, VARIABLES): the row that each condition is from
    chosen: Integers  # shape (m, VARIABLES): its variable


class Fits:
    """The records of a table that fulfill the condition of each row on each variable.

    Parameters
    ----------
    table : NumberedTable
        Of n records.
    thresholds : Thresholds
        Of the m rows.
    """

    def __init__(self, table: NumberedTable, thresholds: Thresholds) -> None:
        self.n = table.n
        self.codes = table.codes
        # of the condition of row r on variable j: the first number and how many follow it
        self.first, self.length = table.ranges(thresholds)

    def counts(self, predicates: Predicates, units: Integers | None = None) -> Integers:
        """Count the records, or their units, that fulfill each predicate, shape (m,)."""
        found = np.empty(len(predicates.rows), dtype=np.int64)
        many = max(1, _CELLS // (8 * max(self.codes.shape[1], 1)))
        for start in range(0, len(found), many):
            part = slice(start, start + many)
            all_fit = np.ones((len(found[part]), self.codes.shape[1]), dtype=bool)
            for row, column in zip(*(each[part].T for each in predicates), strict=True):
                # numbers below the first one become large ones
                apart = self.codes[column] - self.first[row, column][:, np.newaxis]
                all_fit &= apart <= self.length[row, column][:, np.newaxis]
            if units is None:
                found[part] = np.count_nonzero(all_fit, axis=1)
            else:
                found[part] = [len(np.unique(units[fits[: self.n]])) for fits in all_fit]
        return found

    def bits(self, rows: Integers) -> NDArray[np.uint64]:
        """Return the records that fulfill the conditions of r rows, shape (r, p, n / 64)."""
        # numbers below the first one become large ones
        apart = self.codes - self.first[rows, :, np.newaxis]
        fits = apart <= self.length[rows, :, np.newaxis]
        return np.packbits(fits, axis=2).view(np.uint64)

    def first_unique(self, rows: Integers, choices: Integers) -> Integers:
        """Return the first choice by which each row's conditions fit exactly one record, or -1.

        Parameters
        ----------
        rows : ndarray of int64, shape (r,)
        choices : ndarray of int64, shape (r, c, VARIABLES)
            Of variables, for each row in its own order.
        """
        found = np.full(len(rows), -1, dtype=np.int64)
        many = max(1, _CELLS // max(1, self.codes.size))
        for start in range(0, len(rows), many):
            some = slice(start, start + many)
            found[some] = self._first_of(rows[some], choices[some])
        return found

    def _first_of(self, rows: Integers, choices: Integers) -> Integers:
        bits = self.bits(rows)
        width = bits.shape[2]
        row, choice = (each.ravel() for each in np.indices(choices.shape[:2]))
        if width > 2 * _GLANCE:  # two records among the first ones rule most choices out
            few = _fulfilling(bits[:, :, :_GLANCE], row, choices[row, choice]) < 2
            row = row[few]
            choice = choice[few]
        found = np.full(len(rows), -1, dtype=np.int64)
        many = max(_FIRST, _CELLS // (16 * max(1, width)))
        for start in range(0, len(row), many):
            part = np.arange(start, min(start + many, len(row)))
            part = part[found[row[part]] < 0]
            own = row[part]
            chosen = choice[part]
            alone = _fulfilling(bits, own, choices[own, chosen]) == 1
            # the first of each row is written last
            found[own[alone][::-1]] = chosen[alone][::-1]
        return found


def _fulfilling(bits: NDArray[np.uint64], rows: Integers, chosen: Integers) -> Integers:
    """Return how many records fulfill all chosen conditions of each row, shape (m,)."""
    # Shapes: bits (r, p, w); rows (m,); chosen (m, VARIABLES).
    first, *others = chosen.T
    all_fit = bits[rows, first]
    for column in others:
        all_fit &= bits[rows, column]
    many: Integers = np.bitwise_count(all_fit).sum(axis=1, dtype=np.int64)
    return many


def edges(released: Floats, rows: Integers, ordered: list[bool]) -> tuple[Floats, Booleans]:
    """Return thresholds of conditions from some rows, shape (m, p), and True for lower bounds."""
    # A threshold is about half way to the next released value nearer the median: the same released
    # rows fulfill the condition, and so does their person after a small change.
    asked = released[rows].copy()
    above = np.zeros((len(rows), released.shape[1]), dtype=bool)
    for column, known in enumerate(released.T):
        values = np.unique(known[~np.isnan(known)])
        if not ordered[column] or not values.size:
            continue
        above[:, column] = asked[:, column] >= np.nanmedian(known)
        place = np.searchsorted(values, asked[:, column])
        inward = np.clip(place + np.where(above[:, column], -1, 1), 0, len(values) - 1)
        asked[:, column] += (values[inward] - asked[:, column]) * _NEARLY_HALF
    return asked, above


def alone_among(inside: Counted, outside: Counted, replaced: int) -> Floats:
    """Return P(exactly one person fulfills a predicate after random replacements), shape (m,)."""
    # `inside` and `outside` are (counts, number of people); `replaced` of the former give way.
    from scipy.stats import hypergeom

    (counts, n), (others, m) = inside, outside
    stay = [hypergeom.pmf(number, n, counts, n - replaced) for number in (0, 1)]
    come = [hypergeom.pmf(number, m, others, replaced) for number in (0, 1)]
    return np.asarray(stay[1] * come[0] + stay[0] * come[1], dtype=np.float64)


def _attacks(fits: Fits, generator: np.random.Generator) -> Iterator[tuple[Predicates, int, int]]:
    """Yield predicates of some further rows that fit no other row, at most one for each.

    Also how many rows and how many predicates were tried, until the work would be too much.
    """
    count, width = fits.first.shape
    # all sets of variables of a predicate, or as many random ones as a row tries
    size = min(VARIABLES, width)
    used = 0
    tried = 0
    if comb(width, size) <= _TRIES:
        choices = np.array(list(combinations(range(width), size)))
    else:
        some = [np.sort(generator.permutation(width)[:size]) for _ in range(_TRIES)]
        choices = np.unique(some, axis=0)
    while used < count and fits.n * (used * width + tried / 16) <= _WORK:
        rows = np.arange(used, min(used + _ROUND, count))
        orders = choices[[generator.permutation(len(choices)) for _ in rows]]
        first = fits.first_unique(rows, orders)
        tried += int(np.where(first < 0, len(choices), first + 1).sum())
        used += len(rows)
        alone = np.flatnonzero(first >= 0)
        picked = orders[alone, first[alone]]
        own = np.broadcast_to(rows[alone, np.newaxis], picked.shape)
        yield Predicates(own, picked), used, tried


def compute_singling_out(comparison: Comparison) -> Reading[Guesses]:
    """Return the risk that unique conditions single out an original, beyond the control."""
    released, ordered = _columns(comparison, comparison.masked)
    original: NumberedTable = comparison.cached_for_original(
        "numbered table", lambda: NumberedTable(_columns(comparison, comparison.original)[0])
    )
    units = comparison.units
    rows = canonical_sample(comparison.masked, ROWS)
    if units is not None:
        # equal rows may be of one person: conditions that fit them all are tried
        known = np.where(np.isnan(released), np.inf, released)  # a missing value equals another one
        different = np.unique(known, axis=0, return_index=True)[1]
        released = released[different]
        rows = np.flatnonzero(np.isin(different, rows))
    people = original.n if units is None else int(units.max()) + 1
    generator = np.random.default_rng(_SEED)
    thresholds = Thresholds(*edges(released, generator.permutation(rows), ordered), ordered)
    inside = Fits(original, thresholds)
    control = None
    if comparison.holdout is not None:
        control = _People.of_holdout(comparison, comparison.holdout, thresholds)
    mixed = _mixed_conditions(len(thresholds.values), released.shape[1])
    guess = float((inside.counts(mixed, units) == 1).mean())

    reading: Reading[Guesses] | None = None
    counts_inside, counts_outside = list[Integers](), list[Integers]()
    is_narrow = False
    tried = 0
    among_rows = Fits(NumberedTable(released), thresholds)
    for predicates, used, tried in _attacks(among_rows, generator):
        counts_inside.append(inside.counts(predicates, units))
        if control is not None:
            counts_outside.append(control.fits.counts(predicates, control.numbers))
        counts = np.concatenate(counts_inside)
        if not counts.size:
            continue
        success = float((counts == 1).sum())
        of_control: tuple[float, int] | None = None
        wider = 1.0
        if control is not None:
            outside = (np.concatenate(counts_outside), control.size)
            of_control = (_successes_of_control(counts, people, outside), len(counts))
            wider = float(np.sqrt(2 * people / min(people, control.size) - 1))
        reading = guess_reading(
            (success, len(counts)), of_control, guess, wider=wider, tried=tried, rows=used
        )
        low, high = reading.interval or SHARE
        is_narrow = (high - low) / 2 <= NARROW and len(counts) >= ENOUGH
        if is_narrow:
            break
    if reading is None:
        raise NotApplicable(
            f"None of {tried:,} sets of conditions that were tried singles out a released record."
        )
    if is_narrow:
        ended = "narrow"
    elif reading.detail.rows == len(released):
        ended = "rows"
    else:
        ended = "work"
    return with_parts(reading, ended=ended)


def _successes_of_control(counts: Integers, people: int, outside: tuple[Integers, int]) -> float:
    """Return how many conditions would single out people outside a file of as many people.

    A unique person among few is not unique among many: so as many people of the file as there are
    outside are replaced by these, and the lost successes are extrapolated.
    """
    replaced = min(people, outside[1])
    success = float((counts == 1).sum())
    lost = success - float(alone_among((counts, people), outside, replaced).sum())
    return float(np.clip(success - lost * people / replaced, 0.0, len(counts)))


class _People(NamedTuple):
    """The control group outside the file, on which conditions are tried."""

    fits: Fits
    numbers: Integers | None  # of the person of each row; each row is one where it is None
    size: int

    @classmethod
    def of_holdout(
        cls, comparison: Comparison, holdout: Microdata, thresholds: Thresholds
    ) -> _People:
        """Return those of a holdout; a person with several rows is one person there, too."""
        fits = Fits(NumberedTable(_columns(comparison, holdout)[0]), thresholds)
        outsiders = unit_of(holdout)
        if comparison.units is None or outsiders is None:
            return cls(fits, None, fits.n)
        return cls(fits, outsiders.numbers, outsiders.size)


def _mixed_conditions(rows: int, width: int) -> Predicates:
    """Return predicates of conditions of different rows: what a guess singles out."""
    order, shuffled = _shuffled(width, min(rows, GUESSES))
    return Predicates(np.take_along_axis(shuffled, order, axis=1), order)


@lru_cache(maxsize=1)
def _shuffled(width: int, guesses: int) -> tuple[Integers, Integers]:
    """Return the variables of each guess, and the row that each of its values is from."""
    # Shapes: (guesses, VARIABLES) and (guesses, width); the same for every table of these shapes
    shuffling = np.random.default_rng(_SEED)
    order = np.array([shuffling.permutation(width)[:VARIABLES] for _ in range(guesses)])
    rows = np.array([shuffling.permutation(guesses) for _ in range(width)]).T
    for each in (order, rows):
        each.flags.writeable = False
    return order, rows


_singling_out_success = beyond_a_guess(
    "Conditions read off the release single people out",
    "It assumes somebody who has nothing but the release, neither anybody's values nor the method.",
)
_ENDS = {
    "narrow": "",
    "rows": " The interval stays wide, because no more rows are left to try.",
    "work": " The interval stays wide, because a larger search would take too long.",
}


def singling_out_sentence(reading: Reading[Guesses], n: int) -> str:
    """Say the risk, and how many conditions it took."""
    detail = reading.detail
    return (
        f"{_singling_out_success(reading, n)} {detail.tried:,} sets of conditions of "
        f"{detail.rows:,} released rows were tried.{_ENDS[detail.ended]}"
    )


SINGLING_OUT = guessing_measure(
    key="singling_out",
    title="Singling out",
    question="How often do three conditions that fit one released row (or, where people have "
    "several rows, equal ones) fit exactly one original person, more often than among people who "
    "are not in the file?",
    sentence=singling_out_sentence,
    source="WP216 (2014), singling out; prior work: Giomi et al. 2023 (multivariate predicates); "
    "people of the file replaced by those outside; without a control group, beyond a random guess",
    compute=compute_singling_out,
    about="value",
    label="singling out",
    places={"risk": 6, "report": 30, "guesses": 1},
)


# Linkability: two parts of a record that lead to the same released row


def coincidences(parts: tuple[Closest, Closest], people: Microdata) -> Floats:
    """Return P(both parts of each person have the same nearest row), shape (people,)."""
    one, two = (part.ties(part.people(people)) for part in parts)
    pairs = one.sum(axis=1) * two.sum(axis=1)
    if not np.array_equal(parts[0].rows, parts[1].rows):
        _, *places = np.intersect1d(parts[0].rows, parts[1].rows, return_indices=True)
        one = one[:, places[0]]
        two = two[:, places[1]]
    return np.asarray((one & two).sum(axis=1) / pairs)


def compute_linkability(comparison: Comparison) -> Reading[Guesses]:
    """Return the risk that two parts of a record are linked, beyond the control."""
    names = tuple(variable.name for variable in comparison.original.schema.released)
    if len(names) < 2:
        raise NotApplicable("Linkability needs at least two variables.")
    one, two = comparison.halves or (names[::2], names[1::2])
    parts = (Closest(comparison, one), Closest(comparison, two))
    chosen = attacked_people(comparison)
    control = control_sample(comparison)
    chances = coincidences(parts, comparison.original.take(chosen))
    outside = None if control is None else coincidences(parts, control)
    random = 1.0 / len(released_rows(comparison.original, comparison.masked))
    about: dict[str, Any] = {"parts": (list(one), list(two)), "stated": bool(comparison.halves)}
    rates = None if outside is None else (float(outside.sum()), len(outside))
    rows = guess_reading((float(chances.sum()), len(chances)), rates, random, **about)
    if comparison.unit is None or comparison.units is None:
        return rows
    # a unit is linked if any of its records is, by chance and outside, too
    units = np.unique(comparison.units[chosen], return_inverse=True)[1]
    missed = np.ones(int(units.max()) + 1)
    size = np.bincount(units)
    np.multiply.at(missed, units, 1.0 - chances)

    def of_units(rate: float) -> float:
        return float((1.0 - (1.0 - rate) ** size).mean())

    if outside is not None:
        rates = of_units(float(outside.mean())) * len(outside), len(outside)
    success = float((1.0 - missed).sum()), len(missed)
    found = guess_reading(
        success, rates, of_units(random), **about, unit_words=comparison.unit.words
    )
    return found if found.value >= rows.value else rows


_linkability_success = beyond_a_guess("Two halves of a record meet in one released row")


def linkability_sentence(reading: Reading[Guesses], n: int) -> str:
    """Say the risk, what an attack is of, and the halves that were chosen."""
    said = _linkability_success(reading, n)
    detail = reading.detail
    if detail.unit_words:
        said += f" An attack is of all rows of one of the {detail.unit_words}, and one row is "
        said += "enough."
    halves = " | ".join(map(", ".join, detail.parts))
    return said + (f" Halves as stated: {halves}." if detail.stated else "")


LINKABILITY = guessing_measure(
    key="linkability",
    title="Linkability",
    question="How often do two halves of a person's variables lead an intruder to the same "
    "released row, more often than for people who are not in the file?",
    sentence=linkability_sentence,
    source="WP216 (2014), linkability; prior work: Giomi et al. 2023; without a control group, "
    "beyond a random guess",
    compute=compute_linkability,
    of_released=True,
    about="row",
    label="linkability",
    places={"report": 30, "guesses": 2},
)


# Inference: the confidential value of the released row nearest in the keys as a guess


def compute_inference(comparison: Comparison) -> Reading[Guesses]:
    """Return the largest risk that the nearest released row discloses a value, beyond control."""
    secrets = required_confidential(comparison)
    named = key_names(comparison)
    found: list[Reading[Guesses] | NotApplicable] = []
    for secret in secrets:
        if keys := tuple(name for name in named if name != secret):
            found.append(_inferred(comparison, secret, keys))
    if not found:
        raise NotApplicable("No key variable other than the confidential one is left.")
    readings = [each for each in found if isinstance(each, Reading)]
    if not readings:
        raise next(each for each in found if isinstance(each, NotApplicable))
    # the largest lower limit: the largest value would be the luckiest of several
    return max(readings, key=lambda reading: (reading.interval or SHARE)[0])


def _inferred(
    comparison: Comparison, secret: str, keys: tuple[str, ...]
) -> Reading[Guesses] | NotApplicable:
    """Return the risk of one confidential variable; why not, where there are no values."""
    original = comparison.original
    near = tolerance(comparison.original, secret)
    closest = Closest(comparison, keys)
    released = values_of(original, comparison.masked, secret)

    def successes(people: Microdata, units: Integers | None = None) -> tuple[float, int]:
        truth = values_of(original, people, secret)
        ties = closest.ties(closest.people(people))
        weights = secret_weights(truth, units)
        right = near.right(released[closest.rows][None], truth[:, None])
        shares = (ties & right).sum(axis=1) / ties.sum(axis=1)
        return float((weights * shares).sum()), round(float(weights.sum()))

    chosen = attacked_people(comparison)
    people = original.take(chosen)
    units = None if comparison.units is None else comparison.units[chosen]
    attacked = successes(people, units)
    control = control_sample(comparison)
    if attacked[1] == 0:
        return NotApplicable(f"Nobody who is attacked has a value of {secret}.")
    rates = None
    if control is not None:  # the different values of a person outside count the same, too
        outsiders = unit_of(control)
        rates = successes(control, None if outsiders is None else outsiders.numbers)
    truth = values_of(original, people, secret)
    # of a guess; the different values of a person count the same
    right = near.right(released[None], truth[:, None]).mean(axis=1)
    guess = np.average(right, weights=secret_weights(truth, units))
    rates = rates if rates is not None and rates[1] else None
    return guess_reading(attacked, rates, float(guess), secret=secret)


INFERENCE = guessing_measure(
    key="inference",
    title="Inference",
    question="How often does the released row nearest in the key variables tell a person's worst "
    "confidential value, more often than for people who are not in the file?",
    sentence=beyond_a_guess("The nearest row tells {}"),
    source="WP216 (2014), inference; prior work: Giomi et al. 2023; the worst confidential "
    f"variable; right is {WORDS}; without a control group, beyond a random guess",
    compute=compute_inference,
    of_released=True,
    of_units=SECRETS_OF_UNITS,
    about="value",
    label="inference",
    places={"report": 30, "guesses": 3},
)
