"""What the ledger says of entries and records written by hand: every field, every sentence."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting import file_lock
from rwn_core.reporting.chained_releases import method_slices
from rwn_core.reporting.ledger import add, file_bytes, foresee, overlaps, read_entries
from rwn_core.reporting.table_marks import SKETCH, common_columns, common_records, table_marks
from tests.core.reporting.records_by_hand import RECORD, record

KEY = b"k" * 32
BOUND: dict[str, Any] = {"releases": [1, 2, 4], "bound": [0.125, 0.25, 0.5], "value": 0.5}


def table(n: int = 5) -> Microdata:
    return Microdata.from_frame(pd.DataFrame({"x": np.arange(n) + 0.5, "y": ["a"] * n}))


def of(data: Microdata, id: str = "0f" * 16) -> dict[str, Any]:
    about = {**RECORD["table"], "fingerprint": data.fingerprint}
    return record(table=about, release={"id": id}, readings={"repeated_releases": BOUND})


def marks(**parts: Any) -> dict[str, Any]:
    empty = {"table": "t", "names": "n", "columns": ["a", "b", "c"], "records": [], "count": 0}
    return {**empty, **parts}


def entry(**parts: Any) -> dict[str, Any]:
    return {"release": "first", "made": "2026-03-31T12:00", "marks": marks(**parts)}


def test_an_entry_says_which_release_it_is_of(tmp_path: Path) -> None:
    data, path = table(), tmp_path / "ledger.jsonl"
    first, _ = add(path, of(data), data, by="Ada")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", first.pop("time"))
    setting = orjson.dumps(RECORD["setting"], option=orjson.OPT_SORT_KEYS)
    key = (tmp_path / "ledger.jsonl.key").read_bytes()
    assert len(key) == 32
    hashed = first.pop("hash")
    assert first == {
        "format": "rwn ledger 2",
        "number": 1,
        "by": "Ada",
        "release": "0f" * 16,
        "made": "2028-02-29T10:11:12+00:00",
        "sha256": "cd" * 32,
        "records": 1100,
        "method": "rwn",
        "setting": hashlib.sha256(setting).hexdigest(),
        "kept": False,
        "decision": "",
        "marks": table_marks(data, key),
        "before": "0" * 64,
        "chain": {},
        "columns": RECORD["table"]["variables"],
        "slices": method_slices(RECORD),
        "not_masked": RECORD["table"]["not_masked"],
        "parameters": RECORD["setting"]["parameters"],
        "file": "",
    }
    decided = {**of(data, "second"), "decision": {"hash": "12" * 32}}
    second, warned = add(path, decided, data)
    assert (second["number"], second["decision"], second["by"]) == (2, "12" * 32, "")
    assert second["before"] == hashed
    assert warned[0] == f"Release {'0f' * 16} of 2028-02-29 is of the same table."
    lines = path.read_bytes().splitlines()
    assert lines[1] == orjson.dumps(second, option=orjson.OPT_SORT_KEYS)
    plain = {name: value for name, value in second.items() if name != "hash"}
    sorted_ = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    seal = hmac.new(key, b"rwn ledger entry\n" + sorted_, hashlib.sha256)
    assert second["hash"] == seal.hexdigest()


def test_what_is_alike_is_said_as_far_as_it_is_known() -> None:
    now = marks(table="other")
    many = [f"{i:04d}" for i in range(1000)]

    def said(**parts: Any) -> str:
        earlier, here = entry(**parts), marks(**{**parts, "table": "other"})
        if "records" in parts:
            here = {**here, "records": many, "count": 1000}
        return overlaps([earlier], here, {"readings": {}})[0]

    of_it = "Release first of 2026-03-31 has"
    common = "of its records in common with this table, by all their values."
    half = [*many[:500], *(f"x{i}" for i in range(500))]
    assert said(records=half, count=1000) == f"{of_it} about 50 % {common}"
    ten = [*many[:10], *(f"x{i}" for i in range(990))]
    assert said(records=ten, count=1000) == f"{of_it} about 1 % {common}"
    nine = [*many[:9], *(f"x{i}" for i in range(991))]
    assert said(records=nine, count=1000) == f"{of_it} a few {common}"
    here = marks(table="other", columns=["c", "d", "a", "e"])
    told = overlaps([entry()], here, {"readings": {}})
    assert told[0] == f"{of_it} the same values in 2 of 4 variables."
    assert overlaps([entry(columns=["z"])], now, {"readings": {}}) == []


def test_what_releases_add_up_to_is_that_of_as_many_as_are_known() -> None:
    here = {"readings": {"repeated_releases": BOUND}}
    for count, share, after in ((1, 25, 2), (2, 25, 2), (3, 50, 4)):
        said = overlaps([entry()] * count, marks(), here)
        assert len(said) == count + 1
        assert said[-1] == (  # of a record of an earlier version
            f"Who knows the keys links at least {share} % of the records after {after} releases if "
            "rows keep their places, at least 12 % in fresh secret order."
        )
    exact = {"releases": [1, 2], "same_order": [0.1, 0.3], "shuffled": 0.1, "standing": "worst"}
    said = overlaps([entry()], marks(), {"readings": {"repeated_releases": exact}})
    assert said[-1].startswith("Who knows the keys links 30 % of the records after 2 releases if")
    assert said[-1].endswith("at least 10 % in fresh secret order.")
    unknown = "Together they give away more than each alone; how much is not known. "
    for reading, why in (
        ({}, "The record has no reading of it."),
        ({"not_applicable": "It has no keys."}, "It has no keys."),
        ({"releases": [2], "bound": [0.5]}, "The record has no reading of it."),
        ({"releases": [4], "bound": [0.5]}, "The record has no reading of it."),
    ):
        told = overlaps([entry()], marks(), {"readings": {"repeated_releases": reading}})
        assert told[-1] == unknown + why
    damaged = {"readings": {"repeated_releases": {**BOUND, "bound": [0.5]}}}
    with pytest.raises(ValueError, match="shorter"):
        overlaps([entry()], marks(), damaged)


def test_foreseeing_writes_nothing_and_asks_for_the_key(tmp_path: Path) -> None:
    data, path = table(), tmp_path / "ledger.jsonl"
    path.write_bytes(b"")
    assert foresee(path, of(data), data) == []
    assert os.listdir(tmp_path) == ["ledger.jsonl"]
    add(path, of(data), data)
    (tmp_path / "ledger.jsonl.key").unlink()
    with pytest.raises(ReleaseError) as refused:
        foresee(path, of(data), data)
    assert str(refused.value) == (
        "The key ledger.jsonl.key of the ledger is missing, so earlier releases of a "
        "table cannot be checked; put it back in the folder of the ledger."
    )
    assert sorted(os.listdir(tmp_path)) == ["ledger.jsonl"]


def test_a_line_that_lies_ready_completes_only_its_own_beginning(tmp_path: Path) -> None:
    path, ready = tmp_path / "ledger.jsonl", tmp_path / "ledger.jsonl.next"
    ready.write_bytes(b"second\n")
    for content, completed in (
        (b"first\nsec", b"first\nsecond\n"),
        (b"first\nthi", b"first\nthi"),
        (b"first\n", b"first\n"),
        (b"se", b"second\n"),
    ):
        path.write_bytes(content)
        assert file_bytes(path) == completed
    ready.unlink()
    path.write_bytes(b"first\nsec")
    assert file_bytes(path) == b"first\nsec"


def test_each_line_that_is_refused_is_named(tmp_path: Path) -> None:
    data, path = table(), tmp_path / "ledger.jsonl"
    add(path, of(data), data)
    add(path, of(data, "second"), data)
    lines = path.read_bytes().splitlines(keepends=True)
    for content, why in (
        (lines[1], "Line 1 of the ledger was changed"),
        (lines[0] + lines[0], "Line 2 of the ledger was changed"),
        (lines[0][:-1], "Line 1 of the ledger is incomplete"),
        (lines[0] + b"[]\n", "Line 2 of the ledger is no entry"),
        (lines[0].replace(b"rwn ledger 2", b"rwn ledger 3"), "Line 1 of the ledger is no entry"),
        (lines[0].replace(b"rwn ledger 2", b"rwn ledger 1"), "Line 1 of the ledger was changed"),
    ):
        with pytest.raises(InputError, match=why):
            read_entries(content)
    assert [each["number"] for each in read_entries(b"".join(lines))] == [1, 2]
    assert read_entries(b"") == []


def test_a_file_is_held_by_one_alone_and_left_again(tmp_path: Path) -> None:
    path = tmp_path / "held"
    with path.open("a+b") as one, path.open("a+b") as two:
        with file_lock.held(one) as mine:
            assert mine is True
            with file_lock.held(two) as other:
                assert other is False
            with file_lock.held(two) as again:  # the first still holds it
                assert again is False
        with file_lock.locked(two), file_lock.held(one) as mine:
            assert mine is False
        with file_lock.held(one) as mine:
            assert mine is True


def test_common_records_and_variables_are_counted_by_hand() -> None:
    def share(one: list[str], two: list[str], counts: tuple[int, int]) -> float:
        sides = zip((one, two), counts, strict=True)
        first, second = (marks(records=each, count=count) for each, count in sides)
        return common_records(first, second)

    assert share(["a", "b", "c"], ["b", "c", "d", "e"], (3, 4)) == pytest.approx(2 / 3)
    assert share(["a"], ["b"], (1, 1)) == 0.0
    assert share([], [], (0, 0)) == 0.0
    assert share(["a"], ["a"], (1, 1)) == 1.0
    large = [f"{i:05d}" for i in range(SKETCH)]
    beyond = ["00000", *(f"z{i}" for i in range(9))]
    # of a large table only the smallest marks are kept: what is greater is not compared
    assert share(large, beyond, (2 * SKETCH, 10)) == pytest.approx(
        (1 / SKETCH) * (2 * SKETCH + 10) / (1 + 1 / SKETCH) / 10
    )
    assert common_records(marks(names="n"), marks(names="m", count=1)) == 0.0
    assert common_columns(marks(columns=["a", "a", "b"]), marks(columns=["a", "b", "b"])) == 2


def test_marks_are_short_sorted_and_of_different_records() -> None:
    frame = pd.DataFrame({"y": ["b", "a", "b"], "x": [-0.0, 1.0, 0.0]})
    made = table_marks(Microdata.from_frame(frame), KEY)
    assert made["count"] == 2  # zero has no sign
    assert made["records"] == sorted(made["records"])
    assert made["columns"] == sorted(made["columns"])
    assert {len(mark) for mark in (*made["records"], *made["columns"], made["table"])} == {16}
    assert SKETCH == 2048
    turned = table_marks(Microdata.from_frame(frame[["x", "y"]]), KEY)
    assert {**turned, "table": ""} == {**made, "table": ""}
