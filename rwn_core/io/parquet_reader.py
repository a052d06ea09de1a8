"""Parquet in: flat columns of numbers, texts, categories and dates, and none of the metadata."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.arrow_columns import (
    arrow_microdata,
    arrow_refusals,
    checked_fields,
    is_text,
    usable_fields,
)
from rwn_core.io.limits import MOST_LETTERS, check_unpacked

_DELTA = "DictAccumulator for Delta"  # Arrow reads texts of these encodings one by one only
_LARGEST_PREFIXED = 200_000_000  # unpacked bytes of a file with such texts
_SPELLED = 2_000_000_000  # bytes that a batch of such texts can spell at most


def read_parquet(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a Parquet file."""
    with arrow_refusals(file):
        source = _open(content)
        fields = checked_fields(source.schema_arrow)
        meta = source.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    fields, notices, left_out = usable_fields(file, fields, meta.num_rows, schema, layout)
    read = [field for field in fields if field.name not in left_out]
    size = sum(group.total_byte_size for group in groups)
    check_unpacked(file, size)
    with arrow_refusals(file):
        table = _table(file, content, read, size)
        table.validate(full=True)
        if table.num_rows != meta.num_rows:
            raise pa.ArrowInvalid("fewer records than declared")
        left_out |= dict.fromkeys(
            _wrapped(content, table, meta), "dates outside the years 1 to 9999"
        )
        table = table.unify_dictionaries()
    return arrow_microdata(file, table, fields, schema, notices, left_out)


def _table(file: str, content: bytes, fields: Sequence[pa.Field], size: int) -> pa.Table:
    # texts come in as dictionaries, so that a long one that occurs a million times is held once
    texts = [field.name for field in fields if is_text(field.type)]
    try:
        names = [field.name for field in fields]
        return _open(content, texts).read(columns=names, use_pandas_metadata=False)
    except OSError as error:
        if _DELTA not in str(error):
            raise
    source = _open(content)
    others = [field.name for field in fields if field.name not in texts]
    table = source.read(columns=others, use_pandas_metadata=False)
    for field in fields:
        if field.name in texts:
            table = table.append_column(field, _spelled(file, source, field.name, size))
    return table


def _open(content: bytes, texts: list[str] | None = None, unit: str = "us") -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(content),
        page_checksum_verification=True,
        read_dictionary=texts,
        coerce_int96_timestamp_unit=unit,  # in nanoseconds, the year 9999 would be 1816
    )


def _wrapped(content: bytes, table: pa.Table, meta: pq.FileMetaData) -> list[str]:
    """Name columns of moments of 96 bits that have no microseconds in 64 bits."""
    columns = [meta.schema.column(number) for number in range(meta.num_columns)]
    names = [c.path for c in columns if c.physical_type == "INT96" and c.path in table.column_names]
    if not names:
        return []
    seconds = _open(content, unit="s").read(columns=names, use_pandas_metadata=False)
    found = []
    for name in names:
        micro = table[name].cast(pa.int64()).drop_null().to_numpy()
        if (micro // 1_000_000 != seconds[name].cast(pa.int64()).drop_null().to_numpy()).any():
            found.append(name)
    return found


def _spelled(file: str, source: pq.ParquetFile, name: str, size: int) -> pa.ChunkedArray:
    """Texts of an encoding that Arrow cannot read as a dictionary, a few records at a time."""
    # Such a text can be written as what it adds to the text before: a few bytes can spell many.
    if size > _LARGEST_PREFIXED:
        raise InputError(
            f"{file}, column {name}: the texts are in an encoding that can hold any number of "
            "letters, and the file is large; save it with plain texts."
        )
    batch_size = min(max(_SPELLED // max(size, 1), 1), 100_000)
    chunks = []
    letters = 0
    for batch in source.iter_batches(batch_size=batch_size, columns=[name]):
        array = batch.column(0)
        letters += pc.sum(pc.binary_length(array)).as_py() or 0
        if letters > MOST_LETTERS:
            raise InputError(
                f"{file}, column {name}: the texts have more than {MOST_LETTERS:,} bytes; "
                "shorten or remove the column."
            )
        chunks.append(array)
    return pa.chunked_array(chunks)
