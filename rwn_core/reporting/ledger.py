"""The ledger: every release of an institution, in a file to which lines are only ever added.

Each line is a JSON object that names the hash of the line before it, so that no line can be
changed, taken out or put in between without being seen. It holds no value: tables are known by
marks under a key that lies beside the ledger.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io.write import write_atomically
from rwn_core.parallel.threads import Progress
from rwn_core.reporting.dataset_record import recorded_schema
from rwn_core.reporting.earlier_releases import overlaps
from rwn_core.reporting.file_lock import locked
from rwn_core.reporting.table_marks import table_marks

FORMAT = "rwn ledger 1"
BEGINNING = "0" * 64
_KEY_BYTES = 32
_NEXT = ".next"  # ends the name of the file in which the next line lies ready
_SORTED = orjson.OPT_SORT_KEYS


def add(
    path: Path, record: Mapping[str, Any], original: Microdata, *, by: str = ""
) -> tuple[dict[str, Any], list[str]]:
    """Add a release to a ledger, which is made if it is new.

    Parameters
    ----------
    path : Path
    record : mapping
        From `rwn_core.reporting.release_record.read_record`.
    original : Microdata
        The table that was masked.
    by : str
        Who signs the entry.

    Returns
    -------
    entry : dict
        What was added.
    warnings : list of str
        Which earlier releases are of the same or overlapping records or variables, and what
        another release costs.

    Raises
    ------
    InputError
        The ledger was changed, its last line is incomplete, or the original is another table.
    ReleaseError
        The release is in the ledger already, its key is missing, or somebody else writes to it.
    """
    if original.fingerprint != record["table"]["fingerprint"]:
        raise InputError("The original is not the table that the record was made of.")
    return _add(path, record, partial(table_marks, original), by)


def add_dataset(
    path: Path,
    record: Mapping[str, Any],
    original: str | Path,
    *,
    by: str = "",
    progress: Progress | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Add the release of a dataset to a ledger, as `add` does that of a table.

    Parameters
    ----------
    path : Path
    record : mapping
        From `rwn_core.reporting.dataset_record.thawed_record`.
    original : str or Path
        The dataset that was masked: a folder, a pattern or one file.
    by : str
        Who signs the entry.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Raises
    ------
    InputError
        The ledger was changed, its last line is incomplete, or the original is another dataset.
    ReleaseError
        As for `add`.
    """
    from rwn_core.reporting.dataset_marks import dataset_marks
    from rwn_core.scale.dataset import Dataset

    dataset = Dataset.at(original)
    schema = recorded_schema(record, dataset)
    names = [variable.name for variable in schema.released]
    return _add(path, record, lambda key: dataset_marks(dataset, names, key, progress), by)


def _add(
    path: Path, record: Mapping[str, Any], marks_under: Callable[[bytes], dict[str, Any]], by: str
) -> tuple[dict[str, Any], list[str]]:
    with _opened(path) as stream, locked(stream):
        content = whole(path)
        entries = read_entries(content)
        cut_short = content[stream.seek(0, os.SEEK_END) :]
        if cut_short:
            _append(stream, cut_short)
        key = _key(path, new=not entries)
        if any(entry["release"] == record["release"]["id"] for entry in entries):
            raise ReleaseError("The ledger has this release already; nothing was added.")
        marks = marks_under(key)
        warnings = overlaps(entries, marks, record)
        entry = _entry(entries, record, marks, by)
        line = orjson.dumps(entry, option=_SORTED) + b"\n"
        # a kill may cut short what follows
        ready = write_atomically(path.with_name(f"{path.name}{_NEXT}"), line)
        try:
            _append(stream, line)
        finally:
            with suppress(OSError):  # the entry is there all the same
                ready.unlink()
    return entry, warnings


def whole(path: Path) -> bytes:
    """Read a ledger; a last line that a kill cut short is completed from where it lies ready.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bytes
        For `read_entries`.
    """
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    ready = path.with_name(f"{path.name}{_NEXT}")
    line = ready.read_bytes() if end < len(content) and ready.exists() else b""
    return content[:end] + line if line.startswith(content[end:]) else content


def foresee(path: Path, record: Mapping[str, Any], original: Microdata) -> list[str]:
    """Say what `add` would warn of, and add nothing.

    Parameters
    ----------
    path : Path
        The ledger need not be there yet.
    record : mapping
    original : Microdata

    Raises
    ------
    InputError
        The ledger was changed, or its last line is incomplete.
    ReleaseError
        The key of the ledger is missing.
    """
    if not path.exists():
        return []
    entries = read_entries(whole(path))
    if not entries:
        return []
    return overlaps(entries, table_marks(original, _key(path, new=False)), record)


def _entry(
    entries: Sequence[Mapping[str, Any]],
    record: Mapping[str, Any],
    marks: Mapping[str, Any],
    by: str,
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "format": FORMAT,
        "number": len(entries) + 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": by,
        "release": record["release"]["id"],
        "made": record["made"],
        "sha256": record["file"]["sha256"],
        "records": record["file"]["records"],
        "method": record["setting"]["method"],
        "setting": _setting_hash(record["setting"]),
        "kept": record.get("verdict", {}).get("kept"),  # a dataset's is held against no policy
        "decision": record.get("decision", {}).get("hash", ""),
        "marks": dict(marks),
        "before": entries[-1]["hash"] if entries else BEGINNING,
    }
    return {**entry, "hash": _hash(entry)}


def _setting_hash(setting: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(setting, option=_SORTED)).hexdigest()


def _hash(entry: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in entry.items() if name != "hash"}
    return hashlib.sha256(orjson.dumps(plain, option=_SORTED)).hexdigest()


def _opened(path: Path) -> IO[bytes]:
    """The ledger, made if it is new, to read and to add to."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise ReleaseError(
            f"The ledger {path.name} cannot be opened ({error.strerror}); nothing was added. "
            "Choose a file in a folder that you may write to."
        ) from None
    return os.fdopen(descriptor, "a+b")


def _append(stream: IO[bytes], line: bytes) -> None:
    """Add a line, whole and on the disk, or nothing."""
    end = stream.seek(0, os.SEEK_END)
    try:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
    except OSError as error:
        stream.truncate(end)
        raise ReleaseError(
            f"The ledger could not be written ({error.strerror}); nothing was added."
        ) from None


def _key(path: Path, *, new: bool) -> bytes:
    """The key of a ledger's marks; a new one for a new ledger, readable by its owner alone."""
    beside = path.with_name(f"{path.name}.key")
    if beside.exists():
        key = beside.read_bytes()
        if len(key) != _KEY_BYTES:
            raise InputError("The key of the ledger is damaged; take it from a backup.")
        return key
    if not new:
        raise ReleaseError(
            f"The key {beside.name} of the ledger is missing, so that nobody can say whether a "
            "table was released before; put it back beside the ledger."
        )
    key = secrets.token_bytes(_KEY_BYTES)
    write_atomically(beside, key)  # only its owner can read it; half a key would close the ledger
    return key


def read_entries(content: bytes) -> list[dict[str, Any]]:
    """Read a ledger and check every line of it.

    Raises
    ------
    InputError
        A line is incomplete, was changed, or does not follow the one before it; the message names
        the line.
    """
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
        whole = entry.get("hash") == _hash(entry)
        if not whole or entry.get("before") != before or entry.get("number") != number:
            raise InputError(
                f"Line {number} of the ledger was changed, or lines before it were taken out or "
                "put in; compare it with a backup."
            )
        before = entry["hash"]
        entries.append(entry)
    return entries


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        entry = None
    if not isinstance(entry, dict) or entry.get("format") != FORMAT:
        raise InputError(f"Line {number} of the ledger is no entry; compare it with a backup.")
    return entry
