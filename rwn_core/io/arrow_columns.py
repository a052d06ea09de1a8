"""Columns of Arrow become columns of a table: what Parquet and Arrow files have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import check_names
from rwn_core.data.variable import MOST_DECIMALS, Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.file_name import in_file
from rwn_core.io.limits import LARGEST_WHOLE, MOST_LETTERS, check_size, chosen_columns

_INT64_DIGITS = 18  # any whole number of so many digits fits the type of 64 bits


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
_SURE = 15  # significant digits that every floating number keeps


def arrow_microdata(
    file: str,
    table: pa.Table,
    fields: Sequence[pa.Field],
    schema: Schema | None,
    notices: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
) -> Microdata:
    """Return the microdata of a checked Arrow table; `left_out` says which columns it lacks."""
    series = {}
    said, reasons = list(notices), dict(left_out or {})
    for field in fields:
        name = field.name
        variable = None if schema is None else schema.by_name.get(name)
        try:
            if name in reasons:
                raise InputError(reasons[name])
            column = _flat(file, field, table.column(name))
            series[name], noticed = _typed(field, column, variable)
            said += noticed + _notices(field, series[name])
        except InputError as refusal:
            reasons[name] = _reason(file, name, refusal)
            series[name] = pd.Series(np.full(table.num_rows, np.nan))
    with in_file(file):
        frame = pd.DataFrame(series)
        data = Microdata.from_own_frame(frame, schema, notices=tuple(said), left_out=reasons)
    return data.with_schema(_with_decimals(data, fields))


def _with_decimals(data: Microdata, fields: Sequence[pa.Field]) -> Schema:
    """The schema with the scale of exact decimals, so that a text file writes them as they were."""
    described = data.schema
    for field in fields:
        variable = described.variable(field.name)
        floating = pd.api.types.is_float_dtype(data.frame[field.name].dtype)
        if pa.types.is_decimal(field.type) and floating and variable.decimals is None:
            scale = min(max(field.type.scale, 0), MOST_DECIMALS)
            described = described.replace_variable(field.name, decimals=scale)
    return described


def _reason(file: str, name: str, refusal: InputError) -> str:
    """Return why a column is left out, without its name."""
    return str(refusal).removeprefix(f"{file}, column {name}: ").rstrip(".")


def usable_fields(
    file: str,
    fields: Sequence[pa.Field],
    records: int,
    schema: Schema | None,
    layout: FileLayout | None,
) -> tuple[list[pa.Field], list[str], dict[str, str]]:
    """Return the fields to read, a notice where they are too many, and why some are left out."""
    names = [field.name for field in fields]
    with in_file(file):
        check_names(pd.Index(names, dtype=object))
        if schema is not None:
            schema.require_columns(names)
    chosen, notices = chosen_columns(file, names, schema, layout)
    check_size(file, records, len(chosen))
    left_out = {}
    for field in (fields[place] for place in chosen):
        if pa.types.is_time(field.type) or pa.types.is_duration(field.type):
            continue
        try:
            check_type(file, field)
        except InputError as refusal:
            left_out[field.name] = _reason(file, field.name, refusal).removeprefix("the column ")
    return [fields[place] for place in chosen], notices, left_out


def checked_fields(schema: pa.Schema) -> list[pa.Field]:
    """Return the fields of an Arrow schema; a broken name is a ValueError."""
    fields = list(schema)
    for field in fields:
        _ = field.name
    return fields


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
        raise InputError(
            f"{file} is damaged, cut off or encrypted; get or save the file again."
        ) from None


def is_text(type_: pa.DataType) -> bool:
    """Return True if a column of this type holds texts."""
    return _is(_TEXTS, type_)


def _is(tests: tuple[Callable[[Any], bool], ...], type_: pa.DataType) -> bool:
    return any(test(type_) for test in tests)


def check_type(file: str, field: pa.Field) -> None:
    """Refuse a column of a type that no table of microdata has."""
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


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Join the chunks of a column."""
    array = column.combine_chunks()
    if not isinstance(array, pa.ChunkedArray):
        return array
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def _flat(file: str, field: pa.Field, column: pa.ChunkedArray) -> pa.Array:
    """One array of the column, its dictionary kept only where the file says category."""
    array = one_array(column)
    if pa.types.is_dictionary(field.type):
        return array
    packed = pa.types.is_dictionary(array.type)
    if not packed and not is_text(array.type):
        return array
    lengths = _lengths(array.dictionary if packed else array)
    if packed:
        lengths = lengths.take(array.indices)
    if (pc.sum(lengths).as_py() or 0) > MOST_LETTERS:
        raise InputError(
            f"{file}, column {field.name}: the texts have more than {MOST_LETTERS:,} bytes; "
            "shorten or remove the column."
        )
    return array.dictionary.take(array.indices) if packed else array


def _lengths(array: pa.Array) -> pa.Array:
    """The bytes of each text; a view shares its letters and cannot be asked."""
    if not pa.types.is_string_view(array.type):
        return pc.binary_length(array)
    # the first four bytes of a view's sixteen are the length
    views = np.frombuffer(array.buffers()[1], dtype=np.int32).reshape(-1, 4)
    known = views[array.offset : array.offset + len(array), 0]
    return pa.array(known, mask=array.is_null().to_numpy(zero_copy_only=False))


def _typed(
    field: pa.Field, array: pa.Array, variable: Variable | None
) -> tuple[pd.Series[Any], list[str]]:
    """The column as pandas has it, and what is to be said of exact decimals and times."""
    if pa.types.is_time(array.type) or pa.types.is_duration(array.type):
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
        return _category(array, field.type.ordered)
    if _is(_TEXTS, type_):
        return pd.Series(pd.array(array.cast(pa.large_string()), dtype="str"))
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
        written = decimal_texts(levels)
        numbers = written.cast(pa.float64())
        levels = numbers if comes_back(written, numbers) else written
    codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
    if levels.null_count or len(levels.unique()) < len(levels):
        return pd.Series(levels.take(array.indices).to_pandas()).astype("category")
    category = pd.Categorical.from_codes(codes, categories=levels.to_pandas(), ordered=ordered)
    return pd.Series(category.remove_unused_categories())


def _notices(field: pa.Field, series: pd.Series[Any]) -> list[str]:
    if pd.api.types.is_integer_dtype(series.dtype):
        known = series.dropna()
        if len(known) and max(abs(int(known.min())), abs(int(known.max()))) >= LARGEST_WHOLE:
            return [
                f"{field.name} has whole numbers of 2^53 or more: a distance cannot tell them all "
                "apart; if they identify people, set its role to identifier."
            ]
    return []


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
    values = numbers.to_numpy(zero_copy_only=False)
    if np.isinf(values).any():
        return False
    long = pc.greater(pc.utf8_length(texts), _SURE)  # a sign and a point do no harm
    long = pc.fill_null(long, False)
    pairs = zip(texts.filter(long).to_pylist(), numbers.filter(long).to_pylist(), strict=True)
    return all(Decimal(text) == Decimal(repr(number)) for text, number in pairs)
