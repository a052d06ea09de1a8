"""Files of R in and out: one data frame, with factors, dates, labels and codes; no code is run."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rdata.conversion import SimpleConverter, convert_python_to_r_data
from rdata.missing import R_INT_NA
from rdata.parser import DEFAULT_ALTREP_MAP, RData, RObject, RObjectInfo, RObjectType
from rdata.unparser import unparse_data

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Code, Variable
from rwn_core.errors import InputError
from rwn_core.io.limits import (
    MOST_CELLS,
    check_size,
    chosen_columns,
    damaged,
    refuse_large_wholes,
)
from rwn_core.io.r_stream import parse_r
from rwn_core.io.row_names import named
from rwn_core.io.value_labels import LabelledColumn, coded, labelled_table, plain_code

if TYPE_CHECKING:
    from rdata.conversion.to_r import Converter

_VECTORS = (RObjectType.LGL, RObjectType.INT, RObjectType.REAL, RObjectType.STR)
_USED = {
    "names",
    "row.names",
    "class",
    "dim",
    "levels",
    "tzone",
    "units",
    "label",
    "na_values",
    "na_range",
}
_LISTS = (RObjectType.LIST, RObjectType.VEC)
_LARGEST_INTEGER = 2**31 - 1
_DAY = 86_400
# parts of a moment of class POSIXlt, and what pandas calls them
_PARTS = {
    "sec": "second",
    "min": "minute",
    "hour": "hour",
    "mday": "day",
    "mon": "month",
    "year": "year",
}
_FIRST_YEAR = 1900  # from which its years are counted
_LOW = np.uint64(0xFFFFFFFF)
_MISSING = np.uint64(1954)  # the low bits of a number that is NA


def read_r(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a file of R."""
    try:
        columns, left_out, notices = _first_frame(file, content)
    except InputError:
        raise
    # a broken file breaks the library in many ways; none of its words is shown
    except Exception:
        raise damaged(file) from None
    if len({len(column.values) for column in columns}) > 1:
        raise damaged(file)
    chosen, wide = chosen_columns(file, [column.name for column in columns], schema, layout)
    columns = [columns[place] for place in chosen]
    check_size(file, len(columns[0].values) if columns else 0, len(columns))
    left_out = {c.name: left_out[c.name] for c in columns if c.name in left_out}
    return labelled_table(file, columns, schema, [*notices, *wide], left_out)


def _first_frame(
    file: str, content: bytes
) -> tuple[list[LabelledColumn], dict[str, str], list[str]]:
    """Return the columns of the first data frame of a file, why some are left out, and notices."""
    parsed = parse_r(file, content, _BOUNDED)
    names = _Names(parsed)
    frames = list(_frames(parsed.object, names))
    if not frames:
        raise InputError(f"{file} holds no data frame; save one with saveRDS.")
    # the first data frame is the table; what else the file holds is said
    (name, frame), *rest = frames
    notices = []
    if rest:
        others = ", ".join(other for other, _ in rest)
        notices = [f"The file holds {len(frames)} data frames: {name} is read, not {others}."]
    attributes = names.attributes(frame)
    heads = [str(head) for head in attributes.get("names", ())]
    pairs = list(zip(heads, frame.value, strict=True))
    # a column that cannot be read is left out with its reason, and stands empty
    left_out = dict[str, str]()
    height = 0
    for head, each in pairs:
        fault = _fault(each, names)
        if fault is None:
            height = max(height, _height(each, names))
        else:
            left_out[head] = fault
        notices += _units(head, names.attributes(each))
    nothing = pd.Series(np.full(height, np.nan))
    columns = []
    for head, each in pairs:
        if head in left_out:
            columns.append(LabelledColumn(name=head, values=nothing))
        else:
            columns.append(_column(head, each, names))
    return [*_row_names(attributes.get("row.names"), columns), *columns], left_out, notices


def _units(head: str, attributes: Mapping[str, Any]) -> list[str]:
    """Say of which unit the durations of a column are; nothing of others."""
    if "difftime" not in attributes.get("class", ()):
        return []
    unit = str((attributes.get("units") or ["an unknown unit"])[0])
    return [f"{head} has durations: they stay numbers of {unit}."]


_Constructor = Callable[[RObject], tuple[RObjectInfo, Any]]


def _bounded(constructor: _Constructor) -> _Constructor:
    """A constructor of a short form that refuses to write out more than a table may hold."""

    def checked(state: RObject) -> tuple[RObjectInfo, Any]:
        if float(state.value[0]) > MOST_CELLS:
            raise ValueError("too long")
        made: tuple[RObjectInfo, Any] = constructor(state)
        return made

    return checked


_BOUNDED = {
    name: _bounded(make) if name.startswith(b"compact") else make
    for name, make in DEFAULT_ALTREP_MAP.items()
}


class _Names:
    """The attributes of R objects as Python has them."""

    def __init__(self, parsed: RData) -> None:
        self._converter = SimpleConverter(default_encoding=parsed.extra.encoding or "utf-8")

    def attributes(self, r_object: RObject) -> Mapping[str, Any]:
        """The attributes that are used, by their names; the others are not looked at."""
        found: dict[str, Any] = {}
        part = r_object.attributes
        while part is not None and part.info.type is RObjectType.LIST:
            value, following = part.value
            tag: Any = part.tag
            name = str(self.bare(tag.referenced_object or tag))
            if name == "labels":  # the codes of a labelled vector by their labels
                codes = self.bare(value)
                if isinstance(codes, np.ma.MaskedArray):
                    codes = np.ma.filled(codes.astype(np.float64), np.nan)
                codes = with_letters(codes)
                # of texts, the library keeps no names
                labels = [str(each) for each in self.attributes(value).get("names", ())]
                plain = [code if pd.isna(code) else plain_code(code) for code in codes.tolist()]
                pairs = zip(plain, labels, strict=bool(labels))
                found[name] = {code: text for code, text in pairs if not pd.isna(code)}
            elif name in _USED:
                found[name] = self._converter.convert(value)
            part = following
        return found

    def bare(self, r_object: RObject) -> Any:
        """The values without any attribute."""
        info = replace(r_object.info, attributes=False, object=False)
        return self._converter.convert(replace(r_object, info=info, attributes=None))


def _row_names(names: object, columns: Sequence[LabelledColumn]) -> list[LabelledColumn]:
    """Return the row names as a column, but for those that R gives where there are none."""
    if names is None or not _is_texts(names):
        return []
    (name, *_) = named(["", *(column.name for column in columns)])
    texts = pd.Series(pd.array([str(each) for each in np.asarray(names)], dtype="str"))
    return [LabelledColumn(name=name, values=texts)]


def _is_texts(values: object) -> bool:
    return np.asarray(values).dtype.kind in "OU"


def _frames(r_object: RObject, names: _Names, name: str = "the first") -> Iterator[tuple[str, Any]]:
    """The data frames of a file with their names, in order."""
    kind = r_object.info.type
    if kind is RObjectType.VEC and "data.frame" in names.attributes(r_object).get("class", ()):
        yield name, r_object
    # what `save` writes is a chain of named objects
    while r_object.info.type is RObjectType.LIST:
        value, following = r_object.value
        own = name if r_object.tag is None else str(names.bare(r_object.tag))
        yield from _frames(value, names, own)
        r_object = following


def _height(r_object: RObject, names: _Names) -> int:
    """Return the number of values of a column; of moments in parts, of each part."""
    if _is_in_parts(r_object, names):
        r_object = r_object.value[0]
    return len(names.bare(r_object))


def _is_in_parts(r_object: RObject, names: _Names) -> bool:
    """True if a column is a list of seconds, minutes, hours, days, months and years."""
    is_list = r_object.info.type is RObjectType.VEC
    return is_list and "POSIXlt" in names.attributes(r_object).get("class", ())


def _moments_of_parts(r_object: RObject, names: _Names) -> pd.Series[Any]:
    """Return the moments of a column of class POSIXlt, in its time zone if it has one."""
    attributes = names.attributes(r_object)
    parts = {}
    for part, values in zip(attributes["names"], r_object.value, strict=True):
        if part in _PARTS:
            numbers = np.ma.asarray(names.bare(values), dtype=np.float64)
            filled = np.ma.filled(numbers, np.nan)
            filled[np.isnan(filled)] = np.nan  # R's own has bits that warn
            parts[_PARTS[part]] = filled
    parts["year"] = parts["year"] + _FIRST_YEAR
    parts["month"] = parts["month"] + 1
    moments = pd.to_datetime(pd.DataFrame(parts), errors="coerce").astype("datetime64[us]")
    zone = str([*attributes.get("tzone", ()), ""][0])  # then those of winter and summer
    return moments.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT") if zone else moments


def _column(name: str, r_object: RObject, names: _Names) -> LabelledColumn:
    if _is_in_parts(r_object, names):
        return LabelledColumn(name=name, values=_moments_of_parts(r_object, names))
    attributes = names.attributes(r_object)
    classes = [str(each) for each in attributes.get("class", ())]
    values = _values(names.bare(r_object), classes, attributes)
    label = attributes.get("label")
    codes: list[Code | tuple[float, float]] = [
        plain_code(code) for code in np.asarray(attributes.get("na_values", ())).tolist()
    ]
    ends = [float(end) for end in np.asarray(attributes.get("na_range", ())).tolist()]
    if len(ends) == 2:
        codes.append((ends[0], ends[1]))
    letters = values.dtype == object
    if letters:  # numbers among letters for missing
        codes += sorted({value for value in values if isinstance(value, str)})
    return LabelledColumn(
        name=name,
        values=values,
        label=None if label is None or not _is_texts(label) else str(label[0]),
        value_labels=attributes.get("labels"),
        missing_codes=tuple(codes),
        narrow=letters,
    )


def _fault(r_object: RObject, names: _Names) -> str | None:
    if _is_in_parts(r_object, names):
        return None
    if r_object.info.type in _LISTS or "dim" in names.attributes(r_object):
        return "lists or a matrix"
    if r_object.info.type not in _VECTORS:
        return "bytes, complex numbers or objects"
    about = names.attributes(r_object)
    if "factor" in about.get("class", ()):
        codes = np.ma.filled(np.ma.asarray(names.bare(r_object)), 1)
        if ((codes < 1) | (codes > len(about["levels"]))).any():
            return "a factor with codes beyond its levels"
    return None


def _values(values: Any, classes: list[str], attributes: Mapping[str, Any]) -> pd.Series[Any]:
    # types that R makes of numbers: factors, dates, moments, integers of 64 bits
    if "factor" in classes:
        levels = [None if pd.isna(level) else str(level) for level in attributes["levels"]]
        codes = np.ma.filled(np.ma.asarray(values), 0).astype(np.int64) - 1
        if None in levels:  # R may have a level for missing: it is missing all the same
            gone = levels.index(None)
            levels.pop(gone)
            codes = np.where(codes == gone, -1, codes - (codes > gone))
        category = pd.Categorical.from_codes(codes, pd.Index(levels), ordered="ordered" in classes)
        return pd.Series(category.remove_unused_categories())
    if "Date" in classes:
        days = pd.Series(np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan))
        return _since_1970((days // 1) * 86_400, "s")
    if "POSIXct" in classes:
        zone = str((attributes.get("tzone") or [""])[0])
        moments = _since_1970(pd.Series(np.asarray(values, dtype=np.float64)), "us")
        return moments.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else moments
    if "integer64" in classes:
        integers = np.asarray(values).view(np.int64)
        gone = integers == np.iinfo(np.int64).min
        return pd.Series(pd.arrays.IntegerArray(np.where(gone, 0, integers), gone))
    # plain values, with gaps or without
    plain = np.asarray(values)
    is_gone = np.ma.getmaskarray(values)
    if plain.dtype.kind in "OU":
        return pd.Series(pd.array(list(plain), dtype="str"))
    if plain.dtype.kind == "i":
        plain = plain.astype(np.int64)
    if not isinstance(values, np.ma.MaskedArray) or not is_gone.any():
        return pd.Series(with_letters(plain))
    made = pd.arrays.BooleanArray if plain.dtype.kind == "b" else pd.arrays.IntegerArray
    return pd.Series(made(np.where(is_gone, plain.dtype.type(0), plain), is_gone))


def with_letters(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with a letter for each missing one that the package haven gave a letter."""
    if values.dtype.kind != "f":
        return values
    numbers = values.astype(np.float64)
    gone = np.isnan(numbers)
    bits = numbers.view(np.uint64)
    tagged = gone & ((bits & _LOW) == _MISSING)
    tags = np.where(tagged, (bits >> np.uint64(32)) & np.uint64(0xFF), 0)
    lettered = (tags >= ord("a")) & (tags <= ord("z"))
    numbers[gone] = np.nan
    if not lettered.any():
        return numbers
    found = numbers.astype(object)
    found[lettered] = [chr(int(tag)) for tag in tags[lettered]]
    return found


def _since_1970(seconds: pd.Series[Any], unit: str) -> pd.Series[Any]:
    micro = (seconds * 1e6).round()
    micro = micro.where(micro.abs() < 2**63).astype("Int64")
    moments: Any = micro.to_numpy("M8[us]", na_value=np.datetime64("NaT"))
    return pd.Series(moments.astype(f"M8[{unit}]"))


@dataclass(frozen=True, slots=True)
class _Vector:
    """An R vector: values and attributes."""

    values: Any
    attributes: dict[str, Any]


def r_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write what `saveRDS` would write of a data frame."""
    variables = {} if schema is None else {each.name: each for each in schema.variables}
    columns = []
    for name in frame.columns:
        variable = variables.get(name)
        values, attributes = _values_out(frame[name], variable)
        if variable is not None and variable.label:
            attributes = {"label": _texts(variable.label), **attributes}
        columns.append(_Vector(values, attributes))
    about = {"names": _texts(*frame.columns), "class": _texts("data.frame")}
    about["row.names"] = np.array([R_INT_NA, -len(frame)], dtype=np.int32)
    data = convert_python_to_r_data(_Vector(columns, about), constructor_dict={_Vector: _converted})
    return gzip.compress(unparse_data(data), mtime=0)


def _converted(vector: _Vector, converter: Converter) -> RObject:
    """A vector as the library has it; the attributes come last, as they stand in the file."""
    made: RObject = converter.convert_to_r_object(vector.values)
    if not vector.attributes:
        return made
    attributes = converter.convert_to_r_attributes(vector.attributes)
    info = replace(made.info, object="class" in vector.attributes, attributes=True)
    return replace(made, info=info, attributes=attributes)


def _values_out(column: pd.Series[Any], variable: Variable | None) -> tuple[Any, dict[str, Any]]:
    """Return the values of a column as R has them, and their attributes."""
    if variable is not None and (variable.value_labels or variable.missing_codes):
        return _labelled_out(column, variable)
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        numbers = used.cat.codes.to_numpy().astype(np.int32)
        classes = _texts("ordered", "factor") if used.cat.ordered else _texts("factor")
        return np.where(numbers < 0, R_INT_NA, numbers + 1).astype(np.int32), {
            "levels": _texts(*map(str, used.cat.categories)),
            "class": classes,
        }
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _moments_out(column)
    return _plain_out(column), {}


def _labelled_out(column: pd.Series[Any], variable: Variable) -> tuple[Any, dict[str, Any]]:
    """Return a vector of codes with labels, as the package haven reads it from SPSS and Stata."""
    labels: dict[Any, str] = dict(variable.value_labels)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column, labels = coded(column, variable)
    values: Any = _plain_out(column)
    text = values.dtype == object
    if not text:
        # R demands codes of the same type as the values
        values = np.where(values == R_INT_NA, np.nan, values.astype(np.float64))
    attributes = _missing_out(variable, text=text)
    spss = ("haven_labelled_spss",) if attributes else ()
    chosen = {code: label for code, label in labels.items() if isinstance(code, str) == text}
    if chosen:
        codes = _Vector(_codes_out(list(chosen), text=text), {"names": _texts(*chosen.values())})
        attributes = {"labels": codes, **attributes}
    classes = _texts(*spss, "haven_labelled", "vctrs_vctr", "character" if text else "double")
    return values, {**attributes, "class": classes}


def _missing_out(variable: Variable, *, text: bool) -> dict[str, Any]:
    """Return the attributes by which haven keeps the codes for missing of SPSS."""
    singles = [code for code in variable.missing_codes if not isinstance(code, tuple)]
    singles = [code for code in singles if isinstance(code, str) == text]
    ranges = [code for code in variable.missing_codes if isinstance(code, tuple)]
    attributes: dict[str, Any] = {}
    if singles:
        attributes["na_values"] = _codes_out(singles, text=text)
    if ranges and not text:
        attributes["na_range"] = np.array(ranges[0], dtype=np.float64)
    return attributes


def _codes_out(codes: list[Any], *, text: bool) -> Any:
    return np.array(codes, dtype=object if text else np.float64)


def _moments_out(column: pd.Series[Any]) -> tuple[Any, dict[str, Any]]:
    """Return dates in days, and moments in seconds with their time zone."""
    zone = getattr(column.dt, "tz", None)
    moments = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
    seconds = moments.astype("datetime64[us]").astype("int64").to_numpy() / 1e6
    seconds[column.isna().to_numpy()] = np.nan
    if zone is None and column.dt.unit == "s" and not np.nan_to_num(seconds % _DAY).any():
        return seconds / _DAY, {"class": _texts("Date")}
    zones = _texts("UTC" if zone is None else str(zone))
    return seconds, {"class": _texts("POSIXct", "POSIXt"), "tzone": zones}


def _texts(*texts: str) -> Any:
    return np.array(texts, dtype=object)


def _plain_out(column: pd.Series[Any]) -> Any:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype):
        if not column.isna().any():
            return column.to_numpy(dtype=bool)
        return np.ma.array(column.fillna(False).to_numpy(dtype=bool), mask=column.isna().to_numpy())
    if pd.api.types.is_integer_dtype(dtype):
        # integers of R where they fit, else its numbers, which are floating
        refuse_large_wholes(column, "R")
        missing = column.isna().to_numpy()
        values = column.fillna(0).to_numpy()
        if (np.abs(values.astype(np.int64)) > _LARGEST_INTEGER).any():
            return np.where(missing, np.nan, values.astype(np.float64))
        return np.where(missing, R_INT_NA, values.astype(np.int32)).astype(np.int32)
    if pd.api.types.is_numeric_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
