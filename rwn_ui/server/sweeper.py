"""Frees what a user leaves behind: Streamlit itself keeps it until another one comes and goes."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from streamlit import runtime

from rwn_core.errors import log_fault

GRACE = 10.0  # seconds that a broken connection may take to come back
_EVERY = 2.0
_SETTLED = 10.0  # seconds after the first page, by when it has read what it needs
_STARTED = threading.Lock()
Close = Callable[[Mapping[str, Any]], None]


def keep_swept(close: Close) -> None:
    """Start the sweeper of this server, once."""
    # a page under test has a stand-in for the server
    real = runtime.exists() and type(runtime.get_instance()) is runtime.Runtime
    if real and _STARTED.acquire(blocking=False):
        sweeper = Sweeper(runtime.get_instance(), close)
        threading.Thread(target=sweeper.run, daemon=True, name="rwn.sweeper").start()


class Sweeper:
    """Close the sessions of a server that have lost their browser.

    Parameters
    ----------
    instance : streamlit.runtime.Runtime
    close : callable
        Called with the state of a session before it is forgotten.
    """

    def __init__(self, instance: Any, close: Close) -> None:
        self._instance, self._close_user = instance, close
        self._gone: dict[str, float] = {}

    def run(self) -> None:
        """Sweep for as long as the server lives."""
        time.sleep(_SETTLED)
        set_aside()
        while True:
            time.sleep(_EVERY)
            try:
                self._sweep_round()
            except RuntimeError:  # the list changed while it was read, or the loop ended
                continue
            except Exception as error:  # nobody else would sweep; its text may hold a value
                log_fault(error)

    def _sweep_round(self) -> None:
        if self.sweep(time.monotonic()):
            time.sleep(_EVERY)  # until the loop has closed them
            free_memory()

    def sweep(self, now: float) -> list[str]:
        """Close the sessions that were left for longer than GRACE; which these are."""
        manager = self._instance._session_mgr
        left = {
            info.session.id
            for info in manager.list_sessions()
            if not manager.is_active_session(info.session.id)
        }
        self._gone = {each: self._gone.get(each, now) for each in left}
        late = [each for each, since in self._gone.items() if now - since >= GRACE]
        loop = self._instance._get_async_objs().eventloop
        for each in late:
            loop.call_soon_threadsafe(self._close, each)
        return late

    def _close(self, session_id: str) -> None:
        manager = self._instance._session_mgr
        if manager.is_active_session(session_id):
            return
        left = [i.session for i in manager.list_sessions() if i.session.id == session_id]
        self._instance.close_session(session_id)
        for session in left:  # Streamlit's loop holds the last one until another user comes
            self._close_user(session.session_state)
            session.session_state.clear()
            forget_controls(session.session_state, session._fragment_storage)


def forget_controls(state: Any, fragments: Any) -> None:
    """Forget what Streamlit remembers of the controls and parts of all pages.

    Their descriptions name levels, and hold what their callbacks are given: a button that cancels
    a reading holds the table that was read.
    """
    state._new_widget_state.widget_metadata.clear()
    fragments.clear()


def set_aside() -> None:
    """Keep what is in memory now out of the collector's rounds, until `free_memory`.

    Most of it are modules, which last. A round through all of them takes .2 s, in which no slider
    moves; `python -m benchmarks.redraw --whole-range` meets one in a hundred moves.
    """
    gc.freeze()


def free_memory() -> None:
    """Return unused memory to the system, so that it holds no data."""
    gc.unfreeze()  # what somebody has left may have been set aside
    gc.collect()
    set_aside()
    with suppress(OSError, AttributeError):  # the C library of Linux
        ctypes.CDLL("libc.so.6").malloc_trim(0)
