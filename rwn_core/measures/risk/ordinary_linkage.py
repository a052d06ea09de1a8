"""Linkage by an intruder who does not know the method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.data.variable import LEVELS
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import (
    Comparison,
    complete,
    matrix,
    numbers,
    released_rows,
    require_same_records,
    varies,
)
from rwn_core.measures.measure import Detail, Measure, Reading, linkage_measure, some_of
from rwn_core.measures.sentence import filled, people, tenths
from rwn_core.measures.statistics.key_variables import cell_codes, key_names
from rwn_core.measures.statistics.nearest_points import (
    distinct_originals,
    evenly,
    nearest_links,
    original_points,
    spread_sample,
)
from rwn_core.measures.view import Linker, Tile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrdinaryLinkage(Detail):
    """The details of linkage without the method; each measure fills what it reads.

    Attributes
    ----------
    names : sequence of str
        The v variables that rows are compared by; empty where all are.
    score : ndarray of float64, shape (m,)
        Chance of a correct link of each row; ties share their link.
    matched, unmatched : ndarray of float64, shape (v,)
        Probability m that a variable agrees for a match, and u for another pair (Fellegi and
        Sunter).
    """

    score: Floats = field(default_factory=lambda: np.zeros(0))
    matched: Floats = field(default_factory=lambda: np.zeros(0))
    unmatched: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def agree(self) -> Floats:
        """Return log2(m / u) of each variable, shape (v,)."""
        return np.log2(self.matched / self.unmatched)

    @property
    def disagree(self) -> Floats:
        """Return log2((1 - m) / (1 - u)) of each variable, shape (v,)."""
        return np.log2((1 - self.matched) / (1 - self.unmatched))

    def weight(self, agreement: Booleans) -> Floats:
        """Return the weight of agreement patterns, shape (..., v) to (...)."""
        return np.asarray(np.where(agreement, self.agree, self.disagree).sum(axis=-1))


# Distance linkage: the nearest original is taken for the source


def compute_distance_linkage(comparison: Comparison) -> Reading[OrdinaryLinkage]:
    """Return the share of released records that linking to the nearest original finds."""
    original_points(comparison)  # refused without a distance
    require_same_records(comparison.original, comparison.masked)
    candidates = distinct_originals(comparison)  # an intruder holds all of the file
    total = comparison.every.n
    rows = released_rows(comparison.original, comparison.masked)
    records, score = nearest_links(comparison, candidates, rows)
    detail = OrdinaryLinkage(score=score, **some_of(records, total))
    return Reading(value=float(score.mean()), baseline=comparison.random_share, detail=detail)


DISTANCE_LINKAGE = linkage_measure(
    key="distance_linkage",
    title="Distance linkage",
    question="How often is the nearest original record the true source of a released one?",
    sentence=filled(
        "Taking the nearest original for the source, as common tools do, finds {people}."
    ),
    source="Domingo-Ferrer and Torra 2001; ties share their link",
    compute=compute_distance_linkage,
    reads_some=True,
    tile=Tile(places={"risk": 4}, label="Ordinary, by distance", words=tenths),
    linkers=(Linker(place=3, words="distance, all"),),
    places={
        "record of a dataset": 8,
        "sweep": 2,
        "report": 99,
        "scenarios": 1,
        "attacks": 2,
        "picture": 1,
    },
)


# Mahalanobis linkage: distances in the covariance of the masking's differences

FLAT = 1e-10  # share of the largest variance below which a direction counts as unchanged
TIE = 1e-9
ROUNDING = 1e-12  # of the sizes of two points, within which the product of matrices is right
BLOCK_PAIRS = 1 << 17  # that are compared at a time, few enough for the cache


def compute_mahalanobis_linkage(comparison: Comparison) -> Reading[OrdinaryLinkage]:
    """Return the share of released records that are nearest to their source."""
    original, masked = comparison.original, comparison.masked
    require_same_records(original, masked)
    before = matrix(original, original, original.numeric_names)
    after = matrix(original, masked, original.numeric_names)
    rows = np.intersect1d(complete(before), complete(after))
    varied = varies(before[rows])
    if not varied.any():  # nor of fewer than two records
        raise NotApplicable("There are no two complete records with numbers that vary.")
    before = before[np.ix_(rows, varied)]
    after = after[np.ix_(rows, varied)]
    size = np.abs(before).max(axis=0)
    before = before / size
    after = np.clip(after / size, -1e100, 1e100)
    # a root of the inverse of the covariance of x - x', (m, m), and the means in flat directions,
    # (m,): an unchanged variable, or a direction with the same change in all records, has no
    # variance, so that there a row must agree with its source
    change = before - after
    mean = change.mean(axis=0)
    change = change - mean
    values, vectors = np.linalg.eigh(change.T @ change / max(len(change) - 1, 1))
    least = FLAT * values.max(initial=0.0)
    if least <= 0:
        raise NotApplicable(
            "Masking moves no number beyond a common shift, so there is no covariance of the "
            "differences; look at distance linkage."
        )
    root = vectors / np.sqrt(np.maximum(values, least))
    moved = np.where(values > least, 0.0, mean @ root)
    chosen = spread_sample(np.arange(len(rows)))
    units = rows if comparison.units is None else comparison.units[rows]
    # the chance of a correct link of each released row, ties share; shapes: score (m,)
    own, ties = np.zeros((2, len(chosen)))
    for row, near in _nearest_points(before @ root, after[chosen] @ root + moved):
        own += np.bincount(row, units[near] == units[chosen[row]], len(chosen))
        ties += np.bincount(row, minlength=len(chosen))
    score = own / ties
    detail = OrdinaryLinkage(
        names=[n for n, k in zip(original.numeric_names, varied, strict=True) if k],
        score=score,
        **some_of(rows[chosen], len(rows)),
    )
    return Reading(value=float(score.mean()), baseline=1.0 / len(np.unique(units)), detail=detail)


def _nearest_points(points: Floats, released: Floats) -> Iterator[tuple[Integers, Integers]]:
    """Yield released rows and the points that are nearest to them; ties all count."""
    # Shapes: points (n, d), released (m, d); both parts of each answer (t,), ascending rows.
    # Products of matrices rule out nearly all points, to within their rounding; the distances of
    # the others are summed up one by one.
    sizes = np.einsum("ij,ij->i", points, points)
    most = float(sizes.max(initial=0.0))
    block = max(1, BLOCK_PAIRS // max(len(points), 1))
    for start in range(0, len(released), block):
        some = released[start : start + block]
        about = some @ points.T
        about *= -2
        about += sizes
        own = np.einsum("ij,ij->i", some, some)
        least = about.min(axis=1)
        slack = ROUNDING * (most + own) + TIE * (least + own).clip(0)
        near = np.flatnonzero(about <= (least + 2 * slack)[:, np.newaxis])
        row, others = np.divmod(near, len(points))
        squared = ((points[others] - some[row]) ** 2).sum(axis=1)
        starts = np.searchsorted(row, np.arange(len(some)))
        nearest = np.minimum.reduceat(squared, starts)
        ties = squared <= (nearest * (1 + TIE) + 1e-18)[row]
        yield start + row[ties], others[ties]


def mahalanobis_linkage_sentence(reading: Reading[OrdinaryLinkage], n: int) -> str:
    """Say how many of the records without missing numbers are linked."""
    total = reading.detail.of
    whose = "" if total == n else " that have all their numbers in both files"
    return (
        "With a distance that knows how the masking moves the numbers together it finds "
        f"{people(reading.value, total)}{whose}."
    )


MAHALANOBIS_LINKAGE = Measure(
    key="mahalanobis_linkage",
    title="Mahalanobis linkage",
    question="How often is the nearest original the true source, for an intruder who knows how "
    "strongly the masking moved the numbers together?",
    sentence=mahalanobis_linkage_sentence,
    source="Torra, Abowd, Domingo-Ferrer 2006; inverse of S + S' - 2 Cov(X, X')",
    compute=compute_mahalanobis_linkage,
    of_units=True,
    about="row",
    places={"report": 99, "scenarios": 2},
)


# Probabilistic linkage: agreement of the keys with Fellegi-Sunter weights

STEPS = 200
_EDGE = 1e-6  # probabilities stay off 0 and 1, where a weight would be infinite


def fit(patterns: Booleans, counts: Floats, share: float) -> OrdinaryLinkage:
    """Estimate the weights by EM (Jaro 1989) from the number of pairs of each agreement pattern."""
    # the share of matches is known: one in each row
    agrees = patterns.astype(np.float64)
    unmatched = _off_the_edges(counts @ agrees / counts.sum())
    matched = _off_the_edges(np.maximum(0.9, 1 - (1 - unmatched) / 2))
    chances = np.array([matched, unmatched])
    part = np.array([[share], [1 - share]])
    agrees_by_key = np.ascontiguousarray(agrees.T)
    for _ in range(STEPS):
        weights = part * _likelihood(agrees_by_key, chances)
        weights *= counts / (weights[0] + weights[1])
        sums = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        new = _off_the_edges(weights @ agrees / sums)
        moved = float(np.abs(new[0] - chances[0]).max())
        chances = new
        if moved < 1e-10:
            break
    return OrdinaryLinkage(matched=chances[0], unmatched=chances[1])


def _off_the_edges(chances: Floats) -> Floats:
    return np.minimum(np.maximum(chances, _EDGE), 1 - _EDGE)


def _likelihood(agrees: Floats, chances: Floats) -> Floats:
    # Shapes: agrees (v, m), of m patterns; chances (2, v), of matches and others; answer (2, m).
    differing = np.log1p(-chances)
    logs = (np.log(chances) - differing) @ agrees
    logs += differing.sum(axis=1, keepdims=True)
    return np.exp(np.maximum(logs, -600))


NEAR = 0.25  # standard deviations, or distances of the quartiles, within which two numbers agree
MOST_KEYS = 12
BYTE = 8  # bits
ROUNDED = 1e-9  # of two numbers, more than rounding moves their difference


def compute_probabilistic_linkage(comparison: Comparison) -> Reading[OrdinaryLinkage]:
    """Return the share of released records that score best with their source; ties share."""
    original = comparison.original
    masked = comparison.masked
    n = comparison.original.n
    require_same_records(original, masked)
    keys = key_names(comparison)[:MOST_KEYS]
    leaving = released_rows(original, masked)
    rows = spread_sample(leaving)
    rows = evenly(rows, min(len(rows), max(1, ATTACKED_PAIRS // n)))
    pattern = _agreement_patterns(comparison, keys, rows)
    present = np.zeros(1 << len(keys), dtype=np.int64)
    for part in _blocks(pattern):
        present += np.bincount(part.ravel(), minlength=len(present))
    seen = np.flatnonzero(present)
    bits = (seen[:, None] >> np.arange(len(keys)) & 1).astype(bool)
    weights = fit(bits, present[seen].astype(np.float64), 1.0 / n)
    # the ranks of the weights of the patterns: equal weights have one rank
    ranks = np.zeros(1 << len(keys), dtype=np.int16)
    ranks[seen] = np.unique(np.round(weights.weight(bits), 9), return_inverse=True)[1]
    right = np.empty(len(rows))
    start = 0
    for part in _blocks(pattern):
        some = slice(start, start + len(part))
        start += len(part)
        rank = ranks.take(part)
        first = rank == rank.max(axis=1, keepdims=True)
        own = first[np.arange(len(part)), rows[some]].astype(np.int64)
        if comparison.units is not None:
            own = (first & (comparison.units == comparison.units[rows[some], None])).sum(axis=1)
        right[some] = own / np.count_nonzero(first, axis=1)
    detail = replace(weights, names=list(keys), score=right, **some_of(rows, len(leaving)))
    return Reading(value=float(right.mean()), baseline=comparison.random_share, detail=detail)


def _agreement_patterns(
    comparison: Comparison, keys: Sequence[str], rows: Integers
) -> NDArray[np.uint16]:
    """Return the keys in which released rows agree with each original, as bits, shape (m, n)."""
    original = comparison.original
    masked = comparison.masked
    agreeing = []
    for name in keys:
        if original.schema.variable(name).kind in LEVELS:
            before, after = cell_codes(comparison, [name])
            shown = after[rows, 0]
            agreeing.append(_Agreeing.of(before[:, 0], shown, shown + 1))
        else:
            known = comparison.cached_for_original(
                ("compared numbers", name), partial(_Compared.of, original.values(name))
            )
            agreeing.append(_near(known, numbers(original, masked, name)[rows]))
    pattern = np.empty((len(rows), original.n), dtype=np.uint16)
    start = 0
    for part in _blocks(pattern):
        some = slice(start, start + len(part))
        start += len(part)
        # numbers of one byte are worked through fastest
        np.left_shift(_bits(agreeing[BYTE:], some, part.shape), BYTE, out=part, dtype=np.uint16)
        part |= _bits(agreeing[:BYTE], some, part.shape)
    return pattern


def _bits(agreeing: Sequence[_Agreeing], rows: slice, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return which of up to eight keys agree, the first as the last bit, shape (b, n)."""
    bits = np.zeros(shape, dtype=np.uint8)
    for each in reversed(agreeing):
        bits += bits
        bits |= each.of_rows(rows).view(np.uint8)
    return bits


def _blocks(pattern: NDArray[np.uint16]) -> list[NDArray[np.uint16]]:
    """Cut rows that are compared with n originals, shape (m, n), into blocks for the cache."""
    rows = max(1, BLOCK_PAIRS // (4 * max(pattern.shape[1], 1)))
    return [pattern[start : start + rows] for start in range(0, len(pattern), rows)]


class _Agreeing(NamedTuple):
    """The originals that agree with each released row: a range of their numbered values."""

    # of few bytes and without a sign, so that one comparison tells whether a number is in a range
    codes: NDArray[np.unsignedinteger[Any]]  # shape (n,)
    first: NDArray[np.unsignedinteger[Any]]  # shape (m, 1)
    length: NDArray[np.unsignedinteger[Any]]  # shape (m, 1), less one

    @classmethod
    def of(cls, codes: Integers, first: Integers, end: Integers) -> _Agreeing:
        """Return the ranges from `first` to before `end`, shape (m,); a missing code is -1."""
        most = int(max(codes.max(initial=0), end.max(initial=0)))
        short = most < np.iinfo(np.uint16).max - 1
        kind: type[np.unsignedinteger[Any]] = np.uint16 if short else np.uint32
        missing = int(np.iinfo(kind).max)
        some = (end > first) & (first >= 0)
        return cls(
            np.where(codes < 0, missing, codes).astype(kind),
            np.where(some, first, missing - 1).astype(kind)[:, np.newaxis],  # nobody has that one
            np.where(some, end - first - 1, 0).astype(kind)[:, np.newaxis],
        )

    def of_rows(self, rows: slice) -> Booleans:
        """Return which originals agree with some released rows, shape (b, n)."""
        # numbers below the first one become large ones
        return np.asarray(self.codes - self.first[rows] <= self.length[rows])


class _Compared(NamedTuple):
    """A variable's numbers as they are compared with released ones."""

    distinct: Floats  # ascending
    codes: Integers  # shape (n,): the place of each record's number; -1 where it is missing
    tolerance: float

    @classmethod
    def of(cls, values: Floats) -> _Compared:
        """Return the numbers of an original, shape (n,)."""
        known = ~np.isnan(values)
        codes = np.full(len(values), -1, dtype=np.int64)
        distinct, codes[known] = np.unique(values[known], return_inverse=True)
        return cls(distinct, codes, _tolerance(values))


def _near(known: _Compared, shown: Floats) -> _Agreeing:
    """Return the originals near released numbers; a missing number is near to nothing."""
    # Shapes: shown (m,).
    distinct = known.distinct
    tolerance = known.tolerance
    slack = ROUNDED * (np.abs(shown) + tolerance)

    def first_with(holds: Callable[[Floats], Booleans], about: Floats) -> Integers:
        """Return the first distinct value from which on something holds, `about` there, (m,)."""
        low = np.searchsorted(distinct, about - slack)
        high = np.searchsorted(distinct, about + slack, side="right")
        while (open_ones := low < high).any():
            middle = (low + high) // 2
            holds_there = holds(shown - distinct[middle.clip(max=len(distinct) - 1)])
            high = np.where(open_ones & holds_there, middle, high)
            low = np.where(open_ones & ~holds_there, middle + 1, low)
        return low

    first = first_with(lambda apart: apart <= tolerance, shown - tolerance)
    end = first_with(lambda apart: ~(apart >= -tolerance), shown + tolerance)
    return _Agreeing.of(known.codes, first, np.where(np.isnan(shown), 0, end))


def _tolerance(values: Floats) -> float:
    """Return the difference within which two numbers of a variable agree."""
    known = values[~np.isnan(values)]
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    # a few far values widen the standard deviation, not the distance of the quartiles
    middle = float(np.subtract(*np.quantile(known, (0.75, 0.25)))) if spread else 0.0
    return NEAR * (min(spread, middle) or spread)


PROBABILISTIC_LINKAGE = linkage_measure(
    key="probabilistic_linkage",
    title="Probabilistic linkage",
    question="How often does linking by weighted agreement of the key variables find the true "
    "source of a released record?",
    sentence=filled(
        "Weighing which of {keys} agree, numbers within a quarter of a standard deviation (or of "
        "the distance of the quartiles, if less), finds {people}."
    ),
    source="Fellegi and Sunter 1969, weights by the EM algorithm of Jaro 1989; numbers agree "
    "within 0.25 standard deviations and interquartile ranges",
    compute=compute_probabilistic_linkage,
    linkers=(Linker(place=2, words="probabilistic, keys"),),
    places={"record of a dataset": 9, "report": 99, "scenarios": 4, "attacks": 3},
)
