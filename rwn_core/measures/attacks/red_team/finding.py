"""Findings of the simple attacks, and which of them are beyond luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.measures.attacks.red_team.files import FEW_VALUES, Files
from rwn_core.measures.statistics.intervals import LUCK, beyond_luck, naming_score

TENTH, TWENTIETH = 0.1, 0.05  # of a spread, and of the value itself: a number so near is read
ROUNDED_OFF = 1e-9
FEW_PEOPLE = 10  # values that fewer people share are named together, too: one of each is luck
RARE = "rare values"
WRITTEN = 3  # variables of a set that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one attack."""

    attack: str  # key of the attack
    words: str  # stands after "by": "a merge on age + sex"
    kind: Literal["identity", "attribute"]  # links of rows, or names of confidential values
    # right, named, people: right answers, answers, and possible answers: released rows, or people
    # with the value
    right: float
    named: float
    people: float
    base: float  # share that is right by naming it of random people, or by a random link
    # Identity: share of the released rows. Attribute: `naming_score`, or 0 within luck.
    score: float
    # secret, level: the confidential variable, and the named level; None for all of its values
    secret: str | None = None
    level: str | None = None

    @property
    def recall(self) -> float:
        """Share of the people that are named correctly."""
        return self.right / self.people if self.people else 0.0

    @property
    def precision(self) -> float:
        """Share of the names that are right."""
        return self.right / self.named if self.named else 0.0

    @property
    def certain(self) -> float:
        """Lower bound of the score that holds for other releases."""
        if self.kind == "attribute":
            return self.score
        wrong = self.named - self.right
        return float(betaincinv(self.right, wrong + 1, LUCK)) if self.right > 0 else 0.0


class NameCounts(NamedTuple):
    """The counts of names: for each level of a secret, or for all its values."""

    attack: str
    words: str
    secret: str
    levels: Sequence[str | None]
    right: Floats  # shape (levels,)
    named: Floats  # shape (levels,)
    people: Floats  # shape (levels,)
    base: Floats  # shape (levels,)
    independent: Floats  # shape (levels,): the names that do not come from one row or class


class Reach(NamedTuple):
    """The distance within which each value of a variable is right; no single person can move it."""

    spread: float
    small: float | None  # stands for a value of 0; None where a share of a value means nothing

    def of(self, values: Floats) -> Floats:
        """Return the distance of each value, shape (m,)."""
        if self.small is None:
            return np.full(values.shape, self.spread)
        sizes = np.where(values == 0, self.small, np.abs(values))
        return np.minimum(self.spread, TWENTIETH * sizes)


def reach_of(truth: Floats) -> Reach:
    """Return the distance within which values are right, by the true ones, shape (n,)."""
    known = truth[~np.isnan(truth)]
    if not known.size:
        return Reach(0.0, None)
    low, high = np.quantile(known, [0.25, 0.75])
    width = float(high - low)
    deviation = float(known.std(ddof=1)) if known.size > 1 else 0.0
    different = known[known != low]
    if low == high and different.size:  # most have one value: the others say how far apart they lie
        width = float(np.ptp(np.quantile(different, [0.25, 0.75]))) or deviation
    spread = TENTH * min(deviation, width)
    sizes = np.abs(known[known != 0])
    if low < 0 < high or not sizes.size:  # a share of a value near 0 means nothing
        return Reach(spread, None)
    return Reach(spread, float(np.quantile(sizes, 0.25)))


def reach_in(files: Files, secret: str) -> Reach:
    """Return within what values of a confidential variable are right, read once for all attacks."""
    truth = files.column(files.truth, secret)
    known: Reach = files.cached(("reach", secret), partial(reach_of, truth))
    return known


def count_names(
    files: Files,
    secret: str,
    guess: Floats,
    how: tuple[str, str],
    *,
    targets: Integers | slice = slice(None),
    weights: Floats | None = None,
) -> list[NameCounts]:
    """Count the names (NaN: none) of a confidential variable, by level and all together."""
    # how is (attack, words); targets are the people asked for; weights: how many independent names
    # a name is, less than 1 where one row names several people
    truth = files.column(files.truth, secret)[targets]
    unit = files.unit[targets]
    asked = ~np.isnan(truth)
    weights = (np.ones(len(truth)) if weights is None else weights)[asked]
    truth = truth[asked]
    guess = guess[asked]
    unit = unit[asked]
    if not truth.size:
        return []
    near = np.zeros(truth.size)
    if secret not in files.levels:
        measured = reach_in(files, secret) if isinstance(targets, slice) else reach_of(truth)
        near = measured.of(truth)
    near = np.maximum(near, ROUNDED_OFF * np.abs(truth))
    counts = np.ones(len(truth))
    if files.one_record_each or len(np.unique(unit)) == len(unit):
        return _counted(files, (how, secret), (truth, guess, near), (counts, weights))
    # the different values of a unit count the same, and as one in all; rows of a unit are evidence,
    # too, but for a value that one unit alone has
    pairs, often = distinct(unit, truth)
    counts = 1 / (often * np.bincount(pairs[:, 0].astype(np.int64))[unit])
    if files.cached(("levels", secret), partial(_levels, files, secret)) is not None:
        values, owners = np.unique(pairs[:, 1], return_counts=True)
        held_by_one = np.isin(guess, values[owners == 1])
        weights = np.where(held_by_one, np.minimum(weights, counts), weights)
    found = _counted(files, (how, secret), (truth, guess, near), (counts, weights))
    how = how[0], f"{how[1]}, from all of the rows of one"
    guess = _together(guess, unit, secret in files.levels)
    return found + _counted(files, (how, secret), (truth, guess, near), (counts, counts))


def distinct(unit: Integers, values: Floats) -> tuple[Floats, Integers]:
    """Return the different pairs of unit and value, and how often each record's pair occurs."""
    both = np.column_stack((unit, values)).astype(np.float64)
    pairs, place, often = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(pairs), np.asarray(often[place.ravel()], dtype=np.int64)


def _together(guess: Floats, unit: Integers, levels: bool) -> Floats:
    """Return one name for all records of a unit: the most frequent level, or the middle number."""
    # Shapes: guess, unit, the answer (n,).
    if not levels:
        middle = pd.Series(guess).groupby(unit).quantile(interpolation="lower")
        return np.asarray(middle[unit], dtype=np.float64)
    named = np.flatnonzero(~np.isnan(guess))
    best = np.full(int(unit.max()) + 1, np.nan)
    often = distinct(unit[named], guess[named])[1]
    order = named[np.lexsort((guess[named], often))]  # the last of a unit stays
    best[unit[order]] = guess[order]
    return best[unit]


def _counted(
    files: Files,
    about: tuple[tuple[str, str], str],
    named_of: tuple[Floats, Floats, Floats],
    weighed: tuple[Floats, Floats],
) -> list[NameCounts]:
    (how, secret), (truth, guess, reached), (counts, weights) = about, named_of, weighed
    named = ~np.isnan(guess)

    def pooled(near: Floats, common: Floats | None = None) -> NameCounts:
        """Count the names of all values together, or of those that few people share."""
        having = np.ones(truth.size, dtype=bool)
        said = named
        level = None
        if common is not None:
            having = ~are_among(truth, common)
            said = named & ~are_among(guess, common)
            level = RARE
        right = having & said & (np.abs(guess - truth) <= near)  # a number within its reach
        people = counts[having].sum()
        base = (
            people
            / counts.sum()
            * files.cached(
                ("base", secret, level, truth.size, bool(near.any())),
                lambda: best_single_guess(truth[having], near[having], counts[having]),
            )
        )
        sums = counts[right].sum(), counts[said].sum(), people, base, weights[said].sum()
        return NameCounts(*how, secret, [level], *(np.array([float(each)]) for each in sums))

    values = files.cached(("levels", secret), partial(_levels, files, secret))
    found = [pooled(reached)]
    if values is not None:
        equal = np.abs(guess - truth) <= ROUNDED_OFF * np.abs(truth)
        place = np.searchsorted(values, truth)
        shown = np.searchsorted(values, guess[named]).clip(max=len(values) - 1)
        fits = values[shown] == guess[named]
        of_level = [
            (place[equal], counts[equal]),
            (shown[fits], counts[named][fits]),
            (place, counts),
            (shown[fits], weights[named][fits]),
        ]
        right, said, people, independent = (
            np.asarray(np.bincount(*each, len(values)), np.float64) for each in of_level
        )
        known = files.levels.get(secret)
        base = people / counts.sum()
        levels = [f"{each:g}" if known is None else str(known[int(each)]) for each in values]
        found.append(NameCounts(*how, secret, levels, right, said, people, base, independent))
    elif secret not in files.levels:
        found.append(pooled(ROUNDED_OFF * np.abs(truth)))
    common = files.cached(("common", secret), partial(_common, files, secret))
    return found if common is None else [*found, pooled(reached, common)]


def are_among(values: Floats, some: Floats) -> Booleans:
    """Return which values, shape (n,), are among some ascending ones; NaN is not."""
    place = np.searchsorted(some, values).clip(max=len(some) - 1)
    return np.asarray(some[place] == values)


def _common(files: Files, secret: str) -> Floats | None:
    """Return the values that many people share, original and released; None if all do."""
    # Shape: the answer (d,), ascending.
    shared = []
    some_rare = False
    for table in (files.truth, files.people):
        values = files.column(table, secret)
        known = ~np.isnan(values)
        pairs = distinct(files.unit[known], values[known])[0]
        values, count = np.unique(pairs[:, 1], return_counts=True)
        shared.append(values[count >= FEW_PEOPLE])
        some_rare |= bool((count < FEW_PEOPLE).any())
    common = np.unique(np.concatenate(shared))
    return common if some_rare and len(common) else None


def _levels(files: Files, secret: str) -> Floats | None:
    """Return the values of a secret that are named one by one; None for a finer number."""
    # Shapes: the answer (d,), ascending.
    truth = files.column(files.truth, secret)
    values = np.unique(truth[~np.isnan(truth)])
    return values if secret in files.levels or len(values) <= FEW_VALUES else None


def best_single_guess(truth: Floats, near: Floats, counts: Floats | None = None) -> float:
    """Return the largest share of the people that one single number names correctly."""
    # Shapes: truth, near, counts (n,).
    if not len(truth):
        return 0.0
    counts = np.ones(len(truth)) if counts is None else counts
    begins, ends = truth - near, truth + near
    first, last = np.argsort(begins), np.argsort(ends)
    gone = np.concatenate(([0.0], np.cumsum(counts[last])))
    inside = np.cumsum(counts[first]) - gone[np.searchsorted(ends[last], begins[first], "left")]
    return float(inside.max() / counts.sum())


def scored(tried: Sequence[NameCounts]) -> list[Finding]:
    """Return the findings beyond luck of all names that were tried."""
    if not tried:
        return []
    right = np.concatenate([each.right for each in tried])
    named = np.concatenate([each.named for each in tried])
    people = np.concatenate([each.people for each in tried])
    base = np.concatenate([each.base for each in tried])
    independent = np.concatenate([each.independent for each in tried])
    share = independent / np.where(named > 0, named, 1.0)  # above 1: names of units by their rows
    score = naming_score(right, named, people, base, share)
    score = np.where(beyond_luck(right * share, named * share, base), score, 0.0)
    owners = []
    for each in tried:
        owners += [(each, level) for level in each.levels]
    return [
        Finding(
            attack=owners[i][0].attack,
            words=owners[i][0].words,
            kind="attribute",
            right=float(right[i]),
            named=float(named[i]),
            people=float(people[i]),
            base=float(base[i]),
            score=float(score[i]),
            secret=owners[i][0].secret,
            level=owners[i][1],
        )
        for i in np.flatnonzero(score > 0)
    ]


def link_finding(attack: str, words: str, right: ArrayLike, rows: int, base: float) -> Finding:
    """Return the finding of links of some rows to people."""
    return Finding(
        attack=attack,
        words=words,
        kind="identity",
        right=float(np.sum(right)),
        named=float(rows),
        people=float(rows),
        base=base,
        score=float(np.sum(right)) / max(rows, 1),
    )


def named_set(names: Sequence[str]) -> str:
    """Write some variables, to stand after "a merge on".

    >>> named_set(["age", "sex"]), named_set(list("abcdef"))
    ('age + sex', 'a + b + c + 3 more')
    """
    if len(names) <= WRITTEN + 1:
        return " + ".join(names)
    return f"{' + '.join(names[:WRITTEN])} + {len(names) - WRITTEN} more"
