"""Success of one attack on each level of a confidential variable, by certainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.measures.attacks.confidential_value import Tolerance, most_within_reach
from rwn_core.measures.attacks.likeliest_value import Names
from rwn_core.measures.attacks.naming import beyond_luck, naming_score

CERTAINTIES = (0.0, 0.5, 0.8, 0.95)  # posteriors from which on an intruder names a value
FEWEST = 20  # names outside of the file, below which their precision says little
_EDGE = 1 - 1e-9  # a posterior of exactly one half is one half
_AT_ONCE = 64  # scores that are computed together


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Values of the attacked people.

    Attributes
    ----------
    truth : ndarray of float64, shape (people,)
        Values or level numbers, NaN where missing.
    near : Tolerance
    levels : int or None
        Number of levels; None for a number, which counts as one level.
    """

    truth: Floats
    near: Tolerance
    levels: int | None

    @property
    def known(self) -> int:
        """Number of people with a value."""
        return int((~np.isnan(self.truth)).sum())

    def of_level(self) -> Floats:
        """Return the number of people with each level, shape (levels,)."""
        known = self.truth[~np.isnan(self.truth)]
        if self.levels is None:
            return np.array([float(len(known))])
        return np.bincount(known.astype(np.int64), minlength=self.levels).astype(np.float64)

    def base(self) -> Floats:
        """Return the precision of naming each level of random people, shape (levels,)."""
        if self.levels is None:
            return np.array([most_within_reach(self.truth, self.near)])
        return self.of_level() / max(self.known, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Named:
    """Number of named people by certainty and level: shape (certainties, levels) each."""

    right: Floats
    named: Floats


def count_names(names: Names, people: People) -> Named:
    """Count names and right names at each of the `CERTAINTIES`."""
    # several values of one person count as one name in parts; without a true value no name counts
    truth = people.truth[names.person]
    choices = np.bincount(names.person, minlength=len(people.truth))[names.person]
    weight = np.where(np.isnan(truth), 0.0, 1.0 / np.maximum(choices, 1))
    hit = weight * people.near.right(names.value, truth)
    level = np.zeros(len(truth), np.int64) if people.levels is None else names.value.astype(int)
    size = people.levels or 1
    # each name counts at all certainties up to its own
    sure = np.searchsorted(np.array(CERTAINTIES) * _EDGE, names.share, "right") - 1
    place = sure * size + level
    shape = (len(CERTAINTIES), size)
    counted = [np.bincount(place, each, shape[0] * size) for each in (hit, weight)]
    # without a name these are whole numbers
    both = np.array(counted, dtype=np.float64).reshape(2, *shape)
    right, named = both[:, ::-1].cumsum(axis=1)[:, ::-1]
    return Named(right=right, named=np.maximum(named, right))


def beyond_outside(
    found: Named, people: People, outside: Named, others: People
) -> tuple[tuple[int, ...], float]:
    """Return the place (certainty, level) and size of the best score beyond people outside."""
    base, of_level = people.base(), others.of_level()
    own = naming_score(found.right, found.named, people.of_level(), base)
    own = np.where(beyond_luck(found.right, found.named, base), own, 0.0)
    certain = naming_score(outside.right, outside.named, of_level, base)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = (outside.right / outside.named - base) / (1 - base)
        plain = outside.right / of_level * np.maximum(lift, 0.0)
    enough = (outside.named >= FEWEST) & np.isfinite(plain)
    beyond = own - np.where(enough, plain, certain)
    place = np.unravel_index(int(beyond.argmax()), beyond.shape)
    return tuple(map(int, place)), max(float(beyond[place]), 0.0)


def best_score(
    right: Floats, named: Floats, people: Floats, base: Floats
) -> tuple[tuple[int, ...], float]:
    """Return the place and size of the largest `naming_score` beyond luck; (..., levels) each."""
    # the score is at most recall x (precision - base) / (1 - base): scores are computed in this
    # order until no other can be larger
    precision = np.divide(right, named, out=np.zeros_like(right), where=named > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = right / people * np.maximum((precision - base) / (1 - base), 0.0)
    most = np.nan_to_num(most, nan=0.0, posinf=0.0).ravel()
    every_people = np.broadcast_to(people, right.shape).ravel()
    every_base = np.broadcast_to(base, right.shape).ravel()
    place, best = int(most.argmax()), 0.0
    left = np.flatnonzero((most > 0) & beyond_luck(right, named, base).ravel())
    left = left[np.argsort(-most[left], kind="stable")]
    for start in range(0, len(left), _AT_ONCE):
        some = left[start : start + _AT_ONCE]
        if most[some[0]] <= best:
            break
        scores = naming_score(
            right.ravel()[some], named.ravel()[some], every_people[some], every_base[some]
        )
        if scores.max() > best:
            place, best = int(some[scores.argmax()]), float(scores.max())
    return tuple(map(int, np.unravel_index(place, right.shape))), best
