"""Files are read in a process of its own, with limits; fixed-width extracts."""

import gzip
import io
import multiprocessing
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rwn_core as rwn
from rwn_cli.main import run
from rwn_core import InputError, Kind, Microdata, ParameterError
from rwn_core import io as formats
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.plain import LETTERS_AT_ONCE, LONGEST_DOCUMENT
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import NotWritten, RWNError, SchemaError
from rwn_core.io import parse as parse_words
from rwn_core.io import reading
from rwn_core.io.excel_container import check_workbook
from rwn_core.io.fixed_width_format import FORMAT
from rwn_core.io.guessed_layout import GuessedLayout, guess_text_layout
from rwn_core.io.limits import LONGEST_SHOWN, shown
from rwn_core.io.parse import describe, file_content, parse, table_content
from rwn_core.io.reading import FileReading, FileToRead, parse_text, read, read_bytes, schema_from
from rwn_core.io.text_types.column import Form, text_form
from rwn_core.io.text_types.lay_out import table_lines
from rwn_core.io.write import table_bytes, write_atomically
from rwn_core.parallel import processes
from rwn_core.parallel.pool import CANCELLED, Stopped
from rwn_core.reporting.scenario import Scenario
from tests.waiting import BETWEEN, HANG_S, growth, processor_seconds, until

FRAME = pd.DataFrame(
    {
        "whole": pd.array([1, None, 2**60], dtype="Int64"),
        "int": np.array([1, 2, 3], dtype="int16"),
        "single": np.array([0.1, 2.5, np.nan], dtype="float32"),
        "double": [0.1, -1e-300, np.nan],
        "truth": [True, False, True],
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "text": pd.array(["a", None, "c"], dtype="str"),
        "level": pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True),
        "day": pd.to_datetime(["2020-01-01", None, "1850-05-05"]).astype("datetime64[s]"),
        "moment": pd.to_datetime(["2020-01-01T01:02:03.000004Z"] * 3).tz_convert("Europe/Berlin"),
    }
)


def test_what_comes_back_is_what_was_read():
    kinds = ["count"] * 2 + ["continuous"] * 2 + ["categorical"] * 3 + ["ordered", "date", "date"]
    described = zip(FRAME, kinds, ["key", *["other"] * 8, "identifier"], strict=True)
    schema = Schema(variables=tuple(Variable(name=n, kind=k, role=r) for n, k, r in described))
    data = Microdata.from_frame(FRAME, schema, notices=("A note.",))
    line = reading._answer(data, None)
    answer = reading._taken(line)
    again, refusal = answer.data, answer.refusal
    assert refusal is None
    pd.testing.assert_frame_equal(again.frame, data.frame)
    assert again.schema == data.schema
    assert again.notices == data.notices
    assert again.fingerprint == data.fingerprint
    other = Schema(variables=(Variable(name="z", kind="count"),))
    with pytest.raises(SchemaError, match="variable z that the table lacks"):  # its kind, too
        read_bytes("a.csv", b"x,y\n1,2\n3,4\n", other)


def test_a_file_that_takes_too_long_or_too_much_is_one_sentence(tmp_path):
    table = pa.table({"x": np.zeros(90_000_000)})
    path = tmp_path / "zeros.parquet"
    pq.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 1_000_000
    for limits, words in (
        ({"memory": 3e8, "seconds": HANG_S}, r"zeros\.parquet .*memory"),
        ({"memory": 8e9, "seconds": 0.01}, r"zeros\.parquet takes more than 0\.01 seconds to read"),
    ):
        job = FileReading(FileToRead(name=path.name, path=path), **limits)
        assert job.wait(HANG_S)
        with pytest.raises(InputError, match=words):
            job.table()
    until(lambda: not job._pool.pids)


def test_a_small_packed_file_takes_little_memory():
    content = table_bytes(FRAME[["double", "text"]], "r")
    job = FileReading(FileToRead(name="t.rds", content=content), memory=4e8, seconds=HANG_S)
    assert job.wait(HANG_S)
    assert job.table().n == 3


def test_a_cancelled_reading_leaves_no_process_and_one_that_is_over_no_table():
    job = FileReading(FileToRead(name="late.csv", content=b"x,y\n" + b"1,2\n" * 3_000_000))
    until(lambda: job._pool.pids)
    (process,) = job._pool.pids
    job.cancel()
    assert not job.running
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    over = FileReading(FileToRead(name="kept.csv", content=b"x,t\n1,SENTINEL\n2,b\n3,c\n"))
    assert over.wait(HANG_S)
    assert over.table().n == 3
    over.cancel()  # a button that could cancel it is remembered for long
    for each in (job, over):
        with pytest.raises(RWNError, match="Cancelled"):
            each.table()


def test_a_device_and_a_pipe_are_refused_before_anything_is_read(tmp_path):
    """A pipe that nobody writes to would be waited for, a device read until memory ends."""
    pipe, zero = tmp_path / "pipe.parquet", tmp_path / "zero.csv"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        with pytest.raises(InputError, match="no ordinary file"):
            read(path)


def test_an_answer_of_another_kind_is_never_unpickled(tmp_path):
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return Path.touch, (mark,)

    mine, theirs = multiprocessing.Pipe()
    worker = processes.Worker.__new__(processes.Worker)
    worker.channel = mine
    for plain, made in ((True, False), (False, True)):
        worker._plain = plain
        processes._send(theirs, processes._PICKLED, processes.packed(Evil()))
        assert worker.receive(lambda share: None)[0] == ("failed" if plain else "done")
        assert mark.exists() == made  # or the first could not fail


def test_a_process_that_dies_is_one_sentence():
    job = FileReading(FileToRead(name="a.csv", content=b"x,y\n1,2\n3,4\n"), seconds=HANG_S)
    for worker in job._pool._workers:
        worker.process.kill()
    assert job.wait(HANG_S)
    with pytest.raises(InputError, match=r"a\.csv is damaged, or needs more than .* GB"):
        job.table()


def test_no_library_says_on_the_terminal_what_a_cell_holds(capfd):
    content = gzip.decompress(table_bytes(pd.DataFrame({"t": ["Zaphod", "y"], "a": [1, 2]}), "r"))
    # a text that claims to be ASCII: the library warns with its bytes
    broken = content.replace(
        b"\x00\x04\x00\x09\x00\x00\x00\x06Zaphod", b"\x00\x04\x00\x09\0\0\0\x06Zaph\x95d"
    )
    assert broken != content
    with pytest.raises(InputError, match="damaged"):
        read_bytes("a.rds", broken)
    assert capfd.readouterr() == ("", "")


LONG = " " * (LETTERS_AT_ONCE + 1)


def process(text: str) -> int:
    return os.getpid()


def endless(text: str) -> None:
    while True:
        pass


def greedy(text: str) -> int:
    return len(bytearray(10_000_000_000))


def fatal(text: str) -> None:
    os._exit(1)


def test_only_a_long_text_has_a_process_of_its_own_and_what_takes_too_much_is_refused():
    assert parse_text(process, LONG[1:], "text") == os.getpid()
    assert parse_text(process, LONG, "text", seconds=HANG_S) != os.getpid()
    for costly, seconds in ((endless, 0.1), (greedy, HANG_S), (fatal, HANG_S)):
        with pytest.raises(RWNError, match=r"shorten it\.$"):
            parse_text(costly, LONG, "scenario file", seconds=seconds)
    with pytest.raises(InputError, match="5,000,000"):
        parse_text(process, " " * (LONGEST_DOCUMENT + 1), "project file")
    with pytest.raises(RWNError, match="scenario file") as caught:  # a refusal over there
        parse_text(Scenario.from_toml, "a = " + "[" * 60_000, "scenario file", seconds=HANG_S)
    assert "\n" not in str(caught.value)


def layout_of(content: str | bytes, usual: str = ",") -> FileLayout:
    seen = guess_text_layout(content if isinstance(content, bytes) else content.encode(), usual)
    assert GuessedLayout.from_dict(seen.plain()) == seen
    return seen.layout


def table(*lines: str, schema: Schema | None = None) -> Microdata:
    return parse("t.csv", "\n".join(lines).encode(), schema)


def test_the_encoding_is_seen_by_the_bytes():
    for sign, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        text = "a,b\nx,1\n".encode("utf-16-le" if sign == b"\xff\xfe" else "utf-16-be")
        assert layout_of(sign + text) == FileLayout(encoding=encoding)
    assert layout_of("é,b\nx,1\n") == FileLayout()
    assert layout_of("é,b\nx,1\n".encode("latin-1")) == FileLayout(encoding="cp1252")
    assert layout_of(b"\x81,b\nx,1\n") == FileLayout(encoding="latin-1")
    assert guess_text_layout(b"a\0b,c\n", ",") is None
    assert guess_text_layout(b" \n\n", ",") is None


def test_the_separator_is_the_mark_of_most_lines_and_of_more_fields():
    assert layout_of("a;b\n" * 6 + "note\n" * 4).separator == ";"
    assert layout_of("a;b\n" * 5 + "note\n" * 5).separator is None
    assert layout_of("a,b;c;d\n" * 4).separator == ";"
    assert layout_of("a,b;c;d\n" * 7 + "a,b\n" * 3).separator is None
    assert layout_of("a\tb\n1\t2\n", "\t").separator is None
    assert layout_of("a,b\n1,2\n", "\t").separator == ","
    assert layout_of("a,b;c\n" * 4).separator is None
    long = "x" * 140_000
    assert layout_of(f"a;b\n1;2\n{long}\n3;4\n").separator == ";"


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_the_lines_of_a_table_stand_between_those_above_and_below(end):
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


def test_blanks_around_a_number_are_none_of_it_and_control_characters_are():
    for code, form in (
        *((code, Form.NUMBER) for code in BLANKS),
        *((code, Form.WORD) for code in NO_BLANKS),
    ):
        assert text_form(f"{chr(code)}5{chr(code)}") is form, hex(code)


def test_an_identifier_keeps_its_codes_for_missing():
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


LARGE = "read fewer columns or records, or use the commands for large tables."


def said(make: Any, *given: Any, kind: type[RWNError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        make(*given)
    assert type(caught.value) is kind
    return str(caught.value)


def test_a_file_is_known_by_its_first_bytes():
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


def test_a_file_of_another_kind_than_its_name_says_is_named():
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
    assert {case: said(parse_words.parse, *case) for case in cases} == cases
    assert said(parse_words.parse, "t.csv", b"a", None, FileLayout(sheet="s")) == (
        "t.csv is to be read with a given sheet, which a CSV file does not have; leave it out."
    )


def test_a_file_larger_than_the_limit_is_refused(tmp_path, monkeypatch):
    content = b"a\n1\n2\n"
    monkeypatch.setattr(parse_words, "LARGEST_FILE", 6)
    assert parse_words.parse("t.csv", content).n == 2
    assert said(parse_words.parse, "t.csv", content + b"3") == f"t.csv is larger than 0 MB; {LARGE}"
    (tmp_path / "t.csv").write_bytes(content)
    monkeypatch.setattr(parse_words, "LARGEST_FILE", 6)
    assert file_content(tmp_path / "t.csv") == content
    monkeypatch.setattr(parse_words, "LARGEST_FILE", 5)
    assert said(file_content, tmp_path / "t.csv") == f"t.csv is larger than 0 MB; {LARGE}"


def test_a_path_that_is_no_file_is_named(tmp_path):
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


def test_a_schema_file_is_utf_8(tmp_path):
    path = tmp_path / "t.toml"
    path.write_bytes(b'\xef\xbb\xbf[[variable]]\nname = "x"\nkind = "count"\n')
    schema = schema_from(path)
    assert schema is not None
    assert schema_from(schema) is schema
    path.write_bytes(b"\xff")
    assert said(schema_from, path, kind=SchemaError) == (
        "t.toml is not UTF-8 text; save it as UTF-8."
    )


def test_a_long_or_hostile_name_is_shown_tamely():
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


def test_the_parts_of_a_workbook_are_judged():
    for cell, columns in (("Z9000000", "26"), ("AA9000000", "27"), ("XFD9000000", "16,384")):
        refusal = said(check_workbook, "t.xlsx", archive(a=f'<c r="{cell}">'.encode()))
        assert refusal.startswith(f"t.xlsx has 9,000,000 records of {columns} columns, more than")
    assert said(check_workbook, "t.xlsx", archive(a=b'<!ENTITY a "b">')) == (
        "t.xlsx has XML entities, which no office program writes; save it again."
    )
    assert said(check_workbook, "t.xlsx", archive(a=b'<row r="100000001">')).startswith(
        "t.xlsx has 100,000,001 records of 1 columns, more than"
    )
    assert said(check_workbook, "t.xlsx", b"PK\x03\x04") == (
        "t.xlsx is damaged, cut off or protected by a password; get or save the file again."
    )


def test_a_feather_file_with_broken_letters_is_damaged():
    ends = pa.py_buffer(struct.pack("<3i", 0, 1, 2))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"\xff\xfe")])
    stream = io.BytesIO()
    batch = pa.record_batch({"x": broken})
    with pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
    assert said(parse_words.parse, "t.feather", stream.getvalue()) == (
        "t.feather is damaged, cut off or encrypted; get or save the file again."
    )


def test_a_folder_is_no_file_to_write(tmp_path):
    (tmp_path / "out.csv").mkdir()
    assert said(write_atomically, tmp_path / "out.csv", b"a", kind=NotWritten) == (
        "The file out.csv could not be written (Is a directory); choose another folder or free "
        "some space."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.usefixtures("read_here")
def test_a_reading_says_what_it_does_and_why_it_ended(tmp_path, monkeypatch):
    content = b"a;b\n1;2\n3;4\n"
    job = FileReading(FileToRead(name="x/t.csv", content=content), memory=2e9, seconds=HANG_S)
    assert (job.words, job.running) == ("Reading t.csv", False)
    assert (job.wait(0.0), job.wait()) == (True, True)
    assert "semicolons" in said(job.table)
    assert job.seen.layout == FileLayout(separator=";")
    assert str(job._why(Stopped(CANCELLED))) == CANCELLED
    again = "get or save the file again, or read fewer columns or records."
    assert str(job._why(Stopped("gone"))) == (
        f"t.csv is damaged, or needs more than 2 GB to be read; {again}"
    )
    assert str(job._why(Stopped("gone", "ValueError, 7"))) == (
        f"t.csv is damaged, or needs more than 2 GB to be read (ValueError, 7); {again}"
    )
    job._started -= HANG_S + 1
    assert str(job._why(Stopped("gone"))) == (
        f"t.csv takes more than {HANG_S:g} seconds to read; {LARGE}"
    )
    fine = FileReading(FileToRead(name="t.csv", content=b"a,b\n1,2\n3,4\n"))
    assert (fine.share > 0.5, fine.table().n) == (True, 2)
    job.cancel()
    assert said(job.table, kind=Stopped) == CANCELLED

    def no_room(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(reading, "parse", no_room)
    (tmp_path / "t.csv").write_bytes(content)
    assert said(read, tmp_path / "t.csv") == (
        f"t.csv needs more memory than the reading of a file may take; {LARGE}"
    )


SPACES = ("", ' xmlns="ddi:codebook:2_5"', ' xmlns="http://www.icpsr.umich.edu/DDI"')
STATES = ("NY", "Île", None, "01", "")


def var(name: str, start: int, end: int, more: str = "", about: str = "", kind: str = "") -> str:
    form = f'<varFormat type="{kind or "numeric"}" schema="other"/>'
    place = f'<location EndPos="{end}" StartPos="{start}" width="{end - start + 1}"/>'
    return f'<var ID="{name}" name="{name}" {about}>{place}{more}{form}</var>'


def category(code: object, label: str, about: str = "") -> str:
    return f"<catgry {about}><catValu>{code}</catValu><labl>{label}</labl></catgry>"


def codebook(*variables: str, space: str = SPACES[1], structure: str = "rectangular") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><codeBook version="2.5"{space}><fileDscr><fileTxt>'
        f'<fileName>usa.dat</fileName><fileStrc type="{structure}"/>'
        f'<fileType charset="ISO-8859-1">data</fileType></fileTxt></fileDscr><dataDscr>'
        f"{''.join(variables)}</dataDscr></codeBook>"
    )


SEX = category(1, "Male") + category(2, "Female &amp; other")
SEX += category(9, "Unknown", 'missing="Y"')
VARIABLES = (
    var("YEAR", 1, 4, "<labl>Census\n year</labl>" + category(2012, "2012"), 'dcml="0"'),
    var("PERWT", 5, 14, "<labl>Person weight</labl>", 'dcml="2" intrvl="contin"'),
    var("SEX", 15, 15, "<labl>Sex</labl>" + SEX, 'intrvl="discrete"'),
    var("STATE", 16, 18, "<labl>State</labl>", kind="character"),
    var("INCTOT", 19, 26, category("9999999", "N/A")),
    var("RATIO", 27, 32, "", 'dcml="3"'),
)
PLAIN = (var("A", 1, 2), var("B", 3, 4))


def extract(n: int = 300, seed: int = 1) -> tuple[list[str], dict[str, list[Any]]]:
    """Lines of an extract, and the values that they were written of."""
    random = np.random.default_rng(seed)
    values: dict[str, list[Any]] = {
        "YEAR": random.integers(1990, 2020, n).tolist(),
        "PERWT": (random.integers(0, 10**9, n) / 100).tolist(),
        "SEX": random.choice([1, 2, 9], n).tolist(),
        "STATE": [STATES[i] for i in random.integers(0, len(STATES), n)],
        "INCTOT": [int(each) if each % 7 else None for each in random.integers(-9999, 10**6, n)],
        "RATIO": [int(each) / 1000 if each % 5 else None for each in random.integers(0, 9999, n)],
    }

    def as_written(ratio: float | None, year: int) -> str:
        if ratio is None:
            return ""
        with_point = year % 2 == 1
        return f"{ratio:.3f}" if with_point else str(round(ratio * 1000))

    lines = [
        f"{year}{round(weight * 100):010d}{sex}{state or '':<3}"
        f"{'' if income is None else income:>8}"
        f"{as_written(ratio, year):>6}"
        for year, weight, sex, state, income, ratio in zip(*values.values(), strict=True)
    ]
    return lines, values


def written(folder: Path, lines: list[str], book: str, name: str = "usa", end: str = "\n") -> Path:
    (folder / f"{name}.xml").write_text(book, encoding="utf-8")
    path = folder / f"{name}.dat"
    path.write_bytes("".join(line + end for line in lines).encode("latin-1"))
    return path


def opened(path: Path, schema: Any = None) -> Microdata:
    """The table, read in this process."""
    return parse(path.name, table_content(path), schema)


def said_of_extract(lines: str, book: str) -> str:
    with pytest.raises(InputError) as refusal:
        parse("usa.dat", lines.encode() + b"\0" + book.encode())
    return str(refusal.value)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_cell_is_the_value_that_was_written(tmp_path, space, end):
    lines, values = extract()
    data = opened(written(tmp_path, lines, codebook(*VARIABLES, space=space), end=end))
    frame = data.frame
    assert data.names == tuple(values)
    assert frame["YEAR"].tolist() == values["YEAR"]
    assert frame["PERWT"].tolist() == values["PERWT"]
    sexes = {1: "Male", 2: "Female & other", 9: None}
    for name, wanted in (
        ("SEX", [sexes[each] for each in values["SEX"]]),
        ("STATE", [each or None for each in values["STATE"]]),
        ("INCTOT", values["INCTOT"]),
        ("RATIO", values["RATIO"]),
    ):
        column = frame[name].astype(object)
        assert column.where(column.notna(), None).tolist() == wanted, name


def test_labels_codes_and_decimals_come_into_the_schema(tmp_path):
    schema = opened(written(tmp_path, extract()[0], codebook(*VARIABLES))).schema
    labels = [variable.label for variable in schema.variables]
    assert labels == ["Census year", "Person weight", "Sex", "State", None, None]
    sex = schema.variable("SEX")
    assert sex.value_labels == ((1, "Male"), (2, "Female & other"), (9, "Unknown"))
    assert (sex.kind, sex.missing_codes) == (Kind.CATEGORICAL, (9,))
    assert schema.variable("STATE").kind is Kind.CATEGORICAL
    assert schema.variable("INCTOT").value_labels == ((9999999, "N/A"),)
    assert schema.variable("YEAR").value_labels == ()  # a number is no label of itself
    assert [v.decimals for v in schema.variables] == [None, 2, None, None, None, 3]
    places = category("01", "01") + category("", "None") + category("NY", "New York")
    book = codebook(var("STATE", 1, 3, places, kind="character"))
    state = opened(written(tmp_path, ["01 ", "NY "], book, "places")).schema.variable("STATE")
    assert state.value_labels == (("01", "01"), ("NY", "New York"))  # of texts each code has one


def test_long_numbers_and_texts_among_numbers_lose_nothing():
    book = codebook(var("ID", 1, 18), var("LONG", 19, 38), var("MIX", 39, 40), var("DOT", 41, 42))
    rows = ["123456789012345678" + "12345678901234567890" + "B2" + " ." for _ in range(4)]
    rows += ["000000000000000007" + "00000000000000000001" + "07" + "-1"]
    data = parse("usa.dat", "\n".join(rows).encode() + b"\0" + book.encode())
    frame = data.frame
    assert frame["ID"].tolist() == [123456789012345678] * 4 + [7]
    assert frame["LONG"].astype(str).tolist()[0] == "12345678901234567890"
    assert frame["MIX"].astype(str).tolist() == ["B2"] * 4 + ["07"]
    assert frame["DOT"].isna().tolist() == [True] * 4 + [False]
    told = [each for each in data.notices if "numeric in the codebook" in each]
    assert [each.split()[0] for each in told] == ["LONG", "MIX"]


def test_places_are_characters_whatever_the_encoding(tmp_path):
    book = codebook(var("NAME", 1, 3, kind="character"), var("X", 4, 6)).replace("ISO-8859-1", "{}")
    for charset in ("UTF-8", "ISO-8859-1", "unknown", "punycode"):
        path = written(tmp_path, [], book.format(charset))
        rows = "Île 12\nb   34\nÎç   5\n"
        path.write_bytes(rows.encode("latin-1" if "ISO" in charset else "utf-8"))
        frame = opened(path).frame
        assert frame["NAME"].tolist() == ["Île", "b", "Îç"]
        assert frame["X"].tolist() == [12, 34, 5]
    path.write_bytes(b"\xff" * 6 + b"\n")
    with pytest.raises(InputError, match=r"usa\.dat is no text in utf-8, the encoding that its"):
        opened(path)


def test_a_line_of_another_length_is_named(tmp_path):
    lines, _ = extract(20)
    for row, line in ((6, lines[6][:-5]), (19, lines[19] + "  "), (3, ""), (0, lines[0][:-1])):
        changed = [*lines[:row], line, *lines[row + 1 :]]
        with pytest.raises(InputError) as refusal:
            opened(written(tmp_path, changed, codebook(*VARIABLES)))
        assert str(refusal.value) == (
            f"usa.dat, line {row + 1}: it has {len(line)} characters, and the codebook describes "
            "32; get the extract again, together with its codebook."
        )


def test_without_a_codebook_one_sentence_says_what_to_do(tmp_path):
    path = written(tmp_path, extract(20)[0], codebook(*VARIABLES))
    sentence = (
        "usa.dat needs its DDI codebook (usa.xml) in the same folder: put both there, and open it "
        "by rwn app usa.dat, a command or Python; a table with separators needs the ending of its "
        "format, such as .csv."
    )
    with pytest.raises(InputError) as upload:
        rwn.read_bytes("usa.dat", path.read_bytes())
    assert str(upload.value) == sentence
    for content in (b"\0\1\2 <", b"1234\0\xff\xfe<\0?\0"):
        with pytest.raises(InputError) as binary:
            parse("usa.dat", content)
        assert str(binary.value) == sentence
    (tmp_path / "usa.xml").rename(tmp_path / "a.xml")
    data = rwn.read(path)  # the only one in the folder
    assert data.n == 20
    (tmp_path / "b.xml").write_bytes((tmp_path / "a.xml").read_bytes())
    with pytest.raises(InputError) as two:
        opened(path)
    assert str(two.value) == sentence
    path.rename(tmp_path / "B.TXT")
    other = opened(tmp_path / "B.TXT")
    assert (
        other.notices[0] == "The codebook names another file, usa.dat; check that it is of B.TXT."
    )
    assert other.frame.equals(data.frame)


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><codeBook>&b;</codeBook>'
FAR = '<!DOCTYPE x SYSTEM "file:///etc/passwd"><codeBook/>'


def test_a_codebook_is_read_without_entities_or_a_dtd():
    for book in (BOMB, FAR, '<?xml version="1.0"?>\n' + BOMB):
        sentence = "usa.dat: the codebook has a DOCTYPE, which is not read; get it again."
        assert said_of_extract("1234", book) == sentence
    broken = "usa.dat: the codebook is no complete XML document; get it again."
    whole = codebook(*PLAIN)
    for book in ("<codeBook>&b;</codeBook>", whole[:-9], "<", whole.replace("UTF-8", "none")):
        assert said_of_extract("1234", book) == broken
    for book in ("<codeBook/>", "<html><body/></html>"):
        assert "describes no variables; choose its DDI codebook" in said_of_extract("1234", book)


def test_a_codebook_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    path = written(tmp_path, ["1234"] * 3, codebook(*PLAIN))
    monkeypatch.setattr("rwn_core.io.parse.LARGEST_COMPANION", 100)
    with pytest.raises(InputError, match=r"usa\.xml has more than 100 bytes"):
        table_content(path)


def test_several_types_of_records_are_refused():
    typed = (var("A", 1, 2, "", 'rectype="H"'), var("B", 3, 4, "", 'rectype="P"'))
    second = '<location StartPos="1" EndPos="2" RecSegNo="2"/>'
    segments = (PLAIN[0], PLAIN[1].replace("width", 'RecSegNo="2" width'))
    files = (var("A", 1, 2, "", 'files="F1"'), var("B", 3, 4, "", 'files="F2"'))
    books = [codebook(*each) for each in (typed, segments, files, (var("A", 1, 2, second),))]
    for book in (*books, codebook(*PLAIN, structure="hierarchical")):
        assert said_of_extract("1234\n5678", book) == (
            "usa.dat: the codebook describes several types of records (a hierarchical extract); "
            "choose the rectangular extract."
        )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('StartPos="1"', 'StartPos="0"'),
        ('StartPos="1"', 'StartPos="x"'),
        ('EndPos="2"', 'EndPos="3"'),
        ('EndPos="2"', 'EndPos="99999999999"'),
        ('name="A" ', 'name="A" dcml="-1"'),
        ('name="A" ', 'name="A" dcml="1e9"'),
        ('<location EndPos="2" StartPos="1" width="2"/>', ""),
    ],
)
def test_a_place_that_cannot_be_is_refused(old, new):
    assert said_of_extract("1234", codebook(*PLAIN).replace(old, new)) == (
        "usa.dat: the codebook gives no place in the line for A, or a wrong one; get it again."
    )


def test_nothing_is_written_in_fixed_width(tmp_path):
    data = opened(written(tmp_path, extract()[0], codebook(*VARIABLES)))
    release = rwn.mask(data, rwn.RWN(k=3), seed=1)
    with pytest.raises(ParameterError, match=r"must end in \.csv, .*\.rds"):
        release.publish(tmp_path / "out.dat")
    release.publish(tmp_path / "out.csv", original=tmp_path / "usa.dat")
    header = (tmp_path / "out.csv").read_text("utf-8").partition("\n")[0]
    assert header == ",".join(data.names)


def test_the_commands_read_it(tmp_path, capsys):
    path = written(tmp_path, extract()[0], codebook(*VARIABLES))
    assert run(["describe", str(path), "-o", str(tmp_path / "usa.toml")]) == 0
    assert "usa.dat: 300 records, 6 variables" in capsys.readouterr().err
    described = rwn.Schema.from_toml((tmp_path / "usa.toml").read_text("utf-8"))
    assert described.variable("PERWT").label == "Person weight"
    (tmp_path / "usa.xml").unlink()
    assert run(["describe", str(path)]) != 0
    assert "usa.dat needs its DDI codebook (usa.xml) in the same folder" in capsys.readouterr().err


def test_a_codebook_takes_time_in_proportion_to_its_length():
    def cost(labels: int) -> float:
        many = "".join(category(code, f"label {code}") for code in range(labels))
        content = b"12\n34\n56\0" + codebook(var("A", 1, 2, many)).encode()
        return processor_seconds(lambda: FORMAT.read("usa.dat", content, None))

    assert growth(cost, 3_000) < BETWEEN
