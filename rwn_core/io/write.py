"""Tables out: the bytes of a file that holds the values and nothing else, written whole."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd

from rwn_core.data.schema import Schema
from rwn_core.errors import NotWritten, ParameterError
from rwn_core.io import endings, format_of_key, format_of_name

PART = ".part-rwn-"
"""How the names of unfinished files and folders begin."""
_ABANDONED = 3600.0  # seconds


def file_format(path: Path) -> str:
    """Find the key of the format that a file name asks for."""
    asked = format_of_name(path.name)
    if asked is None or asked.write is None:
        raise ParameterError(f"The output file name must end in {endings()}.")
    return asked.key


def table_bytes(frame: pd.DataFrame, format: str, schema: Schema | None = None) -> bytes:
    """Give a file's bytes: no index, no unused levels, no foreign metadata, no statistics."""
    form = format_of_key(format)
    if form.write is None:
        raise ParameterError(f"{form.title} files are only read; choose {endings()}.")
    return form.write(frame, schema)


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file so that it is there whole or not at all."""
    write_together({path: content})
    return path


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write files that belong together, each whole: all of them, or none."""
    folders = {path.parent for path in files}
    for folder in folders:
        if not folder.is_dir():
            raise NotWritten(f"The folder {folder} does not exist; create it first.")
        sweep(folder)
    unfinished: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            # a content on the disk, under a name of its own
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=PART, delete=False) as stream:
                # known before a byte is written: whatever fails, it goes
                unfinished[path] = Path(stream.name)
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in unfinished.items():
            part.replace(path)
    except BaseException as error:  # an interrupt, too, must not leave masked data behind
        for part in unfinished.values():
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise NotWritten(
                f"The file {path.name} could not be written ({error.strerror}); "
                "choose another folder or free some space."
            ) from None
        raise
    # the new names go to the disk, too, where a system can
    for folder in folders if os.name == "posix" else ():
        with suppress(OSError):  # some network folders refuse; the files are whole all the same
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove the files and folders that a killed program left unfinished an hour ago or more.

    Younger ones stay: another program may still be writing them.
    """
    for left in folder.glob(f"{PART}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime < _ABANDONED:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink()
