"""How a text lies in its file: seen, proposed, read as a person said, with its own lines."""

from __future__ import annotations

from itertools import product

import pytest

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.parse import parse
from tests.read_here import said_of

NAMES = ["Käthe", "Bert", "Cora", "Dora", "Emil"]


def written(layout: FileLayout, rows: int = 40) -> bytes:
    """A table of names and incomes in some layout."""
    mark = layout.separator or ","
    lines = [f"Title {i} of the survey" if i else "" for i in range(layout.above, 0, -1)]
    if layout.header:
        lines.append(mark.join(["name", "income", "age"]))
    for i in range(rows):
        income = f"{i * 37 % 900}.{i % 9 + 1}".replace(".", layout.decimal)
        lines.append(mark.join([NAMES[i % 5], income, str(20 + i % 9)]))
    lines += ["Source of the table"] * layout.below
    return "\n".join(lines).encode(layout.encoding)


LAYOUTS = [
    FileLayout(encoding=encoding, separator=mark, decimal=decimal, header=header, above=a, below=b)
    for encoding, (mark, decimal), (header, a, b) in product(
        ("utf-8", "cp1252", "utf-16"),
        ((None, "."), (";", ","), ("\t", ","), ("|", ".")),
        ((True, 0, 0), (True, 2, 1), (False, 0, 2)),
    )
]


def test_every_layout_is_seen_and_read_with_the_same_values() -> None:
    plain = parse("t.csv", written(FileLayout()))
    for layout in LAYOUTS:
        content = written(layout)
        seen = guess_text_layout(content, ",")
        assert seen is not None
        assert seen.layout == layout
        data = parse("t.csv", content, None, seen.layout)
        assert data.schema.file == (layout if layout != FileLayout() else None)
        for mine, theirs in zip(data.names, plain.names, strict=True):
            assert data.frame[mine].tolist() == plain.frame[theirs].tolist(), layout


def test_the_schema_keeps_the_layout_and_reads_the_file_again() -> None:
    layout = FileLayout(encoding="cp1252", separator=";", decimal=",", above=2, below=1)
    content = written(layout)
    first = parse("t.csv", content, None, layout)
    text = first.schema.to_toml()
    assert "[file]" in text
    again = parse("t.csv", content, Schema.from_toml(text))
    assert again.fingerprint == first.fingerprint
    assert again.schema == first.schema
    assert "[file]" not in parse("t.csv", written(FileLayout())).schema.to_toml()


def test_messages_name_the_lines_of_the_file() -> None:
    layout = FileLayout(separator=";", above=2, below=1)
    lines = written(layout).decode().split("\n")
    lines[10] += ";1"
    with pytest.raises(InputError, match=r"t\.csv, line 11: there are 4 fields"):
        parse("t.csv", "\n".join(lines).encode(), None, layout)
    lines = written(layout).decode().split("\n")
    lines[7] = lines[7].replace(";", ";x", 1)
    said = said_of("t.csv", "\n".join(lines).encode(), None, layout)
    assert "texts: income (line 8: 1 value is not a number, and others are" in said


@pytest.mark.parametrize("thousands", ["1.234", "1.234,5"])
def test_points_beside_decimal_commas_are_said_and_not_misread(thousands: str) -> None:
    content = f"a;b\n1,5;x\n{thousands};y\n2,5;x\n".encode()
    said = said_of("t.csv", content, None, FileLayout(separator=";", decimal=","))
    assert "Read as categories of texts: a (numbers with a point" in said
    assert "234" not in said


def test_a_layout_that_does_not_fit_is_one_sentence() -> None:
    for content, layout, words in (
        (b"a,b\n\xff,1\n2,3\n", FileLayout(encoding="ascii"), "is not text in ascii"),
        (b"a,b\n1,2\n3,4\n", FileLayout(above=9), "no line between those above and below"),
        (b"a,b\n1,2\n3,4\n", FileLayout(sheet="x"), "a given sheet, which a CSV file does not"),
    ):
        with pytest.raises(InputError, match=words):
            parse("t.csv", content, None, layout)
    for wrong in ({"separator": ";;"}, {"decimal": "'"}, {"above": -1}, {"encoding": "rot13"}):
        with pytest.raises(SchemaError):
            FileLayout.from_dict(wrong)
    with pytest.raises(SchemaError, match="may have: encoding, separator"):
        FileLayout.from_dict({"delimiter": ";"})


def test_invented_names_are_said_and_a_schema_gives_others() -> None:
    layout = FileLayout(header=False)
    content = written(layout)
    (notice,) = parse("t.csv", content, None, layout).notices
    assert "they are invented: V1 to V3. A schema" in notice
    (notice,) = parse("t.csv", b"5\n6\n7\n", None, layout).notices
    assert "they are invented: V1. A schema" in notice
    kinds = {"name": "categorical", "income": "continuous", "age": "count"}
    given = tuple(Variable(name=name, kind=kind) for name, kind in kinds.items())
    data = parse("t.csv", content, Schema(variables=given, file=layout))
    assert data.names == tuple(kinds)
    assert data.notices == ()
    assert data.frame["age"].tolist() == parse("t.csv", content, None, layout).frame["V3"].tolist()
    kept = tuple(Variable(name=f"V{i}", kind=v.kind) for i, v in enumerate(given, 1))
    assert parse("t.csv", content, Schema(variables=kept, file=layout)).names == ("V1", "V2", "V3")
    with pytest.raises(SchemaError, match=r"has 2 variables, and .* 3 columns; give one"):
        parse("t.csv", content, Schema(variables=given[:2], file=layout))
