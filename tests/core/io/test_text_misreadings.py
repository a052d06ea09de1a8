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
from rwn_core.io.read import read


def table(*lines: str, name: str = "t.csv") -> Microdata:
    return parse(name, "\n".join(lines).encode())


REFUSED = {
    "texts_headless": (("M,Ulm", "F,Bonn", "M,Ulm"), "line 1, column 1, 2: .* a value"),
    "codes_headless": (("AB-123,x", "CD-456,y", "EF-789,y"), "line 1, column 1: .* a value"),
    "dates_headless": (("2020-01-01,a", "2020-01-02,b", "2020-01-03,b"), "the name is a date"),
    "other_dates_headless": (("1.2.2020,a", "2.2.2020,b", "3.2.2020,b"), "the name is a date"),
    "large_beside_decimal": (("x", "9007199254740993", "1.5"), "column x, line 2: .* digits"),
    "large_money": (("x,y", "12345678901234567.89,1", "1.5,2"), "column x, line 2: .* digits"),
    "control_character": (("x,y", "\x1d5,1", "35,2", "36,3"), "column x, line 2"),
    "vanishing": (("x,y", "1e-400,1", "1.5,2"), "column x, line 2: .* too close to 0"),
    "semicolons_one_comma": (("a;b,c", "1;2,3", "4;5,6", "7;8,9"), "semicolons"),
    "semicolons_comma_in_text": (("a;b;c", "1;2;x", "4;5;y, z"), "semicolons"),
    "semicolons_decimals": (("a;b;c", "1,5;2,5;3", "4,5;5,5;6"), "semicolons"),
    "colons": (("a:b", "1:2", "3:4"), "colons"),
    "carets": (("a^b", "1^2", "3^4"), "carets"),
    "blanks": (("a b", "1 2", "3 4"), "blanks"),
    "fixed": (("name     age", "Al Bo     34", "Cy        35"), "fixed width"),
    "tabs": (("a\tb", "1\t2", "3\t4"), "tabs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    lines, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as caught:
        table(*lines)
    for value in ("Ulm", "AB-123", "9007199254740993", "2020"):
        assert value not in str(caught.value)


def test_commas_in_a_tsv_file_are_refused() -> None:
    with pytest.raises(InputError, match="commas; say which, or save the table with tabs"):
        table("a,b", "1,2", "3,4", name="t.tsv")


def test_a_header_above_numbers_or_of_a_schema_is_believed() -> None:
    assert table("x,n", "x,1", "y,2").names == ("x", "n")
    schema = Schema(variables=tuple(Variable(name=n, kind=Kind.CATEGORICAL) for n in ("M", "Ulm")))
    assert parse("t.csv", b"M,Ulm\nF,Bonn\nM,Ulm\n", schema).n == 2
    (notice,) = table("name,town", "Al,Ulm", "Bo,Bonn").notices
    assert "the first line is read as their names" in notice


def test_lost_digits_and_merged_codes_are_said() -> None:
    notices = table("x,y", "0.12345678901234567890,1", "1.10,2", "1.1,3").notices
    assert any("x has 1 number of more digits" in notice for notice in notices)
    assert any("x writes 1 number in several ways" in notice for notice in notices)
    assert table("x,y", "0.1,1", "1.25,2", "12345678901.23,3").notices == ()


def test_telephone_numbers_keep_their_plus() -> None:
    data = table("x,y", "+4915112345678,1", "+4915112345679,2")
    assert data.frame["x"].tolist() == ["+4915112345678", "+4915112345679"]
    assert any("a plus or zeros before them" in notice for notice in data.notices)


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


@pytest.mark.parametrize(
    "texts",
    [
        ["2.50", "10.00", "-0.25", "3.75"],
        ["2", "2.5", "10", "-3.125"],
        ["2.0", "2.5", "10.0", "1e-07"],
        ["1.000", "2.500", "12.345", "0.001"],
        ["7", "3", "12", "-1"],
        ["0.30000000000000004", "1.5", "100000000000000.5", "2.25"],
    ],
    ids=["two decimals", "mixed", "usual", "three", "whole", "long"],
)
@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_numbers_are_given_back_as_they_came(texts: list[str], name: str, tmp_path: Path) -> None:
    mark = "," if name == "t.csv" else "\t"
    text = f"x{mark}g\n" + "".join(f"{cell}{mark}a\n" for cell in texts)
    (tmp_path / name).write_text(text)
    data = read(tmp_path / name)
    assert data.notices == ("g is constant: it does not count in the distance.",)
    out = tmp_path / f"o{name}"
    rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).publish(out, order="original")
    assert out.read_text() == text


def test_numbers_that_come_back_otherwise_are_said() -> None:
    notices = table("x,y", "2.50,1", "+3.5,2", "4.25,3").notices
    assert any("x has 2 numbers that a release writes in another way" in n for n in notices)
    notices = table("x,y", "2.50,1", "3.5,2", "4.25,3").notices
    assert any("x has 1 number that a release writes in another way" in n for n in notices)


def test_a_text_is_a_code_for_missing_of_a_category_and_of_no_number() -> None:
    """What docs/how-to/open-a-file.md says."""
    codes, content = ("n/a",), b"x,y\nn/a,1\n2,2\n3,3\n2,4\n3,5\n"
    other = Variable(name="y", kind=Kind.COUNT)
    number = Variable(name="x", kind=Kind.COUNT, missing_codes=codes)
    with pytest.raises(InputError, match="leave the field empty where one is missing"):
        parse("t.csv", content, Schema(variables=(number, other)))
    category = Variable(name="x", kind=Kind.CATEGORICAL, missing_codes=codes)
    data = parse("t.csv", content, Schema(variables=(category, other)))
    assert data.frame["x"].isna().tolist() == [True, False, False, False, False]


def test_a_line_that_names_the_separator_is_no_header() -> None:
    """Finding T9."""
    content = b"sep=;\na;b\n" + b"".join(b"%d;%d\n" % (i, i % 5) for i in range(20))
    for text in (content, content.replace(b";", b",")):
        with pytest.raises(InputError, match=r"line 1: the line names the separator and no column"):
            parse("t.csv", text)
    assert parse("t.csv", content, None, FileLayout(separator=";", above=1)).names == ("a", "b")


def test_tildes_between_fields_are_named() -> None:
    content = b"a~b\n" + b"".join(b"%d~%d\n" % (i, i % 5) for i in range(20))
    with pytest.raises(InputError, match="separated by tildes; say which"):
        parse("t.csv", content)
    assert parse("t.csv", content, None, FileLayout(separator="~")).names == ("a", "b")


def test_utf_32_is_called_so_and_read_when_it_is_said() -> None:
    content = "a,b\n1,2\n3,4\n".encode("utf-32")
    with pytest.raises(InputError, match="is UTF-32 text; say its encoding"):
        parse("t.csv", content)
    assert parse("t.csv", content, None, FileLayout(encoding="utf-32")).n == 2
