"""Files for other programs: what they hold of each type, and that they come back as they were."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from rwn_core.io.parse import parse
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
