"""The sentences about files: what they are, what is too large, what a format does not keep."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rwn_core import io as formats
from rwn_core.data.file_layout import FileLayout
from rwn_core.errors import InputError, NotWritten, RWNError, SchemaError
from rwn_core.io import parse, reading
from rwn_core.io.excel_container import _column_number, check_workbook
from rwn_core.io.limits import LONGEST_SHOWN, shown
from rwn_core.io.parse import describe, file_content
from rwn_core.io.reading import FileReading, FileToRead, read, schema_from
from rwn_core.io.write import write_atomically
from rwn_core.parallel.pool import CANCELLED, Stopped

LARGE = "read fewer columns or records, or use the commands for large tables."


def said(make: Any, *given: Any, kind: type[RWNError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        make(*given)
    assert type(caught.value) is kind
    return str(caught.value)


def test_a_file_is_known_by_its_first_bytes() -> None:
    old = bytes([114, 1, 1, 0, 0])
    known = {
        b"<stata_dta>": "a Stata file",
        old: "a Stata file",
        bytes([104, 2, 1, 0, 0]): "a Stata file",
        bytes([115, 1, 1, 0, 0]): "a Stata file",
        old[:4]: None,
        bytes([103, 1, 1, 0, 0]): None,
        bytes([116, 1, 1, 0, 0]): None,
        bytes([114, 3, 1, 0, 0]): None,
        bytes([114, 1, 2, 0, 0]): None,
        b"$FL3": "an SPSS file",
        b" " * 100 + b"SPSS PORT FILE": "an SPSS file",
        b"PK\x03\x04xl/": "an Excel workbook",
        b"PK\x03\x04": "a zip archive or an Excel workbook",
        b"a,xl/": None,
        b"ARROW1": "a Feather (Arrow) file",
        b"\xef\xbb\xbf \n<HTML>": "a web page",
        b"GIF8": "a GIF image",
        b"a,b\n1,2": None,
    }
    assert {content: describe(content) for content in known} == known


def test_a_file_of_another_kind_than_its_name_says_is_named() -> None:
    save = f"save the table as {formats.kinds()}."
    other = "give a file of another format the ending"
    cases = {
        ("t.doc", b"a,b"): f"t.doc does not end in {formats.endings()}; {save}",
        ("../../t", b"a,b"): f"t does not end in {formats.endings()}; {save}",
        ("t.doc", b"GIF8"): f"t.doc is a GIF image; {save}",
        ("t.doc", b"PAR1"): "t.doc is a Parquet file; give it the ending .parquet or .pq, or save "
        f"the table as {formats.kinds()}.",
        ("t.csv", b"GIF8"): f"t.csv is a GIF image and not CSV; {save}",
        ("t.rds", b"a,b"): "t.rds is not an R data file; save the table as R, or "
        f"{other} {formats.endings('r')}.",
        ("t.rds", b"GIF8"): "t.rds is a GIF image and not R; save the table as R, or "
        f"{other} {formats.endings('r')}.",
        ("t.csv", b""): "t.csv is empty (0 bytes); choose a file that holds a table.",
    }
    assert {case: said(parse.parse, *case) for case in cases} == cases
    assert said(parse.parse, "t.csv", b"a", None, FileLayout(sheet="s")) == (
        "t.csv is to be read with a given sheet, which a CSV file does not have; leave it out."
    )


def test_a_file_larger_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"a\n1\n2\n"
    monkeypatch.setattr(parse, "LARGEST_FILE", 6)
    assert parse.parse("t.csv", content).n == 2
    assert said(parse.parse, "t.csv", content + b"3") == f"t.csv is larger than 0 MB; {LARGE}"
    (tmp_path / "t.csv").write_bytes(content)
    monkeypatch.setattr(parse, "LARGEST_FILE", 6)
    assert file_content(tmp_path / "t.csv") == content
    monkeypatch.setattr(parse, "LARGEST_FILE", 5)
    assert said(file_content, tmp_path / "t.csv") == f"t.csv is larger than 0 MB; {LARGE}"


def test_a_path_that_is_no_file_is_named(tmp_path: Path) -> None:
    rights = "check its path and your rights."
    assert said(file_content, Path("/dev/null")) == (
        "null is no ordinary file; copy the table into one."
    )
    assert said(file_content, Path("/none/t.csv")) == (
        f"t.csv cannot be opened (no such file or directory); {rights}"
    )
    folder = f"{tmp_path.name} cannot be opened (is a directory); {rights}"
    assert said(file_content, tmp_path) == folder
    assert said(file_content, Path("/t\0.csv")) == f"t?.csv cannot be opened (not a path); {rights}"


def test_a_schema_file_is_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(b'\xef\xbb\xbf[[variable]]\nname = "x"\nkind = "count"\n')
    schema = schema_from(path)
    assert schema is not None
    assert schema_from(schema) is schema
    path.write_bytes(b"\xff")
    assert said(schema_from, path, kind=SchemaError) == (
        "t.toml is not UTF-8 text; save it as UTF-8."
    )


def test_a_long_or_hostile_name_is_shown_tamely() -> None:
    name = "x" * (LONGEST_SHOWN - 4) + ".csv"
    assert shown(name) == name
    assert shown("x" + name) == "x" * (LONGEST_SHOWN - 3) + ".c…"
    assert shown("C:\\data\\a\x1b.csv") == "a?.csv"
    assert shown("/") == "the file"


def archive(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", 8) as made:
        for name, part in parts.items():
            made.writestr(f"xl/worksheets/{name}.xml", part)
    return stream.getvalue()


def test_the_parts_of_a_workbook_are_judged() -> None:
    assert [_column_number(letters) for letters in (b"", b"A", b"Z", b"AA", b"XFD")] == [
        0,
        1,
        26,
        27,
        16_384,
    ]
    assert said(check_workbook, "t.xlsx", archive(a=b'<!ENTITY a "b">')) == (
        "t.xlsx has XML entities, which no office program writes; save it again."
    )
    assert said(check_workbook, "t.xlsx", archive(a=b'<row r="100000001">')).startswith(
        "t.xlsx has 100,000,001 records of 1 columns, more than"
    )
    found = check_workbook("t.xlsx", archive(a=b"<f>1</f><v>1</v>", b=b"<f>2</f></c>", c=b"<x/>"))
    assert (found.formulas, found.macros) == (2, False)
    assert said(check_workbook, "t.xlsx", b"PK\x03\x04") == (
        "t.xlsx is damaged, cut off or protected by a password; get or save the file again."
    )


def test_a_feather_file_with_broken_letters_is_damaged() -> None:
    ends = pa.py_buffer(struct.pack("<3i", 0, 1, 2))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"\xff\xfe")])
    stream = io.BytesIO()
    batch = pa.record_batch({"x": broken})
    with pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
    assert said(parse.parse, "t.feather", stream.getvalue()) == (
        "t.feather is damaged, cut off or encrypted; get or save the file again."
    )


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    assert said(write_atomically, tmp_path / "out.csv", b"a", kind=NotWritten) == (
        "The file out.csv could not be written (Is a directory); choose another folder or free "
        "some space."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.usefixtures("read_here")
def test_a_reading_says_what_it_does_and_why_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"a;b\n1;2\n3;4\n"
    job = FileReading(FileToRead(name="x/t.csv", content=content), memory=2e9, seconds=60.0)
    assert (job.words, job.running, job.wait(0.0), job.wait()) == (
        "Reading t.csv",
        False,
        True,
        True,
    )
    assert "semicolons" in said(job.result)
    assert job.seen is not None
    assert job.seen.layout == FileLayout(separator=";")
    assert str(job._why(Stopped(CANCELLED))) == CANCELLED
    again = "get or save the file again, or read fewer columns or records."
    assert str(job._why(Stopped("gone"))) == (
        f"t.csv is damaged, or needs more than 2 GB to be read; {again}"
    )
    assert str(job._why(Stopped("gone", "ValueError, 7"))) == (
        f"t.csv is damaged, or needs more than 2 GB to be read (ValueError, 7); {again}"
    )
    job._started -= 61
    assert str(job._why(Stopped("gone"))) == f"t.csv takes more than 60 seconds to read; {LARGE}"
    fine = FileReading(FileToRead(name="t.csv", content=b"a,b\n1,2\n3,4\n"))
    assert (fine.share > 0.5, fine.result().n) == (True, 2)
    job.cancel()
    assert said(job.result, kind=Stopped) == CANCELLED

    def no_room(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(reading, "parse", no_room)
    (tmp_path / "t.csv").write_bytes(content)
    assert said(read, tmp_path / "t.csv") == (
        f"t.csv needs more memory than the reading of a file may take; {LARGE}"
    )
