"""Codes for missing, identifiers, formulas and look-alike levels are named, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata


def notices(**columns: list[object]) -> str:
    return " ".join(Microdata.from_frame(pd.DataFrame(columns)).notices)


CASES = {
    "codes below 0": ([1000, -9, 1200, -9, -8], r"x has -9 \(2 times\), -8 \(1 times\): .*missing"),
    "nines above": ([34, 35, 999, 40, 999], r"x has 999 \(2 times\): if they mean missing"),
    "decimals": ([3.5, -9.0, 2.5, 99.0, 99.0], r"x has -9 \(1 times\), 99 \(2 times\)"),
    "numbers": (["078-05-1120", "078-05-1120", "219-09-9999", "111-22-3333"], "social security"),
    "mail": (["a@b.org", "c@d.de", "e@f.net", "a@b.org"], "e-mail addresses"),
    "account": (["DE89370400440532013000", "GB29NWBK60161331926819"], "account numbers"),
    "phone": (["+49 151 1234567", "+49 151 1234568"], "telephone numbers"),
    "formula": (["=1+A1", "Ulm", "Bonn", "@SUM(A1)"], "2 different texts .* formulas"),
    "one below 0": ([1000, -1, 1200, -1, 900], r"x has -1 \(2 times\): if they mean missing"),
    "equal digits": ([34, 35, 8888, 40, 8888, 6666, 6666], r"x has 6666 .*, 8888 \(2 times\)"),
    "five sevens": ([34, 35, 40, 77777, 77777], r"x has 77777 \(2 times\): if they mean missing"),
    "six eights": ([34, 35, 40, 888888, 888888], r"x has 888888 \(2 times\): if they mean"),
    "mojibake": (["MÃ¼ller", "ZÃ¼rich", "Ulm"], "2 different texts with letters of a wrong enc"),
    "no byte": (["M\ufffdller", "Ulm", "Bonn"], "1 different texts with letters of a wrong enc"),
    "minus sign": (["\u22125", "3", "\u221212", "\u22121"], "signs other than 0 to 9"),
    "arabic digits": (["\u0661\u0662", "\u0663", "\u0664"], "signs other than 0 to 9"),
    "full width": (["\uff11\uff12", "\uff13", "\uff14"], "signs other than 0 to 9"),
    "hexadecimal": (["0x1F", "0xFF", "0x00"], "signs other than 0 to 9"),
    "underscores": (["1_0", "2_000", "3_1"], "signs other than 0 to 9"),
    "composed": (["Z\u00fcrich", "Zu\u0308rich", "Ulm"], "1 levels that look like another"),
    "alike": (["Male", "male", "female", "male "], "2 levels that differ .* case or blanks"),
}


@pytest.mark.parametrize("name", CASES)
def test_named(name: str) -> None:
    values, words = CASES[name]
    assert pd.Series([notices(x=values)]).str.contains(words).all(), notices(x=values)


@pytest.mark.parametrize("day", ["9999-12-31", "1900-01-01"])
def test_days_for_missing_are_named_where_they_lie_far_off(day: str) -> None:
    """Finding T9."""
    days = [f"19{70 + i}-03-01" for i in range(9)]
    said = notices(born=pd.to_datetime([*days, day, day]).astype("datetime64[s]"))
    assert f"born has {day} (2 times): if they mean missing" in said
    near = [f"19{10 + i:02}-01-01" for i in range(9)]
    said = notices(born=pd.to_datetime([*near, "1900-01-01"]).astype("datetime64[s]"))
    assert "missing" not in said


def test_row_names_of_pandas_and_invisible_characters_are_named() -> None:
    assert "row names of a table" in notices(__index_level_0__=[1, 2, 4], x=[1.5, 2.5, 3])
    hidden = "The name of column 2 has invisible characters."
    assert notices(x=[1.5, 2.5, 3], **{"y\u200b": [2.5, 1, 4]}) == hidden


def test_ordinary_values_are_not_named() -> None:
    assert notices(age=[9, 34, 99, 98, 80], delta=[-9, 3, -4, 8, 0], t=list("abcba")) == ""
    assert notices(t=["-2", "+4", "x", "y"]) == ""
    assert (
        notices(t=["Z\u00fcrich", "\u00c5rhus", "S\u00e3o Paulo", "\u041a\u0438\u0435\u0432"]) == ""
    )
    assert notices(t=["01", "02", "1-2", "a_b", "\u2212"]) == ""
