"""Opens ordinary files: neither a device without end nor a pipe without a writer."""

from __future__ import annotations

import stat
from pathlib import Path

from rwn_core.data.plain import LONGEST_DOCUMENT
from rwn_core.errors import InputError
from rwn_core.io import format_of_name
from rwn_core.io.file_name import shown
from rwn_core.io.limits import LARGEST_COMPANION, LARGEST_FILE
from rwn_core.io.parse import too_large

_BYTES = 4  # of a letter, at most


def file_text(path: Path, what: str) -> str:
    """The text of a small file; a larger one is refused before it is read."""
    content = file_content(path, LONGEST_DOCUMENT * _BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} file is not UTF-8 text.") from None


def table_content(path: Path) -> bytes:
    """The content of a table's file, and after a NUL that of its codebook, if its format has one.

    The codebook has the file's name with another ending, or is the only one in the folder.
    """
    content = file_content(path)
    form = format_of_name(path.name)
    if form is None or not form.companion:
        return content
    near = [each for each in path.parent.glob("*") if each.suffix.lower() == form.companion]
    found = [each for each in near if each.stem.lower() == path.stem.lower()] or near
    if len(found) != 1:
        return content
    return b"\0".join((content, file_content(found[0], LARGEST_COMPANION)))


def file_content(path: Path, most: int | None = None) -> bytes:
    """The whole content of a file."""
    try:
        about = path.stat()
        # a device may give bytes without end, and a pipe may never give one
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
            raise InputError(f"{shown(path.name)} is no ordinary file; copy the table into one.")
        if about.st_size <= (LARGEST_FILE if most is None else most):
            with path.open("rb") as stream:  # room for what is asked for is taken, and not for more
                content = stream.read(about.st_size + 1)
            if len(content) <= about.st_size:
                return content
            raise InputError(
                f"{shown(path.name)} is still being written; open it when it is complete."
            )
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a ValueError for a path with a NUL
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise InputError(
            f"{shown(path.name)} cannot be opened ({reason}); check its path and your rights."
        ) from None
    if most is not None:
        raise InputError(f"{shown(path.name)} has more than {most:,} bytes; shorten it.")
    raise InputError(too_large(shown(path.name)))
