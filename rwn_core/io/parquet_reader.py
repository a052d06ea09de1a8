"""Parquet in: flat columns of numbers, texts, categories and dates, and none of the metadata."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.arrow_columns import arrow_microdata, check_fields, is_text, whole
from rwn_core.io.limits import MOST_LETTERS, check_unpacked

_PREFIXES = "DELTA_BYTE_ARRAY"  # a text is written as what it adds to the text before
_LARGEST_PREFIXED = 200_000_000  # bytes of such a column; a few of them can spell many more
_SPELLED = 2_000_000_000  # bytes that a batch of such texts can spell at most


def read_parquet(file: str, content: bytes, schema: Schema | None = None) -> Microdata:
    """Read a Parquet file.

    Sizes are judged by the numbers of records and columns before anything is unpacked, since
    a few bytes can declare any number of values. Page checksums are verified where the file
    has them. Metadata of pandas is left out, so that a stored index is an ordinary column.

    Parameters
    ----------
    file : str
        The name to use in messages.
    content : bytes
    schema : Schema, optional

    Returns
    -------
    Microdata

    Raises
    ------
    InputError
        Names file, column and the remedy.
    SchemaError
    """
    with whole(file):
        source = _open(content)
        fields = list(source.schema_arrow)
        meta = source.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    check_fields(file, fields, meta.num_rows, schema)
    check_unpacked(file, sum(group.total_byte_size for group in groups))
    delta = _prefixed(groups)
    for name, size in delta.items():
        if size > _LARGEST_PREFIXED:
            raise InputError(
                f"{file}, column {name}: the texts have more than {_LARGEST_PREFIXED:,} bytes in "
                "an encoding that can hold any number; save the file with plain texts."
            )
    # texts come in as dictionaries, so that a long one that occurs a million times is held once
    texts = [field.name for field in fields if is_text(field.type) and field.name not in delta]
    with whole(file):
        source = _open(content, texts)
        names = [field.name for field in fields if field.name not in delta]
        table = source.read(columns=names, use_pandas_metadata=False)
        for field in fields:
            if field.name in delta:
                table = table.append_column(field, _spelled(file, source, field.name, delta))
        table.validate(full=True)
        if table.num_rows != meta.num_rows:
            raise pa.ArrowInvalid("fewer records than declared")
        table = table.unify_dictionaries()
    return arrow_microdata(file, table, fields, schema)


def _open(content: bytes, texts: list[str] | None = None) -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(content), page_checksum_verification=True, read_dictionary=texts
    )


def _prefixed(groups: Sequence[pq.RowGroupMetaData]) -> dict[str, int]:
    """Columns of texts written as additions to the text before, with their bytes."""
    sizes: dict[str, int] = {}
    for group in groups:
        for number in range(group.num_columns):
            column = group.column(number)
            if _PREFIXES in column.encodings:
                name = column.path_in_schema
                sizes[name] = sizes.get(name, 0) + column.total_uncompressed_size
    return sizes


def _spelled(
    file: str, source: pq.ParquetFile, name: str, sizes: dict[str, int]
) -> pa.ChunkedArray:
    """Texts of an encoding that Arrow cannot read as a dictionary, a few records at a time."""
    at_once = min(max(_SPELLED // max(sizes[name], 1), 1), 100_000)
    chunks = []
    letters = 0
    for batch in source.iter_batches(batch_size=at_once, columns=[name]):
        array = batch.column(0)
        letters += pc.sum(pc.binary_length(array)).as_py() or 0
        if letters > MOST_LETTERS:
            raise InputError(
                f"{file}, column {name}: the texts have more than {MOST_LETTERS:,} bytes; "
                "shorten or remove the column."
            )
        chunks.append(array)
    return pa.chunked_array(chunks)
