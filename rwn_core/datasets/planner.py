"""The planner for large tables: what the exact method and a sample would take, and cost.

Seconds come from a short calibration on this machine. They are those of an otherwise idle machine,
however busy it is while it is asked, and right within a factor of two.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.distance import Points, squared_distances
from rwn_core.parallel.memory import budget_bytes, pairs_bytes, search_bytes
from rwn_core.parallel.threads import thread_count
from rwn_core.randomness import SecretKey

_SIZES = (5_000, 20_000)  # records of the calibration
_PROBES = 200  # records; their distances to all others are examined
_SAMPLE = 10_000
_LARGEST = 10_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One way to mask a large table."""

    title: str
    params: RWN  # ready to be used
    seconds: float  # forecast of the whole masking, on an idle machine
    bytes: float  # forecast of the memory it needs in addition to the table
    fits: bool  # whether that memory is free now
    candidate_share: float  # share of an exact neighborhood's members that are still candidates
    fall_back: float  # share of records with fewer than k candidates within epsilon
    radius: float  # median radius of the neighborhoods


def plan_large(
    params: RWN,
    *,
    microdata: Microdata | None = None,
    n: int | None = None,
    p: int | None = None,
    threads: int | None = None,
) -> list[Offer]:
    """Forecast the exact method and Method 1 on a large table."""
    if not hasattr(params, "neighbors"):
        raise ParameterError(
            "The planner compares the exact search with random candidates, and this method takes "
            "none; choose the method rwn."
        )
    if microdata is None:
        if n is None or p is None or not 1 <= p <= 10_000:
            raise ParameterError("Give a table, or its numbers of records and of variables.")
        # independent normal variables: the hardest case for the search
        values = np.random.default_rng(0).normal(size=(max(_SIZES), p))
        microdata = Microdata.from_frame(pd.DataFrame(values, columns=[f"x{j}" for j in range(p)]))
    count = microdata.n if n is None else n
    if not LARGEST_DENSE < count <= _LARGEST:
        raise ParameterError(
            f"The planner is for tables of more than {LARGEST_DENSE:,} records; smaller ones take "
            "a moment by the exact method."
        )
    base = RWN(epsilon=params.epsilon, k=params.k, q=params.q, scale=params.scale)
    # the exact method, and Method 1 with m, or a sample that suits n
    sample = params.m if params.neighbors == "sample" else None
    sample = sample or min(count - 1, max(_SAMPLE, 20 * (base.k or 1)))
    restricted = replace(base, neighbors="sample", m=sample)
    schemes = [("exact", base), (f"Method 1: a sample of {sample:,} records", restricted)]
    distances = _distances(base.points(microdata))
    return [
        _offer(title, scheme, microdata, count, distances, thread_count(threads))
        for title, scheme in schemes
    ]


def candidates(params: RWN, n: int) -> float:
    """Share of the other records that are candidates."""
    return 1.0 if params.m is None else min(1.0, params.m / n)


def _offer(
    title: str, params: RWN, microdata: Microdata, n: int, distances: Floats, threads: int
) -> Offer:
    share = candidates(params, n)
    fall_back, radius, members = _neighborhoods(distances, params, n, share)
    columns, dimensions = len(microdata.schema.released), params.points(microdata).shape[1]
    needed = search_bytes(n, dimensions, columns)
    if params.neighbors != "exact":
        needed += pairs_bytes(n * members)
    # forecast the masking from small ones, by what the search has to look at
    from scipy.optimize import nnls

    rows, taken = [], []
    for position, size in enumerate(sorted({min(size, microdata.n) for size in _SIZES})):
        small = microdata.take(np.linspace(0, microdata.n - 1, size).astype(np.int64))
        fitting = _scaled(params, size)
        if position == 0:
            _mask(fitting, small)  # what is compiled or loaded once does not count
        taken.append(_mask(fitting, small))
        rows.append(_work(fitting, size, distances))
    alone, shared = (nnls(np.array(rows), np.array(part))[0] for part in zip(*taken, strict=True))
    seconds = float(np.dot(alone + shared / threads, _work(params, n, distances)))
    return Offer(
        title=title,
        params=params,
        seconds=seconds,
        bytes=needed,
        fits=needed <= budget_bytes(),
        candidate_share=share,
        fall_back=fall_back,
        radius=radius,
    )


def _distances(points: Points) -> Floats:
    """Sorted distances from some records to all others, shape (probes, n - 1)."""
    rows = np.unique(np.linspace(0, len(points) - 1, _PROBES).astype(np.int64))
    everyone = np.arange(len(points))
    distances = np.empty((len(rows), len(points) - 1))  # of a large table gigabytes: held once
    for position, row in enumerate(rows):
        distances[position] = np.sort(squared_distances(points, row, everyone))[1:]
    return np.sqrt(distances, out=distances)


def _neighborhoods(
    distances: Floats, params: RWN, n: int, share: float
) -> tuple[float, float, float]:
    """Share of records that fall back to k, median radius, mean number of members."""
    thicker = share * n / (distances.shape[1] + 1)  # candidates for each record that we look at
    k = params.k or 1
    epsilon = float(params.epsilon) if isinstance(params.epsilon, int | float) else 0.0
    within = thicker * (distances <= epsilon).sum(axis=1)
    rank = min(max(math.ceil(k / thicker), 1), distances.shape[1])
    radii = np.maximum(distances[:, rank - 1], epsilon)
    members = np.maximum(within, min(k, share * n))
    return float((within < k).mean()), float(np.median(radii)), float(members.mean())


def _scaled(params: RWN, size: int) -> RWN:
    """The same scheme on fewer records."""
    least = (params.k or 0) + 1
    if params.m is not None:
        return replace(params, m=max(least, min(params.m, size - 1)))
    return params


def _work(params: RWN, n: int, distances: Floats) -> tuple[float, float]:
    """Count a search's work for n records: tree descents, and members examined."""
    share = candidates(params, n)
    members = _neighborhoods(distances, params, n, share)[2]
    return n * math.log2(2 + share * n), n * members


def _mask(params: RWN, small: Microdata) -> tuple[float, float]:
    """Processor seconds of this thread, and of those that can share their part of the work."""
    # They do not depend on how busy the machine is, as the time on the clock would.
    before = time.thread_time(), time.process_time()
    params.prepare(small).release(SecretKey.from_seed(0), threads=1)
    alone = time.thread_time() - before[0]
    return alone, max(time.process_time() - before[1] - alone, 0.0)
