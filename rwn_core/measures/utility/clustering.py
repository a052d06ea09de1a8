"""Clusters: agreement of the original's records sorted by both files' clusters."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, require_values
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.nearest_points import unweighted_metric

WIDE = 500  # coordinates of a record, one for each level of a category
LARGEST = 5_000_000  # decides: coordinates of all records; beyond, wide tables have no reading
CLUSTERS = 5
ROUNDS = 100


def cluster_centers(points: Floats, clusters: int) -> Floats:
    """Return k-means centers, shape (clusters, d), started from slices along the main direction."""
    centered = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    score = centered @ directions[:, -1]
    edges = np.quantile(score, np.linspace(0, 1, clusters + 1)[1:-1])
    labels = np.searchsorted(edges, score)
    centers = np.empty((0, points.shape[1]))
    for _ in range(ROUNDS):
        filled = np.unique(labels)
        centers = np.array([points[labels == label].mean(axis=0) for label in filled])
        nearest = nearest_center(points, centers)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return centers


def nearest_center(points: Floats, centers: Floats) -> Integers:
    """Return the number of each point's nearest center, shape (n,)."""
    squared = (centers**2).sum(axis=1) - 2 * points @ centers.T
    return np.asarray(squared.argmin(axis=1), dtype=np.int64)


def compute(comparison: Comparison) -> Reading:
    """Return the agreement of the original's records sorted by both files' clusters."""
    original = comparison.original
    require_values(comparison.masked)
    metric = unweighted_metric(comparison)
    width = len(metric.axes)
    if width > WIDE and original.n * width > LARGEST:
        raise NotApplicable(
            "Categories of thousands of levels have no centers to sort records around; look at "
            "the distribution of each instead."
        )
    points = comparison.cached_for_original("clustering points", lambda: metric.points(original))
    clusters = min(CLUSTERS, len(np.unique(points, axis=0)))
    own = comparison.cached_for_original(
        "clusters", lambda: nearest_center(points, cluster_centers(points, clusters))
    )
    from sklearn.metrics import adjusted_rand_score

    centers = cluster_centers(metric.points(comparison.masked), clusters)
    nearest = nearest_center(points, centers)
    sizes = [np.bincount(labels, minlength=clusters) for labels in (own, nearest)]
    detail = {"clusters": clusters, "original": sizes[0], "released": sizes[1]}
    return Reading(value=float(adjusted_rand_score(own, nearest)), baseline=1.0, detail=detail)


MEASURE = Measure(
    key="clustering",
    title="Clusters",
    side="utility",
    better="higher",
    bounds=(-1.0, 1.0),
    unit="adjusted Rand index",
    question="Do clusters found in the release sort the records as the original's clusters do?",
    source="k-means with five clusters; Hubert and Arabie 1985",
    compute=compute,
)
