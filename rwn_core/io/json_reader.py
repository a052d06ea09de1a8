"""JSON in: flat records in a list, or one a line; each name of them is a column."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.excel_reader import Cells
from rwn_core.io.limits import check_size, chosen_columns, damaged
from rwn_core.io.text_types.convert import table_of_columns

Record = dict[str, Any]
_FLAT = "save it as a list of flat records, one for each person"


def read_json(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a list of records, or lines of one record each."""
    layout = layout or FileLayout()
    records = _records(file, content)
    names = list(dict.fromkeys(chain.from_iterable(records)))
    chosen, wide = chosen_columns(file, names, schema, layout)
    check_size(file, len(records), len(chosen))
    series: dict[str, pd.Series[Any]] = {}
    as_texts: dict[str, str] = {}
    notices = list(wide)
    nested = []
    for name in (names[place] for place in chosen):
        values = [record.get(name) for record in records]
        if any(isinstance(value, list | dict) for value in values):
            nested.append(name)
            series[name] = pd.Series(np.full(len(records), np.nan))
            continue
        column = _Values(name, [_cell(value, layout) for value in values], 1, layout)
        variable = None if schema is None else schema.by_name.get(name)
        try:
            series[name], said = column.typed(variable)
        except InputError as refusal:
            as_texts[name] = str(refusal)
            series[name] = column.texts()
            said = []
        notices += said
    if nested:
        notices.append(f"Lists and records within a record are not read: {', '.join(nested)}.")
    return table_of_columns(file, series, schema, notices, as_texts)


class _Values(Cells):
    """One name of the records: JSON has no dates, so that texts of days are dates."""

    days_are_texts = True


def _cell(value: object, layout: FileLayout) -> Any:
    """Return a value as a cell has it: nothing for a missing one."""
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, str) and value.strip() in layout.missing:
        return None
    return value


def _records(file: str, content: bytes) -> list[Record]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    try:
        found = _parsed(text)
    except (ValueError, RecursionError):
        raise damaged(file) from None
    if not all(isinstance(record, dict) for record in found):
        raise InputError(f"{file} has something else than records in its list; {_FLAT}.")
    return found


def _parsed(text: str) -> list[Any]:
    """Return the list of a text, its one record, or the records of its lines."""
    try:
        parsed = json.loads(text, object_pairs_hook=_record)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        return [json.loads(line, object_pairs_hook=_record) for line in lines]
    if isinstance(parsed, list):
        return parsed
    if parsed and all(isinstance(column, dict) for column in parsed.values()):
        return _records_of_columns(parsed)
    return [parsed]


def _records_of_columns(columns: dict[str, Record]) -> list[Record]:
    """Return the records of columns, each with its values by the numbers of the records."""
    numbers = dict.fromkeys(chain.from_iterable(columns.values()))
    return [{name: column.get(number) for name, column in columns.items()} for number in numbers]


def _record(pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in a record")
    return found
