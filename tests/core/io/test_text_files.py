"""Tables in text: separators, numbers, dates, clocks, and how a release writes them again."""

import codecs
import contextlib
import datetime
import gzip
import re
import traceback
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rwn_core as rwn
from rwn_core import InputError, Kind, Microdata, Schema, Variable, read
from rwn_core.data.file_layout import NOTATIONS, FileLayout
from rwn_core.io import format_of_key
from rwn_core.io.format_limits import losses
from rwn_core.io.guessed_layout import guess_text_layout
from rwn_core.io.limits import LONGEST_FIELD, MOST_COLUMNS
from rwn_core.io.parse import parse
from rwn_core.io.write import table_bytes
from tests.core.io.test_excel_sheets import sheet
from tests.read_here import said_of


def table(text: str, **kinds: Kind) -> Microdata:
    schema = None
    if kinds:
        schema = Schema(variables=tuple(Variable(name=n, kind=k) for n, k in kinds.items()))
    return parse("t.csv", text.encode(), schema)


def column(*cells: str, kind: Kind | None = None) -> tuple[pd.Series, tuple[str, ...]]:
    text = "x,row\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))
    kinds = {} if kind is None else {"x": kind, "row": Kind.COUNT}
    microdata = table(text, **kinds)
    return microdata.frame["x"], microdata.notices


def test_the_schema_decides():
    assert column("1", "2", "1", kind=Kind.CATEGORICAL)[0].tolist() == ["1", "2", "1"]
    assert column("00501", "7", kind=Kind.COUNT)[0].tolist() == [501, 7]
    assert column("1E3", "7", kind=Kind.CONTINUOUS)[0].tolist() == [1000.0, 7.0]
    assert column("a", "7", kind=Kind.CATEGORICAL)[0].tolist() == ["a", "7"]
    assert column("9007199254740993", "7", kind=Kind.CATEGORICAL)[0][0] == "9007199254740993"
    ordered = table("x,y\n10,1\n9,2\n100,3\n", x=Kind.ORDERED, y=Kind.COUNT)
    assert ordered.values("x").tolist() == [1, 0, 2]


def test_line_ends_and_byte_order_mark():
    lines = ["age,sex", '1,"a ""b"", c"', "2,d"]
    for ending, last, start in product(("\n", "\r\n", "\r"), (0, 1, 3), (b"", b"\xef\xbb\xbf")):
        text = ending.join(lines) + ending * last
        microdata = parse("t.CSV", start + text.encode())
        assert microdata.names == ("age", "sex")
        assert microdata.frame["sex"].tolist() == ['a "b", c', "d"]


@pytest.mark.usefixtures("read_here")
def test_a_saved_schema_the_file_is_not_picked_up(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "t.toml").write_text("not a schema")
    assert read(tmp_path / "t.csv").schema.variable("x").kind is Kind.COUNT
    with pytest.raises(InputError, match=r"^t\.toml: the schema file is not valid TOML"):
        read(tmp_path / "t.csv", tmp_path / "t.toml")


# what a text column can hold: no NUL or half pair, not empty (that is a missing value), and no
# lone carriage return, which pandas writes without quotes
TEXTS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), min_size=1, max_size=8
)
COLUMNS = {  # by type, their cells and the type with gaps
    "float64": (st.floats(-1e150, 1e150).map(np.float64), "float64"),
    "int64": (st.integers(-(2**53) + 1, 2**53 - 1), "Int64"),
    "str": (TEXTS, "str"),
    "datetime64[us]": (st.datetimes().map(pd.Timestamp), "datetime64[us]"),
}


@st.composite
def frames(draw: st.DrawFn, columns: dict[str, Any], names: str) -> pd.DataFrame:
    """Random tables with missing values in every column."""
    n = draw(st.integers(2, 12))
    series = {}
    for name in draw(st.lists(st.from_regex(names, fullmatch=True), min_size=1, unique=True)):
        dtype = draw(st.sampled_from(list(columns)))
        cell, with_gaps = columns[dtype]
        some = st.lists(st.one_of(st.none(), cell), min_size=n, max_size=n)
        cells = draw(some.filter(lambda values: values.count(None) < len(values)))
        series[name] = pd.Series(cells, dtype=with_gaps if None in cells else dtype)
    return pd.DataFrame(series)


@settings(max_examples=40)
@given(frames(COLUMNS, r"[a-z][ ,;\"a-z]{0,5}"))
def test_what_is_written_is_what_is_read(frame):
    # a name such as a;b alone looks like another separator
    assume(frame.columns[0].strip('a;,"'))
    assume(len(frame.columns) > 1 or ";" not in frame.columns[0])
    original = Microdata.from_frame(frame)
    again = parse("t.csv", table_bytes(frame, "csv"), original.schema)
    assert again.fingerprint == original.fingerprint
    pd.testing.assert_frame_equal(again.frame, original.frame)


GOOD = (
    b'age,income,sex,when\n34,1000.5,M,2020-01-02\n35,,"F, x",2020-01-03\n36,1e+3,"a ""b""",\n'
    b"37,-2,M,1999-12-31\n"
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD) - 1), st.binary(max_size=3), st.booleans()), max_size=4
    )
)
def test_mutated_bytes_give_a_table_or_a_refusal(mutations):
    content = GOOD
    for place, new, insert in mutations:
        content = content[:place] + new + content[place + (0 if insert else len(new)) :]
    with contextlib.suppress(InputError):
        assert parse("t.csv", content).n >= 2


FIRST = datetime.date(1996, 3, 1)
DAYS = [FIRST + datetime.timedelta(days=37 * i) for i in range(60)]


def noted(day: datetime.date, notation: str) -> str:
    year = f"{day.year}"
    month = str(day.month)
    date = str(day.day)
    long = notation.replace("YYYY", year).replace("MM", month.zfill(2)).replace("DD", date.zfill(2))
    return long.replace("M", month).replace("D", date)


def table_dates(texts: list[str]) -> bytes:
    rows = [f"{text},{day},{i}.5" for i, (text, day) in enumerate(zip(texts, DAYS, strict=False))]
    return "\n".join(["born,seen,x", *rows, ""]).encode()


PLAIN = parse("t.csv", table_dates([str(day) for day in DAYS]))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_each_notation_is_proposed_read_and_written_back(notation):
    content = table_dates([noted(day, notation) for day in DAYS])
    assert parse("t.csv", content).frame.equals(PLAIN.frame), "no other notation fits"
    seen = guess_text_layout(content, ",")
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


def test_days_that_may_be_months_are_never_guessed():
    content = table_dates([noted(day.replace(day=day.day % 12 + 1), "DD/MM/YYYY") for day in DAYS])
    said = said_of("t.csv", content)
    assert "texts: born" in said
    assert "all fit DD/MM/YYYY and MM/DD/YYYY, and no value tells" in said
    seen = guess_text_layout(content, ",")
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
def test_what_one_notation_does_not_fit_is_said_with_its_lines(texts, layout, words):
    said = said_of("t.csv", table_dates(texts), None, FileLayout(**layout))
    assert "texts: born (line" in said
    assert re.search(words, said)
    assert not any(text in said for text in texts)


CLOCKS = {
    "07:35": 27_300,
    "7:35 PM": 70_500,
    "23:59:59": 86_399,
    "0:00": 0,
    "12:05 AM": 300,
    "12:05pm": 43_500,
    "5 p.m.": 61_200,
}


def table_clocks(texts: list[str]) -> str:
    return "\n".join(["n,at", *(f"{i},{text}" for i, text in enumerate(texts))])


@pytest.mark.parametrize("repeat", [1, 3])
def test_clocks_are_seconds_as_in_other_formats(repeat):
    data = parse("t.csv", table_clocks([*CLOCKS, ""] * repeat).encode())
    assert data.frame["at"].dropna().tolist() == [*CLOCKS.values()] * repeat
    assert data.frame["at"].isna().sum() == repeat
    assert any("at has times of the day: they are numbers of sec" in n for n in data.notices)
    texts = parse("t.xlsx", sheet(["n", "at"], *([i, text] for i, text in enumerate(CLOCKS))))
    assert texts.frame["at"].tolist() == [*CLOCKS.values()]
    times = [datetime.time(7, 35), datetime.time(23, 59, 59)]
    cells = parse("t.xlsx", sheet(["n", "at"], *([i, time] for i, time in enumerate(times))))
    assert cells.frame["at"].tolist() == [27_300, 86_399]


@pytest.mark.parametrize("text", ["24:01", "7:60", "13:05 PM", "7:5", "noon"])
def test_a_column_with_another_text_is_said_to_be_categories(text):
    data = parse("t.csv", table_clocks(["07:35", "08:10", text, "09:00"]).encode())
    assert data.frame["at"].tolist()[2] == text
    (said,) = (notice for notice in data.notices if "Read as categories of texts" in notice)
    assert "at (line" in said


@pytest.mark.usefixtures("read_here")
def test_a_time_zone_changes_no_day(tmp_path):
    (tmp_path / "t.csv").write_text(
        "when,x\n2020-01-01T00:00:00+09:00,1\n2020-06-01T05:00:00+09:00,2\n"
    )
    data = read(tmp_path / "t.csv")
    assert data.notices == ()
    out = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).publish(tmp_path / "o.csv", order="original")
    assert "2020-01-01 00:00:00+09:00" in out.read_text()
    pd.testing.assert_frame_equal(read(out).frame, data.frame)
    mixed = table("when,x\n2020-01-01T00:00+09:00,1\n2020-01-01T00:00+01:00,2")
    assert any("when has times of 2 time zones" in notice for notice in mixed.notices)


NUMBERS = """
two_decimals mixed  usual three  whole exact               group
2.50         2      2.0   1.000  7     0.30000000000000004 a
10.00        2.5    2.5   2.500  3     1.5                 a
-0.25        10     10.0  12.345 12    100000000000000.5   a
3.75         -3.125 1e-07 0.001  -1    2.25                a
"""


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(("name", "mark"), [("t.csv", ","), ("t.tsv", "\t")])
def test_numbers_are_given_back_as_they_came(name, mark, tmp_path):
    text = "".join(mark.join(line.split()) + "\n" for line in NUMBERS.strip().splitlines())
    (tmp_path / name).write_text(text)
    data = read(tmp_path / name)
    assert data.notices == ("group is constant: it does not count in the distance.",)
    out = tmp_path / f"o{name}"
    rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1).publish(out, order="original")
    assert out.read_text() == text


def test_a_text_is_a_code_for_missing_of_a_category_and_of_no_number():
    """What docs/how-to/keep-labels-and-codes.md says."""
    codes = ("n/a",)
    content = b"x,y\nn/a,1\n2,2\n3,3\n2,4\n3,5\n"
    other = Variable(name="y", kind=Kind.COUNT)
    number = Variable(name="x", kind=Kind.COUNT, missing_codes=codes)
    said = said_of("t.csv", content, Schema(variables=(number, other)))
    assert "Left out of every release: x" in said
    assert "leave the field empty where one is missing" in said
    category = Variable(name="x", kind=Kind.CATEGORICAL, missing_codes=codes)
    data = parse("t.csv", content, Schema(variables=(category, other)))
    assert data.frame["x"].isna().tolist() == [True, False, False, False, False]


def test_utf_32_is_called_so_and_read_when_it_is_said():
    content = "a,b\n1,2\n3,4\n".encode("utf-32")
    with pytest.raises(InputError, match="is UTF-32 text; say its encoding"):
        parse("t.csv", content)
    assert parse("t.csv", content, None, FileLayout(encoding="utf-32")).n == 2


DECIMAL = ["1.5", "-0.0", ".5", "5.", "1e-05", "2.5E+3", "5e-324", "0.1000000000000000055", "3"]


def column_texts(*cells: str) -> str:
    """A file of these cells and of a second column."""
    return "x,row\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))


def lines(*rows: str) -> str:
    return "\n".join(rows)


COLUMNS_TEXTS = {
    "whole numbers": column_texts("7", "-3", "+4", "0", " 5 "),
    "whole numbers and gaps": column_texts("7", "", "  ", str(2**53 - 1)),
    "decimals": column_texts(*DECIMAL),
    **{
        f"{word} among numbers": column_texts("1.5", word, "2")
        for word in ("NA", "NaN", "nan", "null", "NULL", "None")
    },
    "words for missing among texts": column_texts("DE", "NA", "null", ""),
    "leading zeros": column_texts("00501", "02134", "90210"),
    "truth values": column_texts("true", "false", "true"),
    "yes and no": column_texts("yes", "no", "no"),
    "codes": column_texts("12A", "B7", "x"),
    "codes like powers": column_texts("12E5", "A5", "B1"),
    "padded and unprintable": column_texts(" x", "y ", "\x1b[31mred"),
    "dates": column_texts("2020-02-29", "0001-01-01", "", "9999-12-31"),
    "dates around 1970": column_texts("1970-01-02", "1969-12-31", "", "9999-12-31"),
    "zones": column_texts(
        "2020-01-01T12:00:00+02:00", "2020-01-01 10:00Z", "2020-01-01T05:00-0500"
    ),
    "one zone": column_texts("2020-01-01T00:00+0900", "2020-06-01T05:00+0900"),
    "two zones": column_texts("2020-01-01T00:00Z", "2020-01-01T00:00+01:30"),
    "telephones": column_texts("+4915112345678", "+4915112345679"),
    "lost digits": column_texts("0.12345678901234567890", "1.10", "1.1"),
    "enough digits": column_texts("0.1", "1.25", "12345678901.23"),
    "two decimals": column_texts("1.50", "2.25"),
    "decimals that vary": column_texts("1.5", "2.0", "10.25"),
    "decimals without a zero": column_texts(".25", ".50"),
    "decimals beside whole numbers": column_texts("7", "2.5"),
    "decimals with powers": column_texts("1.5e-07", "2.5e+3"),
    "written otherwise": column_texts("2.50", "+3.5", "4.25"),
    "written otherwise once": column_texts("2.50", "3.5", "4.25"),
    "largest numbers": column_texts("1e+150", "-1e+150"),
    "zeros beside powers": column_texts("00501", "7", "12E5"),
}
FILES = {
    "similar names": "Age, age,\u202eevil\n1,2,3\n3,4,5\n",
    "names used inside": "index,level_0,q,k,<script>alert(1)</script>,__index_level_0__\n"
    + "1,2,3,4,5,6\n" * 3,
    "header above numbers": lines("x,n", "x,1", "y,2"),
    "header above texts": lines("name,town", "Al,Ulm", "Bo,Bonn"),
    "quoted blanks": lines("full name", '"Al Bo"', '"Cy Do"'),
}
REFUSED = {
    "texts, no header": lines("M,Ulm", "F,Bonn", "M,Ulm"),
    "codes, no header": lines("AB-123,x", "CD-456,y", "EF-789,y"),
    "dates, no header": lines("2020-01-01,a", "2020-01-02,b", "2020-01-03,b"),
    "other dates, no header": lines("1.2.2020,a", "2.2.2020,b", "3.2.2020,b"),
    "four names, no header": lines("a,b,c,d", "a,b,c,d", "e,f,g,h"),
    "three names, no header": lines("a,b,c", "a,b,c", "e,f,g"),
    "large beside decimal": lines("x", "9007199254740993", "1.5"),
    "large money": lines("x,y", "12345678901234567.89,1", "1.5,2"),
    "control character": lines("x,y", "\x1d5,1", "35,2", "36,3"),
    "vanishing": lines("x,y", "1e-400,1", "1.5,2"),
    "beyond": lines("x,y", "1.1e+150,1", "2.5,2"),
    "percent": lines("x,y", "1,2", "5%,1", "6,1"),
    "three percents": lines("x,y", "1,2", "5%,1", "6%,1", "7%,1"),
    "four percents": lines("x,y", "5%,1", "5%,1", "6%,1", "7%,1"),
    "NUL": lines("a,b", "1,2", "3,\0"),
    "NUL in a name": lines("a\0,b", "1,2"),
    "semicolons, one comma": lines("a;b,c", "1;2,3", "4;5,6", "7;8,9"),
    "semicolons, a comma in a text": lines("a;b;c", "1;2;x", "4;5;y, z"),
    "semicolons, decimals": lines("a;b;c", "1,5;2,5;3", "4,5;5,5;6"),
    "colons": lines("a:b", "1:2", "3:4"),
    "carets": lines("a^b", "1^2", "3^4"),
    "tildes": "a~b\n" + "".join(f"{i}~{i % 5}\n" for i in range(20)),
    "blanks": lines("a b", "1 2", "3 4"),
    "fixed width": lines("name     age", "Al Bo     34", "Cy        35"),
    "tabs": lines("a\tb", "1\t2", "3\t4"),
    "a line that names the separator": "sep=;\na;b\n" + "1;2\n" * 20,
    "a line that names another separator": "sep=,\na,b\n" + "1,2\n" * 20,
}

WORD, NUMBER = "Zaphod", "78051120"  # cells that may not appear in a message
HEADER = "age,income,sex\n"
ROWS = "".join(f"{20 + i % 50},{NUMBER},{WORD}\n" for i in range(60))
LONG = "z" * (LONGEST_FIELD + 1)
VERY_LONG = "z" * 1_000_000
WIDE = ",".join(f"c{i}" for i in range(MOST_COLUMNS + 1))
HOSTILE: dict[str, str | bytes] = {
    "empty": b"",
    "blank": b"  \n\n \n",
    "only bom": codecs.BOM_UTF8,
    "header only": HEADER,
    "one row": HEADER + f"34,{NUMBER},{WORD}\n",
    "duplicate header": f"age,sex,age\n1,{WORD},3\n",
    "empty header": f"age,,sex\n1,2,{WORD}\n",
    "blank header line": f"\nage,sex\n1,{WORD}\n",
    "no header": f"{NUMBER},34,{WORD}\n{ROWS}",
    "code as header": f"x,00{NUMBER}\n1,{WORD}\n",
    "escape in header": "a\x1b[31m,b\n1,2\n3,4\n",
    "newline in header": '"a\nb",c\n1,2\n3,4\n',
    "long header": "x" * 1001 + ",b\n1,2\n3,4\n",
    "quote in header": f'"age"x,sex\n1,{WORD}\n2,y\n',
    "wide": WIDE + "\n" + WIDE + "\n",
    "more fields": HEADER + f"1,2,x\n35,1,M,{WORD},{WORD}\n",
    "fewer fields": HEADER + f"1,2,x\n{NUMBER}\n36,5,F\n",
    "late ragged": HEADER + ROWS * 100 + f"{NUMBER},1\n",
    "trailing comma": HEADER + f"34,1,{WORD},\n35,2,F,\n",
    "title above": f"Survey {WORD}\nSecret\n\n{HEADER}{ROWS}",
    "title and table": f"Survey {WORD}\n{HEADER}{ROWS}",
    "blank line": HEADER + ROWS + "\n" + ROWS,
    "blank value": f"x\n1\n\n{NUMBER}\n",
    "unclosed quote": HEADER + f'34,1,"{WORD}\n35,1,F\n' + ROWS,
    "late unclosed quote": HEADER + ROWS + f'1,2,"{WORD}',
    "unclosed until limit": HEADER + f'34,1,"{WORD}\n' + ROWS * 300,
    "after quote": HEADER + f'34,1,"{WORD}"s\n1,2,x\n',
    "long field": f"a,b\n1,x\n2,{LONG}\n",
    "very long field": f"a,b\n1,{VERY_LONG}\n2,y\n",
    "bars": f"a|b\n1|{WORD}\n",
    "utf16": (HEADER + ROWS).encode("utf-16"),
    "utf16 be": codecs.BOM_UTF16_BE + (HEADER + ROWS).encode("utf-16-be"),
    "utf16 bare": (HEADER + ROWS).encode("utf-16-le"),
    "latin1": "name,v\nx,1\né,2\n".encode("latin-1"),
    "late byte": (HEADER + ROWS * 300).encode() + b"3,\xff,M\n",
    "late byte cr": (HEADER + ROWS).replace("\n", "\r").encode() + b"\xff",
    "gzip": gzip.compress((HEADER + ROWS).encode()),
    "old excel": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 90,
    "pickle": b"\x80\x04\x95" + b"\0" * 90,
    "json": '{"a": [1, 2]}',
    "mixed": f"age,z\n34,1\n{WORD},2\n-,3\nunknown,4\n36,5\nn/a,6\n",
    "footer": HEADER + "20,1,M\n" * 60 + f"{WORD},9,\n",
    "mixed late line": 'a,b\n"x\ny",1\n"x\ny",2\n' + f"z,{WORD}\n",
    "infinite": f"x,y\n1,{WORD}\ninf,b\n-Inf,b\nnan,b\n",
    "bare overflow": f"x,y\n1,{WORD}\n1e400,b\n",
    "big negative": f"id,x\n-{NUMBER * 3},{WORD}\n3,a\n",
    "exponent codes": f"code,x\n12E5,{WORD}\n1E2,b\n",
    "thousands": f'inc,x\n"1,234",{WORD}\n"12,345",b\n',
    "thousands space": f"inc,x\n7,{WORD}\n12 345,b\n",
    "currency": f"x,y\n1,{WORD}\n$3,b\n-€4.50,b\n",
    "all na": f"a,b\n{WORD},NA\nx,NA\n",
    "mixed dates": f"d,y\n2020-01-02,{WORD}\n02/03/2020,b\n3 Mar 2020,b\n",
    "date and word": f"d,y\n2020-01-02,b\n{WORD},b\n",
    "no such day": f"d,y\n2020-01-02,{WORD}\n2021-02-29,b\n",
    "leap second": f"d,y\n2016-12-31T23:59:60,{WORD}\n2021-02-03,b\n",
    "some zones": f"d,y\n2020-01-02T10:00Z,{WORD}\n2020-01-03T10:00,b\n",
}
SECRETS = ("Ulm", "AB-123", "9007199254740993", "2020", WORD, NUMBER)


KINDS: dict[str, tuple[dict[str, str], str]] = {
    "not in the schema": ({"a": "count"}, "a,b\n1,2\n3,4\n"),
    "not in the table": (dict.fromkeys("abc", "count"), "a,b\n1,2\n"),
    "another order": (dict.fromkeys("ba", "count"), "a,b\n1,2\n3,4\n"),
    "words as count": ({"a": "count", "b": "categorical"}, f"a,b\n{WORD},2\nx,4\n"),
    "words as date": ({"a": "date", "b": "count"}, f"a,b\n{WORD},2\nx,4\n"),
    "number as date": ({"a": "date", "b": "count"}, f"a,b\n{NUMBER},2\n1,4\n"),
    "a level that lacks": ({"a": "ordered", "b": "count"}, f"a,b\nlow,1\n{WORD},2\n"),
}


def of_kinds(kinds: dict[str, str]) -> Schema:
    variables = (
        Variable(name=name, kind=Kind(kind), levels=("low", "high") if kind == "ordered" else None)
        for name, kind in kinds.items()
    )
    return Schema(variables=tuple(variables))


def check_sentence(refusal: InputError) -> None:
    """One sentence with a remedy, and neither it nor what led to it has a value."""
    message = str(refusal)
    assert re.fullmatch(r"t\.[ct]sv[,: ].*;.*\.", message), message
    assert not re.search(r"[.!?] ", message), "one sentence"
    assert len(message) < 400
    passed = "".join(traceback.format_exception(refusal)).split("Error: ", maxsplit=1)[1]
    assert not [value for value in SECRETS if value in message + passed]


def read_texts(
    text: str | bytes, name: str = "t.csv", schema: Schema | None = None
) -> Iterator[str]:
    """What a text becomes: of each variable its kind, type and values; what is said of it."""
    try:
        data = parse(name, text.encode() if isinstance(text, str) else text, schema)
    except InputError as refusal:
        check_sentence(refusal)
        yield f"refused: {refusal}"
        return
    for variable in data.schema.variables:
        if variable.name != "row":
            values = data.frame[variable.name]
            about = f"{variable.kind.value}, {values.dtype}, decimals {variable.decimals}"
            shown = ", ".join(map(repr, values.tolist()))
            yield f"{variable.name!r}: {about}: {shown}"
    assert not [value for value in SECRETS if any(value in notice for notice in data.notices)]
    yield from data.notices


def test_what_texts_become(sentences):
    refused = {name: list(read_texts(text)) for name, text in (REFUSED | HOSTILE).items()}
    refused["commas in a TSV file"] = list(read_texts(lines("a,b", "1,2", "3,4"), "t.tsv"))
    for name, (kinds, text) in KINDS.items():
        refused[name] = list(read_texts(text, schema=of_kinds(kinds)))
    for said in refused.values():
        assert said[0].startswith("refused: t.") or len(said) > 1, "refused, or something is said"
    taken = {name: list(read_texts(text)) for name, text in (COLUMNS_TEXTS | FILES).items()}
    sentences("text", taken | refused)


def test_what_is_refused_is_read_when_its_layout_is_said():
    for name, layout in (
        ("tildes", FileLayout(separator="~")),
        ("a line that names the separator", FileLayout(separator=";", above=1)),
    ):
        assert parse("t.csv", REFUSED[name].encode(), None, layout).names == ("a", "b")
    schema = Schema.from_toml(
        '[[variable]]\nname = "M"\nkind = "categorical"\n'
        '[[variable]]\nname = "Ulm"\nkind = "categorical"\n'
    )
    assert parse("t.csv", REFUSED["texts, no header"].encode(), schema).n == 2


LAYOUT = FileLayout(separator=";", decimal=",", dates="DD.MM.YYYY")


def content() -> bytes:
    """Two decimals at least, many digits, whole numbers, days, texts with marks, missing values."""
    rows = []
    for i in range(60):
        a = f"{i % 7 + 0.25 * (i % 4):.2f}"
        b = repr(i * 1.37 + 1e-9)
        e = '"north;west"' if i % 2 else "version 3.5"
        d = f"{i % 28 + 1:02}.03.1990"
        f = "" if i == 5 else f"{i % 3}.5"
        rows.append(";".join([a.replace(".", ","), b.replace(".", ","), str(i), d, e,
                              f.replace(".", ",")]))  # fmt: skip
    return ("a;b;c;d;e;f\n" + "\n".join(rows) + "\n").encode()


def test_the_marks_of_a_file_come_back():
    data = parse("t.csv", content(), None, LAYOUT)
    assert table_bytes(data.frame, "csv", data.schema) == content()
    masked = rwn.mask(data, rwn.RWN(k=5, q=0.0), seed=1)
    assert masked.to_bytes("csv", "original", keep=["c"]) == content()
    for params in (rwn.RWN(k=5), rwn.METHODS["additive_noise"](size=0.5)):
        release = rwn.mask(data, params, seed=1)
        again = parse("o.csv", release.to_bytes("csv", keep=["c"]), None, LAYOUT)
        for name in data.names:
            # all digits of a number come back, in the notation of the file
            published = release.published().frame[name]
            pd.testing.assert_series_equal(again.frame[name], published, check_exact=True)


def test_what_of_a_files_layout_is_lost_is_said():
    layout = FileLayout(encoding="cp1252", separator=";", decimal=",", above=1)
    data = parse("t.csv", b"Title\nx;y\n1,5;2\n2,5;3\n", None, layout)
    assert losses(data, format_of_key("csv")) == [
        "CSV does not keep the encoding of the file, the lines above the table."
    ]
    assert losses(data, format_of_key("tsv")) == [
        "TSV does not keep the encoding of the file, its separator, the lines above the table."
    ]
    assert losses(data, format_of_key("parquet")) == []
    kept = parse("t.csv", content(), None, LAYOUT)
    assert losses(kept, format_of_key("csv")) == []
    tabs = parse("t.csv", b"x\ty\n1.5\t2\n2.5\t3\n", None, FileLayout(separator="\t"))
    assert losses(tabs, format_of_key("tsv")) == []
