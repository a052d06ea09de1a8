"""Read posteriors column by column: the largest probability, the true one, ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.parallel.jit import jit_entry, jit_no_refcount

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
    best, first = np.zeros(columns), np.full(columns, -1, np.int64)
    for column in range(columns):
        for at in range(starts[column], starts[column + 1]):
            if first[column] < 0 or shares[at] > best[column]:
                best[column], first[column] = shares[at], records[at]
    return best, first


@jit_entry
def record_shares(
    starts: Starts, records: Records, shares: Shares, own: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The share that each column gives to one record, `own` of shape (m,); 0 if it has none."""
    found = np.zeros(len(own))
    for column in range(len(own)):
        for at in range(starts[column], starts[column + 1]):
            if records[at] == own[column]:
                found[column] = shares[at]
                break
    return found


@jit_entry
def shares_above(
    starts: Starts, shares: Shares, low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the shares of each column above `high`, not below `low`, and above 0."""
    # Both thresholds have the shape (m,).
    columns = len(low)
    above, least = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    some = np.zeros(columns, np.int64)
    for column in range(columns):
        for at in range(starts[column], starts[column + 1]):
            above[column] += shares[at] > high[column]
            least[column] += shares[at] >= low[column]
            some[column] += shares[at] > 0
    return above, least, some


@jit_entry
def largest_of_groups(
    starts: Starts, records: Records, shares: Shares, group: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The largest share of each column that a group of records has together."""
    # `group`, shape (n,), is the number of each record's group, below n.
    columns = len(starts) - 1
    best, together = np.zeros(columns), np.zeros(len(group))
    for column in range(columns):
        for at in range(starts[column], starts[column + 1]):
            mine = group[records[at]]
            together[mine] += shares[at]
            best[column] = max(best[column], together[mine])
        for at in range(starts[column], starts[column + 1]):
            together[group[records[at]]] = 0
    return best


@jit_entry
def shares_given_part(
    starts: Starts,
    records: Records,
    shares: Shares,
    part: NDArray[np.int64],
    own: NDArray[np.int64],
) -> tuple[NDArray[np.float64], int]:
    """Return the largest share of each column given the part of the records it belongs to."""
    # part (n,) is that of each record, own (m,) the record that each column belongs to. Shares are
    # of those in its part, whose sum is 1; 0 where it has none there. The second answer is how many
    # pairs lie in the part of their column.
    told, inside = np.zeros(len(own)), 0
    for column in range(len(own)):
        best, total, here = 0.0, 0.0, part[own[column]]
        for at in range(starts[column], starts[column + 1]):
            mine = part[records[at]] == here  # multiplied by: a branch is guessed wrongly too often
            inside += mine
            total += mine * shares[at]
            best = max(best, mine * shares[at])
        if total > 0:
            told[column] = best / total
    return told, inside


@jit_entry
def shares_within(
    starts: Starts,
    records: Records,
    shares: Shares,
    of: NDArray[np.int64],
    order: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """The pairs of a record and a row of one block, records and rows put in an order."""
    # There are as many rows as records; of (n,) is each record's block, and its row's; order (n,)
    # is what is at each place. Records ascend within a column of the answer.
    n = len(order)
    ends, new_starts = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    for place in range(n):
        row = order[place]
        new_starts[place + 1] = new_starts[place]
        for at in range(starts[row], starts[row + 1]):
            if of[records[at]] == of[row]:
                ends[records[at]] += 1
                new_starts[place + 1] += 1
    for record in range(1, n):
        ends[record] += ends[record - 1]
    # by record, the last of each first
    pairs = new_starts[n]
    place_of, share_of = np.empty(pairs, np.int32), np.empty(pairs)
    for place in range(n):
        row = order[place]
        for at in range(starts[row], starts[row + 1]):
            record = records[at]
            if of[record] == of[row]:
                ends[record] -= 1
                place_of[ends[record]], share_of[ends[record]] = place, shares[at]
    # and by row
    free = new_starts[:n].copy()
    new_records, new_shares = np.empty(pairs, np.int32), np.empty(pairs)
    for place in range(n):
        record = order[place]
        last = ends[record + 1] if record + 1 < n else pairs
        for at in range(ends[record], last):
            here = free[place_of[at]]
            new_records[here], new_shares[here] = place, share_of[at]
            free[place_of[at]] += 1
    return new_starts, new_records, new_shares


@jit_no_refcount
def _place(starts: NDArray[np.int32], records: NDArray[np.int32], row: int, record: int) -> int:
    """Return the place of a row's pair with a record; -1 if it is none of its candidates."""
    low, end = starts[row], starts[row + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if records[middle] < record:
            low = middle + 1
        else:
            high = middle
    return int(low) if low < end and records[low] == record else -1


@jit_no_refcount
def _drawn(starts: NDArray[np.int32], sums: NDArray[np.float64], row: int, uniform: float) -> int:
    """The place of a candidate, drawn with its share of the row's belief."""
    low, high = starts[row], starts[row + 1] - 1
    uniform *= sums[high]
    while low < high:
        middle = (low + high) // 2
        if sums[middle] <= uniform:
            low = middle + 1
        else:
            high = middle
    return int(low)


@jit_entry
def agreeing_matchings(
    starts: NDArray[np.int32],
    records: NDArray[np.int32],
    shares: NDArray[np.float64],
    sums: NDArray[np.float64],
    named: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
) -> float:
    """Return the mean number of rows with a named original that agrees with random matchings."""
    # Candidates ascend within a row; row r has r among them. `shares` are what a row believes of
    # each, with sum 1 within a row: their product over rows is proportional to the probability of a
    # matching; `sums` are they summed up. `named`, shape (n,), is the original named for each row.
    # rows (sweeps, n): a random row for each exchange that is tried; after each sweep a matching is
    # looked at. uniforms (2, sweeps, n): what draws the exchange's original, and what decides on
    # it. Two rows exchange their originals, one of which is drawn by the other's belief (Metropolis
    # and Hastings). It begins with the true matching.
    sweeps, n = rows.shape
    source, row_of, agreeing = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for row in range(n):
        source[row] = row_of[row] = row
    for sweep in range(sweeps):
        for step in range(n):
            one = rows[sweep, step]
            gained = _drawn(starts, sums, one, uniforms[0, sweep, step])
            other, given = row_of[records[gained]], source[one]
            taken = _place(starts, records, other, given)
            if other == one or taken < 0:
                continue
            kept = shares[_place(starts, records, one, given)]
            left = shares[_place(starts, records, other, records[gained])]
            new, old = shares[gained] * shares[taken], kept * left
            forth, back = shares[gained] + shares[taken], kept + left
            if new * back > uniforms[1, sweep, step] * old * forth:
                source[one], source[other] = records[gained], given
                row_of[records[gained]], row_of[given] = one, other
        for row in range(n):
            agreeing += source[row] == named[row]
    return float(agreeing / sweeps)
