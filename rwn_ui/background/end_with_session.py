"""End the work of a user soon after the last tab of the session is closed."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlit import runtime

GRACE = 10.0  # seconds that a broken connection may take to come back
_EVERY = 1.0


def end_with_the_session(work: Any) -> None:
    """Cancel `work` when this session has no connection any more.

    Streamlit forgets a session at its leisure, and a process that it started would go on holding
    the data for as long.
    """
    # a worker imports this file with its work, and needs no server
    from streamlit import runtime
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not runtime.exists():
        return
    watcher = threading.Thread(
        target=_watch,
        args=(weakref.ref(work), runtime.get_instance(), context.session_id),
        daemon=True,
    )
    watcher.start()


def _watch(reference: Any, instance: runtime.Runtime, session_id: str) -> None:
    seen = time.monotonic()
    while (work := reference()) is not None and work.running:
        if instance.is_active_session(session_id):
            seen = time.monotonic()
        elif time.monotonic() - seen > GRACE:
            work.cancel()
            return
        del work  # or this thread would be what keeps it alive
        time.sleep(_EVERY)
