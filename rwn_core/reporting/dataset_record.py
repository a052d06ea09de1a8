"""The internal record of a dataset's release: the setting, the variables and which files it is.

It stays in the house. It names no key, no value of a record and no place of the original.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.reporting.decision import frozen_text, thawed
from rwn_core.reporting.record_parts import all_parameters, described_variables, program_versions
from rwn_core.tuning import Setting

if TYPE_CHECKING:
    from rwn_core.scale.mask_dataset import DatasetRelease

FORMAT = "rwn dataset record 1"
_NOTE = "INTERNAL: stays in the house. It says how a release was made, and goes with no copy of it."


def dataset_record(made: DatasetRelease, params: Any, schema: Schema, randomness: str) -> str:
    """Write the record of a dataset's release.

    Parameters
    ----------
    made : DatasetRelease
        From `rwn_core.mask_dataset`.
    params : RWN
        What it was made with.
    schema : Schema
        Of the original's columns.
    randomness : str
        Where its key came from, in words.

    Returns
    -------
    str
        TOML with its hash in the last line. `read_dataset_record` refuses it after a change.
    """
    weights = tuple(sorted((v.name, v.weight) for v in schema.released if v.weight != 1.0))
    setting = Setting(params=params, weights=weights, slices=schema.slices)
    document = {
        "format": FORMAT,
        "note": _NOTE,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "release": {"id": secrets.token_hex(8)},
        "table": {"records": made.n, **described_variables(schema)},
        "setting": {**setting.to_dict(), "parameters": all_parameters(params)},
        "file": {
            "format": "parquet",
            "order": "shuffled",
            "key": randomness,
            "records": made.n,
            "fell_back": made.governed,
            **_files(made.folder),
        },
        "readings": {},
        "program": program_versions(),
    }
    return frozen_text(document)


def read_dataset_record(text: str, released: Path) -> dict[str, Any]:
    """Read the record of a dataset's release, and hold it against the files.

    Parameters
    ----------
    text : str
    released : Path
        The folder of the release.

    Raises
    ------
    InputError
        It is no such record, it was changed afterwards, or the files are others.
    """
    record = thawed(text, "dataset record", FORMAT)
    found = _files(released)
    if any(record["file"][name] != value for name, value in found.items()):
        raise InputError(
            "The release is not the one that the record was made of; give its folder, or the "
            "record that was written with it."
        )
    return record


def check_described(record: Mapping[str, Any], schema: Schema) -> None:
    """Refuse columns that are described in another way than when the release was made.

    Raises
    ------
    InputError
    """
    described = described_variables(schema)
    if any(record["table"][name] != described[name] for name in ("variables", "kinds", "removed")):
        raise InputError(
            "The columns are described in another way than when the release was made; give the "
            "same --schema and --drop."
        )


def _files(folder: Path) -> dict[str, Any]:
    """How many files, their bytes, and a hash of their names and hashes."""
    paths = sorted(folder.glob("*.parquet"))
    lines = []
    for path in paths:
        with path.open("rb") as stream:
            lines.append(f"{hashlib.file_digest(stream, 'sha256').hexdigest()}  {path.name}\n")
    return {
        "files": len(paths),
        "size": sum(path.stat().st_size for path in paths),
        "sha256": hashlib.sha256("".join(lines).encode()).hexdigest(),
    }
