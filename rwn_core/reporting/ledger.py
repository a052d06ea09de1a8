"""The ledger: every release of an institution, in a file to which lines are only ever added.

Each line is a JSON object that names the hash of the line before it and is sealed under a key
next to the ledger: without the key no line can be changed, removed or added unseen. It holds no
record's value: tables are known by marks under the same key. It is confidential, since it says
which variables of a release travel together, with which parameters, and where its file lies.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, NotWritten, ReleaseError
from rwn_core.io.reading import read_released
from rwn_core.io.write import write_atomically
from rwn_core.laws.donors import released_schema
from rwn_core.masking import Release
from rwn_core.measures.attacks.red_team.subtraction import Subtrahend
from rwn_core.parallel import file_lock
from rwn_core.reporting.chained_releases import (
    Files,
    held,
    overlapping,
    overlaps,
    read_earlier,
    subtracted,
    table_marks,
    together,
)
from rwn_core.reporting.release_record import recorded_state, require_original
from rwn_core.tuning.verdict import not_judged

__all__ = ["add", "file_bytes", "foresee", "overlaps", "read_entries", "refuse_readable"]

_NEXT = ".next"  # ends the name of the file in which the next line lies ready
Entries = Sequence[Mapping[str, Any]]
FORMAT = "rwn ledger 2"
BEGINNING = "0" * 64
SORTED = orjson.OPT_SORT_KEYS
_KEY_BYTES = 32
_PURPOSE = b"rwn ledger entry\n"
PATIENCE = 10.0  # seconds


def add(
    path: Path,
    record: Mapping[str, Any],
    original: Microdata,
    *,
    by: str = "",
    files: Files = (),
    notice: bytes = b"",
) -> tuple[dict[str, Any], list[str]]:
    """Add a release to a ledger, which is made if it is new."""
    # Before, it is merged with earlier releases of the same people. Where that breaks a limit, or
    # an earlier file is missing, the entry says that the release is not kept.
    require_original(record, original)

    # The ledger, made if it is new, to read and to add to.
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise NotWritten(
            f"The ledger {path.name} cannot be opened ({error.strerror}); nothing was added. "
            "Choose a file in a folder that you may write to."
        ) from None
    with os.fdopen(descriptor, "a+b") as stream, locked(stream):
        content = file_bytes(path)
        key = ledger_key(path, new=not content)
        entries = read_entries(content, key)
        cut_short = content[stream.seek(0, os.SEEK_END) :]
        if cut_short:
            _append(stream, cut_short)
        if any(entry["release"] == record["release"]["id"] for entry in entries):
            raise ReleaseError("The ledger has this release already; nothing was added.")
        marks = table_marks(original, key)
        words, chain, refusal = together(entries, record, original, marks, files)
        if refusal:
            raise ReleaseError(f"{refusal} Nothing was added.")
        warnings = [*overlaps(entries, marks, record), *words]
        setting = orjson.dumps(record["setting"], option=SORTED)
        # the verdict, with what merges change of its state
        state = recorded_state(record["verdict"])
        if chain.get("breaks"):
            state = "broken"
        elif chain.get("unchecked") and state == "kept":
            state = "not judged"
        entry = {
            "format": FORMAT,
            "number": len(entries) + 1,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "release": record["release"]["id"],
            "made": record["made"],
            "sha256": record["file"]["sha256"],
            "records": record["file"]["records"],
            "method": record["setting"]["method"],
            "setting": hashlib.sha256(setting).hexdigest(),
            "decision": record.get("decision", {}).get("hash", ""),
            "marks": dict(marks),
            "before": entries[-1]["hash"] if entries else BEGINNING,
            **held(record),
            "kept": state == "kept",
            "state": state,
            "not_judged": dict(record["verdict"].get("not_judged", {})),
            "chain": chain,
            "by": by,
            **({"notice": hashlib.sha256(notice).hexdigest()} if notice else {}),
        }
        entry["hash"] = _seal(entry, key)
        line = orjson.dumps(entry, option=SORTED) + b"\n"
        # a kill may cut short what follows
        ready = write_atomically(path.with_name(f"{path.name}{_NEXT}"), line)
        try:
            _append(stream, line)
        finally:
            with suppress(OSError):  # the entry is there all the same
                ready.unlink()
    return entry, warnings


def file_bytes(path: Path) -> bytes:
    """Read a ledger; a last line that a kill cut short is completed from where it lies ready."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    ready = path.with_name(f"{path.name}{_NEXT}")
    line = ready.read_bytes() if end < len(content) and ready.exists() else b""
    return content[:end] + line if line.startswith(content[end:]) else content


def foresee(
    path: Path, record: Mapping[str, Any], original: Microdata, files: Files = ()
) -> list[str]:
    """Say what `add` would warn of, and add nothing."""
    entries, marks = _known(path, original)
    if not entries:
        return []
    words, *_ = together(entries, record, original, marks, files)
    return [*overlaps(entries, marks, record), *words]


def _known(path: Path, original: Microdata) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries of a ledger, and the marks of a table under its key; none of a new ledger."""
    content = file_bytes(path) if path.exists() else b""
    if not content:
        return [], {}
    key = ledger_key(path, new=False)
    return read_entries(content, key), table_marks(original, key)


def refuse_readable(
    path: Path, original: Microdata, release: Release, file: tuple[str, bytes]
) -> None:
    """Refuse a release that reads a person, subtracted from one that a ledger has already."""
    entries, marks = _known(path, original)
    if entries:
        read = partial(read_earlier, original=original, at_hand={})
        # A release that was written, but has no record yet.
        precision = dict(release.precision)
        keeps = release.params.invariants(original).rounded(precision)
        frame = read_released(file, released_schema(original.schema)).frame
        own = Subtrahend(frame=frame, keeps=keeps, precision=precision)
        refusal = subtracted(entries, marks, own, original, read)[1]
        if refusal:
            raise ReleaseError(refusal)


def _append(stream: IO[bytes], line: bytes) -> None:
    """Add a line, whole and on the disk, or nothing."""
    end = stream.seek(0, os.SEEK_END)
    try:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
    except OSError as error:
        stream.truncate(end)
        raise NotWritten(
            f"The ledger could not be written ({error.strerror}); nothing was added."
        ) from None


def _seal(entry: Mapping[str, Any], key: bytes) -> str:
    """HMAC-SHA256 of an entry, but for its "hash", under the ledger's key."""
    return hmac.new(key, _PURPOSE + _plain(entry), hashlib.sha256).hexdigest()


def _plain(entry: Mapping[str, Any]) -> bytes:
    content = {name: value for name, value in entry.items() if name != "hash"}
    return orjson.dumps(content, option=SORTED)


def policy_words(entry: Mapping[str, Any]) -> str:
    """Say how a release stands to its policy.

    >>> policy_words({"state": "kept"})
    'policy kept'
    """
    chain = entry.get("chain", {})
    why = "; merges with earlier releases not checked" if chain.get("unchecked") else ""
    why = "; broken by merges with earlier releases" if chain.get("breaks") else why
    unread = not_judged(entry.get("not_judged", {})).strip().rstrip(".")
    return f"policy {entry['state']}{why}" + (f"; {unread}" if unread else "")


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


def read_entries(content: bytes, key: bytes | None = None) -> list[dict[str, Any]]:
    """Read a ledger and check every line of it, with a key its seals."""
    lines = content.split(b"\n")
    if lines.pop():
        raise InputError(
            f"Line {len(lines) + 1} of the ledger is incomplete: the program was stopped while it "
            "wrote. Take that line out and add the release again."
        )
    # each line names the hash of the one before it, and has its own
    entries: list[dict[str, Any]] = []
    before = BEGINNING
    for number, line in enumerate(lines, start=1):
        entry = None
        with suppress(orjson.JSONDecodeError):
            entry = orjson.loads(line)
        if not isinstance(entry, dict) or entry.get("format") != FORMAT:
            raise InputError(f"Line {number} of the ledger is no entry; compare it with a backup.")
        follows = entry.get("before") == before and entry.get("number") == number
        if not follows or not _has_own_hash(entry, key):
            raise InputError(
                f"Line {number} of the ledger was changed, or lines before it were taken out or "
                "put in; compare it with a backup."
            )
        before = entry["hash"]
        entries.append(entry)
    return entries


def earlier_releases(entries: Entries, release: str) -> int:
    """Return how many releases of the same people a ledger has before one."""
    for number, entry in enumerate(entries):
        if entry["release"] == release:
            return len(overlapping(entries[:number], entry["marks"]))
    raise InputError("The ledger does not have this release; add it first by rwn ledger add.")


def _has_own_hash(entry: Mapping[str, Any], key: bytes | None) -> bool:
    """True if an entry has its own hash, as far as that can be known."""
    given = entry.get("hash")
    if not isinstance(given, str):
        return False
    return key is None or hmac.compare_digest(given.encode(), _seal(entry, key).encode())


@contextmanager
def locked(stream: IO[bytes]) -> Iterator[None]:
    """Hold a file alone."""
    with file_lock.held(stream, PATIENCE) as is_held:
        if not is_held:
            raise ReleaseError(
                "Another program writes to the ledger; try again when it has finished."
            )
        yield
