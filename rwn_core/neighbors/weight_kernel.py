"""Weights of donors: bit-equal exp and log, rows under a cap, columns in balance.

Rows are compressed: entries `starts[i]` to `starts[i + 1] - 1` of `members` and `logs` are the
donors of record i and the logarithms of their kernel. Sums add in the order of the entries, so
that equal tables have equal bits on every platform.
Numbers of entries are unsigned in long loops: signed ones may count from the end, which keeps the
compiler from doing several at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from rwn_core.data.arrays import Floats, Integers
from rwn_core.neighbors.compressed_rows import KernelRows
from rwn_core.parallel.jit import (
    bits_of_number,
    jit_entry,
    jit_inline,
    jit_internal,
    jit_no_refcount,
    number_of_bits,
)

LEAST_EXPONENT = -690.0  # exp of less counts as 0: nothing against the 1 that each sum holds
LARGEST_EXPONENT = 40.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # add up to ln 2
ROUND = 6755399441055744.0  # 1.5 * 2**52: added and subtracted, it leaves a whole number
BIAS, FRACTION = 1023, 52  # of a number's bits: the exponent's zero, and how many stand below it
OF_MANTISSA = 2**FRACTION - 1  # the bits below the exponent
OF_HALF = (BIAS - 1) << FRACTION  # the bits of 1/2
SMALLEST = 2.0**-1022  # numbers below have no whole mantissa, unless they are scaled
SCALED_BY = 54  # as a power of two
SCALED = 2.0**SCALED_BY
SQRT_HALF = 0.7071067811865476
ROUNDING = 1e-12  # relative
FEW_AT_CAP = 32  # entries of a row that may be at the cap: more are sorted, not inserted
MOST_STEPS = 24  # of a sort by parts, for each number that is sorted
MOST_BISECTIONS = 14  # of the range of a row, before more numbers than are needed are sorted

C2, C3, C4, C5 = 1 / 2, 1 / 6, 1 / 24, 1 / 120
C6, C7, C8, C9 = 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880
C10, C11, C12, C13 = 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800


class ExpRoom(NamedTuple):
    """The room for numbers while their exp is found."""

    remainders: Floats  # shape (m,)
    powers: Floats  # shape (m,)


@jit_inline
def _remainder(x: float) -> tuple[float, float]:
    """Return what the nearest whole power of two leaves of an exponent, and that power or 0."""
    x = min(max(x, LEAST_EXPONENT - 1.0), LARGEST_EXPONENT)
    shifted = x * LOG2_E + ROUND
    power = shifted - ROUND
    r = (x - power * LN2_HIGH) - power * LN2_LOW
    # the last bits of what was shifted are the power of two
    times = number_of_bits((bits_of_number(shifted) + BIAS) << FRACTION)
    return r, times if x >= LEAST_EXPONENT else 0.0


@jit_inline
def _small_terms(r: float) -> float:
    """Return the terms of a series of exp(r) from the sixth power on, over r ** 6."""
    total = C13
    total = total * r + C12
    total = total * r + C11
    total = total * r + C10
    total = total * r + C9
    total = total * r + C8
    total = total * r + C7
    return total * r + C6


@jit_inline
def _large_terms(total: float, r: float) -> float:
    """Return exp(r), given the terms from the sixth power on."""
    total = total * r + C5
    total = total * r + C4
    total = total * r + C3
    total = total * r + C2
    total = total * r + 1.0
    return total * r + 1.0


@jit_inline
def bit_equal_exp(x: float) -> float:
    """Return exp(x), cut at both ends, with the same bits on every platform."""
    r, times = _remainder(x)
    return _large_terms(_small_terms(r), r) * times


@jit_internal
def exp_room(longest: int) -> ExpRoom:
    """Return room for rows of so many numbers."""
    return ExpRoom(np.empty(longest), np.empty(longest))


@jit_no_refcount
def longest_row(starts: Integers, first: int, last: int) -> int:
    """Return the most entries of the rows `first` to `last` - 1, at least 1."""
    longest = 1
    for row in range(first, last):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


@jit_no_refcount
def fill_exp(numbers: Floats, first: int, last: int, room: ExpRoom) -> None:
    """Replace some numbers by their `bit_equal_exp`.

    In three passes, since in one each number waits for the long sum of the one before.
    """
    # Shapes: numbers (m,); of the room (at least last - first,).
    remainders = room.remainders
    powers = room.powers
    for entry in range(uint64(last - first)):
        r, times = _remainder(numbers[uint64(first) + entry])
        remainders[entry] = r
        powers[entry] = times
    for entry in range(uint64(last - first)):
        numbers[uint64(first) + entry] = _small_terms(remainders[entry])
    for entry in range(uint64(last - first)):
        total = _large_terms(numbers[uint64(first) + entry], remainders[entry])
        numbers[uint64(first) + entry] = total * powers[entry]


@jit_inline
def bit_equal_log(x: float) -> float:
    """Return log(x) of a positive number, with the same bits on every platform."""
    # the mantissa from 1/2 to 1, and the power of two, from the bits; of tiny numbers after scaling
    tiny = x < SMALLEST
    bits = bits_of_number(x * SCALED if tiny else x)
    mantissa = number_of_bits((bits & OF_MANTISSA) | OF_HALF)
    power = float((bits >> FRACTION) - (BIAS - 1))
    if tiny:
        power -= SCALED_BY
    if x == 0.0:
        mantissa = 0.0
        power = 0.0
    if mantissa < SQRT_HALF:
        mantissa *= 2.0
        power -= 1.0
    f = (mantissa - 1.0) / (mantissa + 1.0)
    square = f * f
    total = 0.0
    for odd in range(23, 0, -2):
        total = total * square + 1.0 / odd
    return power * LN2_HIGH + (power * LN2_LOW + 2.0 * f * total)


@jit_entry
def fill_log(x: Floats, out: Floats) -> None:
    """Write the logarithm of each number, all positive."""
    # Shapes: x, out (n,).
    for index in range(len(x)):
        out[index] = bit_equal_log(x[index])


class Scales(NamedTuple):
    """The scales of distances."""

    of_row: Floats  # shape (n,)
    of_record: Floats  # shape (records,)


class BelowTheCap(NamedTuple):
    """The weights below a cap, else 0, and the sums of a record's weights."""

    weights: Floats  # shape (m,)
    free: Floats  # shape (n,): of those below the cap
    totals: Floats  # shape (n,): of all


class Room(NamedTuple):
    """The room for the entries of a row, and one more; shape (m + 1,) each."""

    top: Floats  # the largest logarithms, descending
    ratios: Floats  # exp of their differences
    some: Floats  # what the largest are chosen among
    places: Integers  # entries that may be at the cap
    exps: ExpRoom


class FreeSums(NamedTuple):
    """The sums of the weights below the cap."""

    of_rows: Floats  # shape (n,), or empty
    of_columns: Floats  # shape (m,)


@jit_entry
def fill_kernel(
    rows: KernelRows, squared: Floats, scales: Scales, least: float, first: int, last: int
) -> None:
    """Write log(exp(-2 d^2 / s) + a least amount), s the scales of row and record multiplied."""
    # Shapes: squared (m,), as `rows`, of which the logarithms are filled.
    starts, members, logs = rows.starts, rows.members, rows.logs
    of_row = scales.of_row
    of_record = scales.of_record
    room = exp_room(longest_row(starts, first, last))
    for row in range(first, last):
        for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
            scale = of_row[row] * of_record[uint64(members[entry])]
            logs[entry] = -2.0 * squared[entry] / scale
        fill_exp(logs, starts[row], starts[row + 1], room)
        for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
            logs[entry] = bit_equal_log(logs[entry] + least)


@jit_entry
def add_columns(rows: KernelRows, weights: Floats, totals: Floats) -> None:
    """Add the weights of all rows to the totals of their columns, in their order."""
    # Shapes: weights (m,), totals (columns,).
    starts, members = rows.starts, rows.members
    for row in range(len(starts) - 1):
        for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
            totals[uint64(members[entry])] += weights[entry]


@jit_no_refcount
def _insert_largest(logs: Floats, first: int, last: int, top: Floats, count: int) -> None:
    """Write the largest of some numbers, descending, each put in its place as it comes."""
    for place in range(count):
        top[place] = -np.inf
    least = -np.inf
    for entry in range(uint64(first), uint64(last)):
        log = logs[entry]
        if log > least:
            place = count - 1
            while place > 0 and top[place - 1] < log:
                top[place] = top[place - 1]
                place -= 1
            top[place] = log
            least = top[count - 1]


@jit_no_refcount
def _select_largest(logs: Floats, first: int, last: int, top: Floats, count: int) -> None:
    """Write the largest of some numbers, descending; `top` has room for all of them."""
    for entry in range(first, last):
        top[entry - first] = logs[entry]
    # parts the numbers around one of them, until the largest stand first
    low = 0
    high = last - first - 1
    while low < high:
        middle = top[(low + high) // 2]
        left = low
        right = high
        while left <= right:
            while top[left] > middle:
                left += 1
            while top[right] < middle:
                right -= 1
            if left <= right:
                swapped = top[left]
                top[left] = top[right]
                top[right] = swapped
                left += 1
                right -= 1
        if count - 1 <= right:
            high = right
        elif count - 1 >= left:
            low = left
        else:
            break
    # sorts them by insertion over falling distances
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, count):
            number = top[index]
            place = index
            while place >= gap and top[place - gap] < number:
                top[place] = top[place - gap]
                place -= gap
            top[place] = number
        gap //= 3


@jit_no_refcount
def _count_by_parts(
    logs: Floats, first: int, last: int, highest: float, scale: float, held: Integers
) -> None:
    """Count numbers in as many equal parts of their range, the part of the largest first."""
    # Shape: held (last - first,).
    for part in range(last - first):
        held[part] = 0
    for entry in range(uint64(first), uint64(last)):
        held[uint64(np.int64((highest - logs[entry]) * scale))] += 1


@jit_no_refcount
def _place_parts(held: Integers, parts: int, count: int) -> int:
    """Turn counts of parts into the places of their first numbers, and return how many are placed.

    Parts beyond the largest numbers have place -1. 0 is returned where parts are so uneven that
    numbers are better selected.
    """
    before = 0
    steps = 0
    for part in range(parts):
        size = held[part]
        held[part] = -1
        if before < count:
            held[part] = before
            before += size
            steps += size * size
    return before if steps <= MOST_STEPS * before else 0


@jit_no_refcount
def _sort_largest(
    logs: Floats, first: int, last: int, top: Floats, count: int, held: Integers
) -> None:
    """Write the largest of some numbers, descending; `top` and `held` have room for all of them."""
    highest = -np.inf
    lowest = np.inf
    for entry in range(uint64(first), uint64(last)):
        highest = max(highest, logs[entry])
        lowest = min(lowest, logs[entry])
    placed = 0
    scale = 0.0
    if 0.0 < highest - lowest < np.inf:
        scale = (last - first - 1) / (highest - lowest) * (1.0 - ROUNDING)
        _count_by_parts(logs, first, last, highest, scale, held)
        placed = _place_parts(held, last - first, count)
    if placed == 0:
        _select_largest(logs, first, last, top, count)
        return
    for entry in range(uint64(first), uint64(last)):
        part = uint64(np.int64((highest - logs[entry]) * scale))
        if held[part] >= 0:
            top[held[part]] = logs[entry]
            held[part] += 1
    # puts those of a part in order, by insertion
    for index in range(1, placed):
        number = top[index]
        place = index
        while place > 0 and top[place - 1] < number:
            top[place] = top[place - 1]
            place -= 1
        top[place] = number


@jit_no_refcount
def _bound_of_largest(logs: Floats, first: int, last: int, count: int) -> float:
    """Return a bound that at least so many numbers reach, and few more unless many are equal."""
    highest = -np.inf
    lowest = np.inf
    for entry in range(uint64(first), uint64(last)):
        highest = max(highest, logs[entry])
        lowest = min(lowest, logs[entry])
    for _ in range(MOST_BISECTIONS):
        middle = lowest + (highest - lowest) / 2
        reached = 0
        for entry in range(uint64(first), uint64(last)):
            reached += logs[entry] >= middle
        if reached < count:
            highest = middle
        else:
            lowest = middle
            if reached <= count + count // 4 + 8:
                break
    return lowest


@jit_no_refcount
def _fill_row(
    rows: KernelRows,
    column: Floats,
    first: int,
    last: int,
    cap: float,
    room: Room,
    weights: Floats,
) -> float:
    """Write min(cap, x K c) with sum 1 over a row, and return log x.

    With t entries at the cap, x is (1 - cap t) over the tail of the others, relative to the
    largest of them; t is the smallest number that leaves no other above the cap. The tail is
    added from its small end, never as a difference: against two far twins it would be lost.
    """
    logs, members = rows.logs, rows.members
    top = room.top
    ratios = room.ratios
    some = room.some
    places = room.places
    count = min(int(1.0 / cap + ROUNDING) + 1, last - first)
    # each entry's logarithm with its column's factor, and the largest, descending
    for entry in range(uint64(first), uint64(last)):
        weights[entry] = logs[entry] + column[uint64(members[entry])]
    bound = _bound_of_largest(weights, first, last, count)
    chosen = 0
    for entry in range(uint64(first), uint64(last)):
        # overwritten by the next one, unless it is among the largest
        some[uint64(chosen)] = weights[entry]
        chosen += weights[entry] >= bound
    if count <= FEW_AT_CAP:
        _insert_largest(some, 0, chosen, top, count)
    else:
        _sort_largest(some, 0, chosen, top, count, places)
    # exp of what logarithms are below the smallest of the largest, or 1
    low = top[count - 1]
    for entry in range(uint64(first), uint64(last)):
        weights[entry] = min(weights[entry] - low, 0.0)
    fill_exp(weights, first, last, room.exps)
    total = 0.0
    chosen = 0
    for entry in range(uint64(first), uint64(last)):
        total += weights[entry]
        places[uint64(chosen)] = entry
        chosen += weights[entry] >= 1.0
    for place in range(uint64(1), uint64(count)):
        ratios[place] = top[place] - top[place - 1]
    fill_exp(ratios, 1, count, room.exps)
    # how many are at the cap, from the most down
    place, tail = count - 1, 1.0 + (total - count)
    factor = max(1.0 - cap * place, 0.0) / tail
    while place > 0:
        tail = 1.0 + tail * ratios[place]
        larger = (1.0 - cap * (place - 1)) / tail
        if larger > cap * (1.0 + ROUNDING):
            break
        factor = larger
        place -= 1
    reference = top[place]
    scale = factor * bit_equal_exp(low - reference)
    for entry in range(uint64(first), uint64(last)):
        weights[entry] = min(cap, scale * weights[entry])
    # those that are not below the smallest of the largest
    for index in range(chosen):
        entry = uint64(places[index])
        some[index] = logs[entry] + column[uint64(members[entry])] - reference
    fill_exp(some, 0, chosen, room.exps)
    for index in range(chosen):
        weights[uint64(places[index])] = min(cap, factor * some[index])
    return float(bit_equal_log(factor) - reference)


@jit_entry
def fill_rows(
    rows: KernelRows,
    column: Floats,
    caps: Floats,
    row: Floats,
    weights: Floats,
    first: int,
    last: int,
) -> None:
    """Write the weights of rows `first` to `last` - 1 and the logarithms of their factors."""
    # Shapes: of `rows`, `balance.KernelRows` of which none is empty, starts (n + 1,), members and
    # logs (m,); column (n,), logarithms of the factors c; caps (n,), at least 1 over the length of
    # the row. Filled: row (n,), log x; weights (m,), min(cap, x K c), rows sum to 1.
    starts = rows.starts
    longest = longest_row(starts, first, last)
    # one more than a row has: after its last entry the next place is written, too
    room = Room(
        np.empty(longest + 1),
        np.empty(longest + 1),
        np.empty(longest + 1),
        np.empty(longest + 1, np.int64),
        exp_room(longest),
    )
    for index in range(first, last):
        row[index] = _fill_row(
            rows, column, starts[index], starts[index + 1], caps[index], room, weights
        )


@jit_entry
def weigh_both_ways(
    rows: KernelRows,
    column: Floats,
    cap: float,
    filled: BelowTheCap,
    first_row: int,
    last_row: int,
) -> None:
    """Write min(cap, c K c), zero where the cap binds, and the sums, of some rows."""
    # `rows`, `column` as in `fill_rows`, of a symmetric kernel.
    starts, members, logs = rows.starts, rows.members, rows.logs
    weights = filled.weights
    room = exp_room(longest_row(starts, first_row, last_row))
    for index in range(first_row, last_row):
        first, last = starts[index], starts[index + 1]
        below = 0.0
        at_cap = 0
        for entry in range(uint64(first), uint64(last)):
            weights[entry] = logs[entry] + column[index] + column[uint64(members[entry])]
        fill_exp(weights, first, last, room)
        for entry in range(first, last):
            if weights[entry] < cap * (1.0 - ROUNDING):
                below += weights[entry]
            else:
                weights[entry] = 0.0
                at_cap += 1
        filled.free[index] = below
        filled.totals[index] = below + cap * at_cap


@jit_entry
def solve_newton(
    rows: KernelRows,
    weights: Floats,
    free: FreeSums,
    missing: Floats,
    accuracy: float,
    most: int,
    step: Floats,
) -> None:
    """Write the solution of (diag(c) + H) z = missing by conjugate gradients.

    H holds the weights below the cap, as compressed rows, and is symmetric; sums of rows are empty
    here, and c are the sums of columns. With sums r of rows (n,) H is of rows and columns that
    differ, F, and -F' diag(1/r) F takes its place: rows are scaled to their sums at once.
    """
    # `accuracy` is of the remaining difference, relative to `missing` (m,), what the sums of the m
    # columns lack; `most` are rounds; step (m,) is filled.
    starts, members = rows.starts, rows.members
    of_rows = free.of_rows
    of_columns = free.of_columns
    m = len(missing)
    eliminated = len(of_rows) > 0
    totals = np.empty(len(of_rows))
    times = 1.0 if eliminated else 2.0
    left, direction, product = np.empty(m), np.empty(m), np.empty(m)
    norm, slope = 0.0, 0.0
    for index in range(m):
        step[index] = 0.0
        left[index] = missing[index]
        direction[index] = missing[index] / (times * of_columns[index])
        norm += left[index] * left[index]
        slope += left[index] * direction[index]
    enough = accuracy * accuracy * norm
    for _ in range(most):
        for index in range(m):
            product[index] = of_columns[index] * direction[index]
        for row in range(len(starts) - 1):
            total = 0.0 if eliminated else product[row]
            for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
                total += weights[entry] * direction[uint64(members[entry])]
            if eliminated:
                totals[row] = total / of_rows[row]
            else:
                product[row] = total
        for row in range(len(of_rows)):
            for entry in range(uint64(starts[row]), uint64(starts[row + 1])):
                product[uint64(members[entry])] -= weights[entry] * totals[row]
        curvature = 0.0
        for index in range(m):
            curvature += product[index] * direction[index]
        if not curvature > 0.0:
            return
        ratio = slope / curvature
        norm = 0.0
        for index in range(m):
            step[index] += ratio * direction[index]
            left[index] -= ratio * product[index]
            norm += left[index] * left[index]
        if norm <= enough:
            return
        before, slope = slope, 0.0
        for index in range(m):
            slope += left[index] * left[index] / (times * of_columns[index])
        for index in range(m):
            share = left[index] / (times * of_columns[index])
            direction[index] = share + slope / before * direction[index]
