"""The ledger: every field and sentence by hand; it only grows, and what is changed is seen."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError, ReleaseError
from rwn_core.reporting import ledger
from rwn_core.reporting.chained_releases import method_slices
from rwn_core.reporting.ledger import (
    BEGINNING,
    add,
    file_bytes,
    foresee,
    is_keyed,
    overlaps,
    policy_words,
    read_entries,
)
from rwn_core.reporting.table_marks import table_marks
from tests.core.reporting.records_by_hand import RECORD, record

BOUND: dict[str, Any] = {"releases": [1, 2, 4], "bound": [0.125, 0.25, 0.5], "value": 0.5}


def table(n: int = 5) -> Microdata:
    numbers = 17.25 + 1000 * np.arange(n)
    return Microdata.from_frame(pd.DataFrame({"x": numbers, "y": ["Zaphod"] * n}))


def of(data: Microdata, id: str = "0f" * 16) -> dict[str, Any]:
    about = {**RECORD["table"], "fingerprint": data.fingerprint}
    return record(table=about, release={"id": id}, readings={"repeated_releases": BOUND})


def marks(**parts: Any) -> dict[str, Any]:
    empty = {"table": "t", "names": "n", "columns": ["a", "b", "c"], "records": [], "count": 0}
    return {**empty, **parts}


def entry(**parts: Any) -> dict[str, Any]:
    return {"release": "first", "made": "2026-03-31T12:00", "marks": marks(**parts)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def test_an_entry_says_which_release_it_is_of_and_holds_no_value(path: Path) -> None:
    data = table()
    first, _ = add(path, of(data), data, by="Ada")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", first.pop("time"))
    setting = orjson.dumps(RECORD["setting"], option=orjson.OPT_SORT_KEYS)
    key = path.with_name("ledger.jsonl.key").read_bytes()
    assert len(key) == 32
    if os.name == "posix":  # its owner's alone
        assert {each.stat().st_mode & 0o077 for each in path.parent.iterdir()} == {0}
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
        "state": "broken",
        "not_judged": RECORD["verdict"]["not_judged"],
        "decision": "",
        "marks": table_marks(data, key),
        "before": "0" * 64,
        "chain": {},
        "columns": RECORD["table"]["variables"],
        "slices": method_slices(RECORD),
        "not_masked": RECORD["table"]["not_masked"],
        "parameters": RECORD["setting"]["parameters"],
        "precision": RECORD["setting"]["precision"],
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
    assert [each["hash"] for each in read_entries(path.read_bytes())] == [hashed, second["hash"]]
    text = path.read_text(encoding="utf-8")
    for value in ("Zaphod", data.fingerprint, *map(str, data.frame["x"])):
        assert value not in text


UNREAD = {"attribute_gain": "No variable is confidential. Say which is."}
VERDICTS = (  # shares, not judged, kept; the state that a record states, and the entry's
    ({"bayes_linkage": 0.5}, {}, True, "kept"),
    ({"bayes_linkage": 2.0}, UNREAD, False, "broken"),
    ({"bayes_linkage": 0.5}, UNREAD, False, "not judged"),
    ({"bayes_linkage": 0.5}, {}, False, "not judged"),  # too few records released
)


@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize(("shares", "unread", "kept", "state"), VERDICTS)
def test_an_entry_holds_the_state_of_its_verdict_and_what_was_not_judged(
    path: Path, shares: Any, unread: Any, kept: bool, state: str, stated: bool
) -> None:
    """Finding V4: an entry said "not kept" of limits that nobody had judged."""
    data, verdict = table(), {"shares": shares, "not_judged": unread, "kept": kept, "words": ""}
    made = of(data) | {"verdict": verdict | ({"state": state} if stated else {})}
    entry, _ = add(path, made, data)
    assert (entry["kept"], entry["state"], entry["not_judged"]) == (kept, state, unread)
    (read,) = read_entries(path.read_bytes())
    why = "; Attribute gain not judged: no variable is confidential. Say which is" * bool(unread)
    assert policy_words(read) == f"policy {state}{why}"


def test_an_entry_of_an_earlier_version_is_said_as_far_as_it_knows() -> None:
    words = [policy_words({"kept": kept, "chain": {}}) for kept in (True, False, None)]
    assert words == ["policy kept", "policy not kept", "no policy judged"]


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


def test_a_file_is_held_by_one_alone_and_left_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "PATIENCE", 0.0)
    path = tmp_path / "held"
    with path.open("a+b") as one, path.open("a+b") as two:
        with ledger.locked(one):
            for _ in range(2):  # the first still holds it after the second was refused
                with pytest.raises(ReleaseError, match="Another program"), ledger.locked(two):
                    pass
        with (
            ledger.locked(two),
            pytest.raises(ReleaseError, match="Another program"),
            ledger.locked(one),
        ):
            pass
        with ledger.locked(one):
            pass


def test_a_line_that_a_kill_cut_short_is_completed(path: Path) -> None:
    data = table()
    add(path, of(data), data)
    first = path.read_bytes()
    add(path, of(data, "second"), data)
    both = path.read_bytes()
    assert sorted(os.listdir(path.parent)) == ["ledger.jsonl", "ledger.jsonl.key"]
    # as a kill leaves it: what was to be written lies ready beside it
    path.write_bytes(both[: len(first) + 70])
    path.with_name("ledger.jsonl.next").write_bytes(both[len(first) :])
    with pytest.raises(InputError, match="Line 2 of the ledger is incomplete"):
        read_entries(path.read_bytes())
    assert file_bytes(path) == both
    add(path, of(data, "third"), data)
    assert path.read_bytes().startswith(both)
    assert len(read_entries(path.read_bytes())) == 3
    assert sorted(os.listdir(path.parent)) == ["ledger.jsonl", "ledger.jsonl.key"]


def test_what_cannot_be_added_is_refused(path: Path) -> None:
    data = table()
    record = of(data)
    with pytest.raises(InputError, match="not the table"):
        add(path, record, table(4))
    add(path, record, data)
    with pytest.raises(ReleaseError, match="has this release already"):
        add(path, record, data)
    key = path.with_name("ledger.jsonl.key")
    key.write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        add(path, of(data, "second"), data)
    key.unlink()
    with pytest.raises(ReleaseError, match=r"key ledger\.jsonl\.key of the ledger is missing"):
        add(path, of(data, "second"), data)
    assert len(read_entries(path.read_bytes())) == 1


def test_a_key_that_could_not_be_written_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table()
    record = of(data)

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
    data = table()
    add(path, of(data), data)
    monkeypatch.setattr(ledger, "PATIENCE", 0.1)
    with (
        path.open("a+b") as held,
        ledger.locked(held),
        pytest.raises(ReleaseError, match="Another program writes"),
    ):
        add(path, of(data), data)


def test_writers_at_the_same_time_make_one_chain(path: Path) -> None:
    data = table()
    ids = [f"{number:032x}" for number in range(4)]
    # each opens the file for itself, as a program of its own would
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: add(path, of(data, each), data), ids))
    assert {entry["release"] for entry in read_entries(path.read_bytes())} == set(ids)


def made_anew(lines: list[bytes]) -> list[bytes]:
    """The chain of somebody who may write to the ledger and lacks its key."""
    made: list[bytes] = []
    before = BEGINNING
    for number, line in enumerate(lines, start=1):
        entry = {**orjson.loads(line), "number": number, "before": before}
        del entry["hash"]
        content = orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)
        entry["hash"] = before = hashlib.sha256(content).hexdigest()
        made.append(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS))
    return made


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], bytes]:
    data, path = table(), tmp_path_factory.mktemp("three") / "ledger.jsonl"
    for number in "012":
        add(path, of(data, number * 32), data)
    return path.read_bytes().splitlines(), path.with_name("ledger.jsonl.key").read_bytes()


def test_who_lacks_the_key_changes_nothing_unseen(three: tuple[list[bytes], bytes]) -> None:
    """Finding T7: one entry taken out, the others made anew, was called an unbroken chain."""
    lines, key = three
    one, two, last = lines
    whole = b"\n".join(lines) + b"\n"
    assert len(read_entries(whole, key)) == len(read_entries(whole)) == 3
    by_eve = [one, two.replace(b'"by":""', b'"by":"E"'), last]
    older = [line.replace(b"rwn ledger 2", b"rwn ledger 1") for line in (one, last)]
    for changed in (
        *(by_eve, made_anew(by_eve), [one, last], made_anew([one, last])),
        *([one, two, two, last], [two, one, last], [two, last], [*made_anew(older)[:1], two]),
    ):
        with pytest.raises(InputError, match=r"Line \d of the ledger was changed"):
            read_entries(b"\n".join(changed) + b"\n", key)
    with pytest.raises(InputError, match=r"Line 1 of the ledger was changed"):
        read_entries(whole, b"x" * 32)


def test_entries_of_an_earlier_version_are_read_and_followed(
    path: Path, three: tuple[list[bytes], bytes]
) -> None:
    data, (lines, key) = table(), three
    older = made_anew([each.replace(b"rwn ledger 2", b"rwn ledger 1") for each in lines[:2]])
    path.write_bytes(b"\n".join(older) + b"\n")
    path.with_name("ledger.jsonl.key").write_bytes(key)
    before = path.read_bytes()
    for refused in (
        lambda: read_entries(before, key),
        lambda: add(path, of(data), data),
        lambda: foresee(path, of(data), data),
    ):  # finding S4: lines that were sealed once may have been rewritten as such
        with pytest.raises(InputError, match="no line of it is sealed under the key"):
            refused()
    assert path.read_bytes() == before
    assert len(read_entries(before)) == 2  # nobody knows it without the key
    entry, warned = add(path, of(data), data, unkeyed=True)
    entries = read_entries(path.read_bytes(), key)
    assert [is_keyed(each) for each in entries] == [False, False, True]
    assert entry["before"] == orjson.loads(older[1])["hash"]
    assert entry["chain"]["unchecked"] == ["0" * 32, "1" * 32]
    assert any("could not be checked" in each for each in warned)


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


def test_a_torn_line_stops_whoever_adds(path: Path) -> None:
    data = table()
    add(path, of(data), data)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:50])
    with pytest.raises(InputError, match="Line 2 of the ledger is incomplete"):
        add(path, of(data, "second"), data)
    assert path.read_bytes() == whole + whole[:50]
    with pytest.raises(InputError, match="Line 1 of the ledger is no entry"):
        read_entries(b"hello\n")


def test_a_full_disk_leaves_the_ledger_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full when the line is laid ready, or when the ledger itself is written."""
    data, real = table(), os.fsync
    add(path, of(data), data)
    before, second = path.read_bytes(), of(data, "second")
    for everywhere in (True, False):

        def full(descriptor: int, everywhere: bool = everywhere) -> None:
            if everywhere or os.path.samestat(os.fstat(descriptor), path.stat()):
                raise OSError(28, "No space left on device")
            real(descriptor)

        with monkeypatch.context() as failing:
            failing.setattr(os, "fsync", full)
            with pytest.raises(ReleaseError, match="No space left on device"):
                add(path, second, data)
        assert path.read_bytes() == file_bytes(path) == before
    assert add(path, second, data)[0]["number"] == 2
