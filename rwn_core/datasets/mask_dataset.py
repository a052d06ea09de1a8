"""Mask a dataset of any size by tasks on files; the release is the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.identity import IdentityDoubt, identity_doubts
from rwn_core.data.identity.gate import open_doubts, refuse_open
from rwn_core.data.identity.profile import BLOCKS, PROFILE_ROWS
from rwn_core.datasets import release_order, soft_donors, survey
from rwn_core.datasets.dataset import Dataset, to_frame
from rwn_core.datasets.engines import ENGINES
from rwn_core.datasets.prepare_run import RunOptions, prepare_run
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.steps import STRATEGIES, Follow
from rwn_core.errors import NotWritten, ParameterError
from rwn_core.masking.rwn import refuse_empty
from rwn_core.parallel.threads import thread_count
from rwn_core.randomness import SecretKey


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
        Records with fewer than k candidates within epsilon, which fall back to k.
    changed : mapping of str to int
        Records with another value than in the original, of each released variable.
    doubts : tuple of IdentityDoubt
        Which variables of the original may identify people.
    imbalance : float
        Largest difference of the sum of a record's probabilities to give from its target.
    """

    folder: Path
    n: int
    files: int
    governed: int
    changed: Mapping[str, int]
    doubts: tuple[IdentityDoubt, ...] = ()
    imbalance: float = 0.0


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
    InputError, SchemaError, ParameterError, ReleaseError
    Cancelled

    References
    ----------
    Perry, Matloff, Tendick 2022, section 11.
    """
    options = options or RunOptions()
    # The engine of a key.
    if engine not in ENGINES:
        raise ParameterError(f"engine must be one of: {', '.join(ENGINES)}.")
    start = ENGINES[engine]
    run, target = prepare_run(src, dst, params, seed, options)
    doubts = dataset_doubts(run.dataset)
    refuse_open(open_doubts(doubts, run.schema))
    run.stage.begin(run.fingerprint)
    result = run.stage.result
    if result is None:
        if not target.exists():
            run.release.folder.mkdir(mode=0o700, exist_ok=True)
        with start(run, thread_count(options.workers), options.address) as execute:
            # Do all steps; what the masking tasks answered.
            ranges = len(run.ranges(survey.STEP))
            strategy = STRATEGIES[run.params.scheme.neighbors]
            follow = Follow((1 + strategy.weight) * ranges + run.files, options.progress)
            execute(run.ranges(survey.STEP), follow.by(1))
            survey.merge_survey(run)
            masking = strategy.mask(run, execute, follow)
            answers = [_answer(run, task) for task in masking]
            refuse_empty(sum(answer["empty"] for answer in answers))
            ordering = run.numbered(release_order.STEP, run.files)
            execute([{**task, "pieces": len(masking)} for task in ordering], follow.by(1))
        # Plain counts about the making of a release.
        counts = [answer["changed"] for answer in answers]
        state = run.stage.answer(soft_donors.STATE, 0) or {}
        result = {
            "imbalance": state.get("imbalance", 0.0),
            "governed": sum(answer["governed"] for answer in answers),
            "changed": dict(zip(run.names, map(sum, zip(*counts, strict=True)), strict=True)),
        }
    # Delete what is left of the work, then let the release appear.
    # A kill at any moment leaves parts of the original only where the same run goes on with them.
    folder = run.release.folder
    names = {release_order.file_name(number) for number in range(run.files)}
    for path in folder.iterdir() if folder.exists() else ():
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
    return DatasetRelease(folder=target, n=run.dataset.n, files=run.files, doubts=doubts, **result)


def _answer(run: Run, task: Task) -> dict[str, Any]:
    answer = run.stage.answer(task["step"], task["number"])
    assert answer is not None
    return answer


def dataset_doubts(dataset: Dataset) -> tuple[IdentityDoubt, ...]:
    """Judge all variables, as the same table in memory is judged."""
    names = [name for name, _ in dataset.columns]
    if dataset.n <= PROFILE_ROWS:
        frame = to_frame(dataset.read(0, dataset.n, names))
        return tuple(identity_doubts(frame, names))
    length = PROFILE_ROWS // BLOCKS
    starts = np.linspace(0, dataset.n - length, BLOCKS).astype(np.int64).tolist()
    parts = [to_frame(dataset.read(start, start + length, names)) for start in starts]
    return tuple(identity_doubts(pd.concat(parts, ignore_index=True), names))
