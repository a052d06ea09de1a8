"""The dictionary and the first cells of SPSS files, as a second reader has them from the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from rwn_core import Microdata, Variable
from rwn_core.data.variable import level_names
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.read_spss import SpssBytes, SpssVariable

N = 5
FRAME = pd.DataFrame(
    {
        "age": [31.0, 45, np.nan, 60, 52],
        "yearly_income_of_the_household": [1.5, -9, 12345.678, -1e20, -3],
        "sex": [1.0, 2, 9, 1, np.nan],
        "town": ["Ulm", "Köln", "", "a town of twenty-eight bytes", "Bonn"],
    }
)
LABELS = {"age": "Age in years", "sex": "Sex", "town": "Where, in 2020"}
VALUES = {"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}}
MISSING = {"sex": [9], "yearly_income_of_the_household": [{"lo": -9, "hi": -1}]}


def written(path: Path, packed: bool) -> bytes:
    pyreadstat.write_sav(
        FRAME,
        str(path),
        column_labels=LABELS,
        variable_value_labels=VALUES,
        missing_ranges=MISSING,
        row_compress=packed,
    )
    return path.read_bytes()


def missing_in(variable: SpssVariable) -> tuple[Any, ...]:
    """Return the codes for missing as a schema has them."""
    return (variable.missing,) if variable.is_range else variable.missing


def is_missing(value: float | str | None, codes: tuple[Any, ...]) -> bool:
    if value is None or value in codes:
        return True
    return any(code[0] <= value <= code[1] for code in codes if isinstance(code, tuple))


def differing(data: Microdata, file: SpssBytes) -> list[str]:
    """Return the variables that differ from the dictionary, or in one of the first cells."""
    rows = file.records(N)
    wrong = []
    for place, (variable, stated) in enumerate(
        zip(data.schema.variables, file.variables, strict=True)
    ):
        codes = missing_in(stated)
        theirs = [None if is_missing(row[place], codes) else row[place] for row in rows]
        ours = cells(data.frame[variable.name], variable)
        same = variable.name == stated.name and (variable.label or "") == stated.label
        same = same and dict(variable.value_labels) == stated.value_labels
        if not (same and tuple(variable.missing_codes) == codes and ours == theirs):
            wrong.append(variable.name)
    return wrong


def cells(column: pd.Series[Any], variable: Variable) -> list[Any]:
    """Return our cells as codes, None where missing."""
    codes = {label: code for code, label in level_names(variable.value_labels).items()}
    known = column.astype(object).where(column.notna(), None)
    return [codes.get(value, value) for value in known.tolist()]


@pytest.mark.parametrize("packed", [False, True])
def test_a_second_reader_has_the_same_dictionary_and_cells(tmp_path: Path, packed: bool) -> None:
    content = written(tmp_path / "t.sav", packed)
    file = SpssBytes(content)
    assert file.packed is packed
    assert differing(parse("t.sav", content), file) == []
    # planted: another cell, label and code for missing, one at a time
    income = content.replace(np.float64(12345.678).tobytes(), np.float64(12345.679).tobytes())
    assert differing(parse("t.sav", content), SpssBytes(income)) == [FRAME.columns[1]]
    labels = content.replace(b"female", b"femele")
    assert differing(parse("t.sav", labels), SpssBytes(content)) == ["sex"]


def test_a_release_has_the_dictionary_of_its_original(tmp_path: Path) -> None:
    data = parse("t.sav", written(tmp_path / "t.sav", False))
    content = table_bytes(data.frame, "spss", data.schema)
    assert differing(data, SpssBytes(content)) == []
