"""Parquet and Feather in and out: columns of Arrow become columns of a table, and back.

Feather in: the columns of an Arrow file, and none of its metadata.

Parquet in: flat columns of numbers, texts, categories and dates, and none of the metadata.

Parquet and Feather out: values and types alone, without unused levels and metadata.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import MOST_DECIMALS, Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.checked_table import checked_table
from rwn_core.io.limits import (
    ENCRYPTED,
    check_size,
    check_unpacked,
    chosen_columns,
    damaged,
    has_large_wholes,
    in_file,
)
from rwn_core.io.row_names import ROW, named
from rwn_core.io.text_types.column import are_days

_INT64_DIGITS = 18  # any whole number of so many digits fits the type of 64 bits
TEXTS = {pa.string(), pa.large_string(), pa.string_view()}
_TIMES = (pa.Time32Type, pa.Time64Type, pa.DurationType)
_KINDS = pa.types
_KNOWN = (
    _KINDS.is_boolean,
    _KINDS.is_integer,
    _KINDS.is_floating,
    _KINDS.is_decimal,
    _KINDS.is_date,
    _KINDS.is_timestamp,
)
_REMEDIES = (
    (_KINDS.is_nested, "holds lists or records; write each part as a column of its own"),
    (_KINDS.is_null, "has no values; remove it"),
    (_KINDS.is_duration, "holds durations; write them as numbers of one unit"),
    (_KINDS.is_time, "holds times of the day; write them as numbers of one unit"),
)
_SURE = 15  # significant digits that every floating number keeps
_PACKED = (0xFD2FB528, 0x184D2204)  # how a part packed with zstd or lz4 begins
_INTEGERS = [f"{sign}{bits}" for sign, bits in product(("Int", "UInt"), (8, 16, 32, 64))]
_NULLABLE = {pa.type_for_alias(e.lower()): pd.api.types.pandas_dtype(e) for e in _INTEGERS}
_NULLABLE |= {pa.bool_(): pd.BooleanDtype()}


def arrow_microdata(
    file: str,
    table: pa.Table,
    fields: Sequence[pa.Field],
    schema: Schema | None,
    notices: Sequence[str],
    left_out: Mapping[str, str],
) -> Microdata:
    """Return the microdata of a checked Arrow table; `left_out` says which columns it lacks."""
    series = {}
    said = list(notices)
    for field in fields:
        name = field.name
        variable = None if schema is None else schema.by_name.get(name)
        if name in left_out:
            series[name] = pd.Series(np.full(table.num_rows, np.nan))
            continue
        series[name], noticed = _typed(field, one_array(table.column(name)), variable)
        said += noticed
        if pd.api.types.is_integer_dtype(series[name].dtype) and has_large_wholes(series[name]):
            said.append(
                f"{name} has whole numbers of 2^53 or more: a distance cannot tell them all "
                "apart; if they identify people, set its role to identifier."
            )
    with in_file(file):
        frame = pd.DataFrame(series)
        data = checked_table(frame, schema, schema, said, left_out, _index_of(table))
    # The schema with the scale of exact decimals, so that a text file writes them as they
    # were.
    described = data.schema
    for decimal_field in fields:
        if decimal_field.name not in described.by_name:
            continue
        stated = described.variable(decimal_field.name)
        floating = pd.api.types.is_float_dtype(data.frame[decimal_field.name].dtype)
        if pa.types.is_decimal(decimal_field.type) and floating and stated.decimals is None:
            scale = min(max(decimal_field.type.scale, 0), MOST_DECIMALS)
            described = described.replace_variable(decimal_field.name, decimals=scale)
    return data.with_schema(described)


def usable_fields(
    file: str,
    fields: Sequence[pa.Field],
    records: int,
    schema: Schema | None,
    layout: FileLayout | None,
) -> tuple[list[pa.Field], list[str], dict[str, str]]:
    """Return the fields to read, a notice where they are too many, and why some are left out."""
    chosen, notices = chosen_columns(file, [field.name for field in fields], schema, layout)
    check_size(file, records, len(chosen))
    wanted = [fields[place] for place in chosen]
    faults = {e.name: type_fault(e) for e in wanted if not isinstance(e.type, _TIMES)}
    return wanted, notices, {name: fault for name, fault in faults.items() if fault is not None}


@contextmanager
def arrow_refusals(file: str) -> Iterator[None]:
    """Turn whatever Arrow raises about a broken file into one sentence."""
    try:
        yield
    except InputError:
        raise
    except MemoryError:  # Arrow's own, too; what is damaged may ask for any amount
        raise InputError(
            f"{file} is damaged, or needs more memory than the reading of a file may take; get or "
            "save the file again, or read fewer columns or records."
        ) from None
    # an ArrowInvalid is a ValueError, other Arrow errors are OSError
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        raise damaged(file, ENCRYPTED) from None


def type_fault(field: pa.Field) -> str | None:
    """Say what is wrong with a column of a type that no table of microdata has."""
    type_ = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if type_ in TEXTS or any(test(type_) for test in _KNOWN):
        return None
    usual = "holds bytes or objects; write numbers, texts or dates, or remove it"
    return next((what for test, what in _REMEDIES if test(type_)), usual)


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Join the chunks of a column."""
    if column.type in TEXTS:  # a chunk of the short type holds 2 GB
        column = column.cast(pa.large_string())
    array = column.combine_chunks()
    if not isinstance(array, pa.ChunkedArray):
        return array
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def _typed(
    field: pa.Field, array: pa.Array, variable: Variable | None
) -> tuple[pd.Series[Any], list[str]]:
    """The column as pandas has it, and what is to be said of exact decimals and times."""
    if isinstance(array.type, _TIMES):
        per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[array.type.unit]
        seconds = array.cast(f"int{array.type.bit_width}").to_numpy(zero_copy_only=False) / per
        said = f"{field.name} has times of the day or durations: they are numbers of seconds."
        return pd.Series(seconds), [said]
    if not pa.types.is_decimal(array.type):
        return column_series(field, array), []
    name = field.name
    if array.type.scale == 0 and array.type.precision <= _INT64_DIGITS:
        return column_series(field, array.cast(pa.int64())), []
    written = decimal_texts(array)
    numbers = written.cast(pa.float64())  # of texts: a decimal's own cast is not rounded correctly
    unchanged = comes_back(written, numbers)
    texts = variable is not None and (not variable.is_released or variable.kind is Kind.CATEGORICAL)
    if unchanged and not texts:
        said = f"{name} has exact decimals in the file: they are read as floating numbers."
    elif variable is not None and not texts:
        said = f"{name} has more digits than a floating number holds: the last ones are rounded."
    else:
        said = (
            f"{name} has exact decimals of more digits than a floating number holds: they are "
            "kept as texts; give it the kind continuous in a schema to round them."
        )
        return pd.Series(pd.array(written.cast(pa.large_string()), dtype="str")), [said]
    return pd.Series(numbers.to_numpy(zero_copy_only=False)), [said]


def column_series(field: pa.Field, array: pa.Array) -> pd.Series[Any]:
    """Hold a column that has no decimals as a table does; `field` is that of the file."""
    type_ = array.type
    if pa.types.is_dictionary(type_):
        levels = array.dictionary
        if pa.types.is_decimal(levels.type):
            written = decimal_texts(levels)
            numbers = written.cast(pa.float64())
            levels = numbers if comes_back(written, numbers) else written
        codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
        if levels.null_count or len(levels.unique()) < len(levels):
            # a level may stand twice, or for missing
            different = levels.drop_null().unique()
            places = pc.index_in(levels, different).take(array.indices)
            codes = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
            levels = different
        category = pd.Categorical.from_codes(
            codes, categories=levels.to_pandas(), ordered=field.type.ordered
        )
        return pd.Series(category.remove_unused_categories())
    if type_ in TEXTS:
        return pd.Series(pd.array(array.cast(pa.large_string()), dtype="str"))
    if pa.types.is_date(type_):
        array = array.cast(pa.timestamp("s"))
    if pa.types.is_float16(type_):
        array = array.cast(pa.float32())
    with_gaps = array.null_count and (pa.types.is_integer(type_) or pa.types.is_boolean(type_))
    return pd.Series(array.to_pandas(types_mapper=_NULLABLE.get if with_gaps else None))


def decimal_texts(array: pa.Array) -> pa.Array:
    """Write exact decimals with all digits of their scale."""
    texts = array.cast(pa.string())
    powers = pc.fill_null(pc.match_substring(texts, "E"), False)
    if abs(array.type.scale) > MOST_DECIMALS or not pc.any(powers).as_py():
        return texts
    plain = [format(Decimal(text), "f") for text in texts.filter(powers).to_pylist()]
    return pc.replace_with_mask(texts, powers, pa.array(plain, pa.string()))


def comes_back(texts: pa.Array, numbers: pa.Array) -> bool:
    """True if each floating number, written in full, is the decimal that it came from."""
    if np.isinf(numbers.to_numpy(zero_copy_only=False)).any():
        return False
    # a sign and a point do no harm
    long = pc.fill_null(pc.greater(pc.utf8_length(texts), _SURE), False)
    pairs = zip(texts.filter(long).to_pylist(), numbers.filter(long).to_pylist(), strict=True)
    return all(Decimal(text) == Decimal(repr(number)) for text, number in pairs)


def read_feather(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a Feather file of version 2, which is an Arrow file."""
    # Add up the sizes that packed parts declare, each in the eight bytes before it.
    # Arrow begins each part at a multiple of eight bytes and takes as much memory as it declares.
    words = np.frombuffer(content, dtype="<i8", count=len(content) // 8)
    begins = np.isin(words[1:] & 0xFFFFFFFF, _PACKED)
    check_unpacked(file, int(words[:-1][begins].clip(min=0).astype(np.float64).sum()))
    with arrow_refusals(file):
        source = pa.ipc.open_file(pa.BufferReader(content))
        # a broken name is a ValueError
        fields = [field for field in source.schema if field.name is not None]
        table = source.read_all()
        table.validate(full=True)
        table = table.unify_dictionaries()
    names = named(table.column_names, schema)
    if names != table.column_names:
        table = _renamed(table, names)
        fields = list(table.schema)
    usable = usable_fields(file, fields, table.num_rows, schema, layout)
    return arrow_microdata(file, table, usable[0], schema, *usable[1:])


def _renamed(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Give columns other names; what pandas says of its index stays."""
    return table.rename_columns(names).replace_schema_metadata(table.schema.metadata)


def _index_of(table: pa.Table) -> str | None:
    """Return the column that was an index of pandas; row, if it had no name."""
    try:
        stored = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        columns = [each for each in stored["index_columns"] if isinstance(each, str)]
    except (KeyError, TypeError, ValueError):
        return None
    if not columns:
        return None
    return columns[0] if columns[0] in table.column_names else ROW


def read_parquet(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a Parquet file."""
    with arrow_refusals(file):
        source = _open(content)
        fields = [field for field in source.schema_arrow if field.name is not None]
        meta = source.metadata
        groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    stored = [field.name for field in fields]
    names = named(stored, schema)
    stored_name = dict(zip(names, stored, strict=True))
    fields = [field.with_name(name) for field, name in zip(fields, names, strict=True)]
    fields, notices, left_out = usable_fields(file, fields, meta.num_rows, schema, layout)
    read = [field for field in fields if field.name not in left_out]
    check_unpacked(file, sum(group.total_byte_size for group in groups))
    with arrow_refusals(file):
        # repeated texts may take any memory: the process that reads has a limit
        names = [stored_name[field.name] for field in read]
        table = source.read(columns=names, use_pandas_metadata=False)
        table.validate(full=True)
        if table.num_rows != meta.num_rows:
            raise pa.ArrowInvalid("fewer records than declared")
        for name in _beyond_the_calendar(content, meta, table):
            left_out[name] = "dates outside the years 1 to 9999"
        table = table.unify_dictionaries()
        if len(names) == table.num_columns:
            table = _renamed(table, [field.name for field in read])
    return arrow_microdata(file, table, fields, schema, notices, left_out)


def _beyond_the_calendar(content: bytes, meta: pq.FileMetaData, table: pa.Table) -> list[str]:
    """Name columns of moments of 96 bits that have no microseconds in 64 bits."""
    columns = [meta.schema.column(number) for number in range(meta.num_columns)]
    long = [c.path for c in columns if c.physical_type == "INT96" and c.path in table.column_names]
    seconds = _open(content, unit="s").read(columns=long, use_pandas_metadata=False)
    found = []
    for name in long:
        micro, exact = (
            each[name].cast(pa.int64()).drop_null().to_numpy() for each in (table, seconds)
        )
        if (micro // 1_000_000 != exact).any():
            found.append(name)
    return found


def _open(content: bytes, unit: str = "us") -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(content),
        page_checksum_verification=True,
        coerce_int96_timestamp_unit=unit,  # in nanoseconds, the year 9999 would be 1816
    )


def parquet_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write a Parquet file, without statistics."""
    stream = io.BytesIO()
    table = arrow_table(frame)
    pq.write_table(
        table,
        stream,
        compression="zstd",
        write_statistics=False,
        # the types alone: without them categories come back as texts, without their order
        store_schema=any(pa.types.is_dictionary(field.type) for field in table.schema),
        write_page_checksum=True,
    )
    return stream.getvalue()


def feather_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write an Arrow file."""
    stream = io.BytesIO()
    table = arrow_table(frame)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table)
    return stream.getvalue()


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    """Make an Arrow table of the values alone."""
    arrays = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()
        array = pa.Array.from_pandas(column)
        # whole seconds come from a file's dates: no file of Parquet has moments of whole seconds
        if array.type == pa.timestamp("s") and are_days(column):
            array = array.cast(pa.date32())
        arrays[name] = array
    return pa.table(arrays).replace_schema_metadata(None)
