"""A table that lies packed: survey.csv.gz, or the one table of a zip archive."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePath

from rwn_core.errors import InputError
from rwn_core.io import format_of_name
from rwn_core.io.limits import PROTECTED, check_unpacked, damaged, shown, unpacked

_PACKED = (".gz", ".bz2", ".xz")
ENDINGS = (*_PACKED, ".zip")
"""Endings of packed files; a release is never packed."""
_STEP = 1 << 20
_ENCRYPTED = 1  # a flag of a part of a zip archive


def unpacked_file(name: str, content: bytes) -> tuple[str, bytes]:
    """Return the name and the bytes of the table in a file; those of a file that is not packed."""
    path = PurePath(name)
    ending = path.suffix.lower()
    if ending in _PACKED and format_of_name(path.stem) is not None:
        return path.stem, unpacked(shown(name), content)
    if ending == ".zip" and content.startswith(b"PK"):
        return _from_archive(shown(name), content)
    return name, content


def _from_archive(file: str, content: bytes) -> tuple[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = [part for part in archive.infolist() if _is_table(part.filename)]
            if len(parts) != 1:
                tables = "no table" if not parts else f"{len(parts):,} tables"
                raise InputError(
                    f"{file} holds {tables}, and one is opened; unpack it, and open the table that "
                    "you mean."
                )
            if parts[0].flag_bits & _ENCRYPTED:
                raise InputError(f"{file} needs a password; unpack it first.")
            return PurePath(parts[0].filename).name, _part(file, archive, parts[0])
    except InputError:
        raise
    except Exception:  # a broken archive breaks zipfile in many ways
        raise damaged(file, PROTECTED) from None


def _is_table(name: str) -> bool:
    """True if a part of an archive has the ending of a table, and is no hidden file."""
    path = PurePath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return not name.endswith("/") and not hidden and format_of_name(path.name) is not None


def _part(file: str, archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    check_unpacked(file, part.file_size)
    pieces: list[bytes] = []
    size = 0
    with archive.open(part) as stream:
        while piece := stream.read(_STEP):
            pieces.append(piece)
            size += len(piece)
            check_unpacked(file, size)
    return b"".join(pieces)
