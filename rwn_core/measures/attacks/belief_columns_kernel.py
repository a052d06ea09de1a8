"""Loops of the attacks: shares of posteriors, and the value with most mass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.laws.value_counts_kernel import Columns, WeightedRows, longer
from rwn_core.neighbors.rank_kernel import sort_pairs
from rwn_core.parallel.jit import ZERO, jit_entry, jit_internal, jit_no_refcount

Starts = NDArray[np.int64]
Records = NDArray[np.int32]
Shares = NDArray[np.float64]


@jit_entry
def largest_shares(
    starts: Starts, records: Records, shares: Shares
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The largest share of each column, and the first that holds it; 0 and -1 where none does."""
    # `starts`, shape (m + 1,), is where each column begins, in all of these kernels; shares are 0
    # or more.
    columns = len(starts) - 1
    best = np.zeros(columns)
    first = np.full(columns, -1, np.int64)
    for column in range(columns):
        for at in range(starts[column], starts[column + 1]):
            if first[column] < 0 or shares[at] > best[column]:
                best[column] = shares[at]
                first[column] = records[at]
    return best, first


class Scaling(NamedTuple):
    """The factors that scale sums, and where a scaling ends."""

    of_record: Shares  # shape (n,), written
    of_column: Shares  # shape (m,), written; 0 of a column without a share
    steps: int  # at most
    enough: float  # largest difference of a column's sum from 1 that is left


@jit_no_refcount
def _sum_columns(
    starts: Starts, records: Records, shares: Shares, of_record: Shares, sums: Shares
) -> None:
    """Write the sums of columns of which each record's shares have a factor."""
    for column in range(len(sums)):
        total = 0.0
        for at in range(starts[column], starts[column + 1]):
            total += shares[at] * of_record[records[at]]
        sums[column] = total


@jit_entry
def scale_sums(
    starts: Starts, records: Records, shares: Shares, rows: Shares, scaling: Scaling
) -> bool:
    """True if both sums are scaled to 1 in turn; false if those of a record have nothing."""
    # Shapes: rows (m,), how many rows each column stands for.
    of_record = scaling.of_record
    of_column = scaling.of_column
    sums = np.empty(len(of_column))
    of_record[:] = 1.0
    _sum_columns(starts, records, shares, of_record, sums)
    some = sums > 0
    for column in range(len(of_column)):  # Numba compiles more for two arrays
        of_column[column] = some[column]
    for _ in range(scaling.steps):
        of_record[:] = 0.0
        for column in range(len(of_column)):
            factor = of_column[column] * rows[column]
            for at in range(starts[column], starts[column + 1]):
                of_record[records[at]] += shares[at] * factor
        for record in range(len(of_record)):
            if not of_record[record] > 0:
                return False
            of_record[record] = 1.0 / of_record[record]
        # the next factors of columns, unless those before are near enough
        _sum_columns(starts, records, shares, of_record, sums)
        is_near = True
        for column in range(len(of_column)):
            if some[column]:
                is_near &= abs(sums[column] * of_column[column] - 1) < scaling.enough
        if is_near:
            break
        for column in range(len(of_column)):
            if some[column]:
                of_column[column] = 1.0 / sums[column]
    return True


FEW = 64  # candidates that are compared at once
DENSER = 8  # times as many donors as people: they are put in order by looking at all


@jit_no_refcount
def _beyond(values: NDArray[Any], low: int, end: int, bound: float) -> int:
    """Return the place of the first of ascending values that is above a bound, or of the last."""
    count = np.int64(end - low)
    while count > FEW:
        half = count // 2
        low += half * (values[low + half - 1] <= bound)
        count -= half
    before = 0
    for at in range(np.uint64(low), np.uint64(low + count - 1)):
        before += values[at] <= bound
    return int(low + before)


@jit_entry
def agreeing_matchings(
    starts: NDArray[np.int32],
    records: NDArray[np.int32],
    shares: NDArray[np.float64],
    sums: NDArray[np.float64],
    named: NDArray[np.int64],
    own: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
) -> float:
    """Return the mean number of rows with a named original that agrees with random matchings."""
    # Candidates ascend within a row; row r has r among them. `shares` are what a row believes of
    # each, with sum 1 within a row: their product over rows is proportional to the probability of a
    # matching; `sums` are they summed up. `named`, shape (n,), is the original named for each row,
    # or its unit; own (n,) are the units of the originals.
    # rows (sweeps, n): a random row for each exchange that is tried; after each sweep a matching is
    # looked at. uniforms (2, sweeps, n): what draws the exchange's original, and what decides on
    # it. Two rows exchange their originals, one of which is drawn by the other's belief (Metropolis
    # and Hastings). It begins with the true matching.
    sweeps, n = rows.shape
    pair_of = np.empty(n, np.int64)
    row_of = np.empty(n, np.int64)
    agreeing = 0
    for row in range(n):
        pair_of[row] = _beyond(records, starts[row], starts[row + 1], row - 1)
        row_of[row] = row
    for sweep in range(sweeps):
        for step in range(n):
            one = rows[sweep, step]
            begin = starts[one]
            end = starts[one + 1]
            present = pair_of[one]
            gained = _beyond(sums, begin, end, uniforms[0, sweep, step] * sums[end - 1])
            if gained == present:
                continue
            other = row_of[records[gained]]
            given = records[present]
            taken = _beyond(records, starts[other], starts[other + 1], given - 1)
            left = pair_of[other]
            if records[taken] != given:
                continue
            new, old = shares[gained] * shares[taken], shares[present] * shares[left]
            forth, back = shares[gained] + shares[taken], shares[present] + shares[left]
            if new * back > uniforms[1, sweep, step] * old * forth:
                pair_of[one], pair_of[other] = gained, taken
                row_of[records[gained]], row_of[given] = one, other
        for row in range(n):
            agreeing += own[records[pair_of[row]]] == named[row]
    return float(agreeing / sweeps)


Places = NDArray[np.int64]
Numbers = NDArray[np.float64]


class HeldValues(NamedTuple):
    """The values that the rows of each class have, of V values."""

    starts: Starts  # where the values of each class begin
    values: Records
    counts: Numbers  # how many rows have each


class Reach(NamedTuple):
    """The values within reach of each value, shape (V,)."""

    first: Places  # the first one
    beyond: Places  # the first one beyond


MOST = 8  # times as many values as have a mass, up to which all are looked at in their order


@jit_no_refcount
def _add_up(
    classes: Records,
    weights: Numbers,
    held: HeldValues,
    mass: Numbers,
    some: Places,
) -> int:
    """Add up the mass of each value; how many have one, the first entries of `some`."""
    starts = held.starts
    values = held.values
    counts = held.counts
    used = 0
    for entry in range(len(classes)):
        own = np.uint32(classes[entry])
        weight = weights[entry]
        for at in range(starts[own], starts[own + 1]):
            value = np.uint32(values[at])
            before = mass[value]
            some[used] = value
            mass[value] = before + weight * counts[at]
            used += (before == 0) & (weight > 0)
    return used


@jit_internal
def _near_few(some: Places, used: int, reach: Reach, mass: Numbers, near: Numbers) -> float:
    """The mass within reach of each of some values, which are sorted; that of all."""
    first = reach.first
    beyond = reach.beyond
    for at in range(used):
        near[at] = mass[some[at]]
        mass[some[at]] = 0.0
    sort_pairs(some, near, ZERO, used)
    for at in range(used):
        mass[at + 1] = mass[at] + near[at]
    low = 0
    high = 0
    for at in range(used):
        while high < used and some[high] < beyond[some[at]]:
            high += 1
        while some[low] < first[some[at]]:
            low += 1
        near[at] = mass[high] - mass[low]
    total = float(mass[used])
    mass[: used + 1] = 0.0
    return total


@jit_no_refcount
def _near_all(reach: Reach, mass: Numbers, sums: Numbers, near: Numbers) -> float:
    """The mass within reach of each value, 0 where it has none itself; that of all."""
    first = reach.first
    beyond = reach.beyond
    for value in range(len(near)):
        sums[value + 1] = sums[value] + mass[value]
    for value in range(len(near)):
        near[value] = (sums[beyond[value]] - sums[first[value]]) * (mass[value] > 0)
        mass[value] = 0.0
    return float(sums[len(near)])


@jit_no_refcount
def _leading(some: Places, near: Numbers, count: int, few: bool, even: float) -> int:
    """Put the values with most mass within reach first, in `some` and `near`; how many they are."""
    best, leading = 0.0, 0
    for at in range(count):
        if near[at] > best:
            best = near[at]
    for at in range(count):
        mass = near[at]
        some[leading] = some[at] if few else at
        near[leading] = mass
        leading += (mass >= best * (1 - even)) & (mass > 0)
    return leading


@jit_entry
def likeliest(
    starts: Starts,
    classes: Records,
    weights: Numbers,
    held: HeldValues,
    reach: Reach,
    even: float,
) -> tuple[Places, Places, Numbers]:
    """Return the values with most mass within reach, their persons, and the share of the first."""
    # None without a mass. `starts`: where each person's classes of rows begin; their `weights` are
    # what a row counts, 0 or more. Two masses that differ by `even` of one count as equal: both are
    # named.
    size = len(reach.first)
    people = len(starts) - 1
    mass = np.zeros(size + 1)
    sums = np.zeros(size + 1)
    near = np.empty(size)
    some, share = np.empty(size + 1, np.int64), np.empty(people)
    person = np.empty(people, np.int64)
    value = np.empty(people, np.int64)
    named = ZERO
    for one in range(people):
        own = slice(starts[one], starts[one + 1])
        used = _add_up(classes[own], weights[own], held, mass, some)
        few = used * MOST < size
        count = used
        if few:
            total = _near_few(some, used, reach, mass, near)
        else:
            total = _near_all(reach, mass, sums, near)
            count = size
        leading = _leading(some, near, count, few, even)
        if named + leading > len(person):
            room = 2 * (named + leading)
            person, value = longer(person, named, room), longer(value, named, room)
            share = longer(share, named, room)
        for at in range(leading):
            person[named] = one
            value[named] = some[at]
            share[named] = near[0] / total
            named += 1
    return person[:named], value[:named], share[:named]


class Shown(NamedTuple):
    """The keys that come with a secret, as records have and attacked rows show them."""

    own: NDArray[np.int64]  # shape (n,): the number of each record's values
    released: NDArray[np.int64]  # shape (m,): of each row's, among the same


@jit_entry
def chances_by_donor(
    lists: WeightedRows, rows: NDArray[np.int64], shown: Shown, place: NDArray[np.int32]
) -> Columns:
    """The chance of each donor to have given a row what it shows, a column a row."""
    # Of donors without the shown values it is 0; `place`, shape (n,), is each record's number
    # among the people asked for, -1 of others.
    columns = len(rows)
    starts = np.zeros(columns + 1, np.int32)
    room = np.int64(len(lists.members))
    people = np.empty(room, np.int32)
    chances = np.empty(room)
    dense = np.zeros(len(place))
    used = ZERO
    for column in range(columns):
        begin = lists.starts[rows[column]]
        end = lists.starts[rows[column] + 1]
        if used + end - begin > room:
            room = 2 * (used + end - begin)
            people, chances = longer(people, used, room), longer(chances, used, room)

        # the weight of all donors with the shown values
        total = 0.0
        for entry in range(begin, end):
            if shown.own[lists.members[entry]] == shown.released[column]:
                total += lists.weights[entry]

        # those that are asked for, in their order
        first = used
        many = DENSER * (end - begin) > len(place)
        for entry in range(begin, end):
            donor = lists.members[entry]
            fits = shown.own[donor] == shown.released[column]
            if fits and place[donor] >= 0 and lists.weights[entry] > 0.0:
                if many:
                    dense[place[donor]] = lists.weights[entry] / total
                else:
                    people[used] = place[donor]
                    chances[used] = lists.weights[entry] / total
                    used += 1
        if many:
            for person in range(len(place)):
                if dense[person] > 0.0:
                    people[used] = person
                    chances[used] = dense[person]
                    dense[person] = 0.0
                    used += 1
        else:
            sort_pairs(people, chances, first, used)
        starts[column + 1] = used
    return Columns(starts, longer(people, used, used), longer(chances, used, used))


@jit_entry
def chances_of_own(
    lists: WeightedRows, rows: NDArray[np.int64], shown: Shown, donors: NDArray[np.int64]
) -> Shares:
    """The chance of one donor of each row to have given it what it shows, shape (m,)."""
    # As `chances_by_donor`; 0 of a donor without the shown values, or of none.
    chances = np.zeros(len(rows))
    for column in range(len(rows)):
        own = 0.0
        total = 0.0
        for entry in range(lists.starts[rows[column]], lists.starts[rows[column] + 1]):
            donor = lists.members[entry]
            if shown.own[donor] == shown.released[column]:
                total += lists.weights[entry]
                if donor == donors[column]:
                    own += lists.weights[entry]
        if own > 0.0:
            chances[column] = own / total
    return chances


@jit_entry
def sums_of_products(one: Columns, other: Columns, place: NDArray[np.int64]) -> Shares:
    """The sum over rows of each column of one array times that of another, shape (columns,)."""
    # Column c of the first belongs to column place[c] of the other; rows ascend in both.
    columns = len(place)
    sums = np.zeros(columns)
    for column in range(columns):
        at = other.starts[place[column]]
        end = other.starts[place[column] + 1]
        for entry in range(one.starts[column], one.starts[column + 1]):
            row = one.rows[entry]
            while at < end and other.rows[at] < row:
                at += 1
            if at < end and other.rows[at] == row:
                sums[column] += one.values[entry] * other.values[at]
    return sums


class Changed(NamedTuple):
    """The rows that differ without a person, and those that are drawn again instead."""

    # for each released row, the people whose omission changes it: shape (n + 1,) and (c,)
    starts: NDArray[np.int64]
    people: NDArray[np.int64]
    # shape (m,) each: of each row drawn again the person it is for, and the belief in it
    owners: NDArray[np.int64]
    beliefs: Shares


@jit_entry
def beliefs_without(believed: Columns, columns: NDArray[np.int64], changed: Changed) -> Columns:
    """The beliefs in all rows, those drawn again last, without each person's changed rows."""
    # `columns`, shape (n,), is the column of `believed` that each released row has.
    rows = len(columns)
    again = len(changed.owners)
    most = again
    for row in range(rows):
        most += believed.starts[columns[row] + 1] - believed.starts[columns[row]]
    starts = np.zeros(rows + again + 1, np.int32)
    people = np.empty(most, np.int32)
    shares = np.empty(most)
    last = 0
    for entry in range(len(believed.rows)):
        last = max(last, believed.rows[entry])
    differs = np.full(last + 1, -1, np.int64)  # the row that each person last changed
    used = ZERO
    for row in range(rows):
        for place in range(changed.starts[row], changed.starts[row + 1]):
            if changed.people[place] <= last:
                differs[changed.people[place]] = row
        column = columns[row]
        for entry in range(believed.starts[column], believed.starts[column + 1]):
            person = believed.rows[entry]
            if differs[person] != row and believed.values[entry] != 0.0:
                people[used] = person
                shares[used] = believed.values[entry]
                used += 1
        starts[row + 1] = used
    for row in range(again):
        people[used] = changed.owners[row]
        shares[used] = changed.beliefs[row]
        used += 1
        starts[rows + row + 1] = used
    return Columns(starts, longer(people, used, used), longer(shares, used, used))


@jit_entry
def shares_in_parts(
    columns: Columns, part_of: NDArray[np.int64], own: NDArray[np.int64]
) -> tuple[Shares, int]:
    """The largest share of each column among the records of its own part, and how many pairs."""
    # As `worst_case.shares_given_part`.
    given = np.zeros(len(own))
    pairs = ZERO
    for column in range(len(own)):
        part = part_of[own[column]]
        best = 0.0
        total = 0.0
        for entry in range(columns.starts[column], columns.starts[column + 1]):
            if part_of[columns.rows[entry]] == part:
                best = max(best, columns.values[entry])
                total += columns.values[entry]
                pairs += 1
        if total > 0.0:
            given[column] = best / total
    return given, pairs


@jit_entry
def places_of(
    starts: NDArray[np.int32], shares: Shares, truth: Shares
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How many shares of each column are above its true one, at least as large, and above 0."""
    # Equal but for rounding is equal; all shapes (columns,).
    columns = len(truth)
    above, least = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    candidates = np.zeros(columns, np.int64)
    for column in range(columns):
        low, high = truth[column] * (1 - 1e-9), truth[column] * (1 + 1e-9)
        for entry in range(starts[column], starts[column + 1]):
            above[column] += shares[entry] > high
            least[column] += shares[entry] >= low
            candidates[column] += shares[entry] > 0.0
    return above, least, candidates
