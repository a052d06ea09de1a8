"""A dataset that a user has opened: looked at and masked in processes of their own."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwn_core.data.schema import Schema
from rwn_core.parallel.processes import be_polite
from rwn_ui.background.job import Job
from rwn_ui.server.dataset_folders import unfinished

if TYPE_CHECKING:  # they bring the compiler, which a page does not wait for
    from rwn_core.scale.dataset import Dataset
    from rwn_core.scale.dataset_preview import DatasetPreview
    from rwn_core.scale.mask_dataset import DatasetRelease

_SURE = 0.02  # share done before the time left is worth saying
_PATIENCE = 10.0  # seconds in which the workers of a cancelled masking end


@dataclass(slots=True, kw_only=True)
class OpenDataset:
    """A dataset, what the user says of it, and what goes on with it.

    Attributes
    ----------
    name : str
        As it was typed.
    path : Path
    dataset : Dataset
    removed : list of str
        Columns that are direct identifiers.
    k, epsilon, q : numbers
        The setting; an epsilon of 0 is none.
    target : str
        Name of the release.
    looking : Job or None
        Its result is a DatasetPreview.
    masking : Job or None
        Its result is a DatasetRelease.
    """

    name: str
    path: Path
    dataset: Dataset
    removed: list[str] = field(default_factory=list)
    k: int = 5
    epsilon: float = 0.0
    q: float = 1.0
    target: str = ""
    looking: Job | None = field(default=None, repr=False)
    masking: Job | None = field(default=None, repr=False)

    @property
    def running(self) -> bool:
        """Whether a job of it is under way."""
        return any(job is not None and job.running for job in (self.looking, self.masking))

    def cancel(self) -> None:
        """End its jobs."""
        for job in (self.looking, self.masking):
            if job is not None:
                job.cancel()


class TimedJob(Job):
    """A job that says how long it will go on."""

    _begun: float | None = None  # when it had no longer to wait

    @property
    def words(self) -> str:
        """What is being done, and for how long still."""
        said = super().words
        if self.waits:
            return said
        self._begun = self._begun or time.monotonic()
        left = time_left(self.share, time.monotonic() - self._begun)
        return f"{said}: {left}" if left else said


class MaskingJob(TimedJob):
    """The masking of a dataset: cancelled, it leaves nothing of the original behind."""

    def cancel(self) -> None:
        """Stop, and delete the unfinished work, which holds original values."""
        under_way = self.running
        super().cancel()
        if under_way:
            threading.Thread(target=_delete_unfinished, args=(self.about[0],)).start()


def time_left(share: float, seconds: float) -> str:
    """How long work goes on that has done a share of it in so many seconds; empty at its start."""
    if share < _SURE:
        return ""
    left = seconds * (1 - share) / share
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if left >= 2 * length:
            return f"about {left / length:.0f} {unit} left"
    return f"about {max(1, round(left))} seconds left"


def look(dataset: Dataset, schema: Schema, params: Any, progress: Any) -> DatasetPreview:
    """Look at a dataset; the work of the process."""
    from rwn_core.scale.dataset_preview import preview_dataset

    be_polite()
    return preview_dataset(dataset, schema, params, progress=progress)


def mask_and_record(
    source: Path, target: Path, schema: Schema, params: Any, progress: Any
) -> DatasetRelease:
    """Mask a dataset under a fresh secret and write its record beside it; work of the process."""
    from rwn_core.reporting.dataset_record import dataset_record
    from rwn_core.reporting.record_parts import FORGOTTEN
    from rwn_core.scale.mask_dataset import mask_dataset
    from rwn_core.scale.prepare_run import RunOptions
    from rwn_core.scale.stage import whole

    be_polite()  # its workers are as polite
    options = RunOptions(schema=schema, progress=progress)
    try:
        made = mask_dataset(source, target, params, options=options)
    except Exception:
        _delete_unfinished(target)  # nobody has the secret that could go on with it
        raise
    with whole(target.with_name(f"{target.name}.record.toml")) as beside:
        beside.write_text(dataset_record(made, params, schema, FORGOTTEN), encoding="utf-8")
    return made


def _delete_unfinished(target: Path) -> None:
    """Delete what a cancelled masking leaves, also what a worker writes in its last moment."""
    folders = unfinished(target)
    end = time.monotonic() + _PATIENCE
    while any(folder.exists() for folder in folders) and time.monotonic() < end:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.1)
