"""Files made to take long, or to be misread: time grows as their size, and each is one sentence."""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import re
import tempfile
import time
import zipfile
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
import xlsxwriter

import rwn_core.io
from rwn_core.errors import InputError
from rwn_core.io.excel_container import check_workbook
from rwn_core.io.parse import parse
from rwn_core.io.reading import read_bytes

UNCLOSED = [b"<c ", b"<row ", b"<f ", b"<x:f a/", b"<c r=", b"</f> ", b"<f/ ", b"<a:c t=", b"<col "]
PARTS = [*UNCLOSED, b"1,", b" a", b",,", b"a@", b"- ", b"+1 ", b"..", b"ab: ", b"=(", b"\r", b"  "]


def patterns() -> dict[str, re.Pattern]:
    """Every regular expression at the top of a file of rwn_core.io."""
    found = {}
    for each in pkgutil.walk_packages(rwn_core.io.__path__, "rwn_core.io."):
        module = importlib.import_module(each.name)
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                found[f"{each.name}.{name}"] = value
    return found


def seconds(pattern: re.Pattern, part: bytes, size: int) -> float:
    """The time that a pattern takes over so many letters, at best of two."""
    many = (part * size)[:size] + b"!"
    text = many if isinstance(pattern.pattern, bytes) else many.decode()
    best = float("inf")
    for _ in range(2):
        begun = time.perf_counter()
        # parts of a file are searched, fields are matched from end to end
        (pattern.findall if isinstance(text, bytes) else pattern.fullmatch)(text)
        best = min(best, time.perf_counter() - begun)
    return best


def slow(found: dict[str, re.Pattern]) -> list[tuple[str, bytes]]:
    """Patterns that take more than ten times as long for four times the letters."""
    result = []
    for name, pattern in found.items():
        for part in PARTS:
            few, many = (seconds(pattern, part, size) for size in (5_000, 20_000))
            if many > 10 * few and many > 0.05:
                result.append((name, part))
    return result


def test_no_pattern_of_the_readers_takes_the_square_of_the_letters() -> None:
    """Finding T5."""
    found = patterns()
    assert len(found) > 8
    assert slow(found) == []


def test_a_quadratic_pattern_would_be_seen() -> None:
    assert slow({"planted": re.compile(rb"<(?:c|row)\s[^>]*?\br=")})


def workbook(part: bytes) -> bytes:
    """A workbook whose sheet is this."""
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        book.add_worksheet().write_row(0, 0, ["a", "b"])
    hostile = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(hostile, "w", 8) as new:
        for each in old.infolist():
            own = each.filename == "xl/worksheets/sheet1.xml"
            new.writestr(each.filename, part if own else old.read(each))
    return hostile.getvalue()


@pytest.mark.parametrize("part", UNCLOSED)
def test_a_workbook_of_tags_that_never_end_is_looked_at_once(part: bytes) -> None:
    times = []
    for size in (500_000, 2_000_000):
        content = workbook((part * size)[:size])
        begun = time.perf_counter()
        with contextlib.suppress(InputError):
            check_workbook("t.xlsx", content)
        times.append(time.perf_counter() - begun)
    assert times[1] < 10 * times[0] + 0.5


def test_a_sheet_with_a_far_cell_is_refused_for_its_size() -> None:
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    )
    for reads in (parse, read_bytes):  # the second in a process of its own, which looks around
        with pytest.raises(InputError, match=r"16,384 columns, more than 100,000,000 cells"):
            reads("t.xlsx", workbook(sheet))


def transport(version: int, frame: pd.DataFrame, name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.xpt")
        pyreadstat.write_xport(frame, path, table_name=name, file_format_version=version)
        return path.read_bytes()


@pytest.mark.parametrize("version", [5, 8])
@pytest.mark.parametrize("members", [2, 3])
def test_a_transport_file_of_several_data_sets_is_refused(version: int, members: int) -> None:
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
