"""The ledger: every release of an institution, in a file to which lines are only ever added.

Each line is a JSON object that names the hash of the line before it and is sealed under a key
next to the ledger: without the key no line can be changed, removed or added unseen. It holds no
record's value: tables are known by marks under the same key. It is confidential, since it says
which variables of a release travel together, with which parameters, and where its file lies.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

import orjson

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotWritten, ReleaseError
from rwn_core.io.write import write_atomically
from rwn_core.masking import Release
from rwn_core.parallel.threads import Progress
from rwn_core.reporting.chained_releases import (
    Files,
    Together,
    held,
    own_subtrahend,
    read_earlier,
    subtracted,
    together,
)
from rwn_core.reporting.dataset_record import recorded_schema
from rwn_core.reporting.file_lock import locked
from rwn_core.reporting.ledger_entries import (
    BEGINNING,
    FORMAT,
    SORTED,
    ledger_key,
    read_entries,
    sealed,
)
from rwn_core.reporting.record_parts import recorded_state, require_original
from rwn_core.reporting.table_marks import overlapping, overlaps, table_marks

__all__ = [
    "add",
    "add_dataset",
    "file_bytes",
    "foresee",
    "overlaps",
    "read_entries",
    "refuse_readable",
]

_NEXT = ".next"  # ends the name of the file in which the next line lies ready
Entries = Sequence[Mapping[str, Any]]


def add(  # noqa: PLR0913 - what is not needed is given by its name
    path: Path,
    record: Mapping[str, Any],
    original: Microdata,
    *,
    by: str = "",
    files: Files = (),
    card: bytes = b"",
    unkeyed: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Add a release to a ledger, which is made if it is new; `unkeyed` seals lines of version 1."""
    # Before, it is merged with earlier releases of the same people. Where that breaks a limit, or
    # an earlier file is missing, the entry says that the release is not kept.
    require_original(record, original)

    def merged(entries: Entries, marks: Mapping[str, Any]) -> Together:
        return together(entries, record, original, marks, files)

    about = {"by": by} | ({"card": hashlib.sha256(card).hexdigest()} if card else {})
    return _add(path, record, partial(table_marks, original), merged, about, unkeyed=unkeyed)


def add_dataset(
    path: Path,
    record: Mapping[str, Any],
    original: str | Path,
    *,
    by: str = "",
    progress: Progress | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Add the release of a dataset to a ledger, as `add` does that of a table."""
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.reporting.dataset_marks import dataset_marks

    dataset = Dataset.at(original)
    schema = recorded_schema(record, dataset)
    names = [variable.name for variable in schema.released]

    def not_merged(entries: Entries, marks: Mapping[str, Any]) -> Together:
        why = "Releases of datasets are not merged with earlier ones; compare their files yourself."
        return Together(words=(why,)) if overlapping(entries, marks) else Together()

    marks_under = partial(dataset_marks, dataset, names, progress=progress)
    return _add(path, record, marks_under, not_merged, {"by": by})


def _add(
    path: Path,
    record: Mapping[str, Any],
    marks_under: Callable[[bytes], dict[str, Any]],
    merged: Callable[[Entries, Mapping[str, Any]], Together],
    about: Mapping[str, str],
    *,
    unkeyed: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    with _opened(path) as stream, locked(stream):
        content = file_bytes(path)
        key = ledger_key(path, new=not content)
        entries = read_entries(content, key, unkeyed=unkeyed)
        cut_short = content[stream.seek(0, os.SEEK_END) :]
        if cut_short:
            _append(stream, cut_short)
        if any(entry["release"] == record["release"]["id"] for entry in entries):
            raise ReleaseError("The ledger has this release already; nothing was added.")
        marks = marks_under(key)
        found = merged(entries, marks)
        if found.refusal:
            raise ReleaseError(f"{found.refusal} Nothing was added.")
        warnings = [*overlaps(entries, marks, record), *found.words]
        setting = orjson.dumps(record["setting"], option=SORTED)
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
            **_judged(record.get("verdict"), found.plain),
            "chain": dict(found.plain),
            **about,
        }
        entry = sealed(entry, key)
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
    content = file_bytes(path) if path.exists() else b""
    if not content:
        return []
    key = ledger_key(path, new=False)
    entries = read_entries(content, key)
    marks = table_marks(original, key)
    found = together(entries, record, original, marks, files)
    return [*overlaps(entries, marks, record), *found.words]


def refuse_readable(
    path: Path, original: Microdata, release: Release, file: tuple[str, bytes]
) -> None:
    """Refuse a release that reads a person, subtracted from one that a ledger has already."""
    content = file_bytes(path) if path.exists() else b""
    if content:
        key = ledger_key(path, new=False)
        entries, marks = read_entries(content, key), table_marks(original, key)
        read = partial(read_earlier, original=original, at_hand={})
        own = own_subtrahend(release, original, file)
        refusal = subtracted(entries, marks, own, original, read)[1]
        if refusal:
            raise ReleaseError(refusal)


def _judged(verdict: Mapping[str, Any] | None, chain: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry holds of the verdict, with what merges change of its state."""
    if verdict is None:  # the release of a dataset has no policy
        return {"kept": None, "state": "not judged", "not_judged": {}}
    state = recorded_state(verdict)
    if chain.get("breaks"):
        state = "broken"
    elif chain.get("unchecked") and state == "kept":
        state = "not judged"
    unread = dict(verdict.get("not_judged", {}))
    return {"kept": state == "kept", "state": state, "not_judged": unread}


def _opened(path: Path) -> IO[bytes]:
    """The ledger, made if it is new, to read and to add to."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise NotWritten(
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
        raise NotWritten(
            f"The ledger could not be written ({error.strerror}); nothing was added."
        ) from None
