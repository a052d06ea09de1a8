"""Kernels of tied slices: positions of donors in the order of a slice, by class of the row.

Within a bin of the order the position of a donor is uniform. Kernels read named tuples of arrays.
Loops stand here in place of NumPy's sort, search, products and pseudo-inverse: those took three
quarters of the seconds in which a first draw was compiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.laws.lists import Lists
from rwn_core.neighbors.draw_kernel import SCALE
from rwn_core.parallel.jit import jit_entry, jit_internal, jit_no_refcount

AT_ONCE = 4  # rows whose chances are added up side by side
SINGULAR = 1e-15  # share of the squared trace of two factors' moments that counts as 0


class Tie(NamedTuple):
    """The arrays of a tie between slices."""

    ranks: Integers32  # shape (units, n): the place of each record in the order of each slice
    tables: Floats  # shape (units, bins, classes): P(bin | class)
    sums: Floats  # shape (units, bins + 1, classes): what the tables sum to below each bin

    def of(self, units: Sequence[int]) -> Tie:
        """Return that of some units."""
        some = list(units)
        return Tie(self.ranks[some], self.tables[some], self.sums[some])


class Ordered(NamedTuple):
    """The donors of one row in the order of a slice; `_in_order` writes them."""

    weights: Floats  # shape (n,)
    records: Integers  # shape (n,)
    keys: Integers  # shape (n,): for sorting


class DonorScores(NamedTuple):
    """The scores of each row's donors, by slice."""

    mean: Floats  # shape (units, r)
    variance: Floats  # shape (units, r)
    bins: Floats  # shape (units, r, bins): the mean over each bin of the quantile function


class CodedRows(NamedTuple):
    """The values of records, and those that released rows show."""

    codes: Integers  # shape (units, n): the number of each record's value
    slots: Integers  # shape (units, values): where a value's chances stand, -1 for none
    released: Integers  # shape (units, m): the slot of each row's value, -1 for none


class Ways(NamedTuple):
    """The likelihoods of rows that are asked for."""

    without: bool  # without the values instead of with them; a value without slot excludes nothing
    own: bool  # only each record's own row


class ShownRows(NamedTuple):
    """The values of all records, what row r shows, which comes from record r, and its person."""

    codes: Integers  # shape (units, n)
    released: Integers  # shape (units, n)
    persons: Integers  # shape (n,)


@jit_entry
def scale_table(table: Floats, accuracy: float) -> None:
    """Scale columns to classes / bins and rows to 1 by turns, until the columns are exact."""
    # Shape: table (classes, bins), changed in place.
    classes, bins = table.shape
    column = np.ones(bins)
    sums = np.empty(classes)
    while True:
        sums[:] = 0.0
        for g in range(classes):
            for place in range(bins):
                table[g, place] /= column[place]
        for first in range(0, classes, 8):  # eight sums at a time, each in its order
            for place in range(bins):
                for g in range(first, min(first + 8, classes)):
                    sums[g] += table[g, place]
        column[:] = 0.0
        for g in range(classes):
            for place in range(bins):
                table[g, place] /= sums[g]
                column[place] += table[g, place]
        off = 0.0
        for place in range(bins):
            column[place] *= bins / classes
            off = max(off, abs(column[place] - 1.0))
        if off < accuracy:
            return


@jit_entry
def fit_products(needed: Floats, squares: Floats, loadings: Floats, limit: float) -> None:
    """Fit products of loadings to the needed correlations by coordinate descent, in place."""
    # Shapes: needed, squares (units, units), the squared weights of pairs, 0 of a unit with itself;
    # loadings (units, 1 or 2). Each is the best of its unit given the others, cut to a length.
    units, factors = loadings.shape
    best = np.empty(2)
    for _ in range(20_000):
        moved = 0.0
        for unit in range(units):
            _best_loading(needed[unit], squares[unit], loadings, best)
            length = best[0] * best[0] + best[1] * best[1]
            cut = min(1.0, math.sqrt(limit / max(length, 1e-300)))
            for factor in range(factors):
                moved = max(moved, abs(cut * best[factor] - loadings[unit, factor]))
                loadings[unit, factor] = cut * best[factor]
        if moved < 1e-14:
            return


@jit_no_refcount
def _best_loading(needed: Floats, squares: Floats, loadings: Floats, best: Floats) -> None:
    """Write the shortest loading of least squares of a unit, given those of the others."""
    # Shapes: needed, squares (units,), of the unit; best (2,), of one factor with 0 behind it.
    two = loadings.shape[1] == 2
    moments = (0.0, 0.0, 0.0)  # of both factors, and of one with the other
    goals = (0.0, 0.0)
    for other in range(len(squares)):
        x = loadings[other, 0]
        y = loadings[other, 1] if two else 0.0
        xx, yy, xy = moments
        square = squares[other]
        moments = (xx + square * x * x, yy + square * y * y, xy + square * x * y)
        goals = (goals[0] + square * x * needed[other], goals[1] + square * y * needed[other])
    xx, yy, xy = moments
    of_x, of_y = goals
    trace = xx + yy
    determinant = xx * yy - xy * xy
    best[:] = 0.0
    if determinant > SINGULAR * trace * trace:
        best[0] = (yy * of_x - xy * of_y) / determinant
        best[1] = (xx * of_y - xy * of_x) / determinant
    elif trace > 0.0:  # all others lie on one line
        best[0] = (xx * of_x + xy * of_y) / (trace * trace)
        best[1] = (xy * of_x + yy * of_y) / (trace * trace)


@jit_no_refcount
def _sort(keys: Integers, count: int) -> None:
    """Sort the first numbers, ascending, by insertion over falling distances."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, count):
            key = keys[index]
            place = index
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@jit_no_refcount
def _count_up_to(ascending: NDArray[Any], most: float | np.int64, count: int) -> int:
    """Return how many of the first ascending numbers are not above another one."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= most:
            low = middle + 1
        else:
            high = middle
    return low


@jit_internal
def _in_order(lists: Lists, row: int, rank: Integers32, donors: Ordered) -> int:
    """Write the donors in a row of lists in the order of a slice; return their number."""
    # Shape: rank (n,). Of a long row all places are written, most with a weight.
    weights = donors.weights
    records = donors.records
    keys = donors.keys
    begin = lists.begin[row]
    size = int(lists.sizes[row])
    n = len(rank)
    if 8 * size < n:
        for entry in range(size):
            keys[entry] = rank[lists.members[begin + entry]] * np.int64(size) + entry
        _sort(keys, size)
        for place in range(size):
            entry = begin + keys[place] % size
            weights[place] = lists.weights[entry]
            records[place] = lists.members[entry]
        return size
    weights[:] = 0.0
    for entry in range(begin, begin + size):
        place = rank[lists.members[entry]]
        weights[place] = lists.weights[entry]
        records[place] = lists.members[entry]
    return n


@jit_internal
def _room(n: int) -> Ordered:
    """Return what `_in_order` writes to."""
    records = np.empty(n, np.int64)
    for place in range(n):
        records[place] = 0  # of places without a weight
    return Ordered(np.empty(n), records, np.empty(n, np.int64))


@jit_entry
def draw_tied(
    lists: Lists,
    tie: Tie,
    classes: Integers,
    numbers: Floats,
    donors: Integers,
    first: int,
    last: int,
) -> None:
    """Write the donors of rows of lists, one for each slice."""
    # Shapes: classes (r,); numbers (units, r), uniform; donors (r, units). Weights are whole
    # numbers, so that their sums are exact on every platform.
    ranks = tie.ranks
    tables = tie.tables
    sums = tie.sums
    bins = tables.shape[1]
    ordered = _room(ranks.shape[1])
    below = np.empty(ranks.shape[1], np.int64)
    for row in range(first, last):
        g = classes[row]
        for unit in range(len(ranks)):
            size = _in_order(lists, row, ranks[unit], ordered)
            total = np.int64(0)
            for place in range(size):
                total += np.int64(math.floor(ordered.weights[place] * SCALE))
                below[place] = total
            v = numbers[unit, row]
            bin_ = min(_count_up_to(sums[unit, :, g], v, bins + 1) - 1, bins - 1)
            x = (bin_ + (v - sums[unit, bin_, g]) / tables[unit, bin_, g]) / bins
            goal = np.int64(math.floor(x * total))
            last_below = min(_count_up_to(below, goal, size), size - 1)
            donors[row, unit] = ordered.records[last_below]


@jit_entry
def weigh_scores(
    lists: Lists,
    ranks: Integers32,
    scores: Floats,
    of_donors: DonorScores,
    first: int,
    last: int,
) -> None:
    """Write mean, variance and means in bins of the scores of each row's donors, by slice."""
    # Shapes: ranks, scores (units, n).
    bins = of_donors.bins
    count = bins.shape[2]
    ordered = _room(ranks.shape[1])
    for row in range(first, last):
        for unit in range(len(ranks)):
            size = _in_order(lists, row, ranks[unit], ordered)
            bin_ = 0
            free = 1.0 / count
            square = 0.0
            bins[unit, row] = 0.0
            for place in range(size):
                weight = ordered.weights[place]
                score = scores[unit, ordered.records[place]]
                square += weight * score * score
                while weight > free and bin_ < count - 1:
                    bins[unit, row, bin_] += count * free * score
                    weight -= free
                    bin_ += 1
                    free = 1.0 / count
                bins[unit, row, bin_] += count * weight * score
                free -= weight
            total = 0.0
            for bin_ in range(count):
                total += bins[unit, row, bin_]
            total /= count
            of_donors.mean[unit, row] = total
            of_donors.variance[unit, row] = max(square - total * total, 0.0)


@jit_entry
def class_chances(
    lists: Lists, row: int, unit: int, tie: Tie, codes: Integers, slots: Integers, chances: Floats
) -> None:
    """Write P(each value | class) of one slice and row, for values of donors that have a slot."""
    # Shapes: codes (n,); slots (values,): where a value's chances stand, -1 for none; chances
    # (slots, classes).
    tables = tie.tables
    sums = tie.sums
    ordered = _room(len(codes))
    bins = tables.shape[1]
    classes = tables.shape[2]
    size = _in_order(lists, row, tie.ranks[unit], ordered)
    before = 0.0
    place = 0
    for entry in range(lists.begin[row], lists.begin[row] + lists.sizes[row]):
        if slots[codes[lists.members[entry]]] >= 0:
            for g in range(classes):
                chances[slots[codes[lists.members[entry]]], g] = 0.0
    while place < size:
        code = codes[ordered.records[place]]
        after = before
        while place < size and codes[ordered.records[place]] == code:
            after += ordered.weights[place] / lists.totals[row]
            place += 1
        slot = slots[code]
        low = min(before, 1.0) * bins
        high = min(after, 1.0) * bins
        one, other = min(int(low), bins - 1), min(int(high), bins - 1)
        if slot >= 0 and one == other:
            for g in range(classes):
                chances[slot, g] += tables[unit, one, g] * (high - low)
        elif slot >= 0:
            for g in range(classes):
                beyond = tables[unit, other, g] * (high - other)
                within = tables[unit, one, g] * (low - one)
                chances[slot, g] += sums[unit, other, g] - sums[unit, one, g]
                chances[slot, g] += beyond - within
        before = after


@jit_no_refcount
def _most_slots(slots: Integers) -> int:
    """Return how many slots a slice has, of that with most."""
    # Shape: slots (units, values), -1 for none.
    most = 0
    for unit in range(len(slots)):
        for code in range(slots.shape[1]):
            most = max(most, slots[unit, code] + 1)
    return most


@jit_entry
def tied_logs(
    lists: Lists, tie: Tie, coded: CodedRows, ways: Ways, logs: Floats, first: int, last: int
) -> None:
    """Write log P(a released row's values | source) of the sources in rows of lists."""
    # Shape: logs (n, m), or (n, 1) of each record's own row.
    codes = coded.codes
    slots = coded.slots
    released = coded.released
    without = ways.without
    own = ways.own
    units = len(codes)
    classes = tie.tables.shape[2]
    most = _most_slots(slots)
    chances = np.empty((units, most, classes))
    base = np.zeros((units, most))
    products = np.ones((AT_ONCE, classes))
    heights = np.empty(AT_ONCE)
    sums = np.empty(AT_ONCE)
    for row in range(first, last):
        record = lists.records[row]
        base[:] = -np.inf  # of values that the row's donors do not have
        for unit in range(units):
            class_chances(lists, row, unit, tie, codes[unit], slots[unit], chances[unit])
            for entry in range(lists.begin[row], lists.begin[row] + lists.sizes[row]):
                slot = slots[unit, codes[unit, lists.members[entry]]]
                if slot >= 0 and base[unit, slot] == -np.inf:
                    base[unit, slot] = _scale(chances[unit, slot], without)
        for first_column in range(0, logs.shape[1], AT_ONCE):
            some = min(AT_ONCE, logs.shape[1] - first_column)
            for each in range(some):
                column = first_column + each
                shown = released[:, record if own else column]
                heights[each] = _multiply(products[each], chances, base, shown, without)
            _add_up(products, sums)
            for each in range(some):
                mean = sums[each] / classes if heights[each] > -np.inf else 0.0
                log = heights[each] + math.log(mean) if mean > 0.0 else -np.inf
                logs[record, first_column + each] = log


@jit_entry
def tied_pair_logs(
    lists: Lists,
    tie: Tie,
    coded: CodedRows,
    together: Floats,
    own: bool,
    logs: Floats,
    first: int,
    last: int,
) -> None:
    """Write the logs of `tied_logs` where rows have two slices, without a loop over classes."""
    # Given the class, the chance of a value is the sum over bins of the part of the bin that its
    # donors take, times P(bin | class). So over all classes a pair of values has the sum over pairs
    # of bins of both parts times `together`, shape (bins, bins): the mean over the classes of
    # P(bin of the first slice | class) P(bin of the second | class).
    bins = len(together)
    released = coded.released
    values = _most_slots(coded.slots)
    parts = np.empty((2, values, bins))
    low = np.empty((2, values), np.int64)
    high = np.empty((2, values), np.int64)
    row_of = np.empty((2, values), np.int64)  # the last row of lists that has each value
    row_of[:] = -1
    spread = np.empty((values, bins))  # of each value of the first slice, over bins of the second
    ordered = _room(tie.ranks.shape[1])
    for row in range(first, last):
        record = lists.records[row]
        for unit in range(2):
            _take_bins(
                lists,
                row,
                tie.ranks[unit],
                coded.codes[unit],
                coded.slots[unit],
                ordered,
                parts[unit],
                low[unit],
                high[unit],
                row_of[unit],
            )
        for slot in range(values):
            if row_of[0, slot] == row:
                spread[slot] = 0.0
                for one in range(low[0, slot], high[0, slot] + 1):
                    for other in range(bins):
                        spread[slot, other] += parts[0, slot, one] * together[one, other]
        for column in range(logs.shape[1]):
            shown = record if own else column
            one = released[0, shown]
            other = released[1, shown]
            chance = 0.0
            if one >= 0 and other >= 0 and row_of[0, one] == row and row_of[1, other] == row:
                for bin_ in range(low[1, other], high[1, other] + 1):
                    chance += spread[one, bin_] * parts[1, other, bin_]
            logs[record, column] = math.log(chance) if chance > 0.0 else -np.inf


@jit_no_refcount
def _take_bins(
    lists: Lists,
    row: int,
    rank: Integers32,
    codes: Integers,
    slots: Integers,
    ordered: Ordered,
    parts: Floats,
    low: Integers,
    high: Integers,
    row_of: Integers,
) -> None:
    """Write which part of each bin the donors with each value take, and the bins they reach."""
    # Shapes: rank, codes (n,); slots (values,), -1 for none; parts (slots, bins); low, high, the
    # first and the last bin, and row_of, the last row with such donors, (slots,).
    bins = parts.shape[1]
    size = _in_order(lists, row, rank, ordered)
    before = 0.0
    for place in range(size):
        weight = ordered.weights[place] / lists.totals[row]
        after = before + weight
        slot = slots[codes[ordered.records[place]]]
        if slot >= 0 and weight > 0.0:
            begin = min(before, 1.0) * bins
            end = min(after, 1.0) * bins
            one = min(int(begin), bins - 1)
            other = min(int(end), bins - 1)
            if row_of[slot] != row:
                row_of[slot] = row
                low[slot] = one
                high[slot] = other
                parts[slot] = 0.0
            low[slot] = min(low[slot], one)
            high[slot] = max(high[slot], other)
            for bin_ in range(one, other):
                parts[slot, bin_] += 1.0
            parts[slot, one] -= begin - one
            parts[slot, other] += end - other
        before = after


@jit_no_refcount
def _scale(chances: Floats, without: bool) -> float:
    """Scale a value's chances by class to mean 1, and return the log of their mean.

    Without the value they are turned into those of all other values, and nothing is scaled.
    """
    # Shape: chances (classes,).
    classes = len(chances)
    if without:
        for g in range(classes):
            chances[g] = max(1.0 - chances[g], 0.0)
        return 0.0
    mean = 0.0
    for g in range(classes):
        mean += chances[g]
    mean /= classes
    for g in range(classes):
        chances[g] /= max(mean, 1e-300)
    return math.log(mean) if mean > 0.0 else -np.inf


@jit_internal
def _multiply(
    product: Floats, chances: Floats, base: Floats, shown: Integers, without: bool
) -> float:
    """Write the product over units of a row's chances by class; return the log of its factor."""
    # Shapes: product (classes,); chances, base, without: see `tied_logs`; shown (units,), slots.
    log = 0.0
    product[:] = 1.0
    for unit in range(len(shown)):
        slot = shown[unit]
        if slot >= 0 and base[unit, slot] > -np.inf:
            log += base[unit, slot]
            for g in range(len(product)):
                product[g] *= chances[unit, slot, g]
        elif not without:
            return -np.inf
    return log


@jit_internal
def _add_up(products: Floats, sums: Floats) -> None:
    """Add up each of `AT_ONCE` rows in its order; none waits for another one's last addition."""
    # Shapes: products (4, classes); sums (4,).
    one = two = three = four = 0.0
    for g in range(products.shape[1]):
        one += products[0, g]
        two += products[1, g]
        three += products[2, g]
        four += products[3, g]
    sums[0] = one
    sums[1] = two
    sums[2] = three
    sums[3] = four


@jit_internal
def _mass(tie: Tie, unit: int, g: int, low: float, high: float) -> float:
    """Return P(the position of a donor lies between two cumulative weights | class)."""
    tables = tie.tables
    sums = tie.sums
    bins = tables.shape[1]
    low, high = min(low, 1.0) * bins, min(high, 1.0) * bins
    one, other = min(int(low), bins - 1), min(int(high), bins - 1)
    if one == other:
        return float(tables[unit, one, g] * (high - low))
    mass = sums[unit, other, g] - sums[unit, one, g]
    mass += tables[unit, other, g] * (high - other) - tables[unit, one, g] * (low - one)
    return float(mass)


@jit_internal
def _weigh_classes(
    lists: Lists,
    row: int,
    tie: Tie,
    rows: ShownRows,
    ordered: Ordered,
    chances: Floats,
    likely: Floats,
) -> None:
    """Write the product over slices of P(a row shows what it shows | class)."""
    # Shapes: chances, of one slice, and likely (classes,).
    record = lists.records[row]
    likely[:] = 1.0
    for unit in range(len(tie.ranks)):
        size = _in_order(lists, row, tie.ranks[unit], ordered)
        before = 0.0
        chances[:] = 0.0
        for place in range(size):
            after = before + ordered.weights[place] / lists.totals[row]
            shows = rows.codes[unit, ordered.records[place]] == rows.released[unit, record]
            if shows and ordered.weights[place] > 0.0:
                for g in range(len(chances)):
                    chances[g] += _mass(tie, unit, g, before, after)
            before = after
        likely *= np.maximum(chances, 0.0)


@jit_internal
def _drawn_class(likely: Floats, number: float) -> int:
    """Return the class in whose part of what is likely a uniform number falls."""
    # Shape: likely (classes,).
    goal = number * likely.sum()
    g = 0
    while g < len(likely) - 1 and goal >= likely[g]:
        goal -= likely[g]
        g += 1
    return g


@jit_internal
def _weigh_fitting(
    tie: Tie, unit: int, g: int, ordered: Ordered, ends: Floats, fits: Booleans, masses: Floats
) -> None:
    """Write P(a donor | class) of those that fit, and 0 of the others."""
    # Shapes: ends (size + 1,), the cumulative weights; fits, masses (size,).
    for place in range(len(masses)):
        masses[place] = 0.0
        if fits[place] and ordered.weights[place] > 0.0:
            mass = _mass(tie, unit, g, ends[place], ends[place + 1])
            masses[place] = max(mass, 0.0)


@jit_internal
def _drawn_record(records: Integers, masses: Floats, number: float) -> int:
    """Return the record in whose part of the masses a uniform number falls; -1 without a mass."""
    # Shapes: records, masses (size,).
    chosen = -1
    goal = number * masses.sum()
    for place in range(len(masses)):
        if masses[place] > 0.0:
            chosen = records[place]
            if goal < masses[place]:
                break
            goal -= masses[place]
    return chosen


@jit_entry
def draw_others(
    lists: Lists,
    tie: Tie,
    rows: ShownRows,
    numbers: Floats,
    donors: Integers,
    others: Integers,
    first: int,
    last: int,
) -> None:
    """Write each row's donors, given what it shows, and others of the same class instead of them.

    The class of a row is drawn from its chances given all that the row shows; given the class,
    each slice's donor among those with the released values, and another donor of another person. -1
    where there is none.
    """
    # Shapes: numbers (1 + 2 units, n), uniform: for the class, the donors and the others; donors,
    # others (units, n).
    units, n = tie.ranks.shape
    classes = tie.tables.shape[2]
    ordered = _room(n)
    ends = np.empty(n + 1)
    masses = np.empty(n)
    fits = np.empty(n, np.bool_)
    chances = np.empty(classes)
    likely = np.empty(classes)
    for row in range(first, last):
        record = lists.records[row]
        _weigh_classes(lists, row, tie, rows, ordered, chances, likely)
        g = _drawn_class(likely, numbers[0, record])
        for unit in range(units):
            size = _in_order(lists, row, tie.ranks[unit], ordered)
            total = 0.0
            for place in range(size):
                ends[place] = total
                total += ordered.weights[place] / lists.totals[row]
            ends[size] = total

            # a donor with the values that the row shows
            shown = rows.released[unit, record]
            for place in range(size):
                fits[place] = rows.codes[unit, ordered.records[place]] == shown
            _weigh_fitting(tie, unit, g, ordered, ends, fits, masses[:size])
            donor = _drawn_record(ordered.records, masses[:size], numbers[1 + unit, record])
            donors[unit, record] = donor

            # and another person's record in place of it
            for place in range(size):
                person = rows.persons[ordered.records[place]]
                fits[place] = donor >= 0 and person != rows.persons[donor]
            _weigh_fitting(tie, unit, g, ordered, ends, fits, masses[:size])
            number = numbers[1 + units + unit, record]
            others[unit, record] = _drawn_record(ordered.records, masses[:size], number)
