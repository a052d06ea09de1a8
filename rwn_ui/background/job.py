"""Long work of one session, in a process of its own that ends with it; it may have to wait."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from rwn_core.errors import RWNError
from rwn_core.parallel import job
from rwn_ui.background.end_with_session import end_with_the_session
from rwn_ui.background.places import PLACES

WAITS = "waiting until the work of another user ends"
_CANCELLED = "Cancelled."
_GLANCE = 0.2  # seconds between two looks at whether there is a place


class Job(job.Job):
    """One piece of work waiting, under way, finished or cancelled.

    Parameters
    ----------
    label : str
        The setting it belongs to, in words.
    work : callable
        Called in the process with the arguments and `progress`, a function to call with the share
        done.
    words : str
        What is being done, as a person reads it.
    about : tuple, optional
        The choices that it was begun with, for who takes its result.
    **arguments
        What `work` is given.

    Raises
    ------
    RWNError
        The system has no room for another process.
    """

    def __init__(
        self,
        label: str,
        work: Callable[..., Any],
        *,
        words: str,
        about: tuple[Any, ...] = (),
        **arguments: Any,
    ) -> None:
        self.label, self.about, self._doing = label, about, words
        self._call: tuple[Callable[..., Any], dict[str, Any]] | None = (work, arguments)
        self._why, self._lock = "", threading.Lock()  # why it never began
        if not self._begin():
            threading.Thread(target=_wait, args=(weakref.ref(self),), daemon=True).start()
        end_with_the_session(self)

    @property
    def waits(self) -> bool:
        """True if it waits for a slot."""
        return self._call is not None

    @property
    def running(self) -> bool:
        """True until it has ended."""
        return self.waits or (not self._why and super().running)

    @property
    def words(self) -> str:
        """The activity, in words."""
        return f"{self._doing}: {WAITS}" if self.waits else self._doing

    @property
    def share(self) -> float:
        """Share done, from 0 to 1."""
        return 0.0 if self.waits or self._why else super().share

    @property
    def result(self) -> Any:
        """Return value of the work; None without one."""
        return None if self.waits or self._why else super().result

    @property
    def refusal(self) -> str:
        """Why there is no result, in one sentence; empty where there is one, or will be."""
        return self._why or ("" if self.waits else super().refusal)

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        with self._lock:
            if self._call is not None:
                self._call, self._why = None, _CANCELLED
        if not self._why:
            super().cancel()

    def _begin(self) -> bool:
        """Begin where there is a place; whether there is nothing more to wait for."""
        with self._lock:
            if self._call is None:
                return True
            if not PLACES.take(self):
                return False
            work, arguments = self._call
            super().__init__(work, **arguments)
            self._call = None
            return True


def _wait(reference: weakref.ref[Job]) -> None:
    """Begin a job as soon as there is a place."""
    while (waiting := reference()) is not None:
        try:
            if waiting._begin():
                return
        except RWNError as refusal:
            waiting._call, waiting._why = None, str(refusal)
            return
        del waiting  # or this thread would be what keeps it alive
        time.sleep(_GLANCE)
