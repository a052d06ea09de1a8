"""File of the command line, read while the browser starts."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import rwn_core as rwn
from rwn_core.io.reading import FileReading, begin, saved_schema, schema_from
from rwn_ui.server.environment import FILE_VARIABLE

_started: tuple[os.stat_result, FileReading] | None = None
_LOCK = threading.Lock()


def given_file() -> Path | None:
    """The file that the app was started with."""
    given = os.environ.get(FILE_VARIABLE)
    return Path(given) if given else None


def read_given_ahead() -> None:
    """Start reading it; a refusal is shown on the first page."""
    global _started
    path = given_file()
    if path is None:
        return
    try:
        with _LOCK:
            _started = path.stat(), begin_described(path)
    except (OSError, rwn.RWNError):
        return


def begin_described(path: Path) -> FileReading:
    """Begin to read a file, by the description that was saved with it if there is one."""
    return begin(path, schema_from(_saved(path)))


def _saved(path: Path) -> Path | None:
    place = saved_schema(path)
    return place if place.is_file() else None


def read_given() -> rwn.Microdata:
    """Its table, from the early reading if the file has not changed."""
    global _started
    path = given_file()
    assert path is not None  # or this is not called
    with _LOCK:
        started, _started = _started, None
    if started is None:
        return rwn.read(path, _saved(path))
    before, reading = started
    try:
        now = path.stat() if path.exists() else None
        if now is None or (now.st_mtime_ns, now.st_size) != (before.st_mtime_ns, before.st_size):
            return rwn.read(path, _saved(path))
        reading.wait()
        return reading.table()
    finally:
        reading.cancel()
