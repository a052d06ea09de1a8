"""Optional callback while kernels compile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TELL: list[Callable[[], None]] = []


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
