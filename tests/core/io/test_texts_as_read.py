"""What each kind of text becomes, and what is said of it: read, kept, noted or refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.schema import Schema
from rwn_core.errors import InputError
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
SECRETS = ("Ulm", "AB-123", "9007199254740993", "2020")


def read(text: str, name: str = "t.csv") -> Iterator[str]:
    """What a text becomes: of each variable its kind, type and values; what is said of it."""
    try:
        data = parse(name, text.encode())
    except InputError as refusal:
        yield f"refused: {refusal}"
        return
    for variable in data.schema.variables:
        if variable.name != "row":
            values = data.frame[variable.name]
            about = f"{variable.kind.value}, {values.dtype}, decimals {variable.decimals}"
            shown = ", ".join(map(repr, values.tolist()))
            yield f"{variable.name!r}: {about}: {shown}"
    yield from data.notices


def test_what_texts_become(sentences: Callable[..., None]) -> None:
    refused = {name: list(read(text)) for name, text in REFUSED.items()}
    refused["commas in a TSV file"] = list(read(lines("a,b", "1,2", "3,4"), "t.tsv"))
    for (said,) in refused.values():
        assert said.startswith("refused: t.")
        assert not [value for value in SECRETS if value in said]
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
