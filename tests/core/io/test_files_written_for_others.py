"""Files for other programs: what they hold of each type, and that they come back as they were."""

from __future__ import annotations

import datetime
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.io.parse import parse
from rwn_core.io.readstat_writer import coded_table
from rwn_core.io.write import table_bytes

DAYS = pd.Series(["2020-02-29", None, "1950-01-01"]).astype("datetime64[s]")
FRAME = pd.DataFrame(
    {
        "truth": [True, False, True],
        "maybe": pd.array([True, None, False], "boolean"),
        "whole": [1, 2, 7],
        "gap": pd.array([1, None, 7], "Int64"),
        "wide": [1, 2**40, 7],
        "real": [0.1, np.nan, 2.5],
        "text": pd.array(["a", None, "b"], "str"),
        "day": DAYS,
        "noon": DAYS.astype("datetime64[us]") + pd.Timedelta(hours=12),
        "midnight": DAYS.astype("datetime64[us]"),
        "zone": DAYS.astype("datetime64[us]").dt.tz_localize("Asia/Tokyo"),
        "level": pd.Categorical(["x", None, "y"], ["unused", "x", "y"]),
        "rank": pd.Categorical(["lo", "hi", "lo"], ["lo", "hi"], ordered=True),
    }
)
WORDS = {
    "truth": ["true", "false", "true"],
    "maybe": ["true", None, "false"],
    "level": ["x", None, "y"],
    "rank": ["lo", "hi", "lo"],
}


@pytest.mark.parametrize(("form", "ending"), [("stata", ".dta"), ("spss", ".sav")])
def test_every_type_comes_back_from_codes(form: str, ending: str) -> None:
    content = table_bytes(FRAME, form)
    again = parse(f"t{ending}", content).frame
    assert list(again) == list(FRAME)
    for name, words in WORDS.items():
        levels = again[name].astype(object)
        assert levels.where(levels.notna(), None).tolist() == words
    for name in ("whole", "gap", "wide", "real", "text", "day", "noon", "midnight"):
        pd.testing.assert_series_equal(again[name], FRAME[name], check_dtype=False)
    assert str(again["day"].dtype) == "datetime64[s]"
    local = FRAME["zone"].dt.tz_localize(None)
    pd.testing.assert_series_equal(again["zone"], local, check_dtype=False)
    assert again["rank"].cat.ordered == (form == "spss")
    assert table_bytes(FRAME, form) == content


def test_a_table_of_codes_is_as_these_programs_hold_it() -> None:
    schema = Schema(
        variables=tuple(
            Variable(
                name=name,
                kind=Kind.CATEGORICAL,
                label="A truth" if name == "truth" else None,
                value_labels=((0, "no"), (1, "yes")) if name == "truth" else (),
            )
            for name in ("truth", "whole")
        )
    )
    made = coded_table(FRAME, schema)
    assert made.column_labels == {"truth": "A truth"}
    assert made.value_labels == {
        "truth": {0: "no", 1: "yes"},
        "maybe": {0: "false", 1: "true"},
        "level": {1: "x", 2: "y"},
        "rank": {1: "lo", 2: "hi"},
    }
    assert made.ordered == {"rank"}
    kinds = {name: str(made.frame[name].dtype) for name in ("whole", "gap", "wide", "rank")}
    assert kinds == {"whole": "int32", "gap": "float64", "wide": "float64", "rank": "int32"}
    assert made.frame["text"].tolist() == ["a", "", "b"]
    assert made.frame["day"].tolist() == [datetime.date(2020, 2, 29), None, DAYS.dt.date[2]]
    np.testing.assert_array_equal(made.frame["level"], [1.0, np.nan, 2.0])


def test_the_largest_short_numbers_take_four_bytes() -> None:
    short = 2**31 - 1000
    frame = pd.DataFrame({"in": [1, short - 1], "out": [1, short], "low": [1, -short]})
    made = coded_table(frame, None).frame
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64", "float64"]
    frame = pd.DataFrame({"in": pd.Categorical(["a", "b"]), "out": pd.Categorical(["a", "b"])})
    labels = {"in": ((short - 1, "a"), (1, "b")), "out": ((short, "a"), (1, "b"))}
    variables = [
        Variable(name=name, kind=Kind.CATEGORICAL, value_labels=pairs)
        for name, pairs in labels.items()
    ]
    made = coded_table(frame, Schema(variables=tuple(variables))).frame
    assert [str(dtype) for dtype in made.dtypes] == ["int32", "float64"]


def test_an_spss_file_says_which_levels_have_an_order(tmp_path: Path) -> None:
    (tmp_path / "t.sav").write_bytes(table_bytes(FRAME, "spss"))
    _, meta = pyreadstat.read_sav(tmp_path / "t.sav")
    names = ("truth", "level", "rank")
    assert [meta.variable_measure[name] for name in names] == ["nominal", "nominal", "ordinal"]
    assert meta.variable_value_labels["level"] == {1.0: "x", 2.0: "y"}


def test_a_file_does_not_say_when_it_was_made() -> None:
    frame = FRAME[["whole", "text", "real"]]
    with zipfile.ZipFile(io.BytesIO(table_bytes(frame, "excel"))) as book:
        made = book.read("docProps/core.xml")
        dates = {part.date_time for part in book.infolist()}
    assert made.count(b">2000-01-01T00:00:00Z<") == 2
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    assert table_bytes(frame, "r")[4:8] == b"\0\0\0\0"
    assert b"01 Jan 1960 00:00" in table_bytes(frame, "stata")
    assert table_bytes(frame, "spss")[92:109] == b"01 Jan 6000:00:00"


def test_an_address_in_a_cell_of_a_sheet_is_a_text_and_no_link() -> None:
    frame = pd.DataFrame({"place": ["https://example.org/a", "mailto:ada@example.org"] * 3})
    with zipfile.ZipFile(io.BytesIO(table_bytes(frame, "excel"))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert not [name for name, part in parts.items() if b"hyperlink" in part]
    assert any(b"https://example.org/a" in part for part in parts.values())
