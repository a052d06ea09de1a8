"""Tables out: the bytes hold the values and nothing else, and come whole or not at all."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from rwn_core.errors import ParameterError, ReleaseError
from rwn_core.io.write import file_format, table_bytes, write_atomically, write_together

SECRET = b"Zaphod"


def leaky() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", "b", "Zaphod"]),
            "x": [0.1, 27.5, 78051120.5],
            "t": ["u", 'v, "w"\n', "Zaphod"],
        },
        index=pd.Index(["p", "q", "r"], name="Zaphod"),
    )
    frame.attrs["source"] = "/home/Zaphod"
    return frame.iloc[:2]


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_nothing_but_the_values_is_written(format: str) -> None:
    content = table_bytes(leaky(), format)
    assert SECRET not in content
    if format == "csv":
        assert content == b'c,x,t\na,0.1,u\nb,27.5,"v, ""w""\n"\n'
    else:
        file = pq.ParquetFile(io.BytesIO(content))
        assert file.schema_arrow.metadata is None
        assert not file.metadata.row_group(0).column(1).is_stats_set
        again = file.read()
        assert SECRET not in repr(again.to_pydict()).encode()
        assert again.column_names == ["c", "x", "t"]


def test_a_carriage_return_inside_a_text_is_quoted() -> None:
    frame = pd.DataFrame({"t": ["a\rb", "c"], "x": [1, 2]})
    assert table_bytes(frame, "csv") == b'"t","x"\n"a\rb",1\n"c",2\n'


def test_a_missing_value_alone_in_its_line_is_not_an_empty_line() -> None:
    content = table_bytes(pd.DataFrame({"x": [1.5, np.nan]}), "csv")
    assert content == b'x\n1.5\n""\n'


def test_formats_by_name() -> None:
    assert file_format(Path("a.CSV")) == "csv"
    assert file_format(Path("a.b.parquet")) == "parquet"
    for name in ("a", "a.xls", "a.csv.gz", ".csv", "a.sas7bdat"):
        with pytest.raises(ParameterError, match="must end in"):
            file_format(Path(name))
    with pytest.raises(ParameterError, match="format must be one of"):
        table_bytes(leaky(), "xlsx")


def test_an_old_file_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="does not exist; create it first"):
        write_atomically(tmp_path / "none" / "out.csv", b"new")


def test_files_that_belong_together_are_all_there_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"old")
    write_together({one: b"1", two: b"2"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    real, calls = os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:  # the second file finds the disk full
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="The file two could not be written"):
        write_together({one: b"new", two: b"new"})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX only")
def test_the_folder_is_synced_after_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def sync(descriptor: int) -> None:
        seen.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), (tmp_path / "one").exists()))

    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(tmp_path / "one", b"1")
    assert seen == [(False, False), (True, True)]


def test_what_a_killed_program_left_is_swept_and_what_another_writes_is_not(
    tmp_path: Path,
) -> None:
    old, young = tmp_path / ".part-rwn-old", tmp_path / ".part-rwn-young"
    foreign, folder = tmp_path / ".part-of-a-song", tmp_path / ".part-rwn-0123"
    folder.mkdir()
    for left in (old, young, foreign, folder / "release.csv"):
        left.write_bytes(b"masked")
    for left in (old, foreign, folder):
        os.utime(left, (1, 1))
    write_atomically(tmp_path / "one", b"1")
    assert sorted(os.listdir(tmp_path)) == [".part-of-a-song", ".part-rwn-young", "one"]
