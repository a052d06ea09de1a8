"""Packed bytes are unpacked up to a limit, and no further."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Any

from rwn_core.errors import InputError
from rwn_core.io.limits import LARGEST_UNPACKED, check_unpacked

_STEP = 1 << 20
_PEEKED = 1_000_000  # bytes: bzip2 gives nothing before a whole block


def _unpacker(content: bytes) -> Any:
    """Return the decompressor for content that begins like this, or None."""
    if content.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31)
    if content.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if content.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMADecompressor(memlimit=LARGEST_UNPACKED)
    return None


def first_bytes(content: bytes, count: int) -> bytes:
    """The first bytes of the content, unpacked if it is packed; none where it is broken."""
    unpacker = _unpacker(content)
    if unpacker is None:
        return content[:count]
    try:
        start: bytes = unpacker.decompress(content[:_PEEKED], count)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return b""
    return start


def unpacked(file: str, content: bytes) -> bytes:
    """The content without gzip, bzip2 or xz around it."""
    unpacker = _unpacker(content)
    if unpacker is None:
        return content
    parts: list[bytes] = []
    size, remainder = 0, content
    try:
        while not unpacker.eof:
            part = unpacker.decompress(remainder, _STEP)
            remainder = getattr(unpacker, "unconsumed_tail", b"")
            if not part and not remainder and not unpacker.eof:
                break
            parts.append(part)
            size += len(part)
            check_unpacked(file, size)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        unpacker = None
    if unpacker is None or not unpacker.eof:
        raise InputError(f"{file} is damaged or cut off; get or save the file again.")
    return b"".join(parts)
