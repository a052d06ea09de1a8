"""Releases whose difference reads one person are refused, and nothing is added."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import METHODS, Microdata, ReleaseError
from rwn_core.reporting import ReleasedFile, chained_releases, internal_record, read_record
from rwn_core.reporting.judged_release import judge_release
from rwn_core.reporting.ledger import add, foresee, read_entries, refuse_readable
from rwn_core.reporting.release_record import described_variables
from tests.core.measures.attacks.test_several_files import SETTINGS_OF_SUBTRACTION, people
from tests.tables import described

Made = tuple[dict[str, Any], tuple[str, bytes]]


WHOLE = "reads the whole record of one person who was"
READ = ("rank_swapping", "random_swapping", "data_shuffling", "microaggregation", "recoding",
        "local_suppression")  # fmt: skip


def setting(method: str) -> Any:
    given = {"recoding": {"k": 20}, "local_suppression": {"k": 3}}.get(method)
    return METHODS[method](**(given or SETTINGS_OF_SUBTRACTION.get(method, {})))


def released(data: Microdata, params: Any, precision: dict[str, float] | None = None) -> Made:
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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def added_twice(path: Path, one: pd.DataFrame, two: pd.DataFrame, *params: Any) -> list[str]:
    """What is said of the second release; it is refused, or added."""
    first, second = (
        (data, *released(data, each))
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
    frame, made = people()[["a", "b", "g"]], []
    for each in (frame, frame.drop(index=7)):
        data = described(each, unmasked=["g"], g=role)
        made.append((data, *released(data, rwn.RWN(k=5))))
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
    first, _ = released(one, setting("microaggregation"))
    second, file = released(two, setting("microaggregation"))
    add(path, first, one)
    with pytest.raises(ReleaseError, match="give it with --released"):
        add(path, second, two, files=[file])
    kept, file = released(two, rwn.RWN(k=5))
    add(path, kept, two, files=[file])  # a method that keeps no total has nothing to subtract


def test_rounded_values_are_subtracted_too(path):
    frame = people()
    one, two = described(frame), described(frame.drop(index=7))
    steps = {"a": 0.5, "b": 0.1}
    first, a = released(one, setting("rank_swapping"), steps)
    second, b = released(two, setting("rank_swapping"))
    add(path, first, one, files=[a])
    with pytest.raises(ReleaseError, match=WHOLE):
        add(path, second, two, files=[a, b])


def test_a_judged_release_and_a_mask_are_refused_before_they_leave(path):
    frame, params = people(), setting("microaggregation")
    one, two = described(frame), described(frame.drop(index=7))
    first, a = released(one, params)
    place = path.with_name("first.csv")
    place.write_bytes(a[1])
    add(path, {**first, "source": {"released": str(place)}}, one)
    with pytest.raises(ReleaseError, match=WHOLE):
        judge_release(two, params, "csv", rwn.Policy(limits=()), ledger=path)
    release = rwn.mask(two, params)
    with pytest.raises(ReleaseError, match=WHOLE):
        refuse_readable(path, two, release, ("out.parquet", release.to_bytes("parquet")))
    second, b = released(two, params)
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
