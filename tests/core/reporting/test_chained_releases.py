"""Finding A4: a release is merged with earlier ones of its people before the ledger is signed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.reporting import ReleasedFile, internal_record, read_record
from rwn_core.reporting.ledger import add, foresee, policy_words

Made = tuple[dict[str, Any], tuple[str, bytes]]
POLICY = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.05),))


def people(seed: int, n: int = 800) -> Microdata:
    covariance = 0.7 * np.eye(4) + 0.3
    drawn = np.random.default_rng(seed).multivariate_normal(np.zeros(4), covariance, size=n)
    roles = {"a": "key", "b": "key", "c": "other", "s": "confidential"}
    variables = tuple(
        Variable(name=name, kind="continuous", role=role) for name, role in roles.items()
    )
    frame = pd.DataFrame((drawn * 10 + 50).round(2), columns=list(roles))
    return Microdata.from_frame(frame, Schema(variables=variables))


def released(data: Microdata, slices: list[list[str]], policy: rwn.Policy = POLICY) -> Made:
    release = rwn.mask(data.with_slices(slices), rwn.RWN(epsilon=0.0, k=250, q=1.0))
    content = release.to_bytes("csv")
    file = ReleasedFile.of(content, "csv")
    record = dict(read_record(internal_record(data, release, file, measures=(), policy=policy)))
    # as other limits would have it
    record["verdict"] = {**record["verdict"], "kept": True, "state": "kept", "not_judged": {}}
    return record, (f"{release.id}.csv", content)


@pytest.fixture(scope="module")
def two() -> tuple[Microdata, Made, Made]:
    data = people(11)
    return data, released(data, [["a", "b"], ["c", "s"]]), released(data, [["b", "c"]])


def test_another_slicing_is_not_kept_and_says_how_many_are_named(
    two: tuple[Microdata, Made, Made], tmp_path: Path
) -> None:
    data, (one, first), (other, second) = two
    path, files = tmp_path / "ledger.jsonl", [first, second]
    entry, warned = add(path, one, data)
    assert (entry["kept"], entry["chain"], warned) == (True, {}, [])
    assert entry["slices"] == [["a", "b"], ["c", "s"]]
    assert entry["parameters"]["k"] == 250
    foreseen = foresee(path, other, data, files)
    entry, warned = add(path, other, data, files=files)
    assert warned == foreseen
    assert (entry["kept"], entry["state"]) == (False, "broken")
    assert policy_words(entry) == "policy broken; broken by merges with earlier releases"
    found = entry["chain"]
    assert (found["breaks"], found["secret"], found["unchecked"]) == (True, "s", [])
    assert found["named"] > 0.28 * data.n
    assert found["exact"] > 0.7 * found["named"]
    assert any("fragments of one person chain" in each for each in warned)
    share = f"name s of {100 * found['named'] / data.n:.0f} % of the people"
    assert any(share in each for each in warned)
    assert "break the limit of 5 %" in warned[-1]
    values = {f"{value}" for value in data.frame["s"]}
    assert not [each for each in warned for value in values if value in each]


def test_the_same_slicing_again_is_still_kept(
    two: tuple[Microdata, Made, Made], tmp_path: Path
) -> None:
    data, (one, first), _ = two
    again, second = released(data, [["a", "b"], ["c", "s"]])
    add(tmp_path / "ledger.jsonl", one, data)
    entry, warned = add(tmp_path / "ledger.jsonl", again, data, files=[first, second])
    assert entry["kept"] is True
    assert any("no confidential value beyond luck" in each for each in warned)
    assert not any("fragments" in each for each in warned)


def test_a_file_that_is_not_at_hand_is_not_taken_for_harmless(
    two: tuple[Microdata, Made, Made], tmp_path: Path
) -> None:
    data, (one, first), (other, second) = two
    add(tmp_path / "ledger.jsonl", one, data)
    changed = (first[0], first[1].replace(b"1", b"2"))
    entry, warned = add(tmp_path / "ledger.jsonl", other, data, files=[changed, second])
    assert (entry["kept"], entry["state"]) == (False, "not judged")
    assert policy_words(entry).endswith("merges with earlier releases not checked")
    assert entry["chain"]["unchecked"] == [one["release"]["id"]]
    assert "could not be checked" in warned[-1]


def test_a_file_is_found_where_its_record_says(
    two: tuple[Microdata, Made, Made], tmp_path: Path
) -> None:
    data, *made = two
    path = tmp_path / "ledger.jsonl"
    for record, (name, content) in made:
        (tmp_path / name).write_bytes(content)
        place = {**record, "source": {"released": str(tmp_path / name)}}
        entry, _ = add(path, place, data)
    assert entry["chain"]["breaks"]
    assert entry["chain"]["checked"] == [made[0][0]["release"]["id"]]


def test_other_people_are_not_merged(two: tuple[Microdata, Made, Made], tmp_path: Path) -> None:
    data, (one, _), _ = two
    stranger = people(99)
    record, file = released(stranger, [["b", "c"]])
    add(tmp_path / "ledger.jsonl", one, data)
    entry, warned = add(tmp_path / "ledger.jsonl", record, stranger, files=[file])
    assert (entry["kept"], warned) == (True, [])
