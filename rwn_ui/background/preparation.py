"""A table made ready in the background: its neighbors are ranked while the pages stay in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rwn_core as rwn
from rwn_core.compile_ahead import has_many_levels, warm, warm_for_levels
from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.job import Job
from rwn_core.parallel.kernel_cache import LEVELS, is_ready
from rwn_core.parallel.threads import Cancelled, Progress, be_polite
from rwn_ui.background.end_with_session import end_with_the_session

Begin = Callable[[rwn.Microdata, Progress, threading.Event], Any]
Prepare = Callable[[rwn.Microdata, Progress, threading.Event, Any], Any]
CANCELLED = "Cancelled."
_COMPILING = threading.Lock()  # once for all users
_GLANCE = 0.2  # seconds between two looks at whether to stop


def compile_ahead(levels: bool, progress: Progress | None = None) -> None:
    """Translate the search for this machine, in a process that may be ended."""
    warm()
    if levels:
        warm_for_levels()


@dataclass(slots=True, weakref_slot=True, eq=False)
class Preparation:
    """Something about a table in the making.

    Attributes
    ----------
    data : Microdata
    name : str
        The table's.
    begin : callable
        Makes what a first picture needs, in a thread; called with the table, a function to call
        with the share done, and an event that is set when it is to stop. None where there is
        nothing of that kind.
    prepare : callable
        Makes all of it, after that; called with the same, and with what `begin` has made.
    then : callable
        What to do with either; called in a page's own thread.
    rest : float
        Seconds after `begin` in which it may be given up for another one before the work goes on.
    share : float
        How much is done, from 0 to 1.
    compiling : bool
        Whether the search is still being translated for this machine.
    begun : object or None
        What `begin` has made, until a page takes it.
    result : object or None
        What was prepared.
    refusal : str
        Why there is none, once it is known that there will be none.
    shown : bool
        Whether a page has begun to show how far it is.
    """

    data: rwn.Microdata = field(repr=False)
    name: str
    begin: Begin = field(repr=False)
    prepare: Prepare = field(repr=False)
    then: Callable[[Any], None] = field(repr=False)
    rest: float = 0.0
    share: float = 0.0
    compiling: bool = False
    begun: Any = field(default=None, repr=False)
    result: Any = field(default=None, repr=False)
    refusal: str = ""
    shown: bool = False
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _picture: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    @classmethod
    def start(
        cls,
        data: rwn.Microdata,
        name: str,
        *,
        begin: Begin,
        prepare: Prepare,
        then: Callable[[Any], None],
    ) -> Preparation:
        """Begin; it ends with the session that began it."""
        made = cls(data=data, name=name, begin=begin, prepare=prepare, then=then)
        made._thread = threading.Thread(target=made._work, daemon=True, name="rwn.preparation")
        made._thread.start()
        end_with_the_session(made)
        return made

    @property
    def running(self) -> bool:
        """Whether there is still something to wait for."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def words(self) -> str:
        """What is being done, as a person reads it."""
        if self.compiling:
            return "Compiling the search for this machine, once: up to a minute"
        return f"Ranking the neighbors of {self.data.n:,} records of {self.name}"

    def wait(self, seconds: float) -> None:
        """Wait until there is something for a first picture, or until it is clear that not."""
        self._picture.wait(seconds)

    def cancel(self) -> None:
        """Ask it to stop; it does so within half a second."""
        self._stop.set()

    def _work(self) -> None:
        try:
            self._compile()
            some = self.begun = self.begin(self.data, self._progress, self._stop)
            self._picture.set()
            if some is not None and self._stop.wait(self.rest):
                raise Cancelled(CANCELLED)
            be_polite()  # the first picture is drawn meanwhile
            self.result = self.prepare(self.data, self._progress, self._stop, some)
        except Cancelled:
            self.refusal = CANCELLED
        except RWNError as refusal:
            self.refusal = str(refusal)
        except Exception as error:  # its text may hold a value: only its type and lines are logged
            self.refusal = (
                f"The table could not be made ready, perhaps for lack of memory (error "
                f"{log_fault(error)}); try it again, or take a sample of its records."
            )
        finally:
            self._picture.set()

    def _compile(self) -> None:
        """Have the search translated in a process of its own: a compiler cannot be asked to stop.

        Where the machine code cannot be kept for this process, it is translated here.
        """
        levels = has_many_levels(self.data)
        self.compiling = not (is_ready() and (is_ready(LEVELS) or not levels))
        if not self.compiling:
            return
        while not _COMPILING.acquire(timeout=_GLANCE):
            self._stop_here()
        try:
            self._compile_elsewhere(levels)
            compile_ahead(levels)  # at once where the other process could keep it
        finally:
            _COMPILING.release()
        self.compiling = False

    def _compile_elsewhere(self, levels: bool) -> None:
        elsewhere = Job(compile_ahead, levels=levels)
        try:
            while elsewhere.running:
                self._stop_here(_GLANCE)
        finally:
            elsewhere.cancel()

    def _stop_here(self, seconds: float = 0.0) -> None:
        if self._stop.wait(seconds):
            raise Cancelled(CANCELLED)

    def _progress(self, share: float) -> None:
        self.share = share
