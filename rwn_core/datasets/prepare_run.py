"""Checks all that can be checked before a dataset is masked, and lays the work out."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.dataset_statistics import BLOCK
from rwn_core.datasets.run import Run
from rwn_core.datasets.spatial_parts import LARGEST
from rwn_core.datasets.stage import Stage
from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.laws.donors import masked_columns
from rwn_core.masking.method import unrounded
from rwn_core.neighbors import LARGEST_DENSE, check_radius_and_k
from rwn_core.neighbors.kernel import one_radius
from rwn_core.neighbors.soft_lists import LISTED
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

WORKER_BYTES = 1_000_000_000  # memory that a worker is planned to stay below
PROGRAM_BYTES = 350_000_000  # of these, what its libraries take before any data are read
FILE_ROWS = 1_000_000  # records of a file of the release, about
LISTED_BYTES = 80  # of an entry of the lists that a soft kernel weighs, both ways
LARGEST_TASK = 524_288  # records of a task
LEAST_SAMPLE, SAMPLE_A_LEAF = 20_000, 200  # records that the planes between leaves are put through


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Say how a dataset is worked through. None of it changes a released value.

    Parameters
    ----------
    schema : Schema, optional
        Of the dataset's columns; guessed from their types when left out.
    workers : int, optional
        RWN_THREADS or one for each processor by default.
    rows : int, optional
        Records of a task, a multiple of 1,024; by default as many as keep a worker below 1 GB.
    file_rows : int
        Records of a file of the release, about. It decides where one file ends and the next
        begins; their order is the same.
    stage : str or Path, optional
        Folder for unfinished work, on a disk with room for it: about 70 bytes a value for the
        exact way. It holds original values until the run has ended; by default next to the output.
    address : str, optional
        Of a cluster, for the engines dask and spark; all its machines must share the disk of
        input, output and stage. By default they start workers on this machine.
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises stops the work.
    """

    schema: Schema | None = None
    workers: int | None = None
    rows: int | None = None
    file_rows: int = FILE_ROWS
    stage: str | Path | None = None
    address: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check what does not depend on the dataset."""
        rows = self.rows
        if rows is not None and (rows < BLOCK or rows % BLOCK):
            raise ParameterError(f"rows must be a multiple of {BLOCK:,}.")
        if self.file_rows < 1:
            raise ParameterError("file_rows must be at least 1.")


def prepare_run(
    src: str | Path, dst: str | Path, params: Any, seed: int | SecretKey | None, options: RunOptions
) -> tuple[Run, Path]:
    """Check everything that can be checked before the work, and lay it out."""
    target = Path(dst)
    source, hidden = Path(src), target.with_name(f".{target.name}.stage")
    stage = Stage(Path(options.stage) if options.stage else hidden)
    exists = ReleaseError(f"{target} exists; choose a new folder for the release.")
    if target.exists() and not stage.is_visible:  # else its run may have been killed at its end
        raise exists
    if not target.parent.is_dir():
        raise ReleaseError(f"The folder {target.parent} does not exist; create it first.")
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise ReleaseError("The release cannot be in the folder of the input; choose another one.")
    dataset = Dataset.at(src)
    schema = options.schema or dataset.guessed_schema()
    schema.require_names([name for name, _ in dataset.columns])
    masked_columns(Microdata(pd.DataFrame(), schema))  # refuse before the work, not after it
    setting = checked_setting(params, dataset.n)
    if seed is None:
        key = SecretKey.fresh()
    else:
        key = seed if isinstance(seed, SecretKey) else SecretKey.from_seed(seed)
    # records of a task that keep a worker below `WORKER_BYTES`
    fitting = (WORKER_BYTES - PROGRAM_BYTES) // task_bytes(len(schema.released), setting)
    rows = options.rows or int(max(BLOCK, min(LARGEST_TASK, fitting // BLOCK * BLOCK)))
    parts = ceil(dataset.n / rows)
    sampled = setting.m if setting.neighbors == "sample" else None
    run = Run(
        dataset=dataset,
        schema=schema,
        params=setting,
        key=key,
        stage=stage,
        release=Stage(target.with_name(f".{target.name}.unfinished")),
        rows=rows,
        files=max(1, ceil(dataset.n / options.file_rows)),
        sample=sampled or min(dataset.n, max(LEAST_SAMPLE, SAMPLE_A_LEAF * parts)),
        leaves=parts,
    )
    if target.exists() and not run.stage.holds(run.fingerprint):
        raise exists
    return run, target


def task_bytes(columns: int, params: Any) -> int:
    """Bytes that a task takes for each of its records, about."""
    listed = 0 if params.ball.kernel.is_even else LISTED_BYTES * LISTED
    # the exact way reads a leaf and parts of the other ones
    indexed = 3 * (120 + 24 * columns) if params.scheme.exact else 0
    return 300 + 100 * columns + indexed + listed


def checked_setting(params: Any, n: int) -> Any:
    """Refuse a setting that no dataset is masked with."""
    # what a dataset has no way to do, in the order of a setting
    setting, precision = unrounded(params)
    if precision:
        raise ParameterError("A dataset is released without rounding; leave the precision out.")
    if getattr(setting, "neighbors", None) not in ("exact", "sample") or setting.fresh:
        raise ParameterError(
            "A dataset is masked by the method rwn, among everybody or with neighbors=sample, one "
            "sample for all; leave other neighbors and fresh out, or mask a table that fits into "
            "memory."
        )
    if setting.outside_household:
        raise ParameterError(
            "A dataset is masked among everybody; leave out outside_household, or mask a table "
            "that fits into memory."
        )
    if setting.radius_variable is not None or not one_radius(setting.ball.epsilon):
        raise ParameterError("A dataset is masked with one epsilon for all records.")
    if setting.scheme.exact and n > LARGEST:
        raise ParameterError(
            f"At most {LARGEST:,} records are masked among everybody; choose neighbors=sample."
        )
    # what needs few enough records
    ball = setting.ball
    if ball.kernel.is_even:
        check_radius_and_k(ball.k, ball.epsilon, n)
    elif ball.kernel.weighs_all and n > LARGEST_DENSE:
        raise ParameterError(
            "This kernel weighs all pairs of records, more than a dataset is masked with; leave "
            "out own, or mask a table that fits into memory."
        )
    setting.scheme.check(n, setting.ball.k)
    return setting
