"""The internal record of a dataset's release: the setting, the variables and which files it is.

It stays in the house. It names no key and no value of a record; where the original and the release
lie it says, so that reports can be made of them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rwn_core.data.identity.gate import answers
from rwn_core.data.schema import Kind, Question, Role, Schema
from rwn_core.errors import InputError
from rwn_core.io.parquet_format import FORMAT as PARQUET
from rwn_core.masking.second_reading import SecondReading
from rwn_core.reporting.decision import frozen_text, thawed
from rwn_core.reporting.record_parts import (
    all_parameters,
    described_variables,
    kernel_numbers,
    program_versions,
)
from rwn_core.tuning import Setting

if TYPE_CHECKING:  # they bring the compiler, which a reader of records does not need
    from rwn_core.datasets.audit_dataset import DatasetAudit
    from rwn_core.datasets.dataset import Dataset
    from rwn_core.datasets.mask_dataset import DatasetRelease

FORMAT = "rwn dataset record 1"
RECORDED = (
    *("marginals", "association_loss", "subgroups", "correlation", "regression", "standard_errors"),
    *("principal_components", "distance_linkage", "probabilistic_linkage", "true_matches"),
    "k_anonymity",
)
"""Measures that a record has of a random sample of the records."""
_NOTE = "INTERNAL: stays in the house. It says how a release was made, and goes with no copy of it."


def dataset_record(
    made: DatasetRelease,
    params: Any,
    schema: Schema,
    randomness: str,
    source: str | Path,
    audited: DatasetAudit | None = None,
) -> str:
    """Write the record of a dataset's release, with the readings of a sample of its records."""
    weights = tuple(sorted((v.name, v.weight) for v in schema.released if v.weight != 1.0))
    setting = Setting(params=params, weights=weights, slices=schema.slices)
    from rwn_core.datasets.dataset import Dataset  # when it is needed: to read a record it is not

    # of these a cell may change: of none where nothing is drawn
    changing = [v.name for v in schema.released if v.masked and getattr(params, "q", 1.0) > 0]
    shares = [count / made.n for count in made.changed.values()]
    cells = {"value": sum(shares) / len(shares), "names": list(made.changed), "share": shares}
    again = SecondReading(checked=tuple(made.changed), release=PARQUET.again_by)
    document: dict[str, Any] = {
        "format": FORMAT,
        "note": _NOTE,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "release": {"id": secrets.token_hex(8)},
        "table": {"records": made.n, **described_variables(schema, changing)},
        "setting": {**setting.to_dict(), "parameters": all_parameters(params)},
        **kernel_numbers(params, made.n),
        "file": {
            "format": "parquet",
            "order": "shuffled",
            "key": randomness,
            "records": made.n,
            "fell_back": made.governed,
            "second_reading": again.plain(),
            **hashed_files(made.folder),
        },
        "readings": {"cells_changed": cells},
        "source": {
            "file": str(Path(source).absolute()),
            "size": Dataset.at(source).size,
            "released": str(made.folder.absolute()),
        },
        "program": program_versions(),
    }
    if audited is not None:
        document = with_audit(document, audited)
    document["identity"] = answers(made.doubts, schema)
    if schema.question is not None:
        document["question"] = asdict(schema.question)
    return frozen_text(document)


def with_audit(record: Mapping[str, Any], audited: DatasetAudit) -> dict[str, Any]:
    """Return a record with the readings of a sample; shares of changed cells stay those of all."""
    from rwn_core.reporting.release_record import plain_readings

    readings = plain_readings(audited.audit, audited.judged) | record["readings"]
    judged = {"words": audited.words, "records": audited.judged, "of": audited.n}
    return {**record, "readings": readings, "judged": judged}


def is_dataset_record(text: str) -> bool:
    """True if a text begins as the record of a dataset's release does."""
    return f'format = "{FORMAT}"' in text[:1000]


def read_dataset_record(text: str, released: Path) -> dict[str, Any]:
    """Read the record of a dataset's release, and hold it against the files."""
    record = thawed_record(text)
    found = hashed_files(released)
    if any(record["file"][name] != value for name, value in found.items()):
        raise InputError(
            "The release is not the one that the record was made of; give its folder, or the "
            "record that was written with it."
        )
    return record


def thawed_record(text: str) -> dict[str, Any]:
    """Read the record of a dataset's release, wherever its files are."""
    # Its "source" says where they and the original lay when it was written.
    return thawed(text, "dataset record", FORMAT)


def recorded_schema(record: Mapping[str, Any], original: Dataset) -> Schema:
    """Describe the original as it was described when the release was made."""
    table, source = record["table"], record["source"]
    same = original.n == table["records"] and original.size == source["size"]
    names = {*table["variables"], *table["removed"]}
    if not same or names != {name for name, _ in original.columns}:
        raise InputError(
            "The original is not the dataset that the record was made of; give the files that "
            "were masked."
        )
    schema = original.guessed_schema()
    for name in table["removed"]:
        schema = schema.replace_variable(name, role=Role.IDENTIFIER)
    for name, kind, role in zip(table["variables"], table["kinds"], table["roles"], strict=True):
        masked = name not in table["not_masked"]
        schema = schema.replace_variable(name, kind=Kind(kind), role=Role(role), masked=masked)
    about = record.get("question")
    if about is None:
        return schema
    question = Question(response=about["response"], predictors=tuple(about["predictors"]))
    return replace(schema, question=question)


def check_described(record: Mapping[str, Any], schema: Schema) -> None:
    """Refuse columns that are described in another way than when the release was made."""
    described = described_variables(schema)
    if any(record["table"][name] != described[name] for name in ("variables", "kinds", "removed")):
        raise InputError(
            "The columns are described in another way than when the release was made; give the "
            "same --schema and --drop."
        )


def hashed_files(folder: Path) -> dict[str, Any]:
    """Name the files of a release with their hashes, and hash that list."""
    paths = sorted(folder.glob("*.parquet"))
    parts = []
    for path in paths:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        parts.append({"name": path.name, "sha256": digest})
    lines = "".join(f"{each['sha256']}  {each['name']}\n" for each in parts)
    return {
        "parts": parts,
        "size": sum(path.stat().st_size for path in paths),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
    }
