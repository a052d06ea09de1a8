"""Looks up, while a user rests, what a move far out would have to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.threads import Cancelled, Progress, be_polite
from rwn_ui.background.end_with_session import end_with_the_session


@dataclass(slots=True, weakref_slot=True, eq=False)
class LookAhead:
    """A search in a thread, whose result stays in the prepared table.

    Attributes
    ----------
    look : callable
        Called with a function that it calls now and then, and that stops it by an exception.
    about : hashable
        What it looks through.
    meanwhile : object
        What to show far out until the page has seen that it has ended; None where that is to be
        waited for.
    """

    look: Callable[[Progress], None] = field(repr=False)
    about: Hashable = None
    meanwhile: Any = field(default=None, repr=False)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    @classmethod
    def start(
        cls, look: Callable[[Progress], None], about: Hashable = None, meanwhile: Any = None
    ) -> LookAhead:
        """Begin; it ends with the session that began it."""
        made = cls(look, about, meanwhile)
        made._thread = threading.Thread(target=made._work, daemon=True, name="rwn.look_ahead")
        made._thread.start()
        end_with_the_session(made)
        return made

    @property
    def running(self) -> bool:
        """True while it searches."""
        return self._thread is not None and self._thread.is_alive()

    def cancel(self) -> None:
        """Ask it to stop; it does so within half a second."""
        self._stop.set()

    def _work(self) -> None:
        be_polite()
        try:
            self.look(self._check_stop)
        except RWNError:
            pass  # whoever moves there is told why
        except Exception as error:
            log_fault(error)

    def _check_stop(self, share: float) -> None:
        if self._stop.is_set():
            raise Cancelled("The search ahead was stopped.")
