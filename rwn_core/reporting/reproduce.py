"""Draws a release again from its record, its original and its key: of a table, byte for byte."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwn_core.data.identity.gate import DROP
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.masking import mask
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.release_record import OF_EACH_RECORD, require_original
from rwn_core.tuning import Setting

SCRIPT = (Path(__file__).parent / "templates" / "reproduce.txt").read_text(encoding="utf-8")
"""What goes with the internal files of a release whose key is kept."""


def reproduced(
    record: Mapping[str, Any],
    microdata: Microdata,
    key: SecretKey,
    *,
    progress: Progress | None = None,
) -> bytes:
    """Draw a release again."""
    require_original(record, microdata)
    setting = recorded_setting(record, microdata, "the release cannot be drawn from it")
    data = setting.applied_to(microdata)
    precision = dict(setting.precision)
    release = mask(data, setting.params, precision=precision, seed=key, progress=progress)
    file = record["file"]
    # The variables left out of the file; all others were released already.
    names = release.masked.names
    given = {row["variable"]: row["answer"] for row in record.get("identity", [])}
    dropped = [name for name in names if given.get(name) == DROP]
    content = release.to_bytes(
        file["format"],
        file["order"],
        drop=dropped,
        keep=[name for name in names if name not in dropped],
    )
    if hashlib.sha256(content).hexdigest() != file["sha256"]:
        raise other_bytes(record)
    return content


def recorded_setting(record: Mapping[str, Any], microdata: Microdata, without: str) -> Setting:
    """Return the setting of a record; refuse one that is not whole, and say what it prevents."""
    plain = record["setting"]
    if OF_EACH_RECORD in plain["parameters"].values():
        raise InputError(
            "The record does not hold parameters of its setting that differ from record to "
            f"record, so {without}."
        )
    return Setting.from_dict(plain).resolved(microdata)


def other_bytes(record: Mapping[str, Any]) -> ReleaseError:
    """Say that other bytes came out than were released."""
    versions = ", ".join(f"{name} {number}" for name, number in record["program"].items())
    return ReleaseError(
        "Other bytes came out than were released: the key, the schema or a version is another. "
        f"The release was made with {versions}."
    )
