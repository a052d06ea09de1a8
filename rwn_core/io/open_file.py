"""Opens ordinary files: neither a device without end nor a pipe without a writer."""

from __future__ import annotations

import stat
from pathlib import Path

from rwn_core.errors import InputError
from rwn_core.io.file_name import shown
from rwn_core.io.limits import LARGEST_FILE
from rwn_core.io.parse import too_large


def bytes_of(path: Path) -> bytes:
    """The whole content of a file.

    Raises
    ------
    InputError
        It is none, cannot be opened, is too large or grows meanwhile.
    """
    try:
        about = path.stat()
        # a device may give bytes without end, and a pipe may never give one
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
            raise InputError(f"{shown(path.name)} is no ordinary file; copy the table into one.")
        if about.st_size <= LARGEST_FILE:
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
    raise InputError(too_large(shown(path.name)))
