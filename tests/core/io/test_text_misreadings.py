"""What was once read without a word as something else: refused, kept, or said."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.parse import parse
from rwn_core.io.reading import read
from tests.read_here import said_of


def table(*lines: str, name: str = "t.csv") -> Microdata:
    return parse(name, "\n".join(lines).encode())


@pytest.mark.usefixtures("read_here")
def test_a_time_zone_changes_no_day(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "when,x\n2020-01-01T00:00:00+09:00,1\n2020-06-01T05:00:00+09:00,2\n"
    )
    data = read(tmp_path / "t.csv")
    assert data.notices == ()
    out = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).publish(tmp_path / "o.csv", order="original")
    assert "2020-01-01 00:00:00+09:00" in out.read_text()
    pd.testing.assert_frame_equal(read(out).frame, data.frame)
    mixed = table("when,x", "2020-01-01T00:00+09:00,1", "2020-01-01T00:00+01:00,2")
    assert any("when has times of 2 time zones" in notice for notice in mixed.notices)


def test_a_schema_declares_codes_for_missing() -> None:
    schema = Schema.from_toml(
        '[[variable]]\nname = "x"\nkind = "count"\nmissing_codes = [-9, [97, 99]]\n'
        '[[variable]]\nname = "t"\nkind = "categorical"\nmissing_codes = ["n/a"]\n'
    )
    data = parse("t.csv", b"x,t\n1,a\n-9,b\n98,n/a\n7,b\n", schema)
    assert data.frame["x"].isna().tolist() == [False, True, True, False]
    assert data.frame["t"].isna().tolist() == [False, False, True, False]
    assert any("x has 2 values declared as missing (-9, 97 to 99)" in n for n in data.notices)


NUMBERS = """
two_decimals mixed  usual three  whole exact               group
2.50         2      2.0   1.000  7     0.30000000000000004 a
10.00        2.5    2.5   2.500  3     1.5                 a
-0.25        10     10.0  12.345 12    100000000000000.5   a
3.75         -3.125 1e-07 0.001  -1    2.25                a
"""


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(("name", "mark"), [("t.csv", ","), ("t.tsv", "\t")])
def test_numbers_are_given_back_as_they_came(name: str, mark: str, tmp_path: Path) -> None:
    text = "".join(mark.join(line.split()) + "\n" for line in NUMBERS.strip().splitlines())
    (tmp_path / name).write_text(text)
    data = read(tmp_path / name)
    assert data.notices == ("group is constant: it does not count in the distance.",)
    out = tmp_path / f"o{name}"
    rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).publish(out, order="original")
    assert out.read_text() == text


def test_a_text_is_a_code_for_missing_of_a_category_and_of_no_number() -> None:
    """What docs/how-to/keep-labels-and-codes.md says."""
    codes, content = ("n/a",), b"x,y\nn/a,1\n2,2\n3,3\n2,4\n3,5\n"
    other = Variable(name="y", kind=Kind.COUNT)
    number = Variable(name="x", kind=Kind.COUNT, missing_codes=codes)
    said = said_of("t.csv", content, Schema(variables=(number, other)))
    assert "Left out of every release: x" in said
    assert "leave the field empty where one is missing" in said
    category = Variable(name="x", kind=Kind.CATEGORICAL, missing_codes=codes)
    data = parse("t.csv", content, Schema(variables=(category, other)))
    assert data.frame["x"].isna().tolist() == [True, False, False, False, False]


def test_utf_32_is_called_so_and_read_when_it_is_said() -> None:
    content = "a,b\n1,2\n3,4\n".encode("utf-32")
    with pytest.raises(InputError, match="is UTF-32 text; say its encoding"):
        parse("t.csv", content)
    assert parse("t.csv", content, None, FileLayout(encoding="utf-32")).n == 2
