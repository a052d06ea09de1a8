"""Linkage of released records to their nearest originals; ties share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.statistics.nearest_by_products import BoundedPoints, squared
from rwn_core.measures.statistics.nearest_record import SLACK, DistinctPoints, blocks
from rwn_core.neighbors.distance import TIE, squared_between
from rwn_core.neighbors.points import CodedPoints, Points
from rwn_core.parallel.threads import Watch, thread_count

SHARED = 2_000_000  # pairs, from which on threads share them


def linkage_scores(
    candidates: DistinctPoints, released: Points, sources: Points
) -> NDArray[np.float64]:
    """Return the chance that the nearest original of each released record is its source, (m,).

    1 / (number of tied nearest originals) if the source is one of them, else 0.
    """
    if isinstance(candidates.points, CodedPoints) or isinstance(released, CodedPoints):
        return _coded_scores(candidates, released, sources)
    assert not isinstance(sources, CodedPoints)
    if candidates.tree is None:
        if candidates.bounded is None or not candidates.bounded.holds(released):
            return _coded_scores(candidates, released, sources)
        return _bounded_scores(candidates, candidates.bounded, released, sources)
    nearest, _ = candidates.tree.query(released)
    own = squared(released, sources)
    scores = np.zeros(len(released))
    hopeful = np.flatnonzero(own <= (nearest * (1 + SLACK)) ** 2)
    limits = nearest[hopeful] * (1 + SLACK) + 1e-300
    within = candidates.tree.query_ball_point(released[hopeful], limits)
    if not hopeful.size:
        return scores
    sizes = np.array([len(ball) for ball in within])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    members = np.concatenate(within).astype(np.int64)
    between = squared(np.repeat(released[hopeful], sizes, axis=0), candidates.points[members])
    edge = np.minimum.reduceat(between, starts) * (1 + TIE)
    tied = np.where(between <= np.repeat(edge, sizes), candidates.counts[members], 0)
    ties = np.add.reduceat(tied, starts)
    scores[hopeful] = np.where(own[hopeful] <= edge, 1.0 / ties, 0.0)
    return scores


def _bounded_scores(
    candidates: DistinctPoints,
    bounded: BoundedPoints,
    released: NDArray[np.float64],
    sources: NDArray[np.float64],
) -> NDArray[np.float64]:
    """`linkage_scores` of points of many coordinates."""
    scores = np.zeros(len(released))
    own = squared(released, sources)

    def score(first: int, last: int) -> None:
        for found in bounded.candidates(released[first:last], 1, beyond=SLACK):
            starts = np.flatnonzero(np.diff(found.row, prepend=-1))
            sizes = np.diff(starts, append=len(found.row))
            edge = np.minimum.reduceat(found.squared, starts) * (1 + TIE)
            nearest = found.squared <= np.repeat(edge, sizes)
            ties = np.add.reduceat(np.where(nearest, candidates.counts[found.point], 0), starts)
            rows = found.row[starts] + first
            scores[rows] = np.where(own[rows] <= edge, 1.0 / ties, 0.0)

    if len(released) * len(candidates.counts) < SHARED:
        score(0, len(released))
    else:
        Watch(threads=thread_count()).run(score, len(released))
    return scores


def _coded_scores(
    candidates: DistinctPoints, released: Points, sources: Points
) -> NDArray[np.float64]:
    """`linkage_scores` from all pairs, some rows at a time."""
    scores = np.zeros(len(released))
    for block in blocks(len(released), len(candidates.counts)):
        between = squared_between(released[block], candidates.points)
        edge = between.min(axis=1) * (1 + TIE)
        ties = (between <= edge[:, None]) @ candidates.counts
        own = [squared_between(released[row], sources[row])[0, 0] for row in block.reshape(-1, 1)]
        scores[block] = np.where(np.array(own) <= edge, 1.0 / ties, 0.0)
    return scores
