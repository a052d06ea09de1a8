"""Draws a release again from its record, its original and its key: of a table, byte for byte."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwn_core.data.identity.gate import DROP
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.datasets.dataset import Dataset
from rwn_core.datasets.mask_dataset import RunOptions, mask_dataset
from rwn_core.errors import InputError, ReleaseError
from rwn_core.masking import mask
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.reporting.dataset_record import check_described, hashed_files, recorded_schema
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


def reproduce_dataset(
    record: Mapping[str, Any],
    original: str | Path,
    target: Path,
    key: SecretKey,
    *,
    schema: Schema | None = None,
    progress: Progress | None = None,
) -> Path:
    """Draw the release of a dataset again."""
    known = recorded_schema(record, Dataset.at(original))
    if schema is not None:
        removed = record["table"]["removed"]
        for name in removed:
            schema = schema.replace_variable(name, role=known.variable(name).role)
        check_described(record, schema)
        known = schema
    setting = Setting.from_dict(record["setting"])
    equal = {variable.name: 1.0 for variable in known.variables}
    known = known.with_weights(equal | dict(setting.weights)).with_slices(setting.slices or ())
    options = RunOptions(schema=known, progress=progress)
    made = mask_dataset(original, target, setting.params, seed=key, options=options)
    if hashed_files(made.folder)["sha256"] != record["file"]["sha256"]:
        shutil.rmtree(made.folder, ignore_errors=True)
        raise other_bytes(record)
    return made.folder
