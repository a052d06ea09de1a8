"""Learned attack: how masking changes each variable is learned from half of the true pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import QUICK_RECORDS
from rwn_core.measures.attacks.red_team.files import Files, knowledge
from rwn_core.measures.attacks.red_team.finding import (
    ROUNDED_OFF,
    Finding,
    NameCounts,
    link_finding,
)

KEY = "learned"
PAIRS = 200_000  # of a row that is linked and a person
LEVELS = np.linspace(0.0, 1.0, 9)  # quantiles of the changes: ends of their classes
ANOTHER = 7  # random people for each row: how often they agree

Weigh = Callable[[Floats, Floats], Floats]
"""Log of how much likelier values (of rows, of people) are of one person than of two."""


def attack(files: Files) -> list[Finding | NameCounts]:
    """Link the rows of one half to all people, by what the pairs of the other half show."""
    # An intruder who knows some people of the file has such pairs. A variable that is never changed
    # must agree.
    half = files.n // 2
    asked = np.arange(half, files.n)[: max(1, min(QUICK_RECORDS, PAIRS // files.n))]
    found: list[Finding | NameCounts] = []
    for names, what in knowledge(files):
        total = np.zeros((len(asked), files.n))
        for name in names:
            people, rows = (files.column(table, name) for table in (files.people, files.rows))
            weigh = learn(rows[:half], people, files.owner[:half], name in files.levels)
            # each pair of different values is weighed once
            different, row = np.unique(rows[asked], return_inverse=True)
            known, person = np.unique(people, return_inverse=True)
            total += weigh(different[:, np.newaxis], known[np.newaxis])[row][:, person]
        near = total >= total.max(axis=1, keepdims=True) - ROUNDED_OFF
        own = files.unit[files.owner[asked]]
        right = (near & (files.unit == own[:, np.newaxis])).sum(axis=1) / near.sum(axis=1)
        words = f"the best agreement with a person by {what}, as learned from half of the rows"
        found.append(link_finding(KEY, words, right, len(asked), files.random_share))
    return found


def learn(rows: Floats, people: Floats, owner: Integers, level: bool) -> Weigh:
    """Return the weights of agreement of one variable (Fellegi and Sunter 1969).

    Parameters
    ----------
    rows : ndarray of float64, shape (m,)
    people : ndarray of float64, shape (n,)
    owner : ndarray of int64, shape (m,)
        True person of each row.
    level : bool
        Whether values are levels of a category, equal or not.
    """
    source = people[owner]
    slope, start = _line(source, rows)
    values, count = np.unique(people[~np.isnan(people)], return_counts=True)
    changes = np.abs(rows - (start + slope * source))
    moved = changes[~_same(rows, source) & ~np.isnan(changes)]
    edges = np.unique(np.quantile(moved, LEVELS)[1:]) if len(moved) and not level else np.zeros(0)

    def classes(some: Floats, others: Floats) -> Integers:
        # 0: equal; 1, 2, ...: changed by more and more; then one of both missing, and both
        apart = np.abs(some - (start + slope * others))
        found = 1 + np.searchsorted(edges, np.nan_to_num(apart) * (1 - ROUNDED_OFF))
        found = np.where(_same(some, others), 0, found)
        missing = np.isnan(some).astype(np.int64) + np.isnan(others)
        return np.where(missing > 0, len(edges) + 1 + missing, found)

    size = len(edges) + 4
    strange = people[(owner[:, np.newaxis] + 1 + np.arange(ANOTHER)) % len(people)]
    chance = np.bincount(classes(rows[:, np.newaxis], strange).ravel(), minlength=size) + 1.0
    chance /= chance.sum()
    true = np.bincount(classes(rows, source), minlength=size) + chance
    weights = np.log(true / true.sum()) - np.log(chance)
    # agreement on a rare value says more than on a frequent one
    known = len(values) and true[0] > 1
    rare = np.log(true[0] / true.sum()) - np.log(count / count.sum()) if known else None

    # between classes weights change little by little, up to the largest change
    ends = np.concatenate(([0.0], edges))
    at = np.concatenate(((ends[1:] + ends[:-1]) / 2, ends[-1:], ends[-1:] * (1 + ROUNDED_OFF)))
    heights = weights[[*range(1, len(edges) + 1), max(len(edges), 1), len(edges) + 1]]

    def weigh(some: Floats, others: Floats) -> Floats:
        same = _same(some, others)
        if not len(edges):  # a category, or a number that never changes
            found = weights[classes(some, others)]
        else:
            found = np.interp(np.abs(some - (start + slope * others)), at, heights)
            if np.isnan(some).any() or np.isnan(others).any():
                gone = np.isnan(some) | np.isnan(others)
                found = np.where(gone, weights[classes(some, others)], found)
        if rare is None:
            return np.asarray(np.where(same, weights[0], found), np.float64)
        place = np.searchsorted(values, np.nan_to_num(others)).clip(max=len(values) - 1)
        return np.asarray(np.where(same, rare[place], found), np.float64)

    return weigh


def _same(some: Floats, others: Floats) -> Booleans:
    # Shapes: some and others broadcast together, and the answer has the same shape as their
    # broadcast.
    return np.asarray(np.abs(some - others) <= ROUNDED_OFF * np.abs(others), dtype=bool)


def _line(source: Floats, rows: Floats) -> tuple[float, float]:
    """Return slope and start of the released on the true numbers; 1 and 0 where that is better."""
    # Shapes: source, rows (m,).
    both = ~np.isnan(source) & ~np.isnan(rows)
    one = source[both]
    two = rows[both]
    if len(one) < 3 or one.min() == one.max():
        return 1.0, 0.0
    slope, start = np.polyfit(one - one.mean(), two, 1)
    start -= slope * one.mean()
    plain, fitted = np.abs(two - one), np.abs(two - (start + slope * one))
    better = np.median(fitted) < np.median(plain)
    return (float(slope), float(start)) if better else (1.0, 0.0)
