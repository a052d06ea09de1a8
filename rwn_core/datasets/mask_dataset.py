"""Mask a dataset of any size by tasks on files; the release is the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.belonging.gate import refuse_together
from rwn_core.data.identity import IdentityDoubt, identity_doubts
from rwn_core.data.identity.gate import open_doubts, refuse_open
from rwn_core.data.identity.profile import BLOCKS, PROFILE_ROWS
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import checks_form
from rwn_core.datasets import donors
from rwn_core.datasets.dataset import BATCH, Dataset, to_frame
from rwn_core.datasets.dataset_statistics import BLOCK
from rwn_core.datasets.engines import ENGINES, STRATEGIES, follow_progress
from rwn_core.datasets.run import SURVEY, Execute, Run
from rwn_core.datasets.spatial_parts import LARGEST
from rwn_core.datasets.stage import Stage
from rwn_core.errors import NotWritten, ParameterError, ReleaseError
from rwn_core.evaluation.audit import untouched, untouched_words, weakly_masked
from rwn_core.laws.donors import masked_columns
from rwn_core.masking import RWN, SoftRWN, unrounded
from rwn_core.masking.neighborhood_method import NeighborhoodMethod, refuse_empty
from rwn_core.masking.sliced_method import SlicedMethod
from rwn_core.neighbors import LARGEST_DENSE, check_radius_and_k
from rwn_core.neighbors.kernel import one_radius
from rwn_core.neighbors.soft_lists import LISTED
from rwn_core.parallel.threads import Progress, thread_count, work
from rwn_core.randomness import SecretKey


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRelease:
    """The folder of a masked dataset, and what was counted in its files.

    Attributes
    ----------
    folder : Path
    n : int
        Records.
    files : int
    governed : int
        Records with fewer than k candidates within epsilon, which fall back to k.
    changed : mapping of str to int
        Records with another value than in the original, of each released variable.
    doubts : tuple of IdentityDoubt
        Which variables of the original may identify people.
    imbalance : float
        Largest difference of the sum of a record's probabilities to give from its target.
    kept : float, optional
        Of the relations between slices that drawing these apart would lose, the share that ties
        keep.
    untouched : tuple of str
        Variables that were to be masked and of which no cell changed; only a teaching seed lets
        such a release appear.
    almost_unmasked : tuple of str
        Further variables that the setting left almost unchanged.
    """

    folder: Path
    n: int
    files: int
    governed: int
    changed: Mapping[str, int]
    doubts: tuple[IdentityDoubt, ...] = ()
    imbalance: float = 0.0
    kept: float | None = None
    untouched: tuple[str, ...] = ()
    almost_unmasked: tuple[str, ...] = ()


@checks_form
def mask_dataset(
    src: str | Path,
    dst: str | Path,
    params: NeighborhoodMethod,
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
        Exact, or with the sample of the paper's Method 1.
    engine : str
        Key of `rwn_core.datasets.engines.ENGINES`.
    seed : int or SecretKey, optional
        As for `rwn_core.mask`. A run without one cannot go on after it was stopped.
    options : RunOptions, optional

    Returns
    -------
    DatasetRelease

    Raises
    ------
    InputError, SchemaError, ParameterError
    ReleaseError
        Among others where no cell of a variable changed that was to be masked, and no seed is
        given: nothing is written then.
    Cancelled

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11.
    """
    options = options or RunOptions()
    if engine not in ENGINES:
        raise ParameterError(f"engine must be one of: {', '.join(ENGINES)}.")
    run, target = prepare_run(src, dst, params, seed, options)
    profile = profile_of(run.dataset)
    doubts = tuple(identity_doubts(profile, profile.columns))
    refuse_open(open_doubts(doubts, run.schema))
    refuse_together(Microdata(profile, run.schema))

    run.stage.begin(run.fingerprint)
    result = run.stage.result
    if result is None:
        if not target.exists():
            run.release.folder.mkdir(mode=0o700, exist_ok=True)
        with ENGINES[engine](run, thread_count(options.workers), options.address) as execute:
            masking = _run_steps(run, execute, options.progress)
        result = _counts(run, masking)

    shares = {name: count / run.dataset.n for name, count in result["changed"].items()}
    still = unmoved(run, profile, shares)
    if still and not isinstance(seed, int):  # a seed is for teaching
        run.stage.remove()
        run.release.remove()
        raise ReleaseError(f"{untouched_words(still)}.")
    weak = weakly_masked(Microdata(profile, run.schema), run.params, shares)
    _let_appear(run, target, result)
    return DatasetRelease(
        folder=target,
        n=run.dataset.n,
        files=run.files,
        doubts=doubts,
        untouched=tuple(still),
        almost_unmasked=tuple(name for name in weak if name not in still),
        **result,
    )


def _run_steps(run: Run, execute: Execute, progress: Progress | None) -> list[dict[str, Any]]:
    """Do all steps of a run, and return what the masking tasks answered."""
    ranges = len(run.ranges(SURVEY))
    weight, _, mask = STRATEGIES[run.params.scheme.neighbors]
    with work(progress=progress):
        follow = follow_progress((1 + weight) * ranges + run.files)
    execute(run.ranges(SURVEY), follow(1))
    masking = mask(run, execute, follow)
    answers = [run.answer(task["step"], task["number"]) for task in masking]
    refuse_empty(sum(answer["empty"] for answer in answers))
    pieces = [task["number"] for task in masking]
    ordering = run.numbered(donors.ORDER_STEP, range(run.files))
    execute([{**task, "pieces": pieces} for task in ordering], follow(1))
    return answers


def _counts(run: Run, answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return plain counts about the making of a release."""
    state = run.stage.answer(donors.STATE, 0) or {}
    tied = run.stage.answer(donors.TIE, 0) or {}
    changed = zip(*(answer["changed"] for answer in answers), strict=True)
    return {
        "imbalance": state.get("imbalance", 0.0),
        "kept": tied.get("kept"),
        "governed": sum(answer["governed"] for answer in answers),
        "changed": dict(zip(run.names, map(sum, changed), strict=True)),
    }


def _let_appear(run: Run, target: Path, result: dict[str, Any]) -> None:
    """Delete what is left of the work, then let the release appear.

    A kill at any moment leaves parts of the original only where the same run goes on with them.
    """
    folder = run.release.folder
    names = {donors.file_name(number) for number in range(run.files)}
    if folder.exists():
        for path in folder.iterdir():
            if path.name not in names:  # left by a worker that was killed
                path.unlink()
    run.stage.end(result)
    try:
        if folder.exists():  # else a run that was killed at its end has let it appear
            folder.rename(target)
    except OSError as error:
        raise NotWritten(
            f"{target} cannot be written ({error.strerror}); choose another folder."
        ) from None
    run.stage.remove()


def profile_of(dataset: Dataset) -> pd.DataFrame:
    """Return the records by which a dataset is judged before the work: all of a small one."""
    columns = [name for name, _ in dataset.columns]
    blocks = 1 if dataset.n <= PROFILE_ROWS else BLOCKS
    length = dataset.n if blocks == 1 else PROFILE_ROWS // BLOCKS
    starts = np.linspace(0, dataset.n - length, blocks).astype(np.int64).tolist()
    parts = [to_frame(dataset.read(start, start + length, columns)) for start in starts]
    return pd.concat(parts, ignore_index=True)


def unmoved(run: Run, profile: pd.DataFrame, shares: Mapping[str, float]) -> list[str]:
    """Return the variables that were to be masked and of which no cell changed, as for a table."""
    table = Microdata(profile, run.schema)
    found = untouched(table, run.params, shares)
    if run.dataset.n > len(profile):
        # constant in the profile, and not in the dataset
        for name in run.params.masked_names(table):
            if name not in found and shares[name] == 0 and _varies(run.dataset, name):
                found.append(name)
    return found


def _varies(dataset: Dataset, name: str) -> bool:
    """True if a column has two different values, or one and a missing one."""
    seen: set[Any] = set()
    for start in range(0, dataset.n, BATCH):
        part = dataset.read(start, min(start + BATCH, dataset.n), [name])
        seen.update(part.column(name).unique().to_pylist())
        if len(seen) > 1:
            return True
    return False


WORKER_BYTES = 1_000_000_000  # memory that a worker is planned to stay below
PROGRAM_BYTES = 350_000_000  # of these, what its libraries take before any data are read
FILE_ROWS = 1_000_000  # records of a file of the release, about
LISTED_BYTES = 80  # of an entry of the lists that a soft kernel weighs, both ways
LARGEST_TASK = 524_288  # records of a task
LEAST_SAMPLE, SAMPLE_A_LEAF = 20_000, 200  # records that the planes between leaves are put through


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of the work on a dataset. None of them changes a released value.

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
    src: str | Path,
    dst: str | Path,
    params: NeighborhoodMethod,
    seed: int | SecretKey | None,
    options: RunOptions,
) -> tuple[Run, Path]:
    """Check everything that can be checked before the work, and lay it out."""
    target = Path(dst)
    source = Path(src)
    hidden = target.with_name(f".{target.name}.stage")
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
    run = Run(
        dataset=dataset,
        schema=schema,
        params=setting,
        key=key,
        stage=stage,
        release=Stage(target.with_name(f".{target.name}.unfinished")),
        rows=rows,
        files=max(1, ceil(dataset.n / options.file_rows)),
        sample=setting.scheme.m or min(dataset.n, max(LEAST_SAMPLE, SAMPLE_A_LEAF * parts)),
        leaves=parts,
    )
    if target.exists() and not run.stage.holds(run.fingerprint):
        raise exists
    return run, target


def task_bytes(columns: int, params: NeighborhoodMethod) -> int:
    """Bytes that a task takes for each of its records, about."""
    listed = 0 if params.ball.kernel.has_edge else LISTED_BYTES * LISTED
    # the exact way reads a leaf and parts of the other ones
    indexed = 3 * (120 + 24 * columns) if params.scheme.exact else 0
    return 300 + 100 * columns + indexed + listed


def _reads_dataset(setting: NeighborhoodMethod) -> bool:
    """True if a setting has a method and neighbors that a dataset is masked with."""
    if setting.method not in (RWN.method, SoftRWN.method):
        return False
    return setting.scheme.neighbors in ("exact", "sample") and not setting.scheme.fresh


def checked_setting(params: NeighborhoodMethod, n: int) -> Any:
    """Refuse a setting that no dataset is masked with."""
    # what a dataset has no way to do, in the order of a setting
    setting, precision = unrounded(params)
    if precision:
        raise ParameterError("A dataset is released without rounding; leave the precision out.")
    if not _reads_dataset(setting):
        raise ParameterError(
            "A dataset is masked by the method rwn, among everybody or with neighbors=sample, one "
            "sample for all; leave other neighbors and fresh out, or mask a table that fits into "
            "memory."
        )
    _refuse_ways_of_tables(setting)
    scheme = setting.scheme
    ball = setting.ball
    # what needs few enough records
    if scheme.exact and n > LARGEST:
        raise ParameterError(
            f"At most {LARGEST:,} records are masked among everybody; choose neighbors=sample."
        )
    if ball.kernel.has_edge:
        check_radius_and_k(ball.k, ball.epsilon, n)
    elif ball.kernel.weighs_all and n > LARGEST_DENSE:
        raise ParameterError(
            "This kernel weighs all pairs of records, more than a dataset is masked with; leave "
            "out own, or mask a table that fits into memory."
        )
    scheme.check(n, ball.k)
    return setting


def _refuse_ways_of_tables(setting: SlicedMethod) -> None:
    """Refuse the parameters of the method that only a table in memory is masked with."""
    if setting.outside_household:
        raise ParameterError(
            "A dataset is masked among everybody; leave out outside_household, or mask a table "
            "that fits into memory."
        )
    if setting.by_prediction:
        raise ParameterError(
            "Slices by prediction are drawn for all rows together; leave out by_prediction, "
            "or mask a table that fits into memory."
        )
    ball = setting.ball
    if setting.tie and ball.kernel.has_edge:
        raise ParameterError(
            "Tied slices of a dataset are drawn under soft neighborhoods; take the method "
            "soft_rwn, or mask a table that fits into memory."
        )
    if ball.kernel.has_edge and ball.kernel.balance:
        raise ParameterError(
            "A dataset is balanced under soft neighborhoods; take the method soft_rwn, or mask a "
            "table that fits into memory."
        )
    if getattr(setting, "radius_variable", None) or not one_radius(ball.epsilon):
        raise ParameterError("A dataset is masked with one epsilon for all records.")


def plan_lines(
    src: str | Path, dst: str | Path, params: NeighborhoodMethod, options: RunOptions | None = None
) -> list[str]:
    """Say in words what `mask_dataset` would take; nothing is written."""
    run, _ = prepare_run(src, dst, params, SecretKey.fresh(), options or RunOptions())
    dataset = run.dataset
    ranges = len(run.ranges("plan"))
    neighbors = run.params.scheme.neighbors
    files, written = (
        "one file" if count == 1 else f"{count:,} files"
        for count in (len(dataset.paths), run.files)
    )
    memory = PROGRAM_BYTES + min(run.rows, dataset.n) * task_bytes(len(run.names), run.params)
    lines = [
        f"{dataset.n:,} records in {files}, {max(dataset.size / 1e6, 0.1):,.1f} MB",
        f"{STRATEGIES[neighbors][1] * ranges + run.files:,} tasks; the release will have {written}",
        f"about {memory / 1e6:,.0f} MB of memory for each worker",
    ]
    if neighbors == "sample":  # what random candidates do to the records
        lines.append(
            f"risk: only {run.sample:,} people give values, each {dataset.n / run.sample:,.0f} "
            "times as often on average: what is rare about them is copied as often, and to know "
            "who was sampled is to know whose values these are"
        )
    return lines
