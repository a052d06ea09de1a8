"""One writer at a time: a lock on an open file, on every system."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from rwn_core.errors import ReleaseError

PATIENCE = 10.0  # seconds
_PAUSE = 0.05


@contextmanager
def locked(stream: IO[bytes]) -> Iterator[None]:
    """Hold a file alone."""
    end = time.monotonic() + PATIENCE
    while not _taken(stream):
        if time.monotonic() > end:
            raise ReleaseError(
                "Another program writes to the ledger; try again when it has finished."
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        _left(stream)


@contextmanager
def held(stream: IO[bytes]) -> Iterator[bool]:
    """Lock a file; yield True if the lock was free."""
    mine = _taken(stream)
    try:
        yield mine
    finally:
        if mine:
            _left(stream)


if sys.platform == "win32":
    import msvcrt

    def _taken(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _left(stream: IO[bytes]) -> None:
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _left(stream: IO[bytes]) -> None:
        fcntl.flock(stream.fileno(), fcntl.LOCK_UN)
