"""The server's own process: the app with its endpoint, its visitors' check and its sweeper.

It ends with its launcher, however that ends; asks no other host for its address; keeps uploads off
the disk; and logs of an error only its type and the lines it passed.
"""

from __future__ import annotations

import ast
import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwn_core.errors import RWNError, describe_fault, log_fault
from rwn_ui.server import private_streamlit
from rwn_ui.server.entry import Entry, entry_named
from rwn_ui.server.environment import CODE, ENTRY_VARIABLE, LAUNCHED, in_class

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route

_STOPPED_WITHIN = 5.0
_FIRST_PAGE = ("app.py", "pages/tune.py")


def main() -> None:
    """Serve until the end: `run SCRIPT --option=value ...` on the command line."""
    script, *flags = sys.argv[2:]
    entry = entry_named(os.environ.pop(ENTRY_VARIABLE, CODE))
    if os.environ.pop(LAUNCHED, ""):
        threading.Thread(target=_hear_the_launcher, args=(entry,), daemon=True).start()
    say_no_values()
    with suppress(ImportError):  # a system without limits of a process writes no cores either
        resource = import_module("resource")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold the table
    try:
        private_streamlit.require_members()
    except RWNError as refusal:
        sys.exit(str(refusal))
    private_streamlit.prepare()
    make_app(Path(script), entry).run(config=as_config(flags))


def make_app(script: Path, entry: Entry) -> Any:
    """Return Streamlit's app of a script, with the endpoint and the check of visitors."""
    import streamlit as st
    from starlette.middleware import Middleware

    from rwn_ui.server.endpoint import route
    from rwn_ui.server.messages import show_error
    from rwn_ui.server.own_address import OwnAddress
    from rwn_ui.server.visitors import OwnVisitors

    return st.App(
        script,
        routes=[route(), *first_page()],
        middleware=[
            Middleware(OwnVisitors, entry),
            Middleware(OwnAddress, script.parent / "pages"),
        ],
        lifespan=_lifespan,
        on_script_error=show_error,
    )


def first_page() -> Iterator[Route]:
    """Yield routes from the first page's own name, which has no address, to where it is."""
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    def forward(request: Request) -> RedirectResponse:
        return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")

    name = "learn" if in_class() else "tune"
    for path in (f"/{name}", f"/{{base:path}}/{name}"):
        yield Route(path, forward)


def as_config(flags: Sequence[str]) -> dict[str, Any]:
    """Return options of the command line by name; one that is repeated is a list."""
    found: dict[str, Any] = {}
    for flag in flags:
        name, _, text = flag.removeprefix("--").partition("=")
        value: Any = {"true": True, "false": False}.get(text, int(text) if text.isdigit() else text)
        if name == "server.allowedHosts":
            value = [*found.get(name, ()), text]
        found[name] = value
    return found


@asynccontextmanager
async def _lifespan(app: Any) -> AsyncIterator[None]:
    from streamlit import runtime

    from rwn_ui.server.sweeper import keep_swept

    threading.Thread(
        target=read_ahead, args=(app.script_path.parent,), daemon=True, name="rwn.read_ahead"
    ).start()
    sweeping = asyncio.create_task(keep_swept(runtime.get_instance()))
    try:
        yield
    finally:
        sweeping.cancel()


def read_ahead(folder: Path) -> None:
    """Read the given file and what the first page imports, while its browser starts."""
    from rwn_ui.server.given_file import read_given_ahead

    read_given_ahead()  # in another process
    gc.disable()  # nothing of a module is garbage, but all of it would be looked through
    try:
        for module in first_imports(folder):
            with suppress(ModuleNotFoundError):  # a name within a module
                import_module(module)
    finally:
        gc.enable()


def first_imports(folder: Path) -> Iterator[str]:
    """Yield the app's modules that the first page imports; some are names within a module."""
    for page in _FIRST_PAGE:
        if not (folder / page).is_file():
            continue
        for node in ast.walk(ast.parse((folder / page).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rwn_ui"):
                yield str(node.module)
                yield from (f"{node.module}.{each.name}" for each in node.names)


def say_no_values() -> None:
    """Log no text of a foreign error: it may hold a cell's value."""
    warnings.simplefilter("ignore")
    logging.setLogRecordFactory(_discreet(logging.getLogRecordFactory()))
    sys.excepthook = lambda kind, error, trace: _log(error)
    threading.excepthook = lambda arguments: _log(arguments.exc_value)
    sys.unraisablehook = lambda arguments: _log(arguments.exc_value)


def _log(error: BaseException | None) -> None:
    if error is not None:
        log_fault(error)


def _discreet(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    def record(*arguments: Any, **named: Any) -> logging.LogRecord:
        made = make(*arguments, **named)
        error = made.exc_info[1] if made.exc_info else None
        if error is not None:
            made.msg = f"A fault: {describe_fault(error)}"
            made.args = ()
        made.exc_info = made.stack_info = None
        return made

    return record


def _hear_the_launcher(entry: Entry) -> None:
    """Take each line that the launcher writes as a secret; stop this server when it has ended."""
    try:
        with open(0, "rb", closefd=False) as told:
            for line in told:
                if entry is not None:
                    entry.hear(line.decode().strip())
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_STOPPED_WITHIN)
        os._exit(1)
