"""This user's work in the background, by what it is for: one job at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rwn_core.reporting.judged_release import Approval, JudgedRelease
from rwn_core.tuning import SweepRun
from rwn_ui.background.dataset_job import OpenDataset
from rwn_ui.background.job import Job
from rwn_ui.background.measure_worker import MeasureWorker
from rwn_ui.background.opening import Opening
from rwn_ui.background.preparation import Preparation
from rwn_ui.server.sweeper import WORK
from rwn_ui.state.user import user_state


@dataclass(slots=True, kw_only=True)
class Drawn:
    """A release that was drawn to leave the house, and what became of it."""

    judged: JudgedRelease = field(repr=False)
    about: tuple[Any, ...] = field(repr=False)  # the choices that it was drawn under
    number: int  # how many were drawn under them, this one included
    approval: Approval | None = None  # who answers for it
    # all its files, once they are made
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    left: str = ""  # how the files left this program, in words
    place: str = ""  # where its file was written on this machine; empty where it was downloaded
    # what the ledger will say of it, behind the choices that this was asked for
    foreseen: tuple[Any, list[str]] | None = field(default=None, repr=False)
    entry: dict[str, Any] | None = field(default=None, repr=False)  # its entry in the ledger


@dataclass(slots=True)
class Work:
    """Background work of one user, and its results."""

    opening: Opening | None = None  # of the file that was chosen last
    # by the feature that began it; a job that has ended stays until its result is taken
    jobs: dict[str, Job] = field(default_factory=dict)
    sweep: SweepRun | None = None
    worker: MeasureWorker | None = None  # reads what no slider can wait for
    advice: Job | None = None  # looks for a start; it keeps nothing else from running
    # of a table, or of other weights, that will be gone over to
    preparation: Preparation | None = None
    first: bool = False  # whether that is the table which the user came with
    notice: str = ""  # why the last one is not there
    drawn: Drawn | None = None  # the release that was drawn last on the Release page
    # how many were drawn there, by the choices that they were drawn under
    draws: dict[tuple[Any, ...], int] = field(default_factory=dict)
    # on the server's disk; its masking goes on when another table is opened
    dataset: OpenDataset | None = None
    closed: bool = False  # whether the session has ended

    @property
    def busy(self) -> bool:
        """True while a job is running: one at a time."""
        sweeping = self.sweep is not None and self.sweep.running
        masking = self.dataset is not None and self.dataset.running
        return sweeping or masking or any(job.running for job in self.jobs.values())

    def end(self) -> None:
        """Cancel all that is about a table which is given up, and forget what it has brought."""
        for job in (*self.jobs.values(), self.sweep, self.worker, self.advice):
            if job is not None:
                job.cancel()
        self.jobs.clear()
        self.sweep = self.worker = self.advice = self.drawn = None

    def close(self) -> None:
        """Cancel all work when the session is closed."""
        self.closed = True
        if self.preparation is not None:
            self.preparation.task.cancel()
        if self.opening is not None:
            self.opening.give_up("Its user has left.")
        if self.dataset is not None:
            self.dataset.cancel()
        self.end()


def user_work() -> Work:
    """This user's work."""
    return user_state(WORK, Work)
