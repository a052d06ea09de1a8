"""The ledger: marks, chains, subtraction and merge of releases."""

import hashlib
import hmac
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import METHODS, InputError, Microdata, ReleaseError
from rwn_core.reporting import ReleasedFile, chained_releases, internal_record, ledger, read_record
from rwn_core.reporting.chained_releases import (
    SKETCH,
    changed_people,
    common_columns,
    common_records,
    method_slices,
    table_marks,
)
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.ledger import (
    BEGINNING,
    add,
    file_bytes,
    foresee,
    overlaps,
    policy_words,
    read_entries,
    refuse_readable,
)
from rwn_core.reporting.release_record import described_variables
from tests.core.measures.attacks.test_several_files import SETTINGS_OF_SUBTRACTION, people
from tests.core.reporting.records_by_hand import RECORD, record
from tests.tables import described

BOUND: dict[str, Any] = {"releases": [1, 2, 4], "same_order": [0.125, 0.25, 0.5], "value": 0.5}


def table(n: int = 5) -> Microdata:
    return described(pd.DataFrame({"x": 17.25 + 1000 * np.arange(n), "y": ["Zaphod"] * n}))


def of(data: Microdata, id: str = "0f" * 16) -> dict[str, Any]:
    about = {**RECORD["table"], "fingerprint": data.fingerprint}
    return record(table=about, release={"id": id}, readings={"repeated_releases": BOUND})


def marks(**parts: Any) -> dict[str, Any]:
    empty = {"table": "t", "names": "n", "columns": ["a", "b", "c"], "records": [], "count": 0}
    return {**empty, **parts}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def test_an_entry_says_which_release_it_is_of(path):
    data = table()
    first, _ = add(path, of(data), data, by="Ada")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", first.pop("time"))
    setting = orjson.dumps(RECORD["setting"], option=orjson.OPT_SORT_KEYS)
    key = path.with_name("ledger.jsonl.key").read_bytes()
    first.pop("hash")
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


def test_the_key_of_a_ledger_is_its_owner_s_alone(path):
    data = table()
    add(path, of(data), data, by="Ada")
    assert len(path.with_name("ledger.jsonl.key").read_bytes()) == 32
    if os.name == "posix":
        assert {each.stat().st_mode & 0o077 for each in path.parent.iterdir()} == {0}


def test_an_entry_follows_the_one_before_it_and_is_sealed_by_the_key(path):
    data = table()
    first, _ = add(path, of(data), data, by="Ada")
    decided = {**of(data, "second"), "decision": {"hash": "12" * 32}}
    second, warned = add(path, decided, data)
    assert (second["number"], second["decision"], second["by"]) == (2, "12" * 32, "")
    assert second["before"] == first["hash"]
    assert warned[0] == f"Release {'0f' * 16} of 2028-02-29 is of the same table."
    lines = path.read_bytes().splitlines()
    assert lines[1] == orjson.dumps(second, option=orjson.OPT_SORT_KEYS)
    plain = {name: value for name, value in second.items() if name != "hash"}
    sorted_ = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    key = path.with_name("ledger.jsonl.key").read_bytes()
    seal = hmac.new(key, b"rwn ledger entry\n" + sorted_, hashlib.sha256)
    assert second["hash"] == seal.hexdigest()
    hashes = [each["hash"] for each in read_entries(path.read_bytes())]
    assert hashes == [first["hash"], second["hash"]]


def test_a_ledger_holds_no_value(path):
    data = table()
    add(path, of(data), data, by="Ada")
    add(path, {**of(data, "second"), "decision": {"hash": "12" * 32}}, data)
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
    path, shares, unread, kept, state, stated
):
    """Finding V4: an entry said "not kept" of limits that nobody had judged."""
    data = table()
    verdict = {"shares": shares, "not_judged": unread, "kept": kept, "words": ""}
    made = of(data) | {"verdict": verdict | ({"state": state} if stated else {})}
    entry, _ = add(path, made, data)
    assert (entry["kept"], entry["state"], entry["not_judged"]) == (kept, state, unread)
    (read,) = read_entries(path.read_bytes())
    words = f"policy {state}"
    if unread:
        words += "; Attribute gain not judged: no variable is confidential. Say which is"
    assert policy_words(read) == words


def test_what_is_alike_is_said_as_far_as_it_is_known(sentences):
    """And of releases of one table what as many as are known give away together."""
    first = {"release": "first", "made": "2026-03-31T12:00"}
    many = [f"{i:04d}" for i in range(1000)]

    def alike(common: int) -> list[str]:
        records = [*many[:common], *(f"x{i}" for i in range(1000 - common))]
        before, now = (
            marks(table=name, records=each, count=1000)
            for name, each in (("t", records), ("other", many))
        )
        return overlaps([{**first, "marks": before}], now, {"readings": {}})[:1]

    def columns(*names: str) -> list[str]:
        now = marks(table="other", columns=["c", "d", "a", "e"])
        entry = {**first, "marks": marks(columns=[*names])}
        return overlaps([entry], now, {"readings": {}})[:1]

    def together(count: int, **reading: Any) -> list[str]:
        known = {"readings": {"repeated_releases": reading} if reading else {}}
        return overlaps([{**first, "marks": marks()}] * count, marks(), known)[count:]

    exact = {"releases": [1, 2], "same_order": [0.1, 0.3], "shuffled": 0.1, "standing": "worst"}
    sentences("ledger", {
        **{f"{common} of 1000 records": alike(common) for common in (500, 10, 9)},
        "two variables": columns("a", "b", "c"),
        "no variable": columns("z"),
        **{f"{count} releases, of which few are known": together(count, **BOUND)
           for count in (1, 2, 3)},
        "two releases": together(1, **exact),
        "no reading": together(1),
        "not applicable": together(1, not_applicable="It has no keys."),
        "of two releases alone": together(1, releases=[2], same_order=[0.5]),
        "of four releases alone": together(1, releases=[4], same_order=[0.5]),
    })  # fmt: skip
    with pytest.raises(ValueError, match="shorter"):
        together(1, **{**BOUND, "same_order": [0.5]})


def test_foreseeing_writes_nothing_and_asks_for_the_key(path):
    data = table()
    folder = path.parent
    path.write_bytes(b"")
    assert foresee(path, of(data), data) == []
    assert os.listdir(folder) == ["ledger.jsonl"]
    add(path, of(data), data)
    (folder / "ledger.jsonl.key").unlink()
    with pytest.raises(ReleaseError) as refused:
        foresee(path, of(data), data)
    assert str(refused.value) == (
        "The key ledger.jsonl.key of the ledger is missing, so earlier releases of a "
        "table cannot be checked; put it back in the folder of the ledger."
    )
    assert os.listdir(folder) == ["ledger.jsonl"]


def test_each_line_that_is_refused_is_named(path):
    data = table()
    add(path, of(data), data)
    add(path, of(data, "second"), data)
    lines = path.read_bytes().splitlines(keepends=True)
    for content, why in (
        (lines[1], "Line 1 of the ledger was changed"),
        (lines[0] + lines[0], "Line 2 of the ledger was changed"),
        (lines[0][:-1], "Line 1 of the ledger is incomplete"),
        (lines[0] + b"[]\n", "Line 2 of the ledger is no entry"),
        (b"hello\n", "Line 1 of the ledger is no entry"),
        (lines[0].replace(b"rwn ledger 2", b"rwn ledger 3"), "Line 1 of the ledger is no entry"),
        (lines[0].replace(b"rwn ledger 2", b"rwn ledger 1"), "Line 1 of the ledger is no entry"),
    ):
        with pytest.raises(InputError, match=why):
            read_entries(content)
    assert [each["number"] for each in read_entries(b"".join(lines))] == [1, 2]
    assert read_entries(b"") == []
    # a torn line stops whoever adds
    torn = b"".join(lines) + lines[0][:50]
    path.write_bytes(torn)
    with pytest.raises(InputError, match="Line 3 of the ledger is incomplete"):
        add(path, of(data, "third"), data)
    assert path.read_bytes() == torn


def test_a_file_is_held_by_one_alone_and_left_again(path, monkeypatch):
    data = table()
    add(path, of(data), data)
    monkeypatch.setattr(ledger, "PATIENCE", 0.0)
    with path.open("a+b") as one, path.open("a+b") as two:
        with ledger.locked(one):
            for _ in range(2):  # the first still holds it after the second was refused
                with pytest.raises(ReleaseError, match="Another program"), ledger.locked(two):
                    pass
            with pytest.raises(ReleaseError, match="Another program writes"):
                add(path, of(data, "second"), data)
        with ledger.locked(two), pytest.raises(ReleaseError, match="Another program"):
            ledger.locked(one).__enter__()
        with ledger.locked(one):
            pass


def test_a_line_that_a_kill_cut_short_is_completed(path):
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


def test_what_cannot_be_added_is_refused(path):
    data = table()
    record, second = of(data), of(data, "second")
    with pytest.raises(InputError, match="not the table"):
        add(path, record, table(4))
    add(path, record, data)
    with pytest.raises(ReleaseError, match="has this release already"):
        add(path, record, data)
    with pytest.raises(ReleaseError, match="cannot be opened"):
        add(path.parent / "none" / "ledger.jsonl", second, data)
    key = path.with_name("ledger.jsonl.key")
    key.write_bytes(b"short")
    with pytest.raises(InputError, match="damaged"):
        add(path, second, data)
    key.unlink()
    with pytest.raises(ReleaseError, match=r"key ledger\.jsonl\.key of the ledger is missing"):
        add(path, second, data)
    assert len(read_entries(path.read_bytes())) == 1


def test_a_key_that_could_not_be_written_leaves_nothing_behind(path, monkeypatch):
    def broken(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    data = table()
    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", broken)
        with pytest.raises(ReleaseError, match="Input/output error"):
            add(path, of(data), data)
    assert len(add(path, of(data), data)[0]["hash"]) == 64


def test_writers_at_the_same_time_make_one_chain(path):
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
    data = table()
    path = tmp_path_factory.mktemp("three") / "ledger.jsonl"
    for number in "012":
        add(path, of(data, number * 32), data)
    return path.read_bytes().splitlines(), path.with_name("ledger.jsonl.key").read_bytes()


def test_who_lacks_the_key_changes_nothing_unseen(three):
    """Finding T7: one entry taken out, the others made anew, was called an unbroken chain."""
    lines, key = three
    one, two, last = lines
    whole = b"\n".join(lines) + b"\n"
    assert len(read_entries(whole, key)) == len(read_entries(whole)) == 3
    by_eve = [one, two.replace(b'"by":""', b'"by":"E"'), last]
    for changed in (
        by_eve,
        made_anew(by_eve),
        [one, last],
        made_anew([one, last]),
        [one, two, two, last],
        [two, one, last],
        [two, last],
    ):
        with pytest.raises(InputError, match=r"Line \d of the ledger was changed"):
            read_entries(b"\n".join(changed) + b"\n", key)
    with pytest.raises(InputError, match=r"Line 1 of the ledger was changed"):
        read_entries(whole, b"x" * 32)


def test_a_line_that_lies_ready_completes_only_its_own_beginning(tmp_path):
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


def test_a_full_disk_leaves_the_ledger_as_it_was(path, monkeypatch):
    """Full when the line is laid ready, or when the ledger itself is written."""
    data = table()
    real = os.fsync
    add(path, of(data), data)
    before = path.read_bytes()
    second = of(data, "second")
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


KEY = b"k" * 32


def known_people(rows: range, seed: int = 1) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(12_000, 3)).round(4)[rows.start : rows.stop]
    frame = pd.DataFrame(values, columns=["x", "y", "z"])
    return frame.assign(g=[f"Zaphod {i % 7}" for i in rows])


def marked(frame: pd.DataFrame, key: bytes = KEY) -> dict[str, Any]:
    return table_marks(described(frame), key)


def test_marks_know_a_table_again_in_any_order():
    frame = known_people(range(300))
    marks, again = marked(frame), marked(frame.sample(frac=1.0, random_state=3))
    assert again["table"] != marks["table"]
    assert (common_records(marks, again), common_columns(marks, again)) == (1.0, 4)
    # under another key nothing is alike: marks cannot be tried without it
    other = marked(frame, b"o" * 32)
    assert not set(other["records"]) & set(marks["records"])
    assert common_columns(other, marks) == 0


@pytest.mark.parametrize(("first", "second", "true"), [(8000, 4000, 0.1), (11_000, 100, 1.0)])
def test_the_share_of_common_records_is_estimated(first, second, true):
    """A later wave, of which a known share was there before; and a small part of a large table."""
    start = int(first - true * second)
    one, two = (marked(known_people(each)) for each in (range(first), range(start, start + second)))
    overlap = common_records(one, two)
    # the standard error of the common share of all records is at most 0.009; 5 of them
    union = first + second - true * second
    assert abs(overlap - true) < 5 * 0.009 * union / second
    assert overlap > 0
    assert common_records(one, marked(known_people(range(1000), seed=9))) == 0.0


def test_a_variable_is_known_again_among_others_and_by_another_type():
    frame = known_people(range(100))
    one = marked(frame)
    x = frame[["x"]]
    other = x.rename(columns={"x": "wage"}).assign(w=np.arange(100.0))
    assert common_columns(one, marked(other)) == 1
    assert common_columns(marked(x.assign(again=frame["x"])), one) == 1
    whole = pd.DataFrame({"n": [1, 2, 3] * 5, "t": ["a", "b", "c"] * 5})
    marks = [marked(each) for each in (whole, whole.astype({"n": float, "t": "category"}))]
    assert (common_records(*marks), common_columns(*marks)) == (1.0, 2)
    assert marked(pd.DataFrame({"n": [1.0, np.nan, 3.0], "t": ["a", None, "c"]}))["count"] == 3


def test_common_records_and_variables_are_counted_by_hand():
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


def test_people_who_changed_are_counted_at_least():
    """Of a large table a sample of marks tells; of other variables only whether anything did."""
    whole, moved = known_people(range(8000)), known_people(range(600, 8600))
    # about 600 / 8,000 of 2,048 marks are missing, 154 or so: four times as many people
    for count in changed_people(marked(whole), marked(moved), 0) or ():
        assert 400 < count <= 600
    assert changed_people(marked(whole), marked(whole.iloc[600:]), 0) == (600, 0)
    some = whole.iloc[:100]
    two = some[["x", "y"]]
    other = some[["x", "y"]].assign(y=0.0)
    found = [changed_people(marked(some), marked(each), 2) for each in (two, other, -two)]
    assert found == [(0, 0), (1, 1), None]


def test_marks_are_short_sorted_and_of_different_records():
    frame = pd.DataFrame({"y": ["b", "a", "b"], "x": [-0.0, 1.0, 0.0]})
    made = marked(frame)
    assert made["count"] == 2  # zero has no sign
    assert made["records"] == sorted(made["records"])
    assert made["columns"] == sorted(made["columns"])
    assert {len(mark) for mark in (*made["records"], *made["columns"], made["table"])} == {16}
    assert {**marked(frame[["x", "y"]]), "table": ""} == {**made, "table": ""}


Made = tuple[dict[str, Any], tuple[str, bytes]]


def people_chain(seed: int, n: int = 800) -> Microdata:
    covariance = 0.7 * np.eye(4) + 0.3
    drawn = np.random.default_rng(seed).multivariate_normal(np.zeros(4), covariance, size=n)
    frame = pd.DataFrame((drawn * 10 + 50).round(2), columns=list("abcs"))
    return described(frame, a="key", b="key", s="confidential")


def released(data: Microdata, slices: list[list[str]]) -> Made:
    release = rwn.mask(data.with_slices(slices), rwn.RWN(epsilon=0.0, k=250, q=1.0))
    content = release.to_bytes("csv")
    none = rwn.Policy(limits=())
    file = ReleasedFile.of(content, "csv")
    record = dict(read_record(internal_record(data, release, file, measures=(), policy=none)))
    # as a policy would have it that each of them keeps
    record["limit"] = [{"measure": "attribute_gain", "at_most": 0.05}]
    record["verdict"] = {"kept": True, "state": "kept", "not_judged": {}, "words": "", "shares": {}}
    return record, (f"{release.id}.csv", content)


@pytest.fixture(scope="module")
def two() -> tuple[Microdata, Made, Made]:
    data = people_chain(11)
    return data, released(data, [["a", "b"], ["c", "s"]]), released(data, [["b", "c"]])


@pytest.fixture
def second_slicing(two, path) -> SimpleNamespace:
    """A release in other slices than the one before it: its entry, and what is warned of it."""
    data, (one, first), (other, second) = two
    files = [first, second]
    add(path, one, data)
    foreseen = foresee(path, other, data, files)
    entry, warned = add(path, other, data, files=files)
    assert warned == foreseen
    return SimpleNamespace(n=data.n, record=other, entry=entry, warned=warned)


def test_a_first_slicing_is_kept(two, path):
    entry, warned = add(path, two[1][0], two[0])
    assert (entry["kept"], entry["chain"], warned) == (True, {}, [])
    assert entry["slices"] == [["a", "b"], ["c", "s"]]
    assert entry["parameters"]["k"] == 250


def test_another_slicing_is_not_kept_and_counts_who_is_named(second_slicing):
    entry = second_slicing.entry
    assert (entry["kept"], entry["state"]) == (False, "broken")
    assert second_slicing.record["file"]["slices"] == [["b", "c"]]  # a variable alone is none
    assert policy_words(entry) == "policy broken; broken by merges with earlier releases"
    found = entry["chain"]
    assert (found["breaks"], found["secret"], found["unchecked"]) == (True, "s", [])
    assert found["named"] > 0.28 * second_slicing.n
    assert found["exact"] > 0.7 * found["named"]


def test_another_slicing_is_warned_of_with_how_many_are_named(two, second_slicing):
    named = second_slicing.entry["chain"]["named"]
    warned = second_slicing.warned
    said = "\n".join(warned)
    assert "fragments of one person chain" in said
    assert f"name s of {100 * named / second_slicing.n:.0f} % of the people" in said
    assert "break the limit of 5 %" in warned[-1]
    assert not any(f"{value}" in said for value in two[0].frame["s"])


def test_the_same_slicing_again_is_still_kept_and_other_people_are_not_merged(two, path):
    data, (one, first), _ = two
    again, second = released(data, [["a", "b"], ["c", "s"]])
    add(path, one, data)
    entry, warned = add(path, again, data, files=[first, second])
    assert entry["kept"] is True
    assert any("no confidential value beyond luck" in each for each in warned)
    assert not any("fragments" in each for each in warned)
    stranger = people_chain(99, n=300)
    record, file = released(stranger, [["b", "c"]])
    entry, warned = add(path, record, stranger, files=[file])
    assert (entry["kept"], warned) == (True, [])


def test_a_file_that_is_not_at_hand_is_not_taken_for_harmless(two, path):
    data, (one, first), (other, second) = two
    add(path, one, data)
    changed = (first[0], first[1].replace(b"1", b"2"))
    entry, warned = add(path, other, data, files=[changed, second])
    assert (entry["kept"], entry["state"]) == (False, "not judged")
    assert policy_words(entry).endswith("merges with earlier releases not checked")
    assert entry["chain"]["unchecked"] == [one["release"]["id"]]
    assert "could not be checked" in warned[-1]


def test_a_file_is_found_where_its_record_says(two, tmp_path):
    data, *made = two
    path = tmp_path / "ledger.jsonl"
    for made_record, (name, content) in made:
        (tmp_path / name).write_bytes(content)
        place = {**made_record, "source": {"released": str(tmp_path / name)}}
        entry, _ = add(path, place, data)
    assert entry["chain"]["breaks"]
    assert entry["chain"]["checked"] == [made[0][0]["release"]["id"]]


WHOLE = "reads the whole record of one person who was"
READ = ("rank_swapping", "random_swapping", "data_shuffling", "microaggregation", "recoding",
        "local_suppression")  # fmt: skip


def setting(method: str) -> Any:
    given = {"recoding": {"k": 20}, "local_suppression": {"k": 3}}.get(method)
    return METHODS[method](**(given or SETTINGS_OF_SUBTRACTION.get(method, {})))


def released_file(data: Microdata, params: Any, precision: dict[str, float] | None = None) -> Made:
    release = rwn.mask(data, params, precision=precision)
    content = release.to_bytes("csv")
    keeps = release.params.invariants(data).rounded(dict(release.precision)).plain()
    own = rwn.Setting(params=release.params, precision=release.precision)
    about = {"fingerprint": data.fingerprint, **described_variables(data.schema), "keeps": keeps}
    record = {
        "release": {"id": release.id},
        "made": "2028-02-29T10:11:12+00:00",
        "table": about,
        "setting": own.resolved(data).to_dict(),
        "file": {"sha256": hashlib.sha256(content).hexdigest(), "records": data.n, "slices": []},
        "readings": {},
        "verdict": {"kept": True},
    }
    return record, (f"{release.id}.csv", content)


def test_an_internal_record_says_what_the_method_keeps():
    data = described(people(40))
    release = rwn.mask(data, setting("rank_swapping"), precision={"a": 0.5})
    file = ReleasedFile.of(release.to_bytes("csv"), "csv")
    keeps = dict(read_record(internal_record(data, release, file, measures=())))["table"]["keeps"]
    assert keeps["rows"] == [["a"], ["b"], ["c"], ["g"]]
    assert keeps["totals"] == ["b", "c"]


def added_twice(path: Path, one: pd.DataFrame, two: pd.DataFrame, *params: Any) -> list[str]:
    """What is said of the second release; it is refused, or added."""
    first, second = (
        (data, *released_file(data, each))
        for data, each in zip(map(described, (one, two)), (params[0], params[-1]), strict=True)
    )
    add(path, first[1], first[0], files=[first[2]])
    files = [first[2], second[2]]
    return add(path, second[1], second[0], files=files)[1]


@pytest.mark.parametrize("method", READ)
def test_a_person_who_withdrew_is_not_read(path, method):
    frame = people()
    with pytest.raises(ReleaseError, match=f"{WHOLE} withdrawn: 4 of 4 columns exactly") as why:
        added_twice(path, frame, frame.drop(index=7), setting(method))
    assert str(why.value).endswith("Nothing was added.")
    for value in frame.loc[7]:
        assert str(value) not in str(why.value) or value in "nsw"
    assert len(read_entries(path.read_bytes())) == 1


@pytest.mark.parametrize("who", ["added", "corrected"])
def test_nor_is_one_who_was_added_or_corrected(path, who):
    frame, other = people(), people()
    other.loc[7, ["a", "b", "c"]] += 3.0
    one = frame.drop(index=7) if who == "added" else other
    with pytest.raises(ReleaseError, match=f"one person who was {who}"):
        added_twice(path, one, frame, setting("microaggregation"))


@pytest.mark.parametrize("method", READ)
def test_the_same_table_may_be_released_again(path, method):
    frame = people()
    warned = added_twice(path, frame, frame, setting(method))
    assert not any("Subtraction" in each for each in warned)


@pytest.mark.parametrize("method", ["rwn", "cart_synthesis", "nbrs2015"])
def test_support_alone_is_said_with_its_probability(path, method):
    frame = people()
    warned = added_twice(path, frame, frame.drop(index=7), setting(method))
    said = next(each for each in warned if each.startswith("Subtraction"))
    assert "reads nothing for certain of one person who was withdrawn" in said
    assert 0 < float(said.split("probability ")[1].split(" ")[0]) < 0.05


@pytest.mark.parametrize("role", ["other", "confidential"])
def test_a_spared_column_refuses_nothing_unless_it_is_confidential(path, role):
    frame = people()[["a", "b", "g"]]
    made = []
    for each in (frame, frame.drop(index=7)):
        data = described(each, unmasked=["g"], g=role)
        made.append((data, *released_file(data, rwn.RWN(k=5))))
    (one, first, a), (two, second, b) = made
    add(path, first, one, files=[a])
    if role == "confidential":
        with pytest.raises(ReleaseError, match="1 columns of one person"):
            add(path, second, two, files=[a, b])
    else:
        _, warned = add(path, second, two, files=[a, b])
        assert any("1 of 3 columns exactly" in each for each in warned)


def test_without_the_earlier_file_nothing_is_taken_for_harmless(path):
    frame = people()
    one, two = described(frame), described(frame.drop(index=7))
    first, _ = released_file(one, setting("microaggregation"))
    second, file = released_file(two, setting("microaggregation"))
    add(path, first, one)
    with pytest.raises(ReleaseError, match="give it with --released"):
        add(path, second, two, files=[file])
    kept, file = released_file(two, rwn.RWN(k=5))
    add(path, kept, two, files=[file])  # a method that keeps no total has nothing to subtract


def test_rounded_values_are_subtracted_too(path):
    frame = people()
    one, two = described(frame), described(frame.drop(index=7))
    steps = {"a": 0.5, "b": 0.1}
    first, a = released_file(one, setting("rank_swapping"), steps)
    second, b = released_file(two, setting("rank_swapping"))
    add(path, first, one, files=[a])
    with pytest.raises(ReleaseError, match=WHOLE):
        add(path, second, two, files=[a, b])


def test_a_judged_release_and_a_mask_are_refused_before_they_leave(path):
    frame = people()
    params = setting("microaggregation")
    one, two = described(frame), described(frame.drop(index=7))
    first, a = released_file(one, params)
    place = path.with_name("first.csv")
    place.write_bytes(a[1])
    add(path, {**first, "source": {"released": str(place)}}, one)
    with pytest.raises(ReleaseError, match=WHOLE):
        judge_release(two, params, "csv", rwn.Policy(limits=()), ledger=path)
    release = rwn.mask(two, params)
    with pytest.raises(ReleaseError, match=WHOLE):
        refuse_readable(path, two, release, ("out.parquet", release.to_bytes("parquet")))
    second, b = released_file(two, params)
    assert any(WHOLE in each for each in foresee(path, second, two, [b]))
    again = rwn.mask(one, params)
    refuse_readable(path, one, again, ("out.csv", again.to_bytes("csv")))
    refuse_readable(path.with_name("new.jsonl"), two, release, ("o.csv", release.to_bytes("csv")))


def test_turnover_of_many_people_is_released(path):
    frame, later = people(), people(seed=5)
    later.iloc[30:] = frame.iloc[30:]
    warned = added_twice(path, frame, later, setting("rank_swapping"))
    assert any("90 %" in each for each in warned)
    assert not any("exactly" in each for each in warned)


def test_a_large_table_is_known_again_by_its_sketch(path):
    """Beyond the marks of a ledger one person is one person still."""
    frame = pd.DataFrame(np.random.default_rng(2).normal(size=(6001, 2)), columns=["a", "b"])
    with pytest.raises(ReleaseError, match="2 of 2 columns exactly"):
        added_twice(path, frame, frame.drop(index=7), setting("rank_swapping"))


def sketch(marks: list[str], table: str) -> dict[str, Any]:
    kept = sorted(marks)[: chained_releases.SKETCH]
    return {"table": table, "names": "n", "columns": [table], "records": kept, "count": len(marks)}


@pytest.mark.parametrize(("gone", "few"), [(1, True), (9, True), (2000, False)])
def test_a_person_among_the_marks_of_a_large_table_is_no_crowd(gone, few):
    """One of 50,000 who happened to be marked counted as 13 who left and 12 who came."""
    marks = [f"{number:016x}" for number in range(50_000)]
    step = 7 if gone == 1 else len(marks) // gone
    later = [each for place, each in enumerate(marks) if place % step or place // step >= gone]
    assert len(later) == len(marks) - gone
    changed = chained_releases.changed_people(sketch(marks, "a"), sketch(later, "b"), 1)
    assert changed is not None
    assert (max(changed) < 10) == few
    assert changed[0] - changed[1] == gone


def test_the_same_people_have_the_same_records_and_the_same_columns():
    """A value of one beyond the sketch is seen in its column, values exchanged in the records."""
    one = sketch([f"{number:016x}" for number in range(5_000)], "a")
    beyond = {**one, "table": "b", "columns": ["b"]}
    assert chained_releases.changed_people(one, beyond, 1) == (1, 1)
    exchanged = sketch([*one["records"][2:], "x", "y"], "a") | {"table": "b"}
    few = {**one, "count": chained_releases.SKETCH}
    assert chained_releases.changed_people(few, exchanged, 1) == (2, 2)


def test_the_rows_of_one_person_are_one_person():
    """Twelve rows of a person who withdrew counted as twelve people, a crowd."""
    rows = np.random.default_rng(2).normal(size=(600, 2))
    frame = pd.DataFrame({"id": np.repeat(np.arange(50), 12), "x": rows[:, 0], "y": rows[:, 1]})
    both = (frame, frame[frame["id"] != 7].reset_index(drop=True))
    marks = [chained_releases.table_marks(described(each, id="person"), b"k" * 32) for each in both]
    assert chained_releases.changed_people(*marks, 2) == (1, 0)
