"""Codes for missing, identifiers, formulas and look-alike levels are named, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.io.demo import DEMOS, load_demo


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
    "alike": (["Male", "male", "female", "male "], "2 levels that differ .* case or blanks"),
}


@pytest.mark.parametrize("name", CASES)
def test_named(name: str) -> None:
    values, words = CASES[name]
    assert pd.Series([notices(x=values)]).str.contains(words).all(), notices(x=values)


def test_row_names_of_pandas_are_named() -> None:
    assert "row names of a table" in notices(__index_level_0__=[1, 2, 4], x=[1.5, 2.5, 3])


def test_ordinary_values_are_not_named() -> None:
    assert notices(age=[9, 34, 99, 98, 80], delta=[-9, 3, -4, 8, 0], t=list("abcba")) == ""
    assert notices(t=["-2", "+4", "x", "y"]) == ""
    for name in DEMOS:
        said = " ".join(load_demo(name).notices)
        assert "missing_codes" not in said
        assert "formulas" not in said
