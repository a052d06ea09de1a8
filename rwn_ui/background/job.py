"""Long work in a process of its own: progress, cancel, one job for each session."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from rwn_core.errors import RWNError
from rwn_core.tuning.sweep_processes import end_with_the_parent, start_alone, stop
from rwn_ui.background.end_with_session import end_with_the_session

_CONTEXT = multiprocessing.get_context("spawn")
_FAILED = "The work stopped before it was done, perhaps for lack of memory; try it again."


def _run(channel: Connection, work: Callable[..., Any], arguments: dict[str, Any]) -> None:
    end_with_the_parent()
    try:
        result = work(**arguments, progress=lambda share: channel.send(("progress", share)))
        channel.send(("done", result))
    except RWNError as refusal:
        channel.send(("refused", str(refusal)))
    except Exception as error:  # its text may hold a value: only its type leaves the process
        channel.send(("refused", f"{_FAILED} ({type(error).__name__})"))


@dataclass(slots=True, weakref_slot=True, eq=False)
class Job:
    """One piece of work under way, finished or cancelled.

    Attributes
    ----------
    label : str
        The setting it belongs to, in words.
    share : float
        How much is done, from 0 to 1.
    result : object
        What the work returned, once done.
    refusal : str
        Why there is no result.
    """

    label: str
    share: float = 0.0
    result: Any = None
    refusal: str = ""
    _process: SpawnProcess | None = field(default=None, repr=False)
    _channel: Connection | None = field(default=None, repr=False)

    @classmethod
    def start(cls, label: str, work: Callable[..., Any], **arguments: Any) -> Job:
        """Begin; `work` also gets `progress`, a function to call with the share done."""
        mine, theirs = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=_run, args=(theirs, work, arguments), daemon=True)
        start_alone(process)
        theirs.close()
        job = cls(label=label, _process=process, _channel=mine)
        end_with_the_session(job)
        return job

    @property
    def running(self) -> bool:
        """Whether there is still something to wait for."""
        return self._process is not None

    def poll(self) -> None:
        """Take in what the process has reported."""
        if self._channel is None:
            return
        try:
            while self._channel.poll():
                what, value = self._channel.recv()
                if what == "progress":
                    self.share = value
                elif what == "done":
                    self.result = value
                    return self._close()
                else:
                    self.refusal = value
                    return self._close()
        except EOFError:
            self.refusal = _FAILED
            self._close()

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        if self._process is not None:
            self.refusal = "Cancelled."
            self._close()

    def _close(self) -> None:
        if self._process is not None:
            stop([self._process])  # it has told all; what it still holds is data
        if self._channel is not None:
            self._channel.close()
        self._process = self._channel = None
