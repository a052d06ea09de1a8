"""How the app is opened: by one-time codes that no other account of this machine sees.

A code is shown on a terminal or stands in a file of this account alone, which forwards to the app.
It is in no argument of the browser, which every account can read, and in no log.
"""

import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from rwn_ui.server.entry import CODE_LASTS_S
from rwn_ui.server.environment import CODE

_FORWARDS = """<!doctype html><meta charset="utf-8"><title>RWN</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={0}">
<a href="{0}">Open RWN</a>
"""
_NAME = "open-rwn.html"

Say = Callable[[str], None]


@contextmanager
def opened(base: str, tell: Say, say: Say, *, browser: bool) -> Iterator[None]:
    """Open the app, or say how to; at the end nothing is left on the disk.

    Parameters
    ----------
    base : str
        Address of the server without a code.
    tell : function
        Tells the server a code, from when on it is good once and for a minute.
    say : function
        Writes a line to the standard error, for the person.
    browser : bool
        Whether a window is opened here.
    """

    def fresh() -> str:
        code = secrets.token_urlsafe(32)
        tell(code)
        return f"{base}/?{CODE}={code}"

    def show() -> None:
        say(f"Open {fresh()} within a minute: it lets one browser in, once.")

    with ExitStack() as left:
        say(f"RWN runs at {base} (Ctrl-C ends it)")
        shown = browser and webbrowser.open(left.enter_context(forwarding(fresh())).as_uri())
        on_terminal = sys.stderr.isatty()
        if not shown and on_terminal:
            show()
        elif not shown:  # a log may be read by others
            page = left.enter_context(forwarding(fresh()))
            say(f"Open {page} in a browser of this account within a minute: it works once.")
        if on_terminal and in_foreground():
            say("Enter shows a new address, for another browser or a later time.")
            on_enter(show)
        yield


@contextmanager
def forwarding(address: str) -> Iterator[Path]:
    """Make a page of this account alone that forwards to an address; it goes with the code."""
    folder = private_folder()
    page = folder / _NAME
    last = threading.Timer(CODE_LASTS_S, shutil.rmtree, (folder,), {"ignore_errors": True})
    last.daemon = True
    try:
        with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(_FORWARDS.format(address))
        last.start()
        yield page
    finally:
        last.cancel()
        shutil.rmtree(folder, ignore_errors=True)


def private_folder() -> Path:
    """Make a folder that this account alone can enter, in its home folder if it can be there."""
    # a browser that comes as a snap sees no temporary folder, and no hidden one of the home
    with suppress(OSError):
        return Path(tempfile.mkdtemp(prefix="rwn-opens-", dir=os.path.expanduser("~")))
    return Path(tempfile.mkdtemp(prefix="rwn-opens-"))


def in_foreground() -> bool:
    """True if a person at a terminal can press Enter for this program."""
    if not os.isatty(0):
        return False
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # the terminal is not that of this program
        return False


def on_enter(act: Callable[[], None]) -> None:
    """Act at each Enter, until there is no terminal any more."""
    if sys.platform != "win32":  # moved into the background, a program that reads would be stopped
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)

    def listen() -> None:
        with suppress(OSError):
            while os.read(0, 4096):  # sys.stdin would hold a lock at the end
                act()

    threading.Thread(target=listen, daemon=True, name="rwn.enter").start()
