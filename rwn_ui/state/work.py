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
    """A release that was drawn to leave the house, and what became of it.

    Attributes
    ----------
    judged : JudgedRelease
    about : tuple
        The choices that it was drawn under.
    number : int
        How many were drawn under them, this one included.
    approval : Approval or None
        Who answers for it.
    files : dict of str to bytes
        All its files, once they are made.
    left : str
        How the files left this program, in words.
    place : str
        Where its file was written on this machine; empty where it was downloaded.
    foreseen : tuple or None
        What the ledger will say of it, behind the choices that this was asked for.
    entry : dict or None
        Its entry in the ledger.
    """

    judged: JudgedRelease = field(repr=False)
    about: tuple[Any, ...] = field(repr=False)
    number: int
    approval: Approval | None = None
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    left: str = ""
    place: str = ""
    foreseen: tuple[Any, list[str]] | None = field(default=None, repr=False)
    entry: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(slots=True)
class Work:
    """Background work of one user, and its results.

    Attributes
    ----------
    opening : Opening or None
        Of the file that was chosen last.
    jobs : dict of str to Job
        By the feature that began it; a job that has ended stays until its result is taken.
    sweep : SweepRun or None
    worker : MeasureWorker or None
        Reads what no slider can wait for.
    advice : Job or None
        Looks for a start; it keeps nothing else from running.
    preparation : Preparation or None
        Of a table, or of other weights, that will be gone over to.
    first : bool
        Whether that is the table which the user came with.
    notice : str
        Why the last one is not there.
    drawn : Drawn or None
        The release that was drawn last on the Release page.
    draws : dict of tuple to int
        How many were drawn there, by the choices that they were drawn under.
    dataset : OpenDataset or None
        On the server's disk; its masking goes on when another table is opened.
    closed : bool
        Whether the session has ended.
    """

    opening: Opening | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    sweep: SweepRun | None = None
    worker: MeasureWorker | None = None
    advice: Job | None = None
    preparation: Preparation | None = None
    first: bool = False
    notice: str = ""
    drawn: Drawn | None = None
    draws: dict[tuple[Any, ...], int] = field(default_factory=dict)
    dataset: OpenDataset | None = None
    closed: bool = False

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
