"""Frees a user's data and work 10 seconds after the browser's tab is closed."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading
import time
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from rwn_core.errors import log_fault

GRACE = 10.0  # seconds that a broken connection may take to return
VISIT = "rwn.visit"
"""Key of a user's visit in Streamlit's state."""
_EVERY = 2.0
_SETTLED = 10.0  # seconds after the start, by when it has read what it needs


VISITS: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""By token; an entry ends with the state of its user."""


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
            await asyncio.to_thread(lambda: [visit.save() for visit in visits().values()])
        except Exception as error:  # its text may hold a value
            log_fault(error)


class Sweeper:
    """A task of a server's event loop that closes the sessions that have lost their browser."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._gone: dict[str, float] = {}

    def sweep(self, now: float) -> list[str]:
        """Close the sessions that were left for longer than GRACE, and return their tokens."""
        left = {
            token: visit
            for token, visit in visits().items()
            if visit.controls and not self._server.is_active_session(visit.controls.key)
        }
        self._gone = {token: self._gone.get(token, now) for token in left}
        late = [token for token, since in self._gone.items() if now - since >= GRACE]
        for token in late:
            del VISITS[token]
            visit = left[token]
            self._server.close_session(visit.controls.key)
            threading.Thread(target=visit.close, daemon=True, name="rwn.close").start()
            # Streamlit's loop holds the last one until another user comes
            visit.controls.state.clear()
            visit.controls.forget()
        return late


def visits() -> dict[str, Any]:
    """Return the visits of all users, by token."""
    alive = [(each.key, each()) for each in VISITS.valuerefs()]
    return {token: visit for token, visit in alive if visit is not None}


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
