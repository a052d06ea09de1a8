"""Says what masking a dataset takes, before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import to_frame
from rwn_core.datasets.planner import Offer, plan_large
from rwn_core.datasets.prepare_run import PROGRAM_BYTES, RunOptions, prepare_run, task_bytes
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.distance import Points, point_values
from rwn_core.randomness import SecretKey

MANY_DIMENSIONS = 20  # from here on a tree looks at most of the table
MUCH_SLOWER = 20  # times as long as Method 1
_RANGE_STEPS = {"exact": 4, "sample": 2}  # tasks of each range
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_READ, _PLACES = 1000, 20  # records that are read in a row, and how often


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
    choice: Choice | None  # which of these suits the dataset, and why


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
class Choice:
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


def choose(offers: Sequence[Offer], points: Points) -> Choice:
    """Choose the exact way wherever it is feasible: all others change the neighborhoods."""
    exact, sample = offers[0], offers[1]
    dimensions = effective_dimensions(points)
    if dimensions >= MANY_DIMENSIONS:
        why = (
            f"the records spread in {dimensions:.0f} directions, where a search of everybody looks "
            "at most of the table"
        )
        return Choice(offer=sample, why=why)
    if exact.seconds > MUCH_SLOWER * sample.seconds:
        why = f"a search of everybody would take {exact.seconds / sample.seconds:.0f} times as long"
        return Choice(offer=sample, why=why)
    why = (
        f"the records spread in {dimensions:.1f} directions, so that everybody can be searched, "
        "and only then are the neighborhoods those of the setting"
    )
    return Choice(offer=exact, why=why)
