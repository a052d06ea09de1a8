"""Frees what a user leaves behind: Streamlit itself keeps it until another one comes and goes."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading
import time
from contextlib import suppress
from typing import Any

from rwn_core.errors import log_fault
from rwn_ui.server import private_streamlit
from rwn_ui.server.private_streamlit import User

GRACE = 10.0  # seconds that a broken connection may take to come back
WORK, VISIT = "rwn.work", "rwn.visit"
"""Keys of a user's work and visit in Streamlit's state; the visit has `close` and `save`."""
_EVERY = 2.0
_SETTLED = 10.0  # seconds after the start, by when it has read what it needs


async def keep_swept(server: Any) -> None:
    """Close left sessions for as long as the server lives."""
    await asyncio.sleep(_SETTLED)
    set_aside()
    sweeper = Sweeper(server)
    while True:
        await asyncio.sleep(_EVERY)
        try:
            if sweeper.sweep(time.monotonic()):
                await asyncio.to_thread(free_memory)
            await asyncio.to_thread(_save, sweeper.visits())
        except Exception as error:  # its text may hold a value
            log_fault(error)


class Sweeper:
    """Closes the sessions of a server that have lost their browser; used in its event loop."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._gone: dict[str, float] = {}

    def sweep(self, now: float) -> list[str]:
        """Close the sessions that were left for longer than GRACE, and return their keys."""
        left = {
            user.key: user for user in private_streamlit.users(self._server) if not user.connected
        }
        self._gone = {key: self._gone.get(key, now) for key in left}
        late = [key for key, since in self._gone.items() if now - since >= GRACE]
        for key in late:
            self._close(left[key])
        return late

    def visits(self) -> list[Any]:
        """The visits of all users."""
        states = [user.state for user in private_streamlit.users(self._server)]
        return [v for state in states if (v := private_streamlit.stored(state, VISIT)) is not None]

    def _close(self, user: User) -> None:
        self._server.close_session(user.key)
        visit = private_streamlit.stored(user.state, VISIT)
        if visit is not None:
            threading.Thread(target=visit.close, daemon=True, name="rwn.close").start()
        # Streamlit's loop holds the last one until another user comes
        user.state.clear()
        private_streamlit.forget_controls(user.state, user.fragments)


def _save(visits: list[Any]) -> None:
    for visit in visits:
        visit.save()


def set_aside() -> None:
    """Keep what is in memory now out of the collector's rounds, until `free_memory`."""
    # Most of it are modules, which last. A round through all of them takes .2 s, in which no slider
    # moves; `python -m benchmarks.redraw --whole-range` meets one in a hundred moves.
    gc.freeze()


def free_memory() -> None:
    """Return unused memory to the system, so that it holds no data."""
    gc.unfreeze()  # the left session may have been set aside
    gc.collect()
    set_aside()
    with suppress(OSError, AttributeError):  # the C library of Linux
        ctypes.CDLL("libc.so.6").malloc_trim(0)
