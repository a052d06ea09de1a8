"""Nearest points of any points, exact with ties: one matrix product says which pairs to compute.

A product in single precision bounds all squared distances from below; the exact ones are computed
for the few pairs that may be the nearest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.measures.comparison import Comparison, empty_records
from rwn_core.neighbors.distance import TIE, CodedPoints, Points, point_values, squared_between
from rwn_core.neighbors.metric import Metric
from rwn_core.parallel.threads import current_work, one_blas_thread

LONGEST = 1e15  # its square is still in the range of single precision
PAIRS = 2_000_000  # pairs at a time; threads share more
SLACK = 1e-6  # share of a squared distance within which ties are looked for
THINNED = 8  # of so many points one is asked first whether a record is nearer to it
FEWEST_THINNED = 4_000  # points, of which a part is asked first
_UNIT = 2.0**-24  # half the relative distance of neighboring numbers of single precision


Candidates = tuple[Integers, Integers, Floats]
"""Pairs that may be the nearest: query points (each occurs), ordered; points; squared distances."""


class PointIndex:
    """The points (n, d) prepared for nearest-neighbor queries, with the records at each (n,)."""

    def __init__(self, points: Points, counts: Integers | None = None) -> None:
        self.points = points
        self.counts = np.ones(len(points), dtype=np.int64) if counts is None else counts
        values = point_values(points)
        self._center = values.mean(axis=0)
        near = values - self._center
        length = np.einsum("ij,ij->i", near, near)
        # twice the bound on the rounding error of a term
        self._slack = 4 * (values.shape[1] + 8) * _UNIT
        in_range = bool(length.max(initial=0.0) < LONGEST**2)
        self._bounded = in_range and not isinstance(points, CodedPoints)
        if self._bounded:
            self._sides = np.empty((values.shape[1] + 1, len(values)), dtype=np.float32)
            self._sides[:-1] = near.T
            self._sides[-1] = length * (1 - self._slack)

    def candidates(self, others: Points, count: int, beyond: float = 0.0) -> Iterator[Candidates]:
        """Yield the pairs that hold the `count` nearest points of others, in blocks of rows."""
        # Pairs up to the share `beyond` above the last squared distance are included.
        if self._bounded and not isinstance(others, CodedPoints):
            near = others - self._center
            if bool(np.abs(near).max(initial=0.0) * near.shape[1] < LONGEST):
                for block in self._blocks(len(others)):
                    yield self._bounded_pairs(others[block], int(block[0]), count, 1 + beyond)
                return
        for block in self._blocks(len(others)):
            between = squared_between(others[block], self.points)
            limit = np.partition(between, count - 1, axis=1)[:, count - 1] * (1 + beyond)
            row, point = np.nonzero(between <= limit[:, np.newaxis])
            yield row + int(block[0]), point, between[row, point]

    @cached_property
    def thinned(self) -> PointIndex | None:
        """Every eighth point, to be asked first; None where there are few, or of categories."""
        if not self._bounded or len(self.points) < FEWEST_THINNED:
            return None
        return PointIndex(self.points[::THINNED])

    def have_nearer(self, others: Points, own: Floats) -> Booleans:
        """Return for which others (m,) a point is nearer than `own` (m,), squared, beyond ties."""
        nearer = np.zeros(len(others), dtype=bool)
        for row, _, apart in self.candidates(others, 1):
            starts = np.flatnonzero(np.diff(row, prepend=-1))
            rows = row[starts]
            edge = np.minimum.reduceat(apart, starts) * (1 + TIE)
            nearer[rows] = edge < own[rows]
        return nearer

    def _blocks(self, rows: int) -> Iterator[Integers]:
        size = max(1, PAIRS // len(self.points))
        for start in range(0, rows, size):
            yield np.arange(start, min(start + size, rows))

    def _bounded_pairs(self, others: Floats, start: int, count: int, factor: float) -> Candidates:
        # Shapes: others (b, d); each of the three answers (pairs,).
        points = point_values(self.points)
        near = others - self._center
        query = np.ones((len(near), near.shape[1] + 1), dtype=np.float32)
        query[:, :-1] = -2 * near
        bounds = query @ self._sides  # of the squared distance, less the query's own part
        own = np.einsum("ij,ij->i", near, near) * (1 - self._slack)
        rows = np.arange(len(near))
        limit = np.zeros(len(near))
        values = np.empty((count, len(near)), dtype=np.float32)
        places = np.empty((count, len(near)), dtype=np.intp)
        # the true distances to the points with the smallest bounds limit the nearest ones
        for number in range(count):
            place = places[number] = bounds.argmin(axis=1)
            values[number] = bounds[rows, place]
            bounds[rows, place] = np.inf
            limit = np.maximum(limit, squared(others, points[place]))
        bounds[limit == 0.0] = np.inf  # nothing is nearer than 0, and only equal points tie
        for number in range(count):
            bounds[rows, places[number]] = values[number]
        # rounded to single precision, the limit must not become smaller
        edge = np.nextafter((limit * factor - own + 1e-30).astype(np.float32), np.float32(np.inf))
        row, point = np.divmod(np.flatnonzero(bounds <= edge[:, np.newaxis]), len(points))
        return row + start, point, squared(others[row], points[point])


def squared(one: Floats, other: Floats) -> Floats:
    """Return squared distances summed in one order, so that equal pairs give equal bits."""
    # Shapes: one, other (m, d), or any that broadcast to (..., d); the answer (m,), or without d.
    difference = one - other
    total = np.zeros(difference.shape[:-1])
    for column in range(difference.shape[-1]):
        total += difference[..., column] ** 2
    return total


def distinct_points(points: Points) -> PointIndex:
    """Group the records that share a point."""
    values, counts = np.unique(point_values(points), axis=0, return_counts=True)
    return PointIndex(_with_values(points, values), counts)


def _with_values(points: Points, values: Floats) -> Points:
    # Shapes: values (m, d).
    return replace(points, values=values) if isinstance(points, CodedPoints) else values


def nearest_distances(points: Points, others: Points, count: int) -> Floats:
    """Return the distances to the `count` nearest points, ascending, shape (m, count)."""
    parts = [np.empty((0, count))]
    for row, _, apart in PointIndex(points).candidates(others, count):
        order = np.lexsort((apart, row))
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        parts.append(apart[order][starts[:, np.newaxis] + np.arange(count)])
    return np.sqrt(np.concatenate(parts))


def nearest_others(points: Points, rows: Integers) -> Floats:
    """Return the distance from some records to their nearest other record, shape (m,)."""
    # the record itself is one of the two nearest distances, wherever ties put it
    return nearest_distances(points, points[rows], 2)[:, 1].copy()


def linkage_scores(
    index: PointIndex,
    released: Points,
    sources: Points,
    units: tuple[Integers, Integers] | None = None,
) -> Floats:
    """Return the chance that the nearest original of each released record is its source, (m,)."""
    # 1 / (number of tied nearest originals) if the source is one of them, else 0. With `units`, of
    # each point and of each released record, the share of the tied ones that are of its unit.
    scores = np.zeros(len(released))
    # the squared distance of each released record and its source, shape (m,)
    if isinstance(released, CodedPoints) or isinstance(sources, CodedPoints):
        each = np.arange(len(released)).reshape(-1, 1)
        own = np.array([squared_between(released[row], sources[row])[0, 0] for row in each])
    else:
        own = squared(released, sources)

    # a record with a nearer point among a few is linked to another one, wherever the rest lie
    thinned = index.thinned if units is None else None

    def score(first: int, last: int) -> None:
        of = np.arange(first, last)
        if thinned is not None:
            moved = np.flatnonzero(own[of] > 0)  # of the others nothing is nearer than the source
            nearer = thinned.have_nearer(released[of[moved]], own[of[moved]])
            of = np.delete(of, moved[nearer])
        for row, point, apart in index.candidates(released[of], 1, beyond=SLACK):
            starts = np.flatnonzero(np.diff(row, prepend=-1))
            sizes = np.diff(starts, append=len(row))
            edge = np.minimum.reduceat(apart, starts) * (1 + TIE)
            nearest = apart <= np.repeat(edge, sizes)
            ties = np.add.reduceat(np.where(nearest, index.counts[point], 0), starts)
            rows = of[row[starts]]
            right = own[rows] <= edge
            if units is not None:
                same = units[0][point] == np.repeat(units[1][rows], sizes)
                right = np.add.reduceat((nearest & same).astype(np.int64), starts)
            scores[rows] = np.where(right, right / ties, 0.0)

    if len(released) * len(index.counts) < PAIRS:
        score(0, len(released))
    else:
        with one_blas_thread():  # its own threads wait at full load
            current_work().quiet().run(score, len(released))
    return scores


SAMPLE = 1000  # records with searched nearest ones, in a table of more than `LIVE_RECORDS`
FARTHEST = 1e150  # standard deviations


def unweighted_metric(comparison: Comparison) -> Metric:
    """Return the distance in the original's standard deviations, every weight 1."""
    file = comparison.every
    try:
        return file.cached(_about(file, "metric"), partial(Metric.fit, file, equal_weights=True))
    except ParameterError:
        raise NotApplicable(
            "No variable of the original varies, so there is no distance between records."
        ) from None


def _about(file: Microdata, what: str) -> tuple[Hashable, ...]:
    """Return a cache key that does not depend on the weights."""
    return f"unweighted {what}", *[(each.name, each.kind) for each in file.schema.released]


def original_points(comparison: Comparison) -> Points:
    """Return the original's records as points of `unweighted_metric`, shape (n, d)."""
    return comparison.cached_for_original(
        "unweighted points", partial(_coded, comparison, comparison.original)
    )


def released_points(comparison: Comparison) -> Points:
    """Return the released records as points of `unweighted_metric`, shape (n, d)."""

    def make() -> Points:
        points = unweighted_metric(comparison).coded(comparison.masked)
        # another tool's noise may leave the original's range by far: squares stay finite
        values = np.clip(point_values(points), -FARTHEST, FARTHEST)
        return _with_values(points, np.ascontiguousarray(values))

    return comparison.cached_for_release("unweighted released points", make)


def _coded(comparison: Comparison, table: Microdata) -> Points:
    return contiguous_rows(unweighted_metric(comparison).coded(table))


def contiguous_rows(points: Points) -> Points:
    """Return the points with each record's values next to each other in memory."""
    return _with_values(points, np.ascontiguousarray(point_values(points)))


def distinct_originals(comparison: Comparison) -> PointIndex:
    """Return the distinct points of the full file, also if a sample is shown."""
    file = comparison.every
    about = _about(file, "distinct points")
    return file.cached(about, lambda: distinct_points(_coded(comparison, file)))


def nearest_links(
    comparison: Comparison, candidates: PointIndex, rows: Integers
) -> tuple[Integers, Floats]:
    """Return a sample of rows, and the chance that the nearest candidate is their source."""
    # Shapes: rows (m,); both answers (s,), the sample.
    records = spread_sample(rows)
    score = np.zeros(len(records))
    present = ~empty_records(comparison.masked)[records]  # nothing links an empty record
    linked = records[present]
    sources = original_points(comparison)[linked]
    unit = comparison.unit
    units = None
    if unit is not None:  # the records of a point may be of several units
        assert comparison.units is not None
        candidates = PointIndex(_coded(comparison, comparison.every))
        units = unit.numbers, comparison.units[linked]
    score[present] = linkage_scores(candidates, released_points(comparison)[linked], sources, units)
    return records, score


def spread_sample(records: Integers) -> Integers:
    """Return all records, or an evenly spread sample of 1,000 if they exceed 5,000."""
    return records if len(records) <= LIVE_RECORDS else evenly(records, SAMPLE)


def evenly(records: Integers, count: int) -> Integers:
    """Return `count` of some records, evenly spread."""
    return records[np.arange(count) * len(records) // count]
