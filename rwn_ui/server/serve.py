"""The server's own process: Streamlit's command line, with what its options cannot say.

It ends with its launcher, however that ends; asks nobody outside for its address; keeps uploads
off the disk; and logs of an error only its type and the lines it passed.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from rwn_core.errors import describe_fault, log_fault
from rwn_ui.server.endpoint import add_route
from rwn_ui.server.environment import LAUNCHED

_STOPPED_WITHIN = 5.0
_GLANCE = 0.03  # seconds between two looks at whether the server answers
_FIRST_PAGE = (
    "rwn_ui.features.keep_policy",
    "rwn_ui.features.prediction",
    "rwn_ui.features.project",
    "rwn_ui.features.repeated_draws",
    "rwn_ui.panel.guide",
    "rwn_ui.server.assets",
    "rwn_ui.server.login",
    "rwn_ui.server.options",
    "rwn_ui.server.sweeper",
    "rwn_ui.state.user",
    "rwn_ui.state.startup",
    "rwn_ui.tune.live_picture",
    "rwn_ui.tune.view",
    "rwn_ui.widgets.download",
    "rwn_ui.widgets.live_sliders",
    "rwn_ui.widgets.options",
    "rwn_ui.widgets.precision",
    "rwn_ui.widgets.sidebar",
    "rwn_ui.widgets.slices",
)
"""What app.py and pages/tune.py import, and by that all the rest."""


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
    add_route()
    look_for_no_console()
    threading.Thread(target=read_ahead, daemon=True, name="rwn.read_ahead").start()
    cli.main(prog_name="streamlit")


def read_ahead() -> None:
    """Read the given file and what the first page imports, while its browser starts."""
    from streamlit.runtime import Runtime
    from streamlit.runtime.runtime import RuntimeState

    while not Runtime.exists() or Runtime.instance().state is RuntimeState.INITIAL:
        time.sleep(_GLANCE)
    time.sleep(_GLANCE)
    from rwn_ui.server.given_file import read_given_ahead

    read_given_ahead()  # in another process
    gc.disable()  # nothing of a module is garbage, but all of it would be looked through
    try:
        for module in _FIRST_PAGE:
            import_module(module)
    finally:
        gc.enable()


def look_for_no_console() -> None:
    """Let Streamlit know that it runs in none: to find out takes a page .1 s."""
    from streamlit import delta_generator

    delta_generator._use_warning_has_been_displayed = True


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
    """Stop this server when its launcher has ended."""
    try:
        while os.read(0, 1):
            pass
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_STOPPED_WITHIN)
        os._exit(1)
