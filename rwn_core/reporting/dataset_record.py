"""The internal record of a dataset's release, and its public files, checked batch by batch.

It stays in the house. It names no key and no value of a record; where the original and the release
lie it says, so that reports can be made of them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, KeysView, Mapping, Set
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pandas.api.types import is_bool_dtype, is_numeric_dtype

from rwn_core.data.identity.gate import answers
from rwn_core.data.identity.profile import PROFILE_ROWS
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Kind, Question, Role, Schema
from rwn_core.datasets.dataset import BATCH, Dataset, to_frame
from rwn_core.datasets.dataset_statistics import Advance
from rwn_core.datasets.dataset_statistics import counted as passed
from rwn_core.errors import InputError, ReleaseError
from rwn_core.io.parquet_format import FORMAT as PARQUET
from rwn_core.masking import Method
from rwn_core.masking.second_reading import SecondReading
from rwn_core.measures import CHANGED, measures_of
from rwn_core.parallel.threads import Progress, work
from rwn_core.reporting.facts import Material
from rwn_core.reporting.leak_check import (
    LEAST,
    check_file,
    check_release,
    counted,
    refuse_identifiers,
    said_values,
)
from rwn_core.reporting.public_notice import require_form, unchecked_file
from rwn_core.reporting.release_record import (
    described_variables,
    plain_readings,
    record_head,
)
from rwn_core.reporting.scenario import frozen_text, thawed
from rwn_core.tuning import Setting

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.datasets.audit_dataset import DatasetAudit
    from rwn_core.datasets.mask_dataset import DatasetRelease

FORMAT = "rwn dataset record 1"
RECORDED = measures_of("record of a dataset")
"""Measures that a record has of a random sample of the records."""


def dataset_record(
    made: DatasetRelease,
    params: Method,
    schema: Schema,
    randomness: str,
    source: str | Path,
    audited: DatasetAudit | None = None,
) -> str:
    """Write the record of a dataset's release, with the readings of a sample of its records."""
    weights = tuple(sorted((v.name, v.weight) for v in schema.released if v.weight != 1.0))
    setting = Setting(params=params, weights=weights, slices=schema.slices)
    # of these a cell may change: of none where nothing is drawn
    changing = [v.name for v in schema.released if v.masked and getattr(params, "q", 1.0) > 0]
    shares = [count / made.n for count in made.changed.values()]
    cells = {"value": sum(shares) / len(shares), "names": list(made.changed), "share": shares}
    again = SecondReading(checked=tuple(made.changed), release=PARQUET.again_by)
    document: dict[str, Any] = {
        **record_head(FORMAT, secrets.token_hex(8), setting, made.n),
        "table": {"records": made.n, **described_variables(schema, changing)},
        "file": {
            "format": "parquet",
            "order": "shuffled",
            "key": randomness,
            "records": made.n,
            "fell_back": made.governed,
            "second_reading": again.plain(),
            **hashed_files(made.folder),
        },
        "readings": {CHANGED: cells},
        "source": {
            "file": str(Path(source).absolute()),
            "size": Dataset.at(source).size,
            "released": str(made.folder.absolute()),
        },
    }
    if audited is not None:  # shares of changed cells stay those of all records
        readings = plain_readings(audited.audit, audited.judged) | document["readings"]
        judged = {"words": audited.words, "records": audited.judged, "of": audited.n}
        document |= {"readings": readings, "judged": judged}
    document["identity"] = answers(made.doubts, schema)
    if schema.question is not None:
        document["question"] = asdict(schema.question)
    return frozen_text(document)


def is_dataset_record(text: str) -> bool:
    """True if a text begins as the record of a dataset's release does."""
    return f'format = "{FORMAT}"' in text[:1000]


def read_dataset_record(text: str, released: Path) -> dict[str, Any]:
    """Read the record of a dataset's release, and hold it against the files."""
    record = thawed_record(text)
    if any(record["file"][name] != value for name, value in hashed_files(released).items()):
        raise InputError(
            "The release is not the one that the record was made of; give its folder, or the "
            "record that was written with it."
        )
    return record


def thawed_record(text: str) -> dict[str, Any]:
    """Read the record of a dataset's release, wherever its files are."""
    # Its "source" says where they and the original lay when it was written.
    return thawed(text, "dataset record", FORMAT)


def file_digest(path: Path) -> str:
    """SHA-256 of a file, which may be larger than memory."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hashed_files(folder: Path) -> dict[str, Any]:
    """Name the files of a release with their hashes, and hash that list."""
    paths = sorted(folder.glob("*.parquet"))
    parts = [{"name": path.name, "sha256": file_digest(path)} for path in paths]
    lines = "".join(f"{each['sha256']}  {each['name']}\n" for each in parts)
    return {
        "parts": parts,
        "size": sum(path.stat().st_size for path in paths),
        "sha256": hashlib.sha256(lines.encode()).hexdigest(),
    }


def public_dataset_files(
    material: Material,
    original: str | Path,
    released: Path,
    names: Iterable[str],
    progress: Progress | None = None,
) -> dict[str, bytes]:
    """Write public files of a dataset's release, once the leak check has passed."""
    forms = {name: require_form(name) for name in names}
    file = material.record["file"]
    check_release(material.record)
    there = sorted(path.name for path in released.iterdir())
    named = sorted(part["name"] for part in file["parts"])
    if there != named or hashed_files(released)["sha256"] != file["sha256"]:
        raise ReleaseError(
            "The folder of the release holds other files than those of the record; nothing public "
            "was written."
        )
    dataset = Dataset.at(original)
    if not _is_source_of(dataset, material.record):
        raise InputError(
            "The original is not the dataset that the record was made of; give the files that "
            "were masked."
        )
    schema = _schema_of_record(dataset, material.record)
    shown = [variable.name for variable in schema.released]
    first = to_frame(dataset.read(0, min(dataset.n, PROFILE_ROWS), shown))
    refuse_identifiers(Microdata(first, Schema(variables=schema.released)))
    # two passes over the original: where values are missing, and what it has of all that is said
    missing = set[str]()
    with work(progress=progress):
        advance = passed(2 * dataset.n)
    for _, batch in dataset.batches(schema):
        frame = to_frame(batch)
        missing |= _lacking_values(frame[shown])
        advance(len(batch))
    table = {**material.record["table"], "missing": sorted(missing)}
    material = replace(material, record={**material.record, "table": table})
    contents = {name: unchecked_file(material, form) for name, form in forms.items()}
    said = set[Any]().union(*(said_values(c, forms[n], material) for n, c in contents.items()))
    rare = rare_in_dataset(dataset, schema, said, advance)
    for name, content in contents.items():
        check_file(content, forms[name], material, rare)
    return contents


def _is_source_of(dataset: Dataset, record: Mapping[str, Any]) -> bool:
    """True if a dataset has the size and the columns that a record tells of its original."""
    table = record["table"]
    same = dataset.n == table["records"] and dataset.size == record["source"]["size"]
    return same and {*table["variables"], *table["removed"]} == dict(dataset.columns).keys()


def _schema_of_record(dataset: Dataset, record: Mapping[str, Any]) -> Schema:
    """Describe the original as it was described when the release was made."""
    table = record["table"]
    schema = dataset.guessed_schema()
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


def _lacking_values(frame: pd.DataFrame) -> set[str]:
    """Return the names of the columns in which a value is missing."""
    return {str(name) for name in frame.columns if frame[name].isna().any()}


def rare_in_dataset(
    original: Dataset, schema: Schema, said: Set[Any], advance: Advance
) -> KeysView[Any]:
    """Find which values a public file would say that few records of the original have."""
    # Direct identifiers are read, too: a name of one person is what must not be said.
    names = [name for name, _ in original.columns]
    hidden = {variable.name for variable in schema.variables if not variable.is_released}
    numbers = [value for value in said if isinstance(value, float)]
    records: dict[str, Counter[Any]] = {name: Counter() for name in names}
    for start in range(0, original.n, BATCH):
        stop = min(start + BATCH, original.n)
        frame = to_frame(original.read(start, stop, names))
        for name in names:
            column = frame[name]
            if _holds_numbers(column) and name not in hidden:  # of numbers those that are said
                column = column[column.isin(numbers)]
            for form, value, count in counted(column):
                if form in said:
                    records[name][form, value] += count
        advance(stop - start)
    few: dict[Any, str] = {}  # the column of each value
    for name, counts in records.items():
        rare = [form for (form, _), count in counts.items() if count < LEAST]
        few |= dict.fromkeys(rare, name)
    return few.keys()


def _holds_numbers(column: pd.Series[Any]) -> bool:
    """True if a column has numbers that are no truth values."""
    return is_numeric_dtype(column) and not is_bool_dtype(column)
