"""Kernels of tied slices: positions of donors in the order of a slice, by class of the row.

A tie is three arrays: `ranks` (units, n), the place of each record in the order of each slice;
`tables` (units, bins, classes), P(bin | class); and `sums` (units, bins + 1, classes), what they
sum to below each bin. Within a bin the position of a donor is uniform. Lists are
`donor_lists.Lists`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32
from rwn_core.neighbors.draw_kernel import SCALE
from rwn_core.parallel.jit import jit_entry, jit_internal

Tie = tuple[Integers32, Floats, Floats]
AT_ONCE = 4  # rows whose chances are added up side by side


@jit_entry
def scale_table(table: Floats, accuracy: float) -> None:
    """Scale columns to classes / bins and rows to 1 by turns, until the columns are exact."""
    # Shape: table (classes, bins), changed in place.
    classes, bins = table.shape
    column = np.ones(bins)
    sums = np.empty(classes)
    while True:
        table /= column
        sums[:] = 0.0
        for first in range(0, classes, 8):  # eight sums at a time, each in its order
            for place in range(bins):
                for g in range(first, min(first + 8, classes)):
                    sums[g] += table[g, place]
        column[:] = 0.0
        for g in range(classes):
            for place in range(bins):
                table[g, place] /= sums[g]
                column[place] += table[g, place]
        column *= bins / classes
        if np.abs(column - 1.0).max() < accuracy:
            return


@jit_entry
def fit_products(needed: Floats, squares: Floats, loadings: Floats, limit: float) -> None:
    """Fit products of loadings to the needed correlations by coordinate descent, in place."""
    # Shapes: needed, squares (units, units), the squared weights of pairs, 0 of a unit with itself;
    # loadings (units, m). Each is the best of its unit given the others, cut to a length.
    for _ in range(20_000):
        moved = 0.0
        for unit in range(len(loadings)):
            weighted = loadings * squares[unit].reshape(-1, 1)
            best = np.linalg.pinv(weighted.T @ loadings) @ (weighted.T @ needed[unit])
            best *= min(1.0, math.sqrt(limit / max((best * best).sum(), 1e-300)))
            moved = max(moved, np.abs(best - loadings[unit]).max())
            loadings[unit] = best
        if moved < 1e-14:
            return


@jit_internal
def _in_order(lists: Any, row: int, rank: Integers32, room: Any) -> Any:
    """Write weights and records of a row of lists in the order of a slice; return their number."""
    # Shapes: rank (n,); `room`: weights, records and keys (n,). Of a long row all places are
    # written, most with a weight.
    weights, records, keys = room
    begin = lists.begin[row]
    size = lists.sizes[row]
    n = len(rank)
    if 8 * size < n:
        for entry in range(size):
            keys[entry] = rank[lists.members[begin + entry]] * np.int64(size) + entry
        keys[:size].sort()
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
def _room(n: int) -> Any:
    """Return what `_in_order` writes to."""
    return np.empty(n), np.zeros(n, np.int64), np.empty(n, np.int64)


@jit_entry
def draw_tied(
    lists: Any,
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
    ranks, tables, sums = tie
    bins = tables.shape[1]
    room = _room(ranks.shape[1])
    below = np.empty(ranks.shape[1], np.int64)
    for row in range(first, last):
        g = classes[row]
        for unit in range(len(ranks)):
            size = _in_order(lists, row, ranks[unit], room)
            total = np.int64(0)
            for place in range(size):
                total += np.int64(math.floor(room[0][place] * SCALE))
                below[place] = total
            v = numbers[unit, row]
            bin_ = min(np.searchsorted(sums[unit, :, g], v, side="right") - 1, bins - 1)
            x = (bin_ + (v - sums[unit, bin_, g]) / tables[unit, bin_, g]) / bins
            goal = np.int64(math.floor(x * total))
            last_below = min(np.searchsorted(below[:size], goal, side="right"), size - 1)
            donors[row, unit] = room[1][last_below]


@jit_entry
def weigh_scores(
    lists: Any, ranks: Integers32, scores: Floats, found: Any, first: int, last: int
) -> None:
    """Write mean, variance and means in bins of the scores of each row's donors, by slice."""
    # Shapes: scores (units, n); found: mean, variance (units, r) and bins (units, r, bins), the
    # mean over each bin of the quantile function.
    mean, variance, bins = found
    count = bins.shape[2]
    room = _room(ranks.shape[1])
    for row in range(first, last):
        for unit in range(len(ranks)):
            size = _in_order(lists, row, ranks[unit], room)
            bin_ = 0
            free = 1.0 / count
            square = 0.0
            bins[unit, row] = 0.0
            for place in range(size):
                weight = room[0][place]
                score = scores[unit, room[1][place]]
                square += weight * score * score
                while weight > free and bin_ < count - 1:
                    bins[unit, row, bin_] += count * free * score
                    weight -= free
                    bin_, free = bin_ + 1, 1.0 / count
                bins[unit, row, bin_] += count * weight * score
                free -= weight
            total = bins[unit, row].sum() / count
            mean[unit, row] = total
            variance[unit, row] = max(square - total * total, 0.0)


@jit_entry
def class_chances(
    lists: Any, row: int, unit: int, tie: Tie, codes: Integers, slots: Integers, chances: Floats
) -> None:
    """Write P(each value | class) of one slice and row, for values of donors that have a slot."""
    # Shapes: codes (n,); slots (values,): where a value's chances stand, -1 for none; chances
    # (slots, classes).
    ranks, tables, sums = tie
    room = _room(len(codes))
    bins = tables.shape[1]
    size = _in_order(lists, row, ranks[unit], room)
    before = 0.0
    place = 0
    for entry in range(lists.begin[row], lists.begin[row] + lists.sizes[row]):
        if slots[codes[lists.members[entry]]] >= 0:
            chances[slots[codes[lists.members[entry]]]] = 0.0
    while place < size:
        code = codes[room[1][place]]
        after = before
        while place < size and codes[room[1][place]] == code:
            after += room[0][place] / lists.totals[row]
            place += 1
        slot = slots[code]
        low = min(before, 1.0) * bins
        high = min(after, 1.0) * bins
        one, other = min(int(low), bins - 1), min(int(high), bins - 1)
        if slot >= 0 and one == other:
            chances[slot] += tables[unit, one] * (high - low)
        elif slot >= 0:
            chances[slot] += sums[unit, other] - sums[unit, one]
            chances[slot] += tables[unit, other] * (high - other) - tables[unit, one] * (low - one)
        before = after


@jit_entry
def tied_logs(
    lists: Any, tie: Tie, coded: Any, ways: Any, logs: Floats, first: int, last: int
) -> None:
    """Write log P(a released row's values | source) of the sources in rows of lists."""
    # Shapes: coded: codes (units, n), slots (units, values) and released (units, m), the slot of
    # each row's value, -1 for none; logs (n, m). `ways`: without the values instead of with them
    # (a value without slot then excludes nothing); only each record's own row, logs (n, 1).
    (codes, slots, released), (without, own) = coded, ways
    units = len(codes)
    classes = tie[1].shape[2]
    most = slots.max() + 1
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
                    mean = 1.0 if without else chances[unit, slot].mean()
                    base[unit, slot] = math.log(mean) if mean > 0.0 else -np.inf
                    chances[unit, slot] /= max(mean, 1e-300)
                    if without:
                        chances[unit, slot] = np.maximum(1.0 - chances[unit, slot], 0.0)
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
    _, tables, sums = tie
    bins = tables.shape[1]
    low, high = min(low, 1.0) * bins, min(high, 1.0) * bins
    one, other = min(int(low), bins - 1), min(int(high), bins - 1)
    if one == other:
        return float(tables[unit, one, g] * (high - low))
    mass = sums[unit, other, g] - sums[unit, one, g]
    mass += tables[unit, other, g] * (high - other) - tables[unit, one, g] * (low - one)
    return float(mass)


@jit_entry
def draw_others(
    lists: Any,
    tie: Tie,
    codes: Integers,
    released: Integers,
    persons: Integers,
    numbers: Floats,
    found: Integers,
    first: int,
    last: int,
) -> None:
    """Write each row's donors, given what it shows, and others of the same class instead of them.

    The class of a row is drawn from its chances given all that the row shows; given the class,
    each slice's donor among those with the released values, and another donor of another person. -1
    where there is none.
    """
    # Shapes: codes, released (units, n); persons (n,); numbers (1 + 2 units, n), uniform; found
    # (2, units, n). Row r of the release comes from record r.
    ranks, tables, _ = tie
    units, n = ranks.shape
    classes = tables.shape[2]
    room = _room(n)
    ends = np.empty(n + 1)
    likely = np.empty(classes)
    chances, masses = np.empty(classes), np.empty(n)
    for row in range(first, last):
        record = lists.records[row]
        likely[:] = 1.0
        for unit in range(units):
            size = _in_order(lists, row, ranks[unit], room)
            total = 0.0
            chances[:] = 0.0
            for place in range(size):
                after = total + room[0][place] / lists.totals[row]
                shows = codes[unit, room[1][place]] == released[unit, record]
                if shows and room[0][place] > 0.0:
                    for g in range(classes):
                        chances[g] += _mass(tie, unit, g, total, after)
                total = after
            likely *= np.maximum(chances, 0.0)
        goal = numbers[0, record] * likely.sum()
        g = 0
        while g < classes - 1 and goal >= likely[g]:
            goal -= likely[g]
            g += 1
        for unit in range(units):
            size = _in_order(lists, row, ranks[unit], room)
            total = 0.0
            for place in range(size):
                ends[place] = total
                total += room[0][place] / lists.totals[row]
            ends[size] = total
            donor = -1
            for step in range(2):
                masses[:size] = 0.0
                for place in range(size):
                    one = room[1][place]
                    if step == 0:
                        fits = codes[unit, one] == released[unit, record]
                    else:
                        fits = donor >= 0 and persons[one] != persons[donor]
                    if fits and room[0][place] > 0.0:
                        mass = _mass(tie, unit, g, ends[place], ends[place + 1])
                        masses[place] = max(mass, 0.0)
                mass_of_all = masses[:size].sum()
                chosen = -1
                goal = numbers[1 + step * units + unit, record] * mass_of_all
                for place in range(size):
                    if masses[place] > 0.0:
                        chosen = room[1][place]
                        if goal < masses[place]:
                            break
                        goal -= masses[place]
                found[step, unit, record] = chosen
                if step == 0:
                    donor = chosen
