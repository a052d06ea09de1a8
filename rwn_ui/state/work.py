"""One user's results and work in the background, apart from every other user's."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, TypeVar, Unpack

from rwn_core.reporting.judged_release import Approval, JudgedRelease
from rwn_ui.background.job import Job
from rwn_ui.background.measure_worker import MeasureWorker
from rwn_ui.background.opening import Opening
from rwn_ui.background.task import Task
from rwn_ui.server.endpoint import Endpoint

_T = TypeVar("_T")
FIND = "find"
"""The job of the Find page, among the user's."""
_MISSING: Any = object()


class Memo:
    """The latest results of one user; the oldest go first. Nothing is shared between users.

    It may be cleared from another thread while a page reads it.
    """

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._stored: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get_or_make(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The kept result of this key, or a new one."""
        with self._lock:
            value: _T = self._stored.get(key, _MISSING)
            if value is not _MISSING:
                self._stored.move_to_end(key)
                return value
        result = make()
        self.keep(key, result)
        return result

    def keep(self, key: Hashable, result: object) -> None:
        """Keep a result that was made elsewhere."""
        with self._lock:
            self._stored[key] = result
            while len(self._stored) > self._entries:
                self._stored.popitem(last=False)

    def get(self, key: Hashable) -> Any:
        """The kept result of this key; None where there is none."""
        return self._stored.get(key)

    def copied(self) -> Memo:
        """Return a separate memory with the same results."""
        made = Memo(self._entries)
        with self._lock:
            made._stored.update(self._stored)
        return made

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._stored.clear()

    def __contains__(self, key: Hashable) -> bool:
        """True if a result of this key is stored."""
        return key in self._stored

    def __len__(self) -> int:
        """Number of stored results."""
        return len(self._stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneScreen:
    """The screen of Tune for a table: one record, which is complete at any moment.

    The page, its fragment and the endpoint share it; another table begins with an empty one.
    """

    picture: Mapping[str, Any] | None = None  # the last good one; None before there is any
    controls: Mapping[str, Any] | None = None  # the sliders that were sent with it
    held: bool = False  # whether a slider is being dragged
    refusal: Exception | None = None  # of an edit; the run that follows says it
    advised: bool = False  # whether a suggestion is wanted for a demo table


class TuneChanges(TypedDict, total=False):
    """The parts of a `TuneScreen` that change together."""

    picture: Mapping[str, Any] | None
    controls: Mapping[str, Any] | None
    held: bool
    refusal: Exception | None
    advised: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPicture:
    """The last picture of a page, and what it is about: a lesson, a figure."""

    about: Hashable
    payload: Mapping[str, Any] = field(repr=False)


@dataclass(slots=True)
class Results:
    """All results computed for one user; nothing is shared between users."""

    tables: Memo = field(default_factory=lambda: Memo(2))  # prepared tables, by `preparation_key`
    memos: dict[str, Memo] = field(default_factory=dict)  # the results of each feature, see `memo`
    last: dict[str, Any] = field(default_factory=dict)  # what is being written on a page
    pictures: dict[str, KeptPicture] = field(default_factory=dict)  # the last good ones, by page
    tune: TuneScreen = TuneScreen()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self, **changes: Unpack[TuneChanges]) -> None:
        """Change what Tune shows, as a whole; other threads may change another part of it."""
        with self._lock:
            self.tune = replace(self.tune, **changes)

    def end(self) -> None:
        """Forget what belongs to the table that is left; the latest prepared tables stay."""
        self.memos.clear()
        self.last.clear()
        self.pictures.clear()
        with self._lock:
            self.tune = TuneScreen()


@dataclass(slots=True, kw_only=True)
class Drawn:
    """A release that was drawn to leave the house, and what became of it."""

    judged: JudgedRelease = field(repr=False)
    about: tuple[Any, ...] = field(repr=False)  # the choices that it was drawn under
    number: int  # how many were drawn under them, this one included
    approval: Approval | None = None  # the responsible person
    # all its files, once they are made
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    left: str = ""  # how the files left this program, in words
    place: str = ""  # where its file was written on this machine; empty where it was downloaded
    # what the ledger will say of it, behind the choices that this was asked for
    foreseen: tuple[Any, list[str]] | None = field(default=None, repr=False)
    entry: dict[str, Any] | None = field(default=None, repr=False)  # its entry in the ledger


@dataclass(slots=True)
class Work:
    """The background work of one user, and its results."""

    opening: Opening | None = None  # of the file that was chosen last
    # by the feature that began it; a job that has ended stays until its result is taken
    jobs: dict[str, Job] = field(default_factory=dict)
    worker: MeasureWorker | None = None  # reads what no slider can wait for
    advice: Job | None = None  # looks for a start; it keeps nothing else from running
    further: Job | None = None  # reads further draws of the setting on screen, likewise
    # of a table, or of other weights, that will replace this one
    preparation: Task | None = None
    first: bool = False  # whether that is the table which the user came with
    notice: str = ""  # why the last one is not there
    drawn: Drawn | None = None  # the release that was drawn last on the Release page
    # how many were drawn there, by the choices that they were drawn under
    draws: dict[tuple[Any, ...], int] = field(default_factory=dict)
    closed: bool = False  # whether the session has ended

    @property
    def busy(self) -> bool:
        """True if a job is running: one at a time."""
        return any(job.running for job in self.jobs.values())

    def end(self) -> None:
        """Cancel all work on the table that is left, and forget its results."""
        for job in (*self.jobs.values(), self.worker, self.advice, self.further):
            if job is not None:
                job.cancel()
        self.jobs.clear()
        self.worker = self.advice = self.further = self.drawn = None

    def close(self) -> None:
        """Cancel all work when the session is closed."""
        self.closed = True
        if self.preparation is not None:
            self.preparation.cancel()
        if self.opening is not None:
            self.opening.give_up("Its user has left.")
        self.end()


@dataclass(slots=True, kw_only=True)
class User:
    """The results, running work and lock of one user; choices are in the session.

    The lock is the endpoint's: while a choice changes, it answers nothing.
    """

    results: Results = field(default_factory=Results)
    work: Work = field(default_factory=Work)
    endpoint: Endpoint = field(default_factory=Endpoint)

    def end(self) -> None:
        """End the work on the table that is left, and forget its results."""
        self.work.end()
        self.results.end()
