"""The secret of a run in a file that its owner chooses, so that the run can be resumed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from rwn_core.errors import NotWritten, ParameterError
from rwn_core.randomness import SecretKey

_DIGITS = 64  # of 256 bits


def read_or_make_key(path: Path) -> SecretKey:
    """Read a key from a file, or make a fresh one and write it there."""
    try:
        return read_key(path)
    except FileNotFoundError:
        # Write a fresh key to a new file, which its owner alone can read.
        key, text = fresh_key(path)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise _there_already(path) from None
        with os.fdopen(handle, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        return key


def fresh_key(path: Path) -> tuple[SecretKey, bytes]:
    """Draw a key, and what its file will hold: it is written with the release, or not at all."""
    if path.exists() or path.is_symlink():
        raise _there_already(path)
    if not path.parent.is_dir():
        raise NotWritten(f"The folder {path.parent} does not exist; create it first.")
    text = secrets.token_hex(_DIGITS // 2).encode()
    return _parsed_key(text, path), text


def _there_already(path: Path) -> ParameterError:
    return ParameterError(
        f"{path.name} is there already, and one key draws one release; name a new file."
    )


def read_key(path: Path) -> SecretKey:
    """Read a key from its file."""
    return _parsed_key(path.read_bytes(), path)


def _parsed_key(text: bytes, path: Path) -> SecretKey:
    try:
        return SecretKey(bytes.fromhex(text.decode("ascii").strip()))
    except (ValueError, ParameterError):  # its text would show the secret
        raise ParameterError(
            f"{path.name} is no key file: it must hold {_DIGITS} hexadecimal digits; give the "
            "file that --key-file wrote."
        ) from None
