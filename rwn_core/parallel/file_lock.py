"""Locks of files, which end with the process that holds them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

_PAUSE = 0.05  # seconds between two tries


@contextmanager
def held(stream: IO[bytes], seconds: float) -> Iterator[bool]:
    """Wait so long for a file; true if it is held alone until the end, false if it never was."""
    end = time.monotonic() + seconds
    is_held = _take(stream)
    while not is_held and time.monotonic() < end:
        time.sleep(_PAUSE)
        is_held = _take(stream)
    try:
        yield is_held
    finally:
        if is_held:
            _leave(stream)


if sys.platform == "win32":
    import msvcrt

    def _take(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _leave(stream: IO[bytes]) -> None:
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _leave(stream: IO[bytes]) -> None:
        fcntl.flock(stream.fileno(), fcntl.LOCK_UN)
