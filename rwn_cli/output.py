"""Where a command writes: refused before the work, and all or nothing after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rwn_core.errors import ReleaseError, RWNError


def output_format(target: Path, *inputs: str | Path | None) -> str:
    """The format of a file that may be written; refused before any work is done.

    Raises
    ------
    ParameterError
        The name ends in no known format.
    ReleaseError
        It is one of the inputs.
    RWNError
        Its folder does not exist.
    """
    from rwn_core.io.write import file_format

    form = file_format(target)
    if not target.parent.is_dir():
        raise RWNError(f"The folder {target.parent} does not exist; create it first.")
    for path in inputs:
        if path is not None and target.exists() and Path(path).exists() and target.samefile(path):
            raise ReleaseError("OUT is the input file itself; write to another file.")
    return form


def write(target: Path, content: bytes) -> None:
    """Write a file, all or nothing.

    Raises
    ------
    NotWritten
    """
    write_all({target: content})


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files that belong together: all of them, or none.

    Raises
    ------
    NotWritten
    """
    from rwn_core.io.write import write_together

    write_together(files)
