"""Masks a dataset of any size: tasks on files, the same release whoever does them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.masking.release import unrounded
from rwn_core.mechanism.donors import masked_columns
from rwn_core.neighbors import check_radius_and_k
from rwn_core.neighbors.radius import one_radius
from rwn_core.parallel.threads import Progress, thread_count
from rwn_core.randomness import SecretKey
from rwn_core.scale import exact_donors, leaves, release_order, sample_donors, survey
from rwn_core.scale.column_sums import BLOCK
from rwn_core.scale.dataset import Dataset
from rwn_core.scale.engine import Execute
from rwn_core.scale.engines import engine_of
from rwn_core.scale.run import Run, Task
from rwn_core.scale.stage import Stage

WORKER_BYTES = 1_000_000_000  # memory that a worker is planned to stay below
PROGRAM_BYTES = 350_000_000  # of these, what its libraries take before any data are read
FILE_ROWS = 1_000_000  # records of a file of the release, about
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
        Folder for unfinished work, on a disk with room for a copy of the dataset. It holds
        original values until the run has ended; by default beside the output.
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises stops the work.
    """

    schema: Schema | None = None
    workers: int | None = None
    rows: int | None = None
    file_rows: int = FILE_ROWS
    stage: str | Path | None = None
    progress: Progress | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check what does not depend on the dataset."""
        rows = self.rows
        if rows is not None and (rows < BLOCK or rows % BLOCK):
            raise ParameterError(f"rows must be a multiple of {BLOCK:,}.")
        if self.file_rows < 1:
            raise ParameterError("file_rows must be at least 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRelease:
    """Say what was written.

    Attributes
    ----------
    folder : Path
    n : int
        Records.
    files : int
    governed : int
        Records with fewer than k candidates within epsilon, who fall back to k.
    """

    folder: Path
    n: int
    files: int
    governed: int


def mask_dataset(
    src: str | Path,
    dst: str | Path,
    params: Any,
    *,
    engine: str = "local",
    seed: int | SecretKey | None = None,
    options: RunOptions | None = None,
) -> DatasetRelease:
    """Mask a dataset of Parquet files into a folder of Parquet files.

    The release is that of the same table in memory for the same key: the same values in the same
    secret order, whatever the files, tasks, workers and engine. A run that was stopped goes on
    where it was, given the same input, setting and key.

    Parameters
    ----------
    src : str or Path
        A folder, a pattern or one file.
    dst : str or Path
        A folder that does not exist. It appears when all its files are there.
    params : RWN
        Exact, or with ``neighbors="sample"``: Method 1 of the paper.
    engine : str
        Key of `rwn_core.scale.engines.ENGINES`.
    seed : int or SecretKey, optional
        As for `rwn_core.mask`. A run without one cannot go on after it was stopped.
    options : RunOptions, optional

    Returns
    -------
    DatasetRelease

    Raises
    ------
    InputError, SchemaError, ParameterError, ReleaseError
    Cancelled

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11.
    """
    options = options or RunOptions()
    start = engine_of(engine)
    run, target = prepare_run(src, dst, params, seed, options)
    run.stage.begin(run.fingerprint)
    run.release.folder.mkdir(mode=0o700, exist_ok=True)
    with start(run, thread_count(options.workers)) as execute:
        answers = _masked(run, execute, options.progress)
    _publish(run, target)
    return DatasetRelease(
        folder=target,
        n=run.dataset.n,
        files=run.files,
        governed=sum(answer["governed"] for answer in answers),
    )


def prepare_run(
    src: str | Path,
    dst: str | Path,
    params: Any,
    seed: int | SecretKey | None,
    options: RunOptions,
) -> tuple[Run, Path]:
    """Check everything that can be checked before the work, and lay it out.

    Returns
    -------
    run : Run
    target : Path
        Where the release will be.

    Raises
    ------
    InputError, SchemaError, ParameterError, ReleaseError
    """
    target = Path(dst)
    _check_target(target, Path(src))
    dataset = Dataset.at(src)
    schema = options.schema or dataset.guessed_schema()
    schema.require_names([name for name, _ in dataset.columns])
    masked_columns(Microdata(pd.DataFrame(), schema))  # refuse before the work, not after it
    _check_setting(params, dataset.n)
    if seed is None:
        key = SecretKey.fresh()
    else:
        key = seed if isinstance(seed, SecretKey) else SecretKey.from_seed(seed)
    hidden = target.with_name(f".{target.name}.stage")
    rows = options.rows or rows_for(len(schema.released))
    parts = ceil(dataset.n / rows)
    run = Run(
        dataset=dataset,
        schema=schema,
        params=params,
        key=key,
        stage=Stage(Path(options.stage) if options.stage else hidden),
        release=Stage(target.with_name(f".{target.name}.unfinished")),
        rows=rows,
        files=max(1, ceil(dataset.n / options.file_rows)),
        sample=params.m or min(dataset.n, max(LEAST_SAMPLE, SAMPLE_A_LEAF * parts)),
        leaves=parts,
    )
    return run, target


def rows_for(columns: int) -> int:
    """Records of a task that keep a worker below `WORKER_BYTES`."""
    rows = (WORKER_BYTES - PROGRAM_BYTES) // task_bytes(columns)
    return int(max(BLOCK, min(LARGEST_TASK, rows // BLOCK * BLOCK)))


def task_bytes(columns: int) -> int:
    """Bytes that a task takes for each of its records, about: measured, then rounded up."""
    return 300 + 100 * columns


def _masked(run: Run, execute: Execute, progress: Progress | None) -> list[dict[str, Any]]:
    """Do all steps; what the masking tasks answered."""
    ranges = len(run.ranges(survey.STEP))
    exact = run.params.scheme.exact
    follow = _Follow((8 if exact else 5) * ranges + run.files, progress)
    execute(run.ranges(survey.STEP), follow.by(1))
    survey.merge_survey(run)
    if exact:
        masking = _with_leaves(run, execute, follow, ranges)
    else:
        masking = run.ranges(sample_donors.STEP)
        execute(masking, follow.by(4))
    answers = [_answer(run, task) for task in masking]
    _refuse_empty(sum(answer["empty"] for answer in answers))
    ordering = run.numbered(release_order.STEP, run.files)
    execute([{**task, "pieces": len(masking)} for task in ordering], follow.by(1))
    return answers


def _with_leaves(run: Run, execute: Execute, follow: _Follow, ranges: int) -> list[Task]:
    """Mask with everybody for a candidate, leaf by leaf; the tasks that did it."""
    execute(run.ranges(leaves.DEAL), follow.by(1))
    count = leaves.merge_boxes(run, ranges)
    share = ranges / count  # leaves are about as many as ranges
    indexing = run.numbered(leaves.INDEX, count)
    execute([{**task, "ranges": ranges} for task in indexing], follow.by(1 * share))
    masking = run.numbered(exact_donors.STEP, count)
    execute(masking, follow.by(5 * share))
    return masking


def _answer(run: Run, task: Task) -> dict[str, Any]:
    answer = run.stage.answer(task["step"], task["number"])
    assert answer is not None
    return answer


class _Follow:
    """Adds up what was done of the whole."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0.0

    def by(self, weight: float) -> Callable[[int], None]:
        """What a step reports to; each of its tasks counts so much."""

        def finished(count: int) -> None:
            self._done += weight * count
            if self._progress is not None:
                self._progress(min(1.0, self._done / self._total))

        return finished


def _publish(run: Run, target: Path) -> None:
    """Let the release appear, and delete what is left of the work."""
    names = {release_order.file_name(number) for number in range(run.files)}
    for path in run.release.folder.iterdir():
        if path.name not in names:  # left by a worker that was killed
            path.unlink()
    try:
        run.release.folder.rename(target)
    except OSError as error:
        raise ReleaseError(
            f"{target} cannot be written ({error.strerror}); choose another folder."
        ) from None
    run.stage.remove()


def _check_target(target: Path, source: Path) -> None:
    if target.exists():
        raise ReleaseError(f"{target} exists; choose a new folder for the release.")
    if not target.parent.is_dir():
        raise ReleaseError(f"The folder {target.parent} does not exist; create it first.")
    if source.is_dir() and source.resolve() in target.resolve().parents:
        raise ReleaseError("The release cannot be in the folder of the input; choose another one.")


def _refuse_empty(empty: int) -> None:
    if empty:
        records = "One record has" if empty == 1 else f"{empty:,} records have"
        raise ParameterError(
            f"{records} no other record within epsilon; give k (at least 1) as well, or a larger "
            "epsilon."
        )


def _check_setting(params: Any, n: int) -> None:
    setting, precision = unrounded(params)
    if precision:
        raise ParameterError("A dataset is released without rounding; leave the precision out.")
    candidates = getattr(setting, "neighbors", None)
    if candidates not in ("exact", "sample") or setting.fresh:
        raise ParameterError(
            "A dataset is masked by the method rwn, with neighbors=exact, or with neighbors=sample "
            "and m: one sample for all (Method 1)."
        )
    if not one_radius(setting.ball.epsilon):
        raise ParameterError("A dataset is masked with one epsilon for all records.")
    check_radius_and_k(setting.ball.k, setting.ball.epsilon, n)
    setting.scheme.check(n, setting.ball.k)
