"""Who finds the nearest records soonest: a tree, all pairs, scikit-learn, or one matrix product.

``python -m benchmarks.nearest`` prints processor seconds on one thread of preparing a table and
asking for the nearest record of 1,000 others, and in which share scikit-learn's distance is wrong
by more than a billionth. The others are the table's records with half of their values exchanged.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy reads them

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import rwn_core as rwn
from benchmarks.engine_tables import mixed
from rwn_core.measures.statistics.nearest_by_products import BoundedPoints
from rwn_core.neighbors.metric import Metric

SIZES = ((10_000, 6), (10_000, 12), (10_000, 20), (10_000, 55), (100_000, 12), (100_000, 20))
DEMOS = ("randhie", "cps1988")
ASKING = 1000
AT_ONCE = 200

Floats = NDArray[np.float64]


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of some work, the quicker of two times, and what it gives."""
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        result = work()
        seconds.append(time.process_time() - begun)
    return min(seconds), result


def by_tree(points: Floats, others: Floats) -> Floats:
    """The nearest distances, from SciPy's tree."""
    return np.asarray(cKDTree(points, balanced_tree=False).query(others)[0])


def by_pairs(points: Floats, others: Floats) -> Floats:
    """The nearest distances, from those of all pairs."""
    parts = np.split(others, range(AT_ONCE, len(others), AT_ONCE))
    return np.sqrt(np.concatenate([cdist(p, points, "sqeuclidean").min(axis=1) for p in parts]))


def by_sklearn(points: Floats, others: Floats) -> Floats:
    """The nearest distances, from scikit-learn's products in double precision."""
    model = NearestNeighbors(n_neighbors=1, algorithm="brute", n_jobs=1).fit(points)
    return np.asarray(model.kneighbors(others)[0][:, 0])


def by_products(points: Floats, others: Floats) -> Floats:
    """The nearest distances, from this program's product and exact distances of few pairs."""
    nearest = np.full(len(others), np.inf)
    for found in BoundedPoints(points).candidates(others, 1):
        np.minimum.at(nearest, found.row, found.squared)
    return np.sqrt(nearest)


def line(name: str, points: Floats) -> str:
    """What each way takes on a table, as a row of Markdown."""
    rng = np.random.default_rng(0)
    columns = [rng.permutation(c) if rng.random() < 0.5 else c for c in points.T]
    others = np.column_stack(columns)[rng.choice(len(points), ASKING, replace=False)]
    took = {way: spent(lambda way=way: way(points, others)) for way in WAYS}
    exact = took[by_tree][1]
    assert np.allclose(took[by_products][1], exact, rtol=1e-12, atol=1e-12)
    wrong = np.mean(np.abs(took[by_sklearn][1] - exact) > 1e-9 * np.maximum(exact, 1e-12))
    cells = " | ".join(f"{took[way][0]:.3f}" for way in WAYS)
    size = f"{len(points):,} x {points.shape[1]}"
    return f"| {name} {size} | {cells} | {100 * wrong:.1f} % |\n"


WAYS = (by_tree, by_pairs, by_sklearn, by_products)


def main() -> None:
    """Print the table."""
    sys.stdout.write("| table | tree | all pairs | scikit-learn | product | wrong |\n")
    for n, d in SIZES:
        points = mixed(n, d)
        sys.stdout.write(line("mixed", (points - points.mean(axis=0)) / points.std(axis=0)))
    for name in DEMOS:
        data = rwn.load_demo(name)
        points = np.unique(np.asarray(Metric.fit(data).coded(data)), axis=0)
        sys.stdout.write(line(name, points))


if __name__ == "__main__":
    main()
