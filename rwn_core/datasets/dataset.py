"""A dataset is a row of Parquet files, read range by range: records are numbered through them."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.guess_schema import guess_schema
from rwn_core.data.schema import Schema
from rwn_core.data.validation import check_column, check_names
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.arrow_files import TEXTS, column_series, decimal_texts, one_array, type_fault

BATCH = 65_536  # records that are unpacked at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The files of a dataset, and the number of records of each.

    Records are numbered from 0 through the files in the order of their paths.
    """

    paths: tuple[str, ...]
    rows: tuple[int, ...]  # records of each file
    # names and types, as they are read: of dictionaries the values, of dates the moments
    columns: tuple[tuple[str, Any], ...]
    stamps: tuple[tuple[int, int], ...]  # size and time of the last change of each file

    @property
    def n(self) -> int:
        """Number of records."""
        return sum(self.rows)

    @property
    def size(self) -> int:
        """Bytes of the files."""
        return sum(size for size, _ in self.stamps)

    @classmethod
    def at(cls, source: str | Path) -> Dataset:
        """Find the files of a folder, a pattern, or one file, and check their columns."""
        paths = sorted(_files(source), key=str)
        if not paths:
            raise InputError("There are no Parquet files; give a folder, a pattern or one file.")
        heads = [_head(path) for path in paths]
        first = heads[0][1]
        for path, (_, columns) in zip(paths, heads, strict=True):
            difference = _difference(first, columns)
            if difference:
                raise InputError(f"{path.name} {difference}; make them the same.")
        check_names([name for name, _ in first])
        stats = [path.stat() for path in paths]
        made = cls(
            paths=tuple(str(path) for path in paths),
            rows=tuple(rows for rows, _ in heads),
            columns=first,
            stamps=tuple((each.st_size, each.st_mtime_ns) for each in stats),
        )
        if made.n < 2:
            raise InputError(f"The dataset has {made.n} records; masking needs at least two.")
        return made

    def guessed_schema(self) -> Schema:
        """One variable for each column, its kind guessed from the column's type."""
        return guess_schema(to_frame(pa.schema(list(self.columns)).empty_table()))

    def batches(self, schema: Schema) -> Iterator[tuple[int, pa.Table]]:
        """The released columns batch by batch, with the number of the first record of each."""
        names = [variable.name for variable in schema.released]
        for start in range(0, self.n, BATCH):
            yield start, self.read(start, min(start + BATCH, self.n), names)

    def read(self, start: int, stop: int, names: Sequence[str]) -> pa.Table:
        """Some columns of the records from `start` to before `stop`."""
        types = dict(self.columns)
        wanted = pa.schema([(name, types[name]) for name in names])
        parts: list[pa.Table] = []
        begin = 0
        for path, rows in zip(self.paths, self.rows, strict=True):
            first = max(start - begin, 0)
            last = min(stop - begin, rows)
            if first < last:
                with _readable(Path(path)):
                    parts += _rows_of_file(path, first, last, wanted)
            begin += rows
        table = pa.concat_tables(parts).combine_chunks()
        if len(table) != stop - start:
            raise InputError("A file of the dataset has other records than at the start; run anew.")
        return table


def to_frame(table: pa.Table) -> pd.DataFrame:
    """A table of a dataset in the types that microdata are held in."""
    series = {
        field.name: column_series(field, one_array(table.column(field.name)))
        for field in table.schema
    }
    return pd.DataFrame(series, copy=False)


def check_rows(frame: pd.DataFrame, schema: Schema, start: int) -> None:
    """Refuse values that their variables do not describe; `start` numbers the first record."""
    for variable in schema.released:
        column = frame[variable.name]
        if column.isna().all():  # of a part; whether the whole column has values is asked later
            continue
        try:
            check_column(column, variable)
        except InputError as refusal:
            where = f"Rows are counted from record {start + 1:,} of the dataset."
            raise type(refusal)(f"{refusal} {where}") from None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever the library raises about a broken file into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path.name} is no longer there; run anew.") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise InputError(
            f"{path.name} is damaged, cut off, encrypted or not Parquet; get the file again, or "
            "mask a table of another format by rwn mask."
        ) from None


def _files(source: str | Path) -> list[Path]:
    """Return the files of a folder, of a pattern, or the one file."""
    given = Path(source)
    if given.is_dir():
        return _files_of_folder(given)
    if given.is_file():
        return [given]
    paths = [Path(path) for path in glob.glob(str(source), recursive=True)]
    return [path for path in paths if path.is_file()]


def _is_hidden(name: str) -> bool:
    """True if programs leave out a file or folder of this name."""
    return name.startswith((".", "_"))


def _files_of_folder(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder but the hidden ones; a name may hold no value."""
    paths = [path for path in folder.rglob("*.parquet") if path.is_file()]
    inner = {path: path.relative_to(folder).parts for path in paths}
    folders = chain.from_iterable(parts[:-1] for parts in inner.values())
    if any("=" in name for name in folders):
        raise InputError(
            "The folder's names hold values (NAME=VALUE), which would be lost; write them as a "
            "column of the files."
        )
    hidden = {path for path in paths if any(map(_is_hidden, inner[path]))}
    return [path for path in paths if path not in hidden]


def _difference(first: Columns, columns: Columns) -> str:
    """Say how the columns of a file differ from those of the first; nothing where they do not."""
    for (name, type_), (other, another) in zip(first, columns, strict=False):
        if name != other:
            return f"has the column {other} where the first file has {name}"
        if type_ != another:
            return (
                f"has column {name} in the type {another}, and the first file in the type {type_}"
            )
    if len(columns) != len(first):
        return f"has {len(columns)} columns, and the first file has {len(first)}"
    return ""


Columns = tuple[tuple[str, Any], ...]


def _head(path: Path) -> tuple[int, Columns]:
    """Number of records, and names and types of the columns."""
    with _readable(path), pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as source:
        fields = list(source.schema_arrow)
        rows = source.metadata.num_rows
    for field in fields:
        if (fault := type_fault(field)) is not None:
            raise InputError(f"{path.name}, column {field.name}: the column {fault}.")
        if pa.types.is_dictionary(field.type) and field.type.ordered:
            raise SchemaError(
                f"{path.name}, column {field.name}: the order of its categories may differ from "
                "file to file; write texts, and give the levels in a schema."
            )
    return int(rows), tuple((field.name, _plain(field.type)) for field in fields)


def _plain(type_: pa.DataType) -> pa.DataType:
    """The type that a column is read as, the one that `rwn_core.read` gives it."""
    if pa.types.is_dictionary(type_):
        return _plain(type_.value_type)
    if pa.types.is_decimal(type_):
        return pa.float64()
    if pa.types.is_date(type_):
        return pa.timestamp("s")
    if pa.types.is_float16(type_):
        return pa.float32()
    return pa.large_string() if type_ in TEXTS else type_


def _rows_of_file(path: str, first: int, last: int, wanted: pa.Schema) -> list[pa.Table]:
    """Records from `first` to before `last` of one file; other row groups are not unpacked."""
    with pq.ParquetFile(
        path, page_checksum_verification=True, coerce_int96_timestamp_unit="us"
    ) as source:
        counts = [source.metadata.row_group(i).num_rows for i in range(source.num_row_groups)]
        ends = np.cumsum(counts)
        groups = [i for i, end in enumerate(ends) if end > first and end - counts[i] < last]
        begin = int(ends[groups[0]] - counts[groups[0]]) if groups else 0
        parts = []
        for batch in source.iter_batches(BATCH, row_groups=groups, columns=wanted.names):
            low = max(first - begin, 0)
            high = min(last - begin, len(batch))
            if low < high:
                part = pa.table(batch.slice(low, high - low)).select(wanted.names)
                # a decimal's own cast is not rounded correctly: exact ones as the nearest numbers
                for place, field in enumerate(part.schema):
                    if pa.types.is_decimal(field.type):
                        texts = decimal_texts(one_array(part.column(place)))
                        part = part.set_column(place, field.name, texts.cast(pa.float64()))
                parts.append(part.cast(wanted))
            begin += len(batch)
        return parts
