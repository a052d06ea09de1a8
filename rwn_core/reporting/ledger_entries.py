"""The lines of a ledger: each is sealed under the ledger's key and names the one before it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from rwn_core.errors import InputError, ReleaseError
from rwn_core.io.write import write_atomically
from rwn_core.tuning.verdict import not_judged

FORMAT = "rwn ledger 2"
UNKEYED = "rwn ledger 1"  # of earlier versions: any person can make its hashes anew
BEGINNING = "0" * 64
SORTED = orjson.OPT_SORT_KEYS
_KEY_BYTES = 32
_PURPOSE = b"rwn ledger entry\n"


def sealed(entry: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """An entry with its "hash": HMAC-SHA256 of all else in it under the ledger's key."""
    return {**entry, "hash": _seal(entry, key)}


def _seal(entry: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, _PURPOSE + _plain(entry), hashlib.sha256).hexdigest()


def _plain(entry: Mapping[str, Any]) -> bytes:
    content = {name: value for name, value in entry.items() if name != "hash"}
    return orjson.dumps(content, option=SORTED)


def is_keyed(entry: Mapping[str, Any]) -> bool:
    """True if an entry is sealed under a key; those of earlier versions are not."""
    return str(entry["format"]) == FORMAT


def policy_words(entry: Mapping[str, Any]) -> str:
    """Say how a release stands to its policy; entries of earlier versions state only `kept`.

    >>> policy_words({"kept": False}), policy_words({"kept": True, "state": "kept"})
    ('policy not kept', 'policy kept')
    """
    if entry["kept"] is None:
        return "no policy judged"
    state = entry.get("state", "kept" if entry["kept"] else "not kept")
    chain = entry.get("chain", {})
    why = "; merges with earlier releases not checked" if chain.get("unchecked") else ""
    why = "; broken by merges with earlier releases" if chain.get("breaks") else why
    unread = not_judged(entry.get("not_judged", {})).strip().rstrip(".")
    return f"policy {state}{why}" + (f"; {unread}" if unread else "")


def key_path(path: Path) -> Path:
    """Return the path of a ledger's key, in the ledger's folder."""
    return path.with_name(f"{path.name}.key")


def ledger_key(path: Path, *, new: bool) -> bytes:
    """Read the key of a ledger; make one for a new ledger, readable by its owner alone."""
    key_file = key_path(path)
    if key_file.exists():
        return read_key(key_file)
    if not new:
        raise ReleaseError(
            f"The key {key_file.name} of the ledger is missing, so earlier releases of a "
            "table cannot be checked; put it back in the folder of the ledger."
        )
    key = secrets.token_bytes(_KEY_BYTES)
    write_atomically(key_file, key)  # only its owner can read it; half a key would close the ledger
    return key


def read_key(path: Path) -> bytes:
    """Read a key file."""
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise InputError("The key of the ledger is damaged; take it from a backup.")
    return key


def read_entries(
    content: bytes, key: bytes | None = None, *, unkeyed: bool = False
) -> list[dict[str, Any]]:
    """Read a ledger and check every line of it; unless `unkeyed`, a key asks for a sealed end."""
    lines = content.split(b"\n")
    if lines.pop():
        raise InputError(
            f"Line {len(lines) + 1} of the ledger is incomplete: the program was stopped while it "
            "wrote. Take that line out and add the release again."
        )
    entries: list[dict[str, Any]] = []
    before = BEGINNING
    for number, line in enumerate(lines, start=1):
        entry = _parsed(line, number)
        follows = entry.get("before") == before and entry.get("number") == number
        older = not is_keyed(entry) and bool(entries) and is_keyed(entries[-1])
        if not follows or older or not _has_own_hash(entry, key):
            raise InputError(
                f"Line {number} of the ledger was changed, or lines before it were taken out or "
                "put in; compare it with a backup."
            )
        before = entry["hash"]
        entries.append(entry)
    if key is not None and entries and not (unkeyed or is_keyed(entries[-1])):
        raise InputError(
            "The ledger has a key, but no line of it is sealed under the key: somebody rewrote it, "
            "or it is of version 1; compare it with a backup, then seal it by rwn ledger add "
            "--seal-unkeyed."
        )
    return entries


def _has_own_hash(entry: Mapping[str, Any], key: bytes | None) -> bool:
    """True if an entry has its own hash, as far as that can be known."""
    given = entry.get("hash")
    if not isinstance(given, str):
        return False
    if not is_keyed(entry):
        return given == hashlib.sha256(_plain(entry)).hexdigest()
    return key is None or hmac.compare_digest(given.encode(), _seal(entry, key).encode())


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        entry = None
    if not isinstance(entry, dict) or entry.get("format") not in (FORMAT, UNKEYED):
        raise InputError(f"Line {number} of the ledger is no entry; compare it with a backup.")
    return entry
