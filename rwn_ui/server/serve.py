"""The server's own process: Streamlit's command line, with what its options cannot say.

It ends with its launcher, however that ends; asks nobody outside for its address; keeps uploads
off the disk; and logs of an error only its type and the lines it passed.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from rwn_core.errors import describe_fault, log_fault

LAUNCHED = "RWN_LAUNCHED"
"""Environment variable that says that the standard input ends with the launcher."""

_STOPPED_WITHIN = 5.0


def main() -> None:
    """Serve until the end."""
    import streamlit.web.cli as cli
    from streamlit.runtime.pages_manager import PagesManager

    # left alone, it takes the folder pages for an app of the old kind until app.py has run:
    # whoever opens a page by its address first would find no bar with the others
    PagesManager.uses_pages_directory = False
    if os.environ.pop(LAUNCHED, ""):
        threading.Thread(target=_end_with_the_launcher, daemon=True).start()
    say_no_values()
    stay_inside()
    cli.main(prog_name="streamlit")


def stay_inside() -> None:
    """Look up no address outside, and let no upload reach the disk."""
    from starlette.formparsers import MultiPartParser
    from streamlit import net_util

    # a request from a foreign page would make the server ask for its own address outside
    net_util.get_external_ip = net_util.get_internal_ip = _unknown
    MultiPartParser.spool_max_size = sys.maxsize  # above it, a file in clear in TMPDIR


def say_no_values() -> None:
    """Log no text of a foreign error: it may hold a cell's value."""
    warnings.simplefilter("ignore")
    logging.setLogRecordFactory(_discreet(logging.getLogRecordFactory()))
    sys.excepthook = lambda kind, error, trace: _log(error)
    threading.excepthook = lambda arguments: _log(arguments.exc_value)
    sys.unraisablehook = lambda arguments: _log(arguments.exc_value)


def _unknown() -> None:
    return None


def _log(error: BaseException | None) -> None:
    if error is not None:
        log_fault(error)


def _discreet(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    def record(*arguments: Any, **named: Any) -> logging.LogRecord:
        made = make(*arguments, **named)
        error = made.exc_info[1] if made.exc_info else None
        if error is not None:
            made.msg, made.args = f"A fault: {describe_fault(error)}", ()
        made.exc_info = made.stack_info = None
        return made

    return record


def _end_with_the_launcher() -> None:
    """Wait, in a thread, for the end of the launcher: nobody else would end this server."""
    try:
        while os.read(0, 1):
            pass
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_STOPPED_WITHIN)
        os._exit(1)
