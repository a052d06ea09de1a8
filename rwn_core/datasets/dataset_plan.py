"""Plan the masking of a dataset: what the exact method and a sample would take, and cost."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import to_frame
from rwn_core.datasets.prepare_run import PROGRAM_BYTES, RunOptions, prepare_run, task_bytes
from rwn_core.errors import ParameterError
from rwn_core.masking import RWN
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.distance import Points, point_values, squared_distances
from rwn_core.parallel.memory import budget_bytes, pairs_bytes, search_bytes
from rwn_core.parallel.threads import thread_count
from rwn_core.randomness import SecretKey

_SIZES = (5_000, 20_000)  # records of the calibration
_PROBES = 200  # records; their distances to all others are examined
_SAMPLE = 10_000
_LARGEST = 10_000_000_000
MANY_DIMENSIONS = 20  # from here on a tree looks at most of the table
MUCH_SLOWER = 20  # times as long as Method 1
_RANGE_STEPS = {"exact": 4, "sample": 2}  # tasks of each range
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_READ, _PLACES = 1000, 20  # records that are read in a row, and how often


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
    # Sorted distances from some records to all others, shape (probes, n - 1).
    points = base.points(microdata)
    rows = np.unique(np.linspace(0, len(points) - 1, _PROBES).astype(np.int64))
    everyone = np.arange(len(points))
    distances_distances = np.empty(
        (len(rows), len(points) - 1)
    )  # of a large table gigabytes: held once
    for position, row in enumerate(rows):
        distances_distances[position] = np.sort(squared_distances(points, row, everyone))[1:]
    distances = np.sqrt(distances_distances, out=distances_distances)
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
    # Forecast the masking from small ones, by what the search has to look at.
    from scipy.optimize import nnls

    rows, taken = [], []
    for position, size in enumerate(sorted({min(size, microdata.n) for size in _SIZES})):
        small = microdata.take(np.linspace(0, microdata.n - 1, size).astype(np.int64))
        fitting = params  # the same scheme on fewer records
        if params.m is not None:
            fitting = replace(params, m=max((params.k or 0) + 1, min(params.m, size - 1)))
        if position == 0:
            _mask(fitting, small)  # what is compiled or loaded once does not count
        taken.append(_mask(fitting, small))
        rows.append(_work(fitting, size, distances))
    alone, shared = (nnls(np.array(rows), np.array(part))[0] for part in zip(*taken, strict=True))
    return Offer(
        title=title,
        params=params,
        seconds=float(np.dot(alone + shared / threads, _work(params, n, distances))),
        bytes=needed,
        fits=needed <= budget_bytes(),
        candidate_share=share,
        fall_back=fall_back,
        radius=radius,
    )


def _neighborhoods(
    distances: Floats, params: RWN, n: int, share: float
) -> tuple[float, float, float]:
    """Share of records that fall back to k, median radius, mean number of members."""
    # distances: shape (records that are looked at, candidates)
    thicker = share * n / (distances.shape[1] + 1)  # candidates for each record that we look at
    k = params.k or 1
    epsilon = float(params.epsilon) if isinstance(params.epsilon, int | float) else 0.0
    within = thicker * (distances <= epsilon).sum(axis=1)
    rank = min(max(math.ceil(k / thicker), 1), distances.shape[1])
    radii = np.maximum(distances[:, rank - 1], epsilon)
    members = np.maximum(within, min(k, share * n))
    return float((within < k).mean()), float(np.median(radii)), float(members.mean())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPlan:
    """Hold what a run over a dataset will take."""

    # n, files: records, and files they are in
    n: int
    files: int
    size: int  # bytes of these
    # tasks, written: tasks of the run, and files of the release
    tasks: int
    written: int
    worker_bytes: int  # memory of a worker
    # What this setting takes and does to the neighborhoods, and what the exact method would;
    # seconds are those of one processor. Empty for a dataset that fits anywhere.
    offers: tuple[Offer, ...]
    choice: ChosenOffer | None  # which of these suits the dataset, and why


def plan_dataset(
    src: str | Path, dst: str | Path, params: Any, options: RunOptions | None = None
) -> DatasetPlan:
    """Say what `mask_dataset` would take; nothing is written."""
    options = options or RunOptions()
    run, _ = prepare_run(src, dst, params, SecretKey.fresh(), options)
    ranges = ceil(run.dataset.n / run.rows)
    # a sample of the dataset says which way suits it
    offers: tuple[Offer, ...] = ()
    n, choice = run.dataset.n, None
    if n > LARGEST_DENSE and run.params.ball.kernel.is_even:
        places = np.unique(np.linspace(0, max(0, n - _READ), _PLACES).astype(np.int64)).tolist()
        some = [run.dataset.read(place, min(place + _READ, n), run.names) for place in places]
        schema = Schema(variables=run.schema.released)
        sample = Microdata.from_frame(to_frame(pa.concat_tables(some)), schema)
        offers = tuple(plan_large(params, microdata=sample, n=n, threads=1))
        choice = choose(offers, params.points(sample))
    return DatasetPlan(
        n=run.dataset.n,
        files=len(run.dataset.paths),
        size=run.dataset.size,
        tasks=_RANGE_STEPS[run.params.scheme.neighbors] * ranges + run.files,
        written=run.files,
        worker_bytes=PROGRAM_BYTES
        + min(run.rows, run.dataset.n) * task_bytes(len(run.names), run.params),
        offers=offers,
        choice=choice,
    )


def plan_lines(plan: DatasetPlan) -> list[str]:
    """Say in words what a run will take; what belongs to the line above begins with two blanks."""
    lines = [
        f"{plan.n:,} records in {_files(plan.files)}, {size_words(plan.size)}",
        f"{plan.tasks:,} tasks; the release will have {_files(plan.written)}",
        f"about {size_words(plan.worker_bytes)} of memory for each worker",
    ]
    if plan.offers:
        lines.append(
            "times are those of a table in memory; the exact way took 1.3 times as long for "
            "1,000,000 records where it was measured, and 3.5 times for 10,000,000"
        )
    for offer in plan.offers:
        lines.append(
            f"{offer.title}: about {_time(offer.seconds)} of one processor; "
            f"{offer.fall_back:.1%} of records fall back to k; median radius {offer.radius:.3g}; "
            f"{offer.candidate_share:.2%} of the other records can give values"
        )
        if offer.params.neighbors == "sample":  # what random candidates do to the records
            m = int(offer.params.m or 1)
            lines.append(
                f"  risk: only {m:,} people give values, each {plan.n / m:,.0f} times as often on "
                "average: what is rare about them is copied as often, and to know who was sampled "
                "is to know whose values these are"
            )
    if plan.choice is not None:
        lines.append(f"advice: {plan.choice.offer.title}, because {plan.choice.why}")
    return lines


def _files(number: int) -> str:
    return "one file" if number == 1 else f"{number:,} files"


def size_words(size: float) -> str:
    """A number of bytes in a unit that suits it."""
    for unit, length in _UNITS:
        if size >= 0.9995 * length:  # 999.5 and more would read as 1e+03 of the next unit
            number = size / length
            return f"{number:.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"
    return f"{size:.0f} bytes"


def _time(seconds: float) -> str:
    """A length of time in a unit that suits it."""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{_two_digits(seconds / length)} {unit}"
    return f"{_two_digits(seconds)} seconds"


def _two_digits(number: float) -> str:
    return f"{number:.2g}" if number < 9.95 else f"{number:.0f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenOffer:
    """Say which way suits a dataset."""

    offer: Offer
    why: str  # one sentence


def effective_dimensions(points: Points) -> float:
    """Return the effective number of dimensions: one for each direction of equal variance."""
    values = point_values(points)
    variances = np.clip(
        np.linalg.eigvalsh(np.cov(values, rowvar=False).reshape(values.shape[1], -1)), 0, None
    )
    return float(variances.sum() ** 2 / max(float((variances**2).sum()), 1e-300))


def choose(offers: Sequence[Offer], points: Points) -> ChosenOffer:
    """Choose the exact way wherever it is feasible: all others change the neighborhoods."""
    exact, sample = offers[0], offers[1]
    dimensions = effective_dimensions(points)
    if dimensions >= MANY_DIMENSIONS:
        why = (
            f"the records spread in {dimensions:.0f} directions, where a search of everybody looks "
            "at most of the table"
        )
        return ChosenOffer(offer=sample, why=why)
    if exact.seconds > MUCH_SLOWER * sample.seconds:
        why = f"a search of everybody would take {exact.seconds / sample.seconds:.0f} times as long"
        return ChosenOffer(offer=sample, why=why)
    why = (
        f"the records spread in {dimensions:.1f} directions, so that everybody can be searched, "
        "and only then are the neighborhoods those of the setting"
    )
    return ChosenOffer(offer=exact, why=why)
