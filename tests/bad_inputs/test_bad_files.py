"""Broken, hostile and slow files are refused in one sentence."""

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
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rwn_core.errors import InputError
from rwn_core.io import FORMATS, limits, writable
from rwn_core.io.parse import parse
from rwn_core.io.reading import FileReading, FileToRead, read, read_bytes
from rwn_core.io.write import table_bytes
from tests.core.io.test_arrow_files import written
from tests.core.io.test_excel_sheets import sheet
from tests.waiting import HANG_S

WORD = "Zaphod"  # a cell that may not appear in a message
FRAME = pd.DataFrame({"a": [1.5, 2.25, 7.125], "t": [WORD, "y", "z"], "g": ["u", "v", "u"]})
FRAME["g"] = pd.Categorical(FRAME["g"])
GOOD = {form.key: table_bytes(FRAME, form.key) for form in writable()}
ENDING = {form.key: form.suffixes[0] for form in FORMATS}


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


def with_column(values: object, type: pa.DataType | None = None) -> bytes:
    array = values if isinstance(values, pa.Array) else pa.array(values, type)
    return written(pa.table({"a": pa.array([WORD] * len(array), pa.string()), "bad": array}))


GOOD_PARQUET = written(pa.table({"a": [WORD, "y", "z"], "x": [1.5, 2.5, 3.5]}))
FAR = pa.array([0, 2_000_000_000], pa.int32()).cast(pa.date32())
TWICE = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
NO_TEXTS = [None, pa.py_buffer(struct.pack("<3i", 0, 1, 2)), pa.py_buffer(b"\xff\xfe")]
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
    "parquet_cut": (".parquet", GOOD_PARQUET[:-20], "damaged.*save the file again"),
    "parquet_footer_lies": (
        ".parquet",
        GOOD_PARQUET[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "damaged.*save the file again",
    ),
    "parquet_twice": (".parquet", written(TWICE), "column name a .*columns 1, 2.*rename"),
    "parquet_no_columns": (".parquet", written(pa.table({})), "table has no columns"),
    "parquet_no_texts": (
        ".parquet",
        with_column(pa.Array.from_buffers(pa.string(), 2, NO_TEXTS)),
        "damaged.*save the file again",
    ),
    "pickle": (".rds", b"\x80\x04\x95" + b"\0" * 90, "never opened"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_place_and_remedy(name):
    ending, content, words = CASES[name]
    with pytest.raises(InputError) as caught:
        (read_bytes if content is ENDS else parse)(f"people{ending}", content)
    message = str(caught.value)
    assert re.fullmatch(rf"people\{ending}[,: ].*\.", message), message
    assert re.search(words, message), message
    assert not re.search(r"[.!?] (?!csv)", message), f"not one sentence: {message}"
    assert ";" in message
    assert WORD not in message


def unpacking() -> Iterator[tuple[str, bytes]]:
    """Small files that unpack to more than 5 MB."""
    for pack in (gzip.compress, bz2.compress):
        yield "a.rds", pack(b"X\n\0\0\0\3" + b"\0" * 10_000_000)
    yield "a.xlsx", with_part(GOOD["excel"], SHEET, CELLS % (b" " * 6_000_000))
    table = pa.table({"a": ["z" * 6_000_000, "y"], "b": [1, 2]})
    for packing in ("zstd", "lz4"):
        stream = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=packing)
        with pa.ipc.new_file(stream, table.schema, options=options) as writer:
            writer.write_table(table)
        yield "a.feather", stream.getvalue()
    plain, delta = {"use_dictionary": False}, {"column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    for options in ({}, plain, {**plain, **delta}):
        yield "a.parquet", written(table, compression="zstd", **options)


def test_packed_gigabytes_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_UNPACKED", 5_000_000)
    for name, bomb in unpacking():
        assert len(bomb) < 100_000
        with pytest.raises(InputError, match="unpacks to more than 5 MB"):
            parse(name, bomb)


# a broken file of Stata or SPSS may end this process
QUICK = sorted(GOOD.keys() - {"stata", "spss"})


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(QUICK),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_mutated_bytes_give_a_table_or_a_refusal(key, mutations):
    content = bytearray(GOOD[key])
    for place, byte in mutations:
        content[place % len(content)] = byte
    with contextlib.suppress(InputError):
        assert parse(f"t{ENDING[key]}", bytes(content)).n >= 2


@pytest.mark.usefixtures("read_here")
def test_a_real_file_of_an_older_stata_is_known_by_its_content():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "old.dta"
        pyreadstat.write_dta(FRAME[["a"]], path, version=8)
        assert read(path).values("a").tolist() == FRAME["a"].tolist()
        with pytest.raises(InputError, match="is a Stata file and not CSV"):
            parse("a.csv", path.read_bytes())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: with_column([{"x": 1}, {"x": 2}]), "bad (holds lists or records;"),
        (lambda: with_column([None, None], pa.float64()), "bad (no values)"),
        (lambda: written(pa.table({f"c{i}": [1, 2] for i in range(2001)})), "at most 2,000"),
        (lambda: with_column(FAR), "bad (dates outside the years 1 to 9999"),
    ],
)
def test_columns_that_cannot_be_used_are_left_out_and_the_others_read(make, said):
    data = parse("people.parquet", make())
    assert data.schema.released
    assert said in " ".join(data.notices)


def test_a_bomb_is_refused_by_its_declared_records(monkeypatch):
    monkeypatch.setattr(limits, "MOST_CELLS", 999_999)
    bomb = written(pa.table({"a": np.zeros(1_000_000)}), compression="zstd")
    assert len(bomb) < 10_000
    with pytest.raises(InputError, match="1,000,000 records of 1 column"):
        parse("people.parquet", bomb)


def test_a_bomb_of_repeated_texts_is_refused_by_the_limit_of_memory():
    text = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), ["z" * 100_000])
    bomb = written(pa.table({"a": text, "b": np.arange(20_000)}), store_schema=False)
    assert len(bomb) < 200_000
    job = FileReading(FileToRead(name="people.parquet", content=bomb), memory=5e8, seconds=HANG_S)
    assert job.wait(HANG_S)
    with pytest.raises(InputError, match="needs more") as caught:
        job.table()
    assert "zzz" not in str(caught.value)


def test_a_flipped_bit_is_found_by_the_checksum():
    values = np.random.default_rng(1).normal(size=100)
    good = written(
        pa.table({"a": values}), write_page_checksum=True, compression="none", use_dictionary=False
    )
    assert parse("people.parquet", good).n == 100
    bad = bytearray(good)
    bad[good.index(values[50].tobytes())] ^= 1
    with pytest.raises(InputError, match="damaged"):
        parse("people.parquet", bytes(bad))


def transport(version: int, frame: pd.DataFrame, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.xpt")
        pyreadstat.write_xport(frame, path, table_name=name, file_format_version=version)
        return path.read_bytes()


@pytest.mark.parametrize(("version", "members"), [(5, 2), (8, 3)])
def test_a_transport_file_of_several_data_sets_is_refused(version, members):
    """Finding T3: a second data set must not become records of the first."""
    frame = pd.DataFrame({"age": [float(20 + i) for i in range(40)], "sex": ["m", "f"] * 20})
    one = transport(version, frame, "ONE")
    others = [transport(version, frame.iloc[:7], f"T{i}")[240:] for i in range(1, members)]
    with pytest.raises(InputError) as caught:
        parse("t.xpt", one + b"".join(others))
    assert str(caught.value) == (
        f"t.xpt is a SAS transport file of {members} data sets; save the one to mask as a file of "
        "its own."
    )
    assert parse("t.xpt", one).n == 40
