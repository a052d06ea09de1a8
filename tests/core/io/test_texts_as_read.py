"""What each kind of text becomes, and what is said of it: read, kept, noted or refused."""

from __future__ import annotations

import codecs
import gzip
import re
import traceback
from collections.abc import Callable, Iterator

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.limits import LONGEST_FIELD, MOST_COLUMNS
from rwn_core.io.parse import parse

DECIMAL = ["1.5", "-0.0", ".5", "5.", "1e-05", "2.5E+3", "5e-324", "0.1000000000000000055", "3"]


def column(*cells: str) -> str:
    """A file of these cells and of a second column."""
    return "x,row\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))


def lines(*rows: str) -> str:
    return "\n".join(rows)


COLUMNS = {
    "whole numbers": column("7", "-3", "+4", "0", " 5 "),
    "whole numbers and gaps": column("7", "", "  ", str(2**53 - 1)),
    "decimals": column(*DECIMAL),
    **{
        f"{word} among numbers": column("1.5", word, "2")
        for word in ("NA", "NaN", "nan", "null", "NULL", "None")
    },
    "words for missing among texts": column("DE", "NA", "null", ""),
    "leading zeros": column("00501", "02134", "90210"),
    "truth values": column("true", "false", "true"),
    "yes and no": column("yes", "no", "no"),
    "codes": column("12A", "B7", "x"),
    "codes like powers": column("12E5", "A5", "B1"),
    "padded and unprintable": column(" x", "y ", "\x1b[31mred"),
    "dates": column("2020-02-29", "0001-01-01", "", "9999-12-31"),
    "dates around 1970": column("1970-01-02", "1969-12-31", "", "9999-12-31"),
    "zones": column("2020-01-01T12:00:00+02:00", "2020-01-01 10:00Z", "2020-01-01T05:00-0500"),
    "one zone": column("2020-01-01T00:00+0900", "2020-06-01T05:00+0900"),
    "two zones": column("2020-01-01T00:00Z", "2020-01-01T00:00+01:30"),
    "telephones": column("+4915112345678", "+4915112345679"),
    "lost digits": column("0.12345678901234567890", "1.10", "1.1"),
    "enough digits": column("0.1", "1.25", "12345678901.23"),
    "two decimals": column("1.50", "2.25"),
    "decimals that vary": column("1.5", "2.0", "10.25"),
    "decimals without a zero": column(".25", ".50"),
    "decimals beside whole numbers": column("7", "2.5"),
    "decimals with powers": column("1.5e-07", "2.5e+3"),
    "written otherwise": column("2.50", "+3.5", "4.25"),
    "written otherwise once": column("2.50", "3.5", "4.25"),
    "largest numbers": column("1e+150", "-1e+150"),
    "zeros beside powers": column("00501", "7", "12E5"),
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


def read(text: str | bytes, name: str = "t.csv", schema: Schema | None = None) -> Iterator[str]:
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


def test_what_texts_become(sentences: Callable[..., None]) -> None:
    refused = {name: list(read(text)) for name, text in (REFUSED | HOSTILE).items()}
    refused["commas in a TSV file"] = list(read(lines("a,b", "1,2", "3,4"), "t.tsv"))
    for name, (kinds, text) in KINDS.items():
        refused[name] = list(read(text, schema=of_kinds(kinds)))
    for said in refused.values():
        assert said[0].startswith("refused: t.") or len(said) > 1, "refused, or something is said"
    taken = {name: list(read(text)) for name, text in (COLUMNS | FILES).items()}
    sentences("text", taken | refused)


def test_what_is_refused_is_read_when_its_layout_is_said() -> None:
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
