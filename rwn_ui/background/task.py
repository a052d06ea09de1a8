"""Work of one user in a thread of the server: progress, cancel, result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.threads import Cancelled
from rwn_ui.background.job import CANCELLED


class Task:
    """One piece of work under way, finished or cancelled; the work may change its words."""

    def __init__(self, work: Callable[[Task], Any], *, words: str) -> None:
        self.words, self.share = words, 0.0
        self.result: Any = None
        self.refusal = ""  # reason for no result, in one sentence
        self.stop = threading.Event()
        self._ended = threading.Event()
        self._work = work
        threading.Thread(target=self._run, daemon=True, name="rwn.task").start()

    @property
    def running(self) -> bool:
        """True until it has ended."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None) -> None:
        """Wait until it has ended, but no longer than this; None waits for its end."""
        self._ended.wait(seconds)

    def cancel(self) -> None:
        """Ask it to stop; it does so within half a second."""
        self.stop.set()

    def progress(self, share: float) -> None:
        """Note the share done."""
        self.share = share

    def check(self, seconds: float = 0.0) -> None:
        """Wait so long; raise `Cancelled` if it is to stop."""
        if self.stop.wait(seconds):
            raise Cancelled(CANCELLED)

    def _run(self) -> None:
        try:
            self.result = self._work(self)
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
            self._ended.set()
