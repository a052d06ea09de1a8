"""A text as its layout says: decoded, without the lines around the table, with decimal points.

A text table out has one header line, line feeds, and quotes only where they are needed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.data.file_layout import FileLayout, filled_in
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.text_types.column import Form, are_days, fitting, text_forms, without_blanks
from rwn_core.io.text_types.convert import USUAL, number_text

_COMMA = r"[+-]?\d+,\d+([eE][+-]?\d+)?"
_POINT = r"[+-]?[\d.]*\.[\d.]*\d(,\d+)?([eE][+-]?\d+)?"
_BLANKS = "\u0020\u00a0\u2007\u2009\u202f"
_MARKS = {".": f",'’˙·{_BLANKS}", ",": f".'’˙·{_BLANKS}"}  # between groups, by the decimal mark
_PLAIN = {".": r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", ",": r"[+-]?\d+(,\d*)?([eE][+-]?\d+)?"}


def _grouped(mark: str) -> str:
    """Return the pattern of numbers in groups, in brackets, or with a D, of a decimal mark."""
    digits = rf"\d{{1,3}}([{_MARKS[mark]}]\d{{3}})+([{mark}]\d+)?"
    power = rf"(\d+[{mark}]\d*[dD][+-]?\d{{1,3}}|\d+[dD][+-]\d{{1,3}})"
    return rf"[+-]?{digits}|\(\s?({digits}|\d+([{mark}]\d+)?)\s?\)|[+-]?{power}"


_GROUPED = {mark: _grouped(mark) for mark in _MARKS}
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def table_lines(file: str, text: bytes, layout: FileLayout) -> bytes:
    """The lines of the table: those above are empty of content, those below are gone."""
    start = 0
    for found in islice(_LINE.finditer(text), layout.above):
        start = found.end()
    end = len(text.rstrip(b"\r\n")) if layout.below else len(text)
    for _ in range(layout.below):
        end = max(text.rfind(b"\n", 0, end), text.rfind(b"\r", 0, end), start)
        while end > start and text[end - 1 : end] in (b"\r", b"\n"):
            end -= 1
    if start >= end:
        raise InputError(f"{file} has no line between those above and below; leave out fewer.")
    return text[start:end]


def names_of_schema(invented: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """The names of the columns of a table without a header line: its schema's, in their order."""
    # A schema that names some of the invented ones describes these.
    if not set(invented).isdisjoint(schema.names):
        return tuple(invented)
    if len(schema.names) != len(invented):
        raise SchemaError(
            f"The schema has {len(schema.names):,} variables, and the table without a line of "
            f"names has {len(invented):,} columns; give one variable for each column."
        )
    return schema.names


def invented_notice(names: Sequence[str]) -> str:
    """Say that the names of a table were made up."""
    which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    return (
        f"The file has no line with names, so they are invented: {which}. A schema with a variable "
        "for each column, in their order, gives other names."
    )


def with_points(
    name: str, texts: pa.DictionaryArray, as_texts: dict[str, str]
) -> pa.DictionaryArray:
    """Replace decimal commas of a column by points; other columns are unchanged."""
    different = without_blanks(texts.dictionary)
    forms = text_forms(different)
    pointed = fitting(different, _POINT) & (forms != Form.OTHER_DATE)
    commas = fitting(different, _COMMA)
    if ((forms == Form.WORD) & ~pointed & ~commas).any() or not len(different):
        return texts
    if pointed.any():
        as_texts[name] = (
            "numbers with a point, though the decimal mark is a comma; choose the other mark, or "
            "take out points between thousands"
        )
        return texts
    replaced = pc.if_else(
        pa.array(commas), pc.replace_substring(different, ",", "."), texts.dictionary
    )
    return pa.DictionaryArray.from_arrays(texts.indices, replaced)


def without_groups(texts: pa.DictionaryArray, decimal: str) -> pa.DictionaryArray:
    """Write numbers with groups of digits, brackets or a D plainly; other columns stay unchanged.

    The decimal mark is kept.
    """
    different = without_blanks(texts.dictionary)
    if not holds_groups(different, decimal):
        return texts
    plain = [ungrouped(text, decimal) for text in different.to_pylist()]
    return pa.DictionaryArray.from_arrays(texts.indices, pa.array(plain, pa.large_string()))


def holds_groups(different: pa.Array, decimal: str) -> bool:
    """True if different texts are numbers, and some of them are written in groups or brackets."""
    plain = fitting(different, _PLAIN[decimal])
    grouped = fitting(different, _GROUPED[decimal]) & ~plain
    nothing = np.isin(text_forms(different), [Form.BLANK, Form.MISSING])
    return bool(grouped.any() and (plain | grouped | nothing).all())


def ungrouped(text: str, decimal: str) -> str:
    """Return a number without its groups.

    >>> ungrouped("(1,234.5)", "."), ungrouped("1.234.567,8", ","), ungrouped("1.5D+03", ".")
    ('-1234.5', '1234567,8', '1.5e+03')
    """
    if not re.fullmatch(_GROUPED[decimal], text):
        return text
    digits = re.sub(f"[{_MARKS[decimal]}]", "", text)
    if digits.startswith("("):
        digits = f"-{digits[1:-1].strip()}"
    return re.sub("[dD]", "e", digits)


def without_words(texts: pa.DictionaryArray, words: Sequence[str]) -> pa.DictionaryArray:
    """Empty the fields that hold one of some texts, which count as missing values."""
    if not words:
        return texts
    different = texts.dictionary
    given = pc.is_in(without_blanks(different), pa.array(words, pa.large_string()))
    emptied = pc.if_else(given, pa.scalar("", pa.large_string()), different)
    return pa.DictionaryArray.from_arrays(texts.indices, emptied)


def with_commas(texts: Sequence[str]) -> list[str]:
    """The different texts of a column, such that `with_points` gives them back.

    >>> with_commas(["2.5", "1", "01.02.2020"]), with_commas(["2.5", "unknown"])
    (['2,5', '1', '01.02.2020'], ['2.5', 'unknown'])
    """
    different = without_blanks(pa.array(texts, pa.large_string()))
    if (text_forms(different) == Form.WORD).any():
        return list(texts)
    pairs = zip(texts, fitting(different, _COMMA.replace(",", r"\.")), strict=True)
    return [text.replace(".", ",", 1) if point else text for text, point in pairs]


def text_table(frame: pd.DataFrame, separator: str, schema: Schema | None = None) -> bytes:
    """Write a table as UTF-8 text."""
    variables = {} if schema is None else schema.by_name
    comma = schema is not None and schema.file is not None and schema.file.decimal == ","
    texts = {name: _as_texts(frame[name], variables.get(name), comma) for name in frame.columns}
    frame = frame.assign(**{name: text for name, text in texts.items() if text is not None})
    how: dict[str, Any] = {"index": False, "lineterminator": "\n", "sep": separator}
    written: str = frame.to_csv(**how)
    if "\r" in written:  # it ends a line for a reader, unless its text is quoted
        written = frame.to_csv(**how, quoting=csv.QUOTE_NONNUMERIC)
    return written.encode("utf-8")


def _as_texts(
    column: pd.Series[Any], variable: Variable | None, comma: bool
) -> pd.Series[Any] | None:
    """A column as texts, where its variable or the decimal mark says how it is written."""
    kinds = pd.api.types
    if kinds.is_datetime64_any_dtype(column.dtype):
        notation = None if variable is None else variable.notation
        if notation is None or not are_days(column):
            return None
        texts = {}
        for each in column.dropna().unique():
            year, month, day = f"{each.year:04d}", str(each.month), str(each.day)
            parts = {"YYYY": year, "MM": month.zfill(2), "DD": day.zfill(2), "M": month, "D": day}
            texts[each] = filled_in(notation, parts)
    else:
        floating = kinds.is_float_dtype(column.dtype)
        decimals = USUAL if variable is None or variable.decimals is None else variable.decimals
        if kinds.is_integer_dtype(column.dtype) or not (comma or (floating and decimals != USUAL)):
            return None
        known = column.dropna().unique()
        written = [number_text(value, decimals) if floating else str(value) for value in known]
        texts = dict(zip(known, with_commas(written) if comma else written, strict=True))
    return column.map(texts).astype(object).where(column.notna(), None)
