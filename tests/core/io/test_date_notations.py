"""Dates in another notation than YYYY-MM-DD: proposed, read, written back, never guessed."""

from __future__ import annotations

import datetime
import re

import pytest

from rwn_core.data.file_layout import NOTATIONS, FileLayout
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError, SchemaError
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.parse import parse
from rwn_core.io.text_types.column import date_texts
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

FIRST = datetime.date(1996, 3, 1)
DAYS = [FIRST + datetime.timedelta(days=37 * i) for i in range(60)]


def noted(day: datetime.date, notation: str) -> str:
    year, month, date = f"{day.year}", str(day.month), str(day.day)
    for part, text in (
        ("YYYY", year),
        ("MM", month.zfill(2)),
        ("DD", date.zfill(2)),
        ("M", month),
        ("D", date),
    ):
        notation = notation.replace(part, text)
    return notation


def table(texts: list[str]) -> bytes:
    rows = [f"{text},{day},{i}.5" for i, (text, day) in enumerate(zip(texts, DAYS, strict=False))]
    return "\n".join(["born,seen,x", *rows, ""]).encode()


PLAIN = parse("t.csv", table([str(day) for day in DAYS]))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_each_notation_is_proposed_read_and_written_back(notation: str) -> None:
    content = table([noted(day, notation) for day in DAYS])
    assert parse("t.csv", content).frame.equals(PLAIN.frame), "no other notation fits"
    seen = guess_text_layout(content, ",")
    assert seen is not None
    assert seen.layout == FileLayout(dates=notation)
    data = parse("t.csv", content, None, seen.layout)
    assert data.frame.equals(PLAIN.frame)
    assert data.schema.variable("born").kind is Kind.DATE
    assert data.schema.variable("born").notation == notation
    assert data.schema.variable("seen").notation is None
    assert table_bytes(data.frame, "csv", data.schema) == content
    kept = Schema.from_toml(data.schema.to_toml())
    assert kept == data.schema
    again = parse("t.csv", content, kept)
    assert again.frame.equals(PLAIN.frame)
    assert again.schema == data.schema


def test_gaps_blanks_and_the_word_na_are_missing_dates() -> None:
    content = b"d,x\n03.05.2008,1.5\n,2.5\n 16.09.1996 ,3.5\nNA,4.5\n"
    data = parse("t.csv", content, None, FileLayout(dates="dd.mm.yyyy"))
    assert data.frame["d"].dt.strftime("%Y-%m-%d").tolist()[::2] == ["2008-05-03", "1996-09-16"]
    assert data.frame["d"].isna().tolist() == [False, True, False, True]
    written = date_texts(data.frame["d"], "M/D/YYYY").tolist()
    assert written == ["5/3/2008", None, "9/16/1996", None]


def test_days_that_may_be_months_are_never_guessed() -> None:
    content = table([noted(day.replace(day=day.day % 12 + 1), "DD/MM/YYYY") for day in DAYS])
    said = said_of("t.csv", content)
    assert "texts: born" in said
    assert "all fit DD/MM/YYYY and MM/DD/YYYY, and no value tells" in said
    seen = guess_text_layout(content, ",")
    assert seen is not None
    assert seen.layout == FileLayout()
    for notation, day in (("DD/MM/YYYY", 2), ("MM/DD/YYYY", 3)):
        data = parse("t.csv", content, None, FileLayout(dates=notation))
        assert data.frame["born"].dt.day[0] == day
        assert table_bytes(data.frame, "csv", data.schema) == content


@pytest.mark.parametrize(
    ("texts", "layout", "words"),
    [
        (["03.05.08", "16.09.96"], {}, "lines 2, 3: 2 values have a year of two digits; write"),
        (["03.05.08", "16.09.1996"], {"dates": "DD.MM.YYYY"}, "line 2: 1 value has a year of two"),
        (["03.05.2008", "3.5.2008"], {}, "2 values are not dates of the form YYYY-MM-DD; write"),
        (["16/09/1996", "09/16/1996"], {}, "YYYY-MM-DD; write every date in this form"),
        (["16/09/1996", "1/2/1996"], {"dates": "DD/MM/YYYY"}, "line 3: 1 value is not a date of"),
        (["16/09/1996"] * 2, {"dates": "MM/DD/YYYY"}, "MM/DD/YYYY; all fit DD/MM/YYYY"),
        (["31/02/1996", "1996-01-02"], {"dates": "DD/MM/YYYY"}, "line 2: 1 value is not a date"),
        (["31/02/1996", "16/02/1996"], {"dates": "DD/MM/YYYY"}, "line 2: .* not on the calendar"),
        (["16/09/1996 12:30", "17/09/1996 12:30"], {}, "YYYY-MM-DD; write every date"),
    ],
)
def test_what_one_notation_does_not_fit_is_said_with_its_lines(
    texts: list[str], layout: dict[str, str], words: str
) -> None:
    said = said_of("t.csv", table(texts), None, FileLayout(**layout))
    assert "texts: born (line" in said
    assert re.search(words, said)
    assert not any(text in said for text in texts)


def test_a_schema_may_name_a_notation_for_each_variable() -> None:
    schema = Schema(
        variables=(
            Variable(name="a", kind="date", notation="DD.MM.YYYY"),
            Variable(name="b", kind="date", notation="M/D/YYYY"),
            Variable(name="c", kind="categorical"),
        )
    )
    content = b"a,b,c\n03.05.2008,5/3/2008,03.05.08\n16.09.1996,9/16/1996,16.09.96\n"
    data = parse("t.csv", content, schema)
    assert data.frame["a"].equals(data.frame["b"].rename("a"))
    assert table_bytes(data.frame, "csv", data.schema) == content


def test_an_unknown_notation_is_one_sentence() -> None:
    with pytest.raises(SchemaError, match=r"The dates of a file must be one of: YYYY-MM-DD, DD\."):
        FileLayout(dates="TT.MM.JJJJ")
    with pytest.raises(SchemaError, match="The notation of variable a must be one of"):
        Variable(name="a", kind="date", notation="DD")
    with pytest.raises(InputError, match="a given dates, which a Parquet file does not have"):
        parse("t.parquet", table_bytes(PLAIN.frame, "parquet"), None, FileLayout(dates="M/D/YYYY"))
