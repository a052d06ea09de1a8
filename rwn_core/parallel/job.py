"""One function call in a process of its own: how far it is, what it returns, or why it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rwn_core.parallel.pool import Pool
from rwn_core.parallel.processes import Handle, Report

Call = tuple[Callable[..., Any], dict[str, Any]]


class Job:
    """A piece of work under way, finished or cancelled; its process ends before it does.

    `work` must be importable by name; it is called with the arguments and `progress`, a `Report` to
    call with the share done. Raises RWNError if the system has no room for another process.
    """

    def __init__(self, work: Callable[..., Any], **arguments: Any) -> None:
        self._pool = Pool(_prepare, workers=1)
        self._task = self._pool.submit((work, arguments))
        self._pool.close()

    @property
    def running(self) -> bool:
        """True while the work goes on."""
        return self._pool.running

    @property
    def share(self) -> float:
        """Return the share done, from 0 to 1."""
        return self._task.share

    @property
    def left(self) -> str:
        """Return the time left, in words."""
        return self._task.pace.words

    @property
    def so_far(self) -> Any:
        """Return the answer so far; it stays after `cancel`. None while there is none."""
        return self._task.so_far

    @property
    def result(self) -> Any:
        """Return the result of the work; None before its end or after a failure."""
        return None if self._outcome is not None or self.running else self._task.result()

    @property
    def refusal(self) -> str:
        """Why there is no result, in one sentence; empty where there is one, or will be."""
        return "" if self.running or self._outcome is None else str(self._outcome)

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        self._pool.cancel()

    @property
    def _outcome(self) -> BaseException | None:
        return self._task.exception() if self._task.done() else None


def _prepare() -> Handle:
    return _call


def _call(call: Call, report: Report) -> Any:
    work, arguments = call
    return work(**arguments, progress=report)
