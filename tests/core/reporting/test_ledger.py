"""The ledger: it only grows, changes without its key are seen, a second release is announced."""

from __future__ import annotations

import copy
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting import file_lock
from rwn_core.reporting.ledger import add, file_bytes, read_entries
from rwn_core.reporting.ledger_entries import BEGINNING
from rwn_core.reporting.table_marks import (
    common_columns,
    common_records,
    overlaps,
    table_marks,
)
from tests.core.reporting.conftest import quickly_made_of

KEY = b"k" * 32


def people(rows: range, seed: int = 1) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(12_000, 3)).round(4)[rows.start : rows.stop]
    frame = pd.DataFrame(values, columns=["x", "y", "z"])
    return frame.assign(g=[f"Zaphod {i % 7}" for i in rows])


def table(rows: range, seed: int = 1) -> Microdata:
    return Microdata.from_frame(people(rows, seed))


def record_of(data: Microdata) -> dict[str, Any]:
    made = quickly_made_of(data, rwn.RWN(k=5), ["repeated_releases"])
    return dict(made.record)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def test_entries_follow_each_other_and_hold_no_value(path: Path) -> None:
    data = table(range(60))
    first, warned = add(path, record_of(data), data, by="Ada")
    assert warned == []
    assert (first["number"], first["before"], first["by"]) == (1, BEGINNING, "Ada")
    second, warned = add(path, record_of(data), data)
    assert second["before"] == first["hash"]
    assert "is of the same table" in warned[0]
    assert first["release"] in warned[0]
    assert read_entries(path.read_bytes()) == [first, second]
    text = path.read_text(encoding="utf-8")
    assert "Zaphod" not in text
    assert data.fingerprint not in text
    assert not any(f"{value}" in text for value in data.frame["x"])


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
def test_ledger_and_key_are_their_owners_alone(path: Path) -> None:
    data = table(range(60))
    add(path, record_of(data), data)
    for name in (path, path.with_name("ledger.jsonl.key")):
        assert name.stat().st_mode & 0o077 == 0


def test_a_torn_line_and_what_is_no_entry_are_named(path: Path) -> None:
    data = table(range(60))
    add(path, record_of(data), data)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:50])
    with pytest.raises(InputError, match="Line 2 of the ledger is incomplete"):
        add(path, record_of(data), data)
    assert path.read_bytes() == whole + whole[:50]
    with pytest.raises(InputError, match="Line 2 of the ledger is no entry"):
        read_entries(whole + b"{}\n")
    with pytest.raises(InputError, match="Line 1 of the ledger is no entry"):
        read_entries(b"hello\n")


def test_a_line_that_a_kill_cut_short_is_completed(path: Path) -> None:
    data = table(range(60))
    add(path, record_of(data), data)
    first = path.read_bytes()
    add(path, record_of(data), data)
    both = path.read_bytes()
    assert sorted(os.listdir(path.parent)) == ["ledger.jsonl", "ledger.jsonl.key"]
    # as a kill leaves it: what was to be written lies ready beside it
    path.write_bytes(both[: len(first) + 70])
    path.with_name("ledger.jsonl.next").write_bytes(both[len(first) :])
    with pytest.raises(InputError, match="Line 2 of the ledger is incomplete"):
        read_entries(path.read_bytes())
    assert file_bytes(path) == both
    add(path, record_of(data), data)
    assert path.read_bytes().startswith(both)
    assert len(read_entries(path.read_bytes())) == 3
    assert sorted(os.listdir(path.parent)) == ["ledger.jsonl", "ledger.jsonl.key"]


def test_a_full_disk_leaves_the_ledger_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table(range(60))
    add(path, record_of(data), data)
    before, second = path.read_bytes(), record_of(data)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReleaseError, match="No space left on device"):
        add(path, second, data)
    assert path.read_bytes() == before


def test_what_cannot_be_added_is_refused(path: Path) -> None:
    data = table(range(60))
    record = record_of(data)
    with pytest.raises(InputError, match="not the table"):
        add(path, record, table(range(50)))
    add(path, record, data)
    with pytest.raises(ReleaseError, match="has this release already"):
        add(path, record, data)
    key = path.with_name("ledger.jsonl.key")
    key.write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        add(path, record_of(data), data)
    key.unlink()
    with pytest.raises(ReleaseError, match=r"key ledger\.jsonl\.key of the ledger is missing"):
        add(path, record_of(data), data)
    assert len(read_entries(path.read_bytes())) == 1


def test_a_key_that_could_not_be_written_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table(range(60))
    record = record_of(data)

    def broken(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", broken)
        with pytest.raises(ReleaseError, match="Input/output error"):
            add(path, record, data)
    with pytest.raises(ReleaseError, match="cannot be opened"):
        add(path.parent / "none" / "ledger.jsonl", record, data)
    assert len(add(path, record, data)[0]["hash"]) == 64


def test_another_writer_is_waited_for_and_then_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table(range(60))
    add(path, record_of(data), data)
    monkeypatch.setattr(file_lock, "PATIENCE", 0.1)
    with (
        path.open("a+b") as held,
        file_lock.locked(held),
        pytest.raises(ReleaseError, match="Another program writes"),
    ):
        add(path, record_of(data), data)


def test_writers_at_the_same_time_make_one_chain(path: Path) -> None:
    data = table(range(60))
    record = record_of(data)
    records = []
    for number in range(4):
        one = copy.deepcopy(record)
        one["release"]["id"] = f"{number:032x}"
        records.append(one)
    # each opens the file for itself, as a program of its own would
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: add(path, each, data), records))
    entries = read_entries(path.read_bytes())
    assert {entry["release"] for entry in entries} == {each["release"]["id"] for each in records}


# ---------------------------------------------------------------- marks


def test_marks_know_a_table_again_in_any_order() -> None:
    data = table(range(300))
    marks = table_marks(data, KEY)
    shuffled = data.take(np.random.default_rng(3).permutation(300))
    again = table_marks(shuffled, KEY)
    assert again["table"] != marks["table"]
    assert common_records(marks, again) == 1.0
    assert common_columns(marks, again) == 4
    # under another key nothing is alike: marks cannot be tried without it
    other = table_marks(data, b"o" * 32)
    assert not set(other["records"]) & set(marks["records"])
    assert common_columns(other, marks) == 0


@pytest.mark.parametrize(
    ("first", "second", "true"), [(8000, 4000, 0.5), (8000, 4000, 0.1), (11_000, 100, 1.0)]
)
def test_the_share_of_common_records_is_estimated(first: int, second: int, true: float) -> None:
    """A later wave, of which a known share was there before; and a small part of a large table."""
    start = int(first - true * second)
    one, two = table(range(first)), table(range(start, start + second))
    overlap = common_records(table_marks(one, KEY), table_marks(two, KEY))
    # the standard error of the common share of all records is at most 0.009; 5 of them
    union = first + second - true * second
    assert abs(overlap - true) < 5 * 0.009 * union / second
    assert overlap > 0
    stranger = table(range(1000), seed=9)
    assert common_records(table_marks(one, KEY), table_marks(stranger, KEY)) == 0.0


def test_a_variable_is_known_again_among_others_and_by_another_type() -> None:
    frame = people(range(100))
    one = Microdata.from_frame(frame)
    other = frame[["x"]].rename(columns={"x": "wage"}).assign(w=np.arange(100.0))
    marks_of_one = table_marks(one, KEY)
    assert common_columns(marks_of_one, table_marks(Microdata.from_frame(other), KEY)) == 1
    twice = table_marks(Microdata.from_frame(frame[["x"]].assign(again=frame["x"])), KEY)
    assert common_columns(twice, marks_of_one) == 1
    entry = {"release": "first", "made": "2026-03-31T12:00", "marks": marks_of_one}
    said, cost = overlaps([entry], twice, {"readings": {}})
    assert said == "Release first of 2026-03-31 has the same values in 1 of 2 variables."
    assert "how much is not known" in cost
    whole = pd.DataFrame({"n": [1, 2, 3] * 5, "t": ["a", "b", "c"] * 5})
    typed = whole.astype({"n": float, "t": "category"})
    marks = [table_marks(Microdata.from_frame(each), KEY) for each in (whole, typed)]
    assert common_records(*marks) == 1.0
    assert common_columns(*marks) == 2
    missing = pd.DataFrame({"n": [1.0, np.nan, 3.0], "t": ["a", None, "c"]})
    assert table_marks(Microdata.from_frame(missing), KEY)["count"] == 3
