"""Worst case of linkage: single rows, one assignment or the joint posterior, and its bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import ATTACKED_PAIRS, LARGEST_ASSIGNMENT
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.assignment import (
    AllRows,
    affordable,
    all_rows,
    blocks,
    canonical_order,
    expected_right,
    in_classes,
    most_likely,
    released_classes,
)
from rwn_core.measures.attacks.posterior import (
    Linkage,
    link,
    normed,
    of_units,
    posteriors,
    sampled,
    weigh,
)
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Detail, Reading
from rwn_core.measures.sentence import people, percent
from rwn_core.measures.statistics.intervals import mean_at_most
from rwn_core.measures.statistics.key_variables import cell_codes
from rwn_core.parallel.threads import current_work

SIZES: tuple[int, ...] = (4000, 2800, 2000, 1400, 1000)
"""Largest numbers of records of a part; the first that is affordable is used."""

# decides: pairs of the parts in which an upper bound of linkage matches rows jointly
PART_PAIRS = 1_250_000
WHOLE_PARTS = 2
TRIED = 3000  # rows on which cuts are compared, a quarter of all at most
_SEED = 20151126  # of rows and parts: fixed, so that a number changes only with the setting
LEAST = 0.3  # share of a part on the smaller side of a cut
_SHARES = np.array([0.3, 0.4, 0.5, 0.6, 0.7])  # where the values of a variable are cut
_LEVELS = 12  # distinct values up to which one of them may be set apart from all others

Sides = tuple[Booleans, Booleans]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpperBound:
    """The success of linkage given the part of each row."""

    parts: int  # number of parts
    rows: int  # number of random rows linked one at a time
    row_by_row: float  # expected share of correct links among them
    # upper end of its 95 % interval, for all rows: see `mean_at_most`
    upper_confidence_limit: float
    joint_gain: float  # factor by which the joint posterior of a part links more; at least 1

    @property
    def share(self) -> float:
        """The largest share of correct links of the attacks."""
        return min(self.row_by_row * self.joint_gain, 1.0)

    @property
    def at_most(self) -> float:
        """The upper end of the 95 % interval of that share."""
        return min(self.upper_confidence_limit * self.joint_gain, 1.0)


class InformedIntruder:
    """The linkage by an intruder who also knows in which part of the file each row's person is.

    Such an intruder can ignore the part, so that the expected success is at least that of any
    other intruder. Posteriors follow Bayes' rule within the row's part, with the neighborhoods of
    the full table. Parts are cut where few rows cross, so that the part says little; the cuts are
    chosen on other rows than those that are linked.
    """

    def __init__(self, law: Law, comparison: Comparison, known: Sequence[str]) -> None:
        self._law, self._comparison, self._known = law, comparison, known
        n = law.original.n
        self._leaves = np.zeros(n, dtype=bool)
        self._leaves[released_rows(law.original, comparison.masked)] = True
        tried = np.random.default_rng(_SEED).permutation(n)[: min(TRIED, n // 4)]
        self._units = comparison.units
        self._free = self._leaves.copy()
        self._free[tried] = False
        self._levels = cut_into_parts(*cell_codes(comparison, known), np.sort(tried), SIZES)
        self._level: int | None = None
        self._belief: sparse.csc_array | None = None
        self._best: list[Floats] = []

    def add_rows(self, belief: sparse.csc_array, rows: Integers) -> None:
        """Add the posteriors of some rows, one column per row."""
        if len(rows) == len(self._free):
            self._belief = belief
        last = len(self._levels) - 1
        for level in range(last + 1) if self._level is None else [self._level]:
            part_of = self._levels[level]
            given, inside = shares_given_part(belief, part_of, rows)
            pairs = WHOLE_PARTS * np.bincount(part_of).mean() * inside / len(rows)
            if self._level is None and (pairs <= PART_PAIRS or level == last):
                self._level = level  # the first of which some whole parts are affordable
                break
        if self._units is not None:  # the members of a unit in the row's part count together
            pair, within = np.unique(part_of * len(part_of) + self._units, return_inverse=True)
            summed = of_units(belief, within)
            given, _ = shares_given_part(summed, pair // len(part_of), within[rows])
        self._best.append(given[self._free[rows]])

    def upper_bound(self) -> UpperBound | None:
        """Return the bound, or None if a part is too large for joint matching."""
        best = np.concatenate(self._best) if self._best else np.zeros(0)
        if self._level is None or not len(best):
            return None
        part_of = self._levels[self._level]
        # the largest gain of joint matching over some random parts; None if one fails
        chosen = np.random.default_rng(_SEED).permutation(part_of.max() + 1)[:WHOLE_PARTS]
        # the people of each part in an order that depends on their values only
        released = [variable.name for variable in self._comparison.original.schema.released]
        cells = np.hstack(cell_codes(self._comparison, released))
        parts = []
        for part in chosen:
            people = np.flatnonzero(part_of == part)
            parts.append(people[canonical_order(cells[people])])
        # the posteriors of each part's rows among its people
        belief, self._belief = self._belief, None
        own = list[Any](parts)
        ratios = list[float | None]()
        if belief is None:
            every = np.concatenate(parts)
            ends = np.cumsum([0, *map(len, parts)])
            belief = posteriors(self._law, self._comparison.masked, every, self._known, every)
            own = [slice(*ends[number : number + 2]) for number in range(len(parts))]
        believed = [belief[:, each][each] for each in own]

        def weigh(first: int, last: int) -> None:
            for number in range(first, last):
                ratios.append(self._of_part(normed(believed[number]), parts[number]))

        current_work().quiet().run(weigh, len(parts))
        found = [ratio for ratio in ratios if ratio is not None]
        if len(found) < len(parts):
            return None
        return UpperBound(
            parts=int(part_of.max()) + 1,
            rows=len(best),
            row_by_row=float(best.mean()),
            upper_confidence_limit=mean_at_most(best, int(self._leaves.sum())),
            joint_gain=max(1.0, *found),
        )

    def _of_part(self, belief: sparse.csc_array, people: Integers) -> float | None:
        leaves = self._leaves[people]
        if not leaves.any():
            return 1.0
        units = None if self._units is None else self._units[people]
        summed = belief if units is None else of_units(belief, units)
        best = np.minimum(summed.max(axis=0).toarray(), 1.0).ravel()
        alone = float(best[leaves].mean())
        parts = blocks(belief)
        found = all_rows(belief, parts, leaves=leaves, units=units)
        share = None if found is None else found[0]
        if share is None and affordable(parts):
            _, share = assigned(self._comparison, self._known, belief, parts, people)
        return None if share is None or not alone else share / alone


def shares_given_part(
    belief: sparse.csc_array, part_of: Integers, own: Integers
) -> tuple[Floats, int]:
    """Return the largest share of each column within the part of the record it belongs to."""
    # Shapes: belief (n, m); part_of (n,); own (m,), the record of each column. Shares are of those
    # in its part, with sum 1; 0 where it has none there. Also how many pairs lie in that part.
    from rwn_core.laws.value_counts_kernel import Columns
    from rwn_core.measures.attacks.belief_columns_kernel import shares_in_parts

    columns = Columns(belief.indptr, belief.indices, belief.data)
    return shares_in_parts(columns, part_of.astype(np.int64), own.astype(np.int64))


def assigned(
    comparison: Comparison,
    known: Sequence[str],
    belief: sparse.csc_array,
    parts: Integers,
    people: Integers | None = None,
) -> tuple[Integers, float]:
    """Return the most likely assignment of rows to people, and its share of correct links."""
    leaves = np.zeros(comparison.masked.n, dtype=bool)
    leaves[released_rows(comparison.original, comparison.masked)] = True
    if people is None:
        (originals, person), (rows, row) = released_classes(comparison)
    else:
        released = [variable.name for variable in comparison.original.schema.released]
        both = (cells[people] for cells in cell_codes(comparison, released))
        (originals, person), (rows, row) = map(in_classes, both)
        leaves = leaves[people]
    units = comparison.units
    if units is not None and people is not None:
        units = units[people]
    linked = most_likely(belief, parts, (originals, rows))
    if len(known) < len(comparison.original.schema.released):
        after = cell_codes(comparison, known)[1]
        _, row = in_classes(after if people is None else after[people])
    right = expected_right(linked, person, row, leaves, units)
    return linked, min(right / max(int(leaves.sum()), 1), 1.0)


def cut_into_parts(
    before: Integers, after: Integers, tried: Integers, sizes: Sequence[int]
) -> Integers:
    """Halve a file repeatedly where the fewest rows cross; return part numbers, (len(sizes), n)."""
    # a cut is a value of one variable, or one level against the rest, with a share of at least
    # .3 of the part on either side. Parts of one value may exceed `sizes`, which descend and nest.
    numbers = np.zeros((len(sizes), len(before)), dtype=np.int64)
    counts = [0] * len(sizes)
    waiting = [(np.arange(len(before)), tried, 0)]
    while waiting:
        people, rows, level = waiting.pop()
        cut = None
        if len(people) > sizes[-1]:
            # sides of these people, and of the people of these rows; None without a cut
            best = np.inf
            chosen = None
            for place in range(before.shape[1]):
                own = before[rows, place]
                released = after[rows, place]
                for value, single in _cuts(own):
                    of_own = own == value if single else own < value
                    share = np.count_nonzero(of_own) / len(of_own)
                    if not LEAST <= share <= 1 - LEAST:
                        continue
                    of_released = released == value if single else released < value
                    crossing = np.count_nonzero(of_own != of_released) / len(of_own)
                    if crossing / min(share, 1 - share) < best:
                        best = crossing / min(share, 1 - share)
                        values = before[people, place]
                        chosen = (values == value if single else values < value), of_own
            cut = chosen
        while level < len(sizes) and (cut is None or len(people) <= sizes[level]):
            numbers[level, people] = counts[level]
            counts[level] += 1
            level += 1
        if cut is not None and level < len(sizes):
            of_people, of_rows = cut
            waiting.append((people[of_people], rows[of_rows], level))
            waiting.append((people[~of_people], rows[~of_rows], level))
    return numbers


def _cuts(own: Integers) -> Iterator[tuple[int, bool]]:
    """Yield the values to cut at, and whether one level is set apart."""
    ordered = np.sort(own)
    if not len(ordered) or ordered[0] == ordered[-1]:
        return
    middle = ordered[(_SHARES * len(ordered)).astype(np.int64)]
    for value in np.unique(np.concatenate([middle, middle + 1])):
        yield int(value), False
    distinct = np.unique(ordered)
    if 2 < len(distinct) <= _LEVELS:
        for value in distinct:
            yield int(value), True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstLinkage(Detail):
    """The details of linkage by an intruder with the method; each measure fills what it reads.

    Attributes
    ----------
    names : sequence of str
        The variables that the intruder knows.
    row_by_row, together : float, optional
        By one row at a time, and given all rows: share of correct links, or of rows above one
        half, or the largest probability; None where that is not known.
    at_once, joint : float, optional
        Share of correct links of the most likely assignment, and of the joint posterior.
    attack : str
        The best of the three.
    parts, linked_by_parts : int, float
        Parts of the file that an upper bound rests on, 0 without one; and the share that is linked
        where each row's part is known.
    rows, random : int
        Number of `records`, the rows that were attacked; and of them at random where `sampled`.
    truth, best : ndarray of float64, shape (m,)
        Probability of the true original, and of the most likely one.
    candidates : ndarray of int64, shape (m,)
        Originals that can have released the row.
    top1, top5 : float
        Share of the rows with the true original first, and among the first five.
    share, over, largest : float, int, float
        Share and number of rows above one half; the largest probability.
    units_above : int, optional
        Of units with several rows, how many have a row above one half.
    levels : sequence of str
        Intruders, from a guess (L0) to the whole original file (L4).
    success, reasons : sequence of float or None, and of str
        Share of correct links of each, or why there is none.
    neighborhoods : bool
        Whether neighborhoods are known.
    linked, right : ndarray, shape (n,)
        Original of each row in the assignment, and whether it is the row's own.
    """

    row_by_row: float | None = None
    together: float | None = None
    at_once: float | None = None
    joint: float | None = None
    attack: str = ""
    parts: int = 0
    linked_by_parts: float = 0.0
    rows: int = 0
    random: int = 0
    truth: Floats = field(default_factory=lambda: np.zeros(0))
    best: Floats = field(default_factory=lambda: np.zeros(0))
    candidates: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    top1: float = 0.0
    top5: float = 0.0
    share: float = 0.0
    largest: float = 0.0
    units_above: int | None = None
    over: int = 0
    levels: Sequence[str] = ()
    success: Sequence[float | None] = ()
    reasons: Sequence[str] = ()
    neighborhoods: bool = False
    linked: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    right: Booleans = field(default_factory=lambda: np.zeros(0, bool))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCase:
    """The attacks on one release by an intruder with the method, but not the key."""

    links: Linkage  # row by row
    # shape (n,): original of each row in the most likely assignment; None if the table is too large
    linked: Integers | None
    # share of correct links of the assignment, with equal rows exchanged at random
    matched: float | None
    # linkage by the joint posterior; None if the table is too large for that, too
    together: AllRows | None
    bound: UpperBound | None = None  # upper bound, if the table is too large

    @property
    def earned(self) -> bool:
        """True if all attacks were tried on every row; else the success is a lower bound."""
        return self.matched is not None

    @property
    def joint_success(self) -> float | None:
        """Expected share of correct links by the joint posterior."""
        return None if self.together is None else self.together[0]

    @property
    def success(self) -> float:
        """Largest share of correct links; row by row if not all attacks were tried."""
        if not self.earned:
            return self.links.success
        return max(self.links.success, self.matched or 0.0, self.joint_success or 0.0)

    @property
    def attack(self) -> str:
        """The best attack: single rows, the assignment, or the joint posterior."""
        if self.success == self.links.success:
            return "rows"
        return "file" if self.success == self.matched else "weighed"

    @property
    def at_most(self) -> float | None:
        """Upper bound of linkage success; None if unknown."""
        if self.earned:
            return self.success
        return None if self.bound is None else max(self.bound.at_most, self.success)

    @property
    def detail(self) -> WorstLinkage:
        """Detail of a reading."""
        return WorstLinkage(
            row_by_row=self.links.success,
            at_once=self.matched,
            joint=self.joint_success,
            attack=self.attack,
            standing="worst" if self.earned else "at least",
            estimate=None if self.earned else self.joint_success,
            at_most=self.at_most,
            parts=0 if self.bound is None else self.bound.parts,
            linked_by_parts=0.0 if self.bound is None else self.bound.share,
        )


_WORST = "worst case"


def _known(comparison: Comparison, names: Sequence[str] | None) -> tuple[str, ...]:
    released = [variable.name for variable in comparison.original.schema.released]
    return tuple(name for name in released if names is None or name in names)


def links_row_by_row(comparison: Comparison, names: Sequence[str] | None = None) -> Linkage:
    """Return the links of each row by itself: those of the worst case where that was read."""
    known = _known(comparison, names)
    if (_WORST, known, ATTACKED_PAIRS) in comparison.cached_for_release:
        return worst_case(comparison, known, bounded=False).links
    law = comparison.required_law()
    return comparison.cached_for_release(
        ("links row by row", known),
        partial(link, law, comparison.masked, known, units=comparison.units),
    )


def worst_case(
    comparison: Comparison,
    names: Sequence[str] | None = None,
    *,
    work: int = ATTACKED_PAIRS,
    bounded: bool = True,
) -> WorstCase:
    """Run all attacks of an intruder who knows some variables (default: all), cached."""
    # `work`: see `sampled`; the upper bound is computed only if `bounded`
    known = _known(comparison, names)
    tried, insider = comparison.cached_for_release(
        (_WORST, known, work), partial(_all, comparison, known, work=work)
    )
    if insider is None or not bounded:
        return tried
    bound = comparison.cached_for_release(("told parts", known, work), insider.upper_bound)
    return replace(tried, bound=bound)


def _all(
    comparison: Comparison, known: tuple[str, ...], *, work: int
) -> tuple[WorstCase, InformedIntruder | None]:
    """Run the attacks; also return the bound's state if some were skipped."""
    law = comparison.required_law("The worst case")
    masked = comparison.masked
    aligned = masked.n == law.original.n
    insider = None
    if aligned and masked.n > LARGEST_ASSIGNMENT:
        insider = InformedIntruder(law, comparison, known)
    sample = sampled(law, masked, known, work)
    look = None if insider is None else insider.add_rows
    links, belief = weigh(law, masked, known, sample, look, comparison.units)
    linked = matched = together = None
    if belief is not None and aligned:
        parts = blocks(belief)
        # in an order that depends on the values only
        (_, person), (_, row) = released_classes(comparison)
        leaves = np.isin(np.arange(masked.n), released_rows(law.original, masked))
        together = all_rows(belief, parts, np.lexsort((row, person)), leaves, comparison.units)
        if affordable(parts):
            linked, matched = assigned(comparison, known, belief, parts)
    found = WorstCase(links=links, linked=linked, matched=matched, together=together)
    return found, None if found.earned else insider


_WAYS = {
    "rows": "looking at one row at a time",
    "weighed": "naming the most likely original of each row given all rows",
    "file": "by giving all rows to originals at once, each original one row",
}


def linked(reading: Reading[WorstLinkage], n: int, who: str) -> str:
    """Say which intruder links how many records by which attack; without a full stop."""
    detail = reading.detail
    count = people(reading.value, n)
    alone = percent(detail.row_by_row or 0.0)
    if detail.standing == "at least":
        more = "the table is too large for the joint posterior of all rows"
        if detail.estimate is not None:
            estimate = percent(detail.estimate)
            more = f"by the joint posterior of all rows about {estimate}, an estimate"
        rows, total = detail.rows, detail.of
        some = f" (of {rows:,} random rows, to all {total:,} originals)" if rows < total else ""
        # the upper bound, with the parts of the file that it rests on
        bound = ""
        if detail.parts and detail.at_most is not None:
            most = percent(detail.at_most)
            bound = (
                f"; with each row's part of the file ({detail.parts:,} parts) known, "
                f"{percent(detail.linked_by_parts)} are linked: without it at most {most}, an "
                "estimate"
            )
            if detail.parts == 1:  # there is nothing to tell
                bound = f"; no attack that was tried links more than {most}, an estimate"
        return (
            f"{who} links at least {count} correctly in expectation, looking at one row at a "
            f"time{some}; {more}{bound}"
        )
    by_weights, by_assignment = (
        "not known" if share is None else percent(share) for share in (detail.joint, detail.at_once)
    )
    others = {
        "rows": f"one row at a time: {alone}",
        "weighed": f"all rows by the joint posterior: {by_weights}",
        "file": f"all rows given to originals at once: {by_assignment}",
    }
    del others[detail.attack]
    how = f"{_WAYS[detail.attack]} ({', '.join(others.values())})"
    return f"{who} links {count} correctly in expectation, {how}"
