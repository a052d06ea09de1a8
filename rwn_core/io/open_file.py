"""Opens ordinary files: neither a device without end nor a pipe without a writer."""

from __future__ import annotations

import stat
from pathlib import Path

from rwn_core.data.text_budget import LONGEST_DOCUMENT
from rwn_core.errors import InputError
from rwn_core.io.file_name import shown
from rwn_core.io.limits import LARGEST_FILE
from rwn_core.io.parse import too_large

_BYTES = 4  # of a letter, at most


def file_text(path: Path, what: str) -> str:
    """The text of a small file; a larger one is refused before it is read."""
    content = file_content(path, LONGEST_DOCUMENT * _BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} file is not UTF-8 text.") from None


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
