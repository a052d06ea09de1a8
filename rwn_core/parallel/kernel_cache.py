"""The cache of compiled kernels, and the callback while they compile."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

from rwn_core.parallel import file_lock

_PACKAGE = Path(__file__).parents[1]
READY = "ready"
LIMITS = "ready-for-limits"
DRAWS = "ready-to-draw"
PATIENCE_S = 120.0
"""Seconds that a process waits for another one's kernels, before it compiles them itself."""
_TELL: list[Callable[[], None]] = []


def folder() -> Path:
    """The folder of this state of the kernels' sources."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(given) if given else _writable()) / f"rwn-{_state()}"


def _writable() -> Path:
    for candidate in (Path(__file__).parent / "__pycache__", *_of_the_user()):
        try:
            candidate.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(candidate, os.W_OK):
            return candidate
    # in a folder with a name that others can guess and fill, their code would run
    return Path(_for_this_process())


def _of_the_user() -> list[Path]:
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return [Path(given) / "rwn" if given else Path.home() / ".cache" / "rwn"]
    except RuntimeError:  # an account without a home
        return []


@cache
def _for_this_process() -> str:
    return tempfile.mkdtemp(prefix="rwn-")


@cache  # every kernel asks for it when it is imported
def _state() -> str:
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted((*_PACKAGE.rglob("*_kernel.py"), _PACKAGE / "parallel" / "jit.py")):
        digest.update(f"{source} {source.stat().st_mtime_ns}".encode() + source.read_bytes())
    return digest.hexdigest()[:12]


def is_ready(kernels: str = READY) -> bool:
    """True if the kernels of this version are compiled on this machine."""
    return (folder() / kernels).is_file()


def set_ready(kernels: str = READY) -> None:
    """Remember that they have."""
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / kernels).touch()


@contextmanager
def compiler(kernels: str = READY, *, wait: bool = True) -> Iterator[bool]:
    """Wait while another process compiles these kernels; true if they are left to this one.

    Without a wait it is false where another one compiles them.
    """
    if is_ready(kernels):
        yield False
        return
    folder().mkdir(parents=True, exist_ok=True)
    place = folder() / f"compiling-{kernels}"
    patience = PATIENCE_S if wait else 0.0
    with place.open("ab") as file, file_lock.held(file, patience) as is_held:
        is_left = is_held or wait
        yield is_left and not is_ready(kernels)


def wait_for_others(kernels: str) -> None:
    """Wait while another process compiles these kernels."""
    with compiler(kernels):
        pass


@contextmanager
def on_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call something when a kernel is about to be compiled, here or in a worker, and only once."""
    # Code that was compiled before, and is read from the disk, is no reason to call.
    before = list(_TELL)
    _TELL[:] = [tell]
    try:
        yield
    finally:
        _TELL[:] = before


def compiling() -> None:
    """Call the callback, once."""
    try:
        tell = _TELL.pop()  # one of several threads gets it
    except IndexError:
        return
    tell()
