"""What a text seems to be like, how far its reading is, and the sentences about its columns."""

from __future__ import annotations

import pytest

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
from rwn_core.io.guessed_layout import GuessedLayout, guess_text_layout
from rwn_core.io.parse import parse
from rwn_core.io.text_types.column import Form, text_form
from rwn_core.io.text_types.lay_out import table_lines


def layout_of(content: str | bytes, usual: str = ",") -> FileLayout:
    seen = guess_text_layout(content if isinstance(content, bytes) else content.encode(), usual)
    assert seen is not None
    assert GuessedLayout.from_dict(seen.plain()) == seen
    return seen.layout


def table(*lines: str, schema: Schema | None = None) -> Microdata:
    return parse("t.csv", "\n".join(lines).encode(), schema)


def test_the_encoding_is_seen_by_the_bytes() -> None:
    for sign, encoding in (
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        text = "a,b\nx,1\n".encode("utf-16-le" if sign == b"\xff\xfe" else "utf-16-be")
        assert layout_of(sign + text) == FileLayout(encoding=encoding)
    assert layout_of("é,b\nx,1\n") == FileLayout()
    assert layout_of("é,b\nx,1\n".encode("latin-1")) == FileLayout(encoding="cp1252")
    assert layout_of(b"\x81,b\nx,1\n") == FileLayout(encoding="latin-1")
    assert guess_text_layout(b"a\0b,c\n", ",") is None
    assert guess_text_layout(b" \n\n", ",") is None


def test_the_separator_is_the_mark_of_most_lines_and_of_more_fields() -> None:
    assert layout_of("a;b\n" * 6 + "note\n" * 4).separator == ";"
    assert layout_of("a;b\n" * 5 + "note\n" * 5).separator is None
    assert layout_of("a,b;c;d\n" * 4).separator == ";"
    assert layout_of("a,b;c;d\n" * 7 + "a,b\n" * 3).separator is None
    assert layout_of("a\tb\n1\t2\n", "\t").separator is None
    assert layout_of("a,b\n1,2\n", "\t").separator == ","
    assert layout_of("a,b;c\n" * 4).separator is None
    long = "x" * 140_000
    assert layout_of(f"a;b\n1;2\n{long}\n3;4\n").separator == ";"


def test_a_decimal_comma_separates_no_fields() -> None:
    lines = [f"{20 + i};{i}.{100 + i},50" for i in range(30)]
    text = "\n".join(["age;turnover", *lines])
    assert layout_of(text).separator == ";"
    assert layout_of("\n".join(lines)).separator == ";"
    assert layout_of("\n".join(f"{i},5;{i},25;{i},75" for i in range(9))).separator == ";"
    assert layout_of("\n".join(f"{i},a;b" for i in range(9))).separator is None  # a list of two


def test_a_layout_without_a_separator_divides_no_field_by_accident() -> None:
    text = "\n".join(["age;turnover", *(f"{20 + i};{i},50" for i in range(30))]).encode()
    with pytest.raises(InputError, match="seem to be separated by semicolons"):
        parse("t.csv", text, layout=FileLayout(header=False, above=1))
    named = parse("t.csv", text, layout=FileLayout(header=False, above=1, separator=","))
    assert named.frame["V1"].iloc[0] == "20;0"


def test_the_decimal_mark_is_that_of_more_numbers() -> None:
    assert layout_of("a;b\n1,5;x\n2,5;y\n").decimal == ","
    assert layout_of("a;b\n1,5;x\n2.5;y\n").decimal == "."
    assert layout_of("a;b\n1,5;2.5\n1,5;y\n").decimal == ","
    assert layout_of('a,b\n"1,5",x\n"2,5",y\n').decimal == "."
    assert layout_of("1,5;x\na;y\nb;z\n").decimal == "."


def test_a_first_line_with_a_number_or_a_date_is_no_header() -> None:
    assert layout_of("a,b\n1,2\n").header
    for value in ("1", "1e5", "00501", "2020-01-02", "1.2.2020"):
        assert not layout_of(f"x,{value}\ny,2\n").header
    assert not layout_of("1\n2\n3\n").header


def test_lines_above_and_below_a_table_are_counted() -> None:
    rows = "a,b\n" + "x,1\n" * 9
    assert layout_of(f"Title\n\n{rows}Note\nNote\n\n \n") == FileLayout(above=2, below=2)
    assert layout_of(rows * 5 + "Note\n" * 20).below == 20
    assert layout_of(rows * 5 + "Note\n" * 21).below == 0
    assert layout_of("a,b,c\n" + "x,1,2\n" * 5 + "Note\n").below == 1


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_the_lines_of_a_table_stand_between_those_above_and_below(end: bytes) -> None:
    text = end.join([b"Title", b"a,b", b"1,2", b"3,4", b"", b"Note", b"", b"", b"Note"])
    kept = table_lines("t.csv", text, FileLayout(above=1, below=2))
    assert kept == end.join([b"a,b", b"1,2", b"3,4"])
    assert table_lines("t.csv", text, FileLayout()) == text
    with pytest.raises(InputError) as caught:
        table_lines("t.csv", b"a,b", FileLayout(above=1))
    assert str(caught.value) == (
        "t.csv has no line between those above and below; leave out fewer."
    )


BLANKS = (9, 10, 13, 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x3000)
NO_BLANKS = (8, 11, 12, 14, 31, 33, 0x9F, 0xA1, 0x1681, 0x1FFF, 0x200B, 0x2030, 0x3001)


def test_blanks_around_a_number_are_none_of_it_and_control_characters_are() -> None:
    for code, form in (
        *((code, Form.NUMBER) for code in BLANKS),
        *((code, Form.WORD) for code in NO_BLANKS),
    ):
        assert text_form(f"{chr(code)}5{chr(code)}") is form, hex(code)


def test_an_identifier_keeps_its_codes_for_missing() -> None:
    schema = Schema.from_toml(
        '[[variable]]\nname = "id"\nkind = "categorical"\nrole = "identifier"\n'
        'missing_codes = ["9"]\n'
        '[[variable]]\nname = "x"\nkind = "count"\nmissing_codes = [9]\n'
        '[[variable]]\nname = "y"\nkind = "count"\nmissing_codes = [7]\n'
    )
    data = table("id,x,y", "9,9,1", "8,1,2", "7,9,3", schema=schema)
    assert data.frame["id"].tolist() == ["9", "8", "7"]
    assert str(data.frame["x"].dtype) == "Int64"
    assert data.frame["x"].isna().tolist() == [True, False, True]
    assert data.frame["y"].tolist() == [1, 2, 3]
    assert "x has 2 values declared as missing (9): they are missing here." in data.notices
