"""Find rows that are similar because they stand next to each other in the file.

A file that is sorted by some of its columns is no series: what these columns explain, and a slow
drift over the file, is taken out before rows that follow one another are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers, Integers32
from rwn_core.data.belonging.columns import Column, Columns, standardized
from rwn_core.data.belonging.finding import Finding, some_names
from rwn_core.data.belonging.groups import CONSTANT, FEWEST_PAIRS, SOME, UNEVEN
from rwn_core.data.identity.profile import BLOCKS, PROFILE_ROWS
from rwn_core.data.rows import Belong

SORTED = 0.01  # of the steps within a sorted file that may go the other way
NEARLY_SORTED = 0.9  # correlation of a column with the place in the file
RISING = 0.1  # the same in a column that rises anew in each part of a file
FEWEST_STEPS = 8  # up or down, of a column that a file is sorted by
LEVELS_OUT = 40  # most levels of a category that are taken out
NEXT = 0.15  # correlation of a row with the next one, from which on it counts
NEXT_SURE = 4.0  # the same in standard errors of a file in random order
NEAR = 0.1  # mean correlation with the next four
NEAR_SURE = 4.5
STEPS = 4
DRIFT = 8  # straight pieces of a slow drift over the file
FAR = 24  # parts of a file; rows are compared at the length of one, too
ALONE = 0.3  # of one variable without others, which then must be surer
ALONE_SURE = 5.0
BLOCK_LEVELS = 8  # different values of a number that is constant in blocks of rows, at least
IN_BLOCKS = 0.6  # of the rows equal to the next one, and of those that chance would not make equal


class Similarity(NamedTuple):
    """The likeness of rows that follow one another, in each of p columns."""

    compared: Booleans  # shape (p,): the columns that are no reason for the order
    numbers: Booleans  # shape (p,): those with an order of their values
    following: Floats  # shape (p,): rank correlation with the next row
    near: Floats  # shape (p,): its mean over the next four rows
    rows: int
    # whether a second column is similar by what the most similar one does not explain of it
    second: bool

    @property
    def found(self) -> Integers:
        """The columns in which rows are similar beyond a file in random order."""
        root = np.sqrt(self.rows)
        following = (self.following >= NEXT) & (self.following * root >= NEXT_SURE)
        near = (self.near >= NEAR) & (self.near * np.sqrt(STEPS) * root >= NEAR_SURE)
        return np.flatnonzero(self.compared & (following | near))

    @property
    def is_many(self) -> bool:
        """True if rows are similar in so many columns that their order counts."""
        number = int(self.compared.sum())
        if number > 2:
            return self.second and len(self.found) >= max(2, SOME * number)
        sure = (self.following >= ALONE) & (self.following * np.sqrt(self.rows) >= ALONE_SURE)
        return bool((self.compared & self.numbers & sure).any())


def found_neighbors(columns: Columns, numbering: Columns) -> Finding | None:
    """Find numbers that are constant in blocks of rows, or rows similar to the next ones."""
    rows = _file_rows(columns.rows)
    codes = columns.codes_at(rows)
    keys, ends = sort_keys(columns, codes)
    blocks = _in_blocks(columns, codes, keys, ends)
    names = tuple(columns.columns[place].name for place in blocks)
    by = tuple(name for name in names if name in numbering.names)
    if by:
        changes = (np.diff(codes[:, blocks], axis=0) != 0).any(axis=1)
        runs = int(changes.sum()) + 1
        verb = "is" if len(by) == 1 else "are"
        reason = f"{some_names(by)} {verb} the same in {runs:,} runs of rows"
        return Finding(of=Belong.PERSON, by=by[:3], reason=reason)
    similar = next_rows(columns, rows)
    if not similar.is_many:
        return None
    shown = tuple(columns.columns[int(place)].name for place in similar.found)
    reason = f"rows that stand next to each other in the file are similar in {some_names(shown)}"
    return Finding(of=Belong.SERIES, by=(), reason=reason)


def _file_rows(n: int) -> Integers:
    """All rows, or those of evenly spaced blocks of a long file."""
    if n <= PROFILE_ROWS:
        return np.arange(n)
    length = PROFILE_ROWS // BLOCKS
    starts = np.linspace(0, n - length, BLOCKS).astype(np.int64)
    return np.asarray((starts[:, None] + np.arange(length)).ravel())


def next_rows(columns: Columns, rows: Integers) -> Similarity:
    """Compare each of some rows with the next ones, beyond what the order itself explains."""
    codes = columns.codes_at(rows)
    scores = columns.scores_at(rows)
    keys, ends = sort_keys(columns, codes)
    left = _unexplained(scores, codes, keys, columns)
    varies = left.std(axis=0) > 0.05
    compared = varies & ~_within_ends(codes, ends) & columns.released
    compared[keys] = False
    numbers = compared & columns.ordered
    compared = numbers if numbers.any() else compared
    least = _least(left)
    similar = Similarity(compared, columns.ordered, least[0], least.mean(axis=0), len(rows), False)
    found = similar.found
    if len(found) < 2:
        return similar
    # many columns may have one cause, such as the size of a body
    most = found[np.argmax(least[0][found])]
    others = _residual(left, left[:, [most]])
    again = _least(others)
    rest = similar._replace(following=again[0], near=again.mean(axis=0)).found
    return similar._replace(second=bool(np.isin(rest, found[found != most]).any()))


def _least(left: Floats) -> Floats:
    """Return the correlations with the next rows beyond those from afar and a drift, (steps, p)."""
    # rows that are similar from afar, too, are parts of a file, or drift with it
    afar = max(len(left) // FAR, STEPS + 1)
    far = _correlations(left, range(afar, afar + STEPS)).mean(axis=0)
    close = _correlations(left, range(1, STEPS + 1)) - np.maximum(far, 0.0)
    steady = _correlations(_without_drift(left), range(1, STEPS + 1))
    least: Floats = np.minimum(close, steady)
    return least


def _correlations(left: Floats, steps: range) -> Floats:
    """Return the correlations of rows with those some steps on, shape (steps, p)."""
    scores = standardized(left)
    r = len(scores)
    return np.array([(scores[step:] * scores[: r - step]).sum(axis=0) / r for step in steps])


def _without_drift(left: Floats) -> Floats:
    """Take a slow drift over the file out of columns, shape (r, p)."""
    r = len(left)
    knots = int(np.clip(r // 25, 2, DRIFT))
    places = np.linspace(0, knots - 1, r)
    pieces = [np.maximum(0.0, 1 - np.abs(places - knot)) for knot in range(knots)]
    return _residual(left, np.column_stack(pieces))


def _residual(values: Floats, parts: Floats) -> Floats:
    """Return what some columns do not explain of others, shape (r, p)."""
    basis, triangle = np.linalg.qr(parts)
    basis = basis[:, np.abs(np.diag(triangle)) > 1e-9]
    return np.asarray(values - basis @ (basis.T @ values))


def sort_keys(columns: Columns, codes: Integers32) -> tuple[list[int], Booleans]:
    """Find the columns that rows are sorted by, the first one first, and where they change.

    Within the rows of equal first keys the next key rises, or falls; a category, or a number of few
    levels, has each of its levels in one piece. Columns that rise nearly everywhere come last.

    Returns
    -------
    keys : list of int
    ends : ndarray of bool, shape (r - 1,)
        True where a key changes from a row to the next one.
    """
    steps = np.diff(codes.astype(np.int64), axis=0)
    known = codes < np.array([len(column.values) for column in columns.columns])
    moves = np.where(known[1:] & known[:-1], steps, 0)
    ends = np.zeros(len(steps), dtype=bool)
    keys: list[int] = []
    while ends.mean() < CONSTANT:
        segments = np.concatenate(([0], np.cumsum(ends)))
        changes = {
            place: int((steps[~ends, place] != 0).sum())
            for place, column in enumerate(columns.columns)
            if place not in keys
            and (
                (column.ordered and _rises(moves[~ends, place]))
                or (not _is_long(column) and _in_pieces(codes[:, place], segments))
            )
        }
        if not changes:
            break
        # the finest one first: what is a class of it changes with it
        keys.append(max(changes, key=lambda place: changes[place]))
        ends |= steps[:, keys[-1]] != 0
    # rows are sorted nearly, or by what is not in the table and then by one of its columns
    trend = _trends(codes)
    keys += [
        place
        for place, column in enumerate(columns.columns)
        if column.ordered
        and place not in keys
        and (_rises(moves[:, place], RISING) or trend[place] >= NEARLY_SORTED)
    ]
    return keys, ends


def _trends(codes: Integers32) -> Floats:
    """Return the size of the correlation of level numbers with the place in the file, (p,)."""
    scores = standardized(codes.astype(np.float64))
    places = standardized(np.arange(len(codes), dtype=np.float64)[:, None])
    trends: Floats = np.abs((scores * places).mean(axis=0))
    return trends


def _is_long(column: Column) -> bool:
    return column.ordered and column.levels > FEWEST_PAIRS


def _rises(steps: Integers, most: float = SORTED) -> bool:
    """True if a column rises, or falls, all along; steps within rows of equal earlier keys."""
    moves = steps[steps != 0]
    if len(moves) < FEWEST_STEPS:
        return False
    up = float((moves > 0).mean())
    return min(up, 1 - up) <= most


def _in_pieces(codes: Integers32, segments: Integers) -> bool:
    """True if equal values of a column stand together within each segment of earlier keys."""
    joint = segments * (int(codes.max()) + 1) + codes
    pieces = int((np.diff(joint) != 0).sum()) + 1
    different = len(np.unique(joint))
    apart = int(segments[-1]) + 1  # which chance has in pieces, too
    return pieces <= (1 + SORTED) * different and apart < different < len(codes) / 2


def _within_ends(codes: Integers32, ends: Booleans) -> Booleans:
    """Return the columns, shape (p,), that are constant between changes of the sort keys."""
    inside = ~ends
    if not ends.any() or int(inside.sum()) < FEWEST_PAIRS:
        return np.zeros(codes.shape[1], dtype=bool)
    equal = codes[1:][inside] == codes[:-1][inside]
    return np.asarray(equal.mean(axis=0) >= CONSTANT)


def _unexplained(scores: Floats, codes: Integers32, keys: list[int], columns: Columns) -> Floats:
    """Take what sort keys explain out of ranks, shape (r, p)."""
    r = len(scores)
    parts = [np.ones(r)]
    for key in keys:
        column = columns.columns[key]
        if column.ordered:
            parts += [scores[:, key] ** power for power in (1, 2, 3)]
        elif column.levels <= min(LEVELS_OUT, r / 8):
            parts += [(codes[:, key] == level).astype(np.float64) for level in range(column.levels)]
    return _residual(scores, np.column_stack(parts))


def _in_blocks(columns: Columns, codes: Integers32, keys: list[int], ends: Booleans) -> list[int]:
    """Return the numbers that stay the same in even blocks of rows, and no key explains it."""
    equal = (codes[1:] == codes[:-1]).mean(axis=0)
    ties = np.minimum(columns.ties, 1 - 1e-9)
    beyond = (equal - ties) / (1 - ties)
    explained = _within_ends(codes, ends)
    found = []
    for place, column in enumerate(columns.columns):
        long = column.ordered and column.levels >= BLOCK_LEVELS
        steady = equal[place] >= IN_BLOCKS and beyond[place] >= IN_BLOCKS
        if long and steady and place not in keys and not explained[place]:
            changes = np.flatnonzero(codes[1:, place] != codes[:-1, place])
            lengths = np.diff(np.concatenate(([-1], changes, [len(codes) - 1])))
            if len(lengths) >= BLOCK_LEVELS and lengths.std() <= UNEVEN * lengths.mean():
                found.append(place)
    return found
