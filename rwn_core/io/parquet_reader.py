"""Parquet in: flat columns of numbers, texts, categories and dates, and none of the metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import LARGEST_NUMBER, check_names
from rwn_core.errors import InputError
from rwn_core.io.file_name import in_file
from rwn_core.io.limits import LARGEST_WHOLE, MOST_CELLS, MOST_COLUMNS, MOST_LETTERS


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
    with _whole(file):
        source = _open(content)
        fields = list(source.schema_arrow)
        records = source.metadata.num_rows
    _check_size(file, records, len(fields))
    with in_file(file):
        check_names(pd.Index([field.name for field in fields], dtype=object))
        if schema is not None:
            schema.require_names([field.name for field in fields])
    for field in fields:
        check_type(file, field)
    table = _table(file, content, fields)
    series = {}
    notices: list[str] = []
    for field in fields:
        column = _flat(file, field, table.column(field.name))
        series[field.name] = series_of(field, column)
        _check_values(file, field.name, series[field.name])
        notices += _notices(field, series[field.name])
    with in_file(file):
        return Microdata.from_frame(pd.DataFrame(series), schema, notices=tuple(notices))


def _open(content: bytes, texts: list[str] | None = None) -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(content), page_checksum_verification=True, read_dictionary=texts
    )


@contextmanager
def _whole(file: str) -> Iterator[None]:
    """Turn whatever the library raises about a broken file into one sentence."""
    try:
        yield
    # an ArrowInvalid is a ValueError, other Arrow errors are OSError or MemoryError
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError):
        raise InputError(
            f"{file} is damaged, cut off or encrypted; get or save the file again."
        ) from None


def _check_size(file: str, records: int, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{file} has {columns:,} columns; choose at most {MOST_COLUMNS:,} of them."
        )
    if records * columns > MOST_CELLS:
        raise InputError(
            f"{file} has {records:,} records of {columns:,} columns, more than {MOST_CELLS:,} "
            "cells; read fewer columns or records, or use the commands for large tables."
        )


_TEXTS: tuple[Callable[[Any], bool], ...] = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
)
_KNOWN: tuple[Callable[[Any], bool], ...] = (
    *_TEXTS,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_timestamp,
)
_REMEDIES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (pa.types.is_nested, "holds lists or records; write each part as a column of its own"),
    (pa.types.is_null, "has no values; remove it"),
    (pa.types.is_duration, "holds durations; write them as numbers of one unit"),
    (pa.types.is_time, "holds times of the day; write them as numbers of one unit"),
)


def _is(tests: tuple[Callable[[Any], bool], ...], type_: pa.DataType) -> bool:
    return any(test(type_) for test in tests)


def check_type(file: str, field: pa.Field) -> None:
    """Refuse a column of a type that no table of microdata has.

    Raises
    ------
    InputError
    """
    type_ = field.type
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if _is(_KNOWN, type_):
        return
    remedy = "holds bytes or objects; write numbers, texts or dates, or remove it"
    for test, what in _REMEDIES:
        if test(type_):
            remedy = what
    raise InputError(f"{file}, column {field.name}: the column {remedy}.")


def _table(file: str, content: bytes, fields: list[pa.Field]) -> pa.Table:
    # texts come in as dictionaries, so that a long one that occurs a million times is held once
    texts = [field.name for field in fields if _is(_TEXTS, field.type)]
    with _whole(file):
        source = _open(content, texts)
        table = source.read(use_pandas_metadata=False)
        table.validate(full=True)
        if table.num_rows != source.metadata.num_rows:
            raise pa.ArrowInvalid("fewer records than declared")
    return table.unify_dictionaries()


def _flat(file: str, field: pa.Field, column: pa.ChunkedArray) -> pa.Array:
    """One array of the column, its dictionary kept only where the file says category."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if not pa.types.is_dictionary(array.type) or pa.types.is_dictionary(field.type):
        return array
    lengths = pc.binary_length(array.dictionary).take(array.indices)
    if (pc.sum(lengths).as_py() or 0) > MOST_LETTERS:
        raise InputError(
            f"{file}, column {field.name}: the texts have more than {MOST_LETTERS:,} bytes; "
            "shorten or remove the column."
        )
    return array.dictionary.take(array.indices)


def series_of(field: pa.Field, array: pa.Array) -> pd.Series[Any]:
    """A column's values in the type that a table holds them in; `field` is that of the file."""
    type_ = array.type
    if pa.types.is_dictionary(type_):
        return _category(array, field.type.ordered)
    if _is(_TEXTS, type_):
        return pd.Series(pd.array(array.cast(pa.large_string()), dtype="str"))
    if pa.types.is_decimal(type_):
        return pd.Series(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if pa.types.is_date(type_):
        array = array.cast(pa.timestamp("s"))
    if pa.types.is_float16(type_):
        array = array.cast(pa.float32())
    if array.null_count and pa.types.is_integer(type_):
        return _nullable(array, str(type_).replace("int", "Int").replace("uI", "UI"))
    if array.null_count and pa.types.is_boolean(type_):
        return _nullable(array, "boolean")
    return pd.Series(array.to_pandas())


def _nullable(array: pa.Array, dtype: Any) -> pd.Series[Any]:
    missing = array.is_null().to_numpy(zero_copy_only=False)
    filled = pc.fill_null(array, pa.scalar(0).cast(array.type)).to_numpy(zero_copy_only=False)
    return pd.Series(pd.array(filled, dtype=dtype)).mask(missing)


def _category(array: pa.DictionaryArray, ordered: bool) -> pd.Series[Any]:
    levels = array.dictionary
    if pa.types.is_decimal(levels.type):
        levels = levels.cast(pa.float64())
    codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
    if levels.null_count or len(levels.unique()) < len(levels):
        return pd.Series(levels.take(array.indices).to_pandas()).astype("category")
    category = pd.Categorical.from_codes(codes, categories=levels.to_pandas(), ordered=ordered)
    return pd.Series(category.remove_unused_categories())


def _check_values(file: str, name: str, series: pd.Series[Any]) -> None:
    if not pd.api.types.is_float_dtype(series.dtype):
        return
    large = np.abs(series.to_numpy(dtype=np.float64)) > LARGEST_NUMBER
    if large.any():
        raise InputError(
            f"{file}, column {name}, record {int(large.argmax()) + 1:,}: {int(large.sum()):,} "
            f"of the values are infinite or beyond {LARGEST_NUMBER:g}; replace or remove them."
        )


def _notices(field: pa.Field, series: pd.Series[Any]) -> list[str]:
    if pa.types.is_decimal(field.type):
        return [f"{field.name} has exact decimals in the file: they are read as floating numbers."]
    if pd.api.types.is_integer_dtype(series.dtype):
        known = series.dropna()
        if len(known) and max(abs(int(known.min())), abs(int(known.max()))) >= LARGEST_WHOLE:
            return [
                f"{field.name} has whole numbers of 2^53 or more: a distance cannot tell them all "
                "apart; if they identify people, set its role to identifier."
            ]
    return []
