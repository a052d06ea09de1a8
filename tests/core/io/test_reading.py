"""A file or a long text is read in a process with limits, and what comes back is not trusted."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import LETTERS_AT_ONCE, LONGEST_DOCUMENT
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import InputError, RWNError, SchemaError
from rwn_core.io import reading
from rwn_core.io.reading import FileReading, FileToRead, parse_text, read, read_bytes
from rwn_core.io.write import table_bytes
from rwn_core.parallel import processes
from rwn_core.reporting.scenario import Scenario, scenario_or_decision

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


def test_what_comes_back_is_what_was_read() -> None:
    schema = Schema(
        variables=tuple(
            Variable(name=name, kind=kind, role=role)
            for name, kind, role in zip(
                FRAME.columns,
                ["count"] * 2
                + ["continuous"] * 2
                + ["categorical"] * 3
                + ["ordered", "date", "date"],
                ["key"] + ["other"] * 8 + ["identifier"],
                strict=True,
            )
        )
    )
    data = Microdata.from_frame(FRAME, schema, notices=("A note.",))
    line = reading._answer(data, None)
    again, refusal, _ = reading._taken(line)
    assert refusal is None
    assert again is not None
    pd.testing.assert_frame_equal(again.frame, data.frame)
    assert again.schema == data.schema
    assert again.notices == data.notices
    assert again.fingerprint == data.fingerprint


def test_refusals_keep_their_kind_and_the_file_its_process() -> None:
    with pytest.raises(InputError, match="holds only blanks"):
        read_bytes("a.csv", b"  ")
    other = Schema(variables=(Variable(name="z", kind="count"),))
    with pytest.raises(SchemaError, match="variable z that the table lacks"):
        read_bytes("a.csv", b"x,y\n1,2\n3,4\n", other)


def test_a_file_that_takes_too_long_or_too_much_is_one_sentence(tmp_path: Path) -> None:
    table = pa.table({"x": np.zeros(90_000_000)})
    path = tmp_path / "zeros.parquet"
    pq.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 1_000_000
    begun = time.monotonic()
    for limits, words in (
        ({"memory": 3e8, "seconds": 60.0}, r"zeros\.parquet .*memory"),
        ({"memory": 8e9, "seconds": 0.01}, r"zeros\.parquet takes more than 0\.01 seconds to read"),
    ):
        job = FileReading(FileToRead(name=path.name, path=path), **limits)
        assert job.wait(30)
        with pytest.raises(InputError, match=words):
            job.result()
    assert time.monotonic() - begun < 30
    assert not job._pool.pids


def test_a_cancelled_reading_leaves_no_process() -> None:
    job = FileReading(FileToRead(name="late.csv", content=b"x,y\n" + b"1,2\n" * 3_000_000))
    while not job._pool.pids:
        time.sleep(0.01)
    (process,) = job._pool.pids
    job.cancel()
    assert not job.running
    with pytest.raises(RWNError, match="Cancelled"):
        job.result()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_reading_that_is_over_holds_no_table() -> None:
    job = FileReading(FileToRead(name="kept.csv", content=b"x,t\n1,SENTINEL\n2,b\n3,c\n"))
    assert job.wait(30)
    assert job.result().n == 3
    job.cancel()  # a button that could cancel it is remembered for long
    with pytest.raises(RWNError, match="Cancelled"):
        job.result()


def test_a_device_and_a_pipe_are_refused_within_seconds(tmp_path: Path) -> None:
    pipe, zero = tmp_path / "pipe.parquet", tmp_path / "zero.csv"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        begun = time.monotonic()
        with pytest.raises(InputError, match="no ordinary file"):
            read(path)
        assert time.monotonic() - begun < 20


def test_an_answer_of_another_kind_is_never_unpickled(tmp_path: Path) -> None:
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return Path.touch, (mark,)

    message = processes._PICKLED + processes.packed(Evil())
    what, _ = processes._answered(message[:1], message[1:], plain=True)
    assert what == "failed"
    assert not mark.exists()
    processes._answered(message[:1], message[1:], plain=False)
    assert mark.exists()  # or the test above could not fail


def test_a_process_that_dies_is_one_sentence() -> None:
    job = FileReading(FileToRead(name="a.csv", content=b"x,y\n1,2\n3,4\n"), seconds=60)
    for worker in job._pool._workers:
        worker.process.kill()
    assert job.wait(20)
    with pytest.raises(InputError, match=r"a\.csv is damaged, or needs more than .* GB"):
        job.result()


def test_no_library_says_on_the_terminal_what_a_cell_holds(
    capfd: pytest.CaptureFixture[str],
) -> None:
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


def test_only_a_long_text_has_a_process_of_its_own() -> None:
    assert parse_text(process, LONG[1:], "text") == os.getpid()
    assert parse_text(process, LONG, "text") != os.getpid()


def test_what_takes_too_much_is_refused_in_a_sentence_and_nothing_else_ends() -> None:
    for parse in (endless, greedy, fatal):
        with pytest.raises(RWNError, match=r"shorten it\.$"):
            parse_text(parse, LONG, "scenario file", seconds=1.0)


def test_a_text_beyond_all_bounds_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InputError, match="5,000,000"):
        parse_text(process, " " * (LONGEST_DOCUMENT + 1), "project file")


def test_what_comes_back_is_what_would_be_read_here() -> None:
    scenario = f'format = "rwn scenario 1"\nname = "s"\nnote = """{LONG}"""\n'
    assert parse_text(scenario_or_decision, scenario, "file") == Scenario.from_toml(scenario)


def test_a_refusal_over_there_is_one_here() -> None:
    with pytest.raises(RWNError) as caught:
        parse_text(Scenario.from_toml, "a = " + "[" * 60_000, "scenario file")
    assert "scenario file" in str(caught.value)
    assert "\n" not in str(caught.value)
