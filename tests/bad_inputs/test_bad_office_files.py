"""Hostile Excel, Feather, Stata, SPSS, SAS and R files: one sentence, and no memory taken."""

from __future__ import annotations

import base64
import bz2
import contextlib
import gzip
import io
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from rwn_core.errors import InputError
from rwn_core.io import FORMATS, limits, writable
from rwn_core.io.parse import parse
from rwn_core.io.reading import read, read_bytes
from rwn_core.io.write import table_bytes
from tests.read_here import said_of

WORD = "Zaphod"  # a cell that may not appear in a message
FRAME = pd.DataFrame({"a": [1.5, 2.25, 7.125], "t": [WORD, "y", "z"], "g": ["u", "v", "u"]})
FRAME["g"] = pd.Categorical(FRAME["g"])
GOOD = {form.key: table_bytes(FRAME, form.key) for form in writable()}
ENDING = {form.key: form.suffixes[0] for form in FORMATS}


def workbook(fill: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        fill(book)
    return stream.getvalue()


def sheet(*rows: list[object], name: str = "data") -> bytes:
    def fill(book: xlsxwriter.Workbook) -> None:
        page = book.add_worksheet(name)
        for number, row in enumerate(rows):
            page.write_row(number, 0, row)

    return workbook(fill)


def with_part(content: bytes, name: str, part: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", 8) as new:
        for each in old.infolist():
            new.writestr(each.filename, part if each.filename == name else old.read(each))
    return stream.getvalue()


def lying(content: bytes) -> bytes:
    """The first part much larger than the archive declares."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", 8) as archive:
        archive.writestr("xl/workbook.xml", b"x" * 3_000_000)
    made = bytearray(stream.getvalue())
    place = made.index(b"PK\x01\x02")
    made[place + 24 : place + 28] = struct.pack("<I", 10)
    return bytes(made)


SHEET = "xl/worksheets/sheet1.xml"
CELLS = b'<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row>%s</sheetData></worksheet>'
CORNER = CELLS % b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
FORMULA = CELLS % b'<row r="2"><c r="A2"><f>SUM(1,2)</f></c></row>'
SAV = GOOD["spss"]
ROWS = SAV[:80] + struct.pack("<i", 1_000_000_000) + SAV[84:]
DTA = GOOD["stata"]
N = DTA.index(b"<N>") + 3

# found by mutation: it ends the process of the library that parses it
ENDS = zlib.decompress(
    base64.b85decode(
        "c-m8O^D%PJP}Wok4hRlbaB&QARB-e3aaGV&$S5f(D7MnqPtPpLC{5B!&d=2k&#X!;O7Trh)(=WeObISY"
        "EKy)$U|?VYVnzlCU}k`UNCyK$1+T<B1v3K!11ke{D+2=s3IWhmCI(c%#K8*25l|&eNNxcGMn*6WL6S!S"
        "K)oRBNkHBmD$k7Kh7b0PrEsT#fCFP0gbxc7AnnNx4Hu9Y2M~)O8UG&$7@=xG=Dz&Pz`%~AmKmz%|Nr;@"
        "p>+K}D4!i_7DzA9l?<UFZn_pAL2jr4JTN~X1quhU-=N}*NNkXPUMQO%h$Cz(I74hpI6ZAMIo)m3LDB+H"
        "<xE)O{W+BJ_it({!lEDciO}%-|1T{KB$EC&J@pTePJ)U90LA}WAp"
    )
)

CASES: dict[str, tuple[str, bytes, str]] = {
    "spss_ends_the_process": (".sav", ENDS, "damaged"),
    "excel_cut": (".xlsx", GOOD["excel"][:-200], "damaged"),
    "excel_csv": (".xlsx", b"a,b\n1,2\n3,4\n", "not an Excel workbook"),
    "excel_old": (".xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 90, "password"),
    "excel_corner": (".xlsx", with_part(GOOD["excel"], SHEET, CORNER), "16,384 columns"),
    "excel_entity": (
        ".xlsx",
        with_part(GOOD["excel"], "xl/sharedStrings.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><sst/>'),
        "XML entities",
    ),
    "excel_lying": (".xlsx", lying(GOOD["excel"]), "damaged"),
    "excel_formula": (
        ".xlsx",
        with_part(GOOD["excel"], SHEET, FORMULA),
        "row 2: 1 cell is a formula",
    ),
    "excel_no_header": (".xlsx", sheet([1, WORD], [2, "b"], [3, "c"]), "row 1, column 1"),
    "excel_no_record": (".xlsx", sheet(["a", "b"]), "no record follows"),
    "excel_empty": (".xlsx", sheet(), "no visible sheet"),
    "spss_rows": (".sav", ROWS, "1,000,000,000 records"),
    "spss_cut": (".sav", SAV[:-9], "damaged"),
    "spss_noise": (".sav", b"$FL2" + bytes(range(256)) * 9, "damaged"),
    "stata_rows": (".dta", DTA[:N] + struct.pack("<q", 10**9) + DTA[N + 8 :], "records"),
    "stata_some_rows": (".dta", DTA[:N] + struct.pack("<q", 10**6) + DTA[N + 8 :], "damaged"),
    "stata_cut": (".dta", DTA[:-90], "cut off"),
    "stata_noise": (".dta", bytes([114, 1, 1, 0]) + bytes(range(256)) * 9, "damaged"),
    "sas_noise": (".xpt", b"HEADER RECORD*******LIBRARY HEADER" + bytes(900), "damaged"),
    "r_cut": (".rds", GOOD["r"][:-30], "damaged"),
    "r_noise": (".rds", gzip.compress(b"X\n\0\0\0\3" + bytes(range(256))), "damaged"),
    "r_plain": (".rds", gzip.compress(b"a,b\n1,2\n"), "is a gzip archive and not R"),
    "feather_cut": (".feather", GOOD["feather"][:-9], "damaged"),
    "feather_noise": (".feather", b"ARROW1\0\0" + bytes(range(256)), "damaged"),
    "pickle": (".rds", b"\x80\x04\x95" + b"\0" * 90, "never opened"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_and_remedy(name: str) -> None:
    ending, content, words = CASES[name]
    with pytest.raises(InputError) as caught:
        (read_bytes if content is ENDS else parse)(f"people{ending}", content)
    message = str(caught.value)
    assert re.fullmatch(rf"people\{ending}[,: ].*\.", message), message
    assert re.search(words, message), message
    assert ";" in message
    assert WORD not in message


def test_cells_that_fit_no_type_are_texts_and_said() -> None:
    mixed = said_of("t.xlsx", sheet(["a"], [1], [WORD], [2]))
    assert "texts: a (row 3: 1 cell" in mixed
    assert WORD not in mixed
    assert "texts: a (row 2: 1 cell" in said_of("t.xlsx", sheet(["a"], [2.0**60], [1.0]))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_gigabytes_of_r_are_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LARGEST_UNPACKED", 3_000_000)
    with pytest.raises(InputError, match="unpacks to more than 3 MB"):
        parse("a.rds", pack(b"X\n\0\0\0\3" + b"\0" * 10_000_000))


def test_packed_gigabytes_of_excel_and_feather_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LARGEST_UNPACKED", 3_000_000)
    with pytest.raises(InputError, match="unpacks to more than 3 MB"):
        parse("a.xlsx", with_part(GOOD["excel"], SHEET, CELLS % (b" " * 4_000_000)))
    stream = io.BytesIO()
    table = pa.table({"a": ["z" * 4_000_000, "y"]})
    for packing in ("zstd", "lz4"):
        stream = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=packing)
        with pa.ipc.new_file(stream, table.schema, options=options) as writer:
            writer.write_table(table)
        assert len(stream.getvalue()) < 100_000
        with pytest.raises(InputError, match="unpacks to more than 3 MB"):
            parse("a.feather", stream.getvalue())


# a broken file of Stata or SPSS may end this process
QUICK = sorted(GOOD.keys() - {"stata", "spss"})


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(QUICK),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_mutated_bytes_give_a_table_or_a_refusal(
    key: str, mutations: list[tuple[int, int]]
) -> None:
    content = bytearray(GOOD[key])
    for place, byte in mutations:
        content[place % len(content)] = byte
    with contextlib.suppress(InputError):
        assert parse(f"t{ENDING[key]}", bytes(content)).n >= 2


@pytest.mark.usefixtures("read_here")
def test_a_real_file_of_an_older_stata_is_known_by_its_content() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "old.dta"
        pyreadstat.write_dta(FRAME[["a"]], path, version=8)
        assert read(path).values("a").tolist() == FRAME["a"].tolist()
        with pytest.raises(InputError, match="is a Stata file and not CSV"):
            parse("a.csv", path.read_bytes())
