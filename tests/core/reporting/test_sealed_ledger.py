"""The seals of a ledger: what is changed without its key is seen, and earlier entries are read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError
from rwn_core.reporting.ledger import add, read_entries
from rwn_core.reporting.ledger_entries import BEGINNING, is_keyed
from tests.core.reporting.conftest import quickly_made_of


def people() -> Microdata:
    values = np.random.default_rng(1).normal(size=(60, 3)).round(4)
    return Microdata.from_frame(pd.DataFrame(values, columns=["x", "y", "z"]))


def record_of(data: Microdata) -> dict[str, Any]:
    return dict(quickly_made_of(data, rwn.RWN(k=5), []).record)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def changed(lines: list[bytes], how: str) -> list[bytes]:
    if how == "a field":
        return [lines[0], lines[1].replace(b'"by":""', b'"by":"E"'), lines[2]]
    if how == "a field and its hash":
        return made_anew([lines[0], lines[1].replace(b'"by":""', b'"by":"E"'), lines[2]])
    if how == "taken out, and made anew":
        return made_anew([lines[0], lines[2]])
    if how == "made anew as of an earlier version":
        older = [line.replace(b"rwn ledger 2", b"rwn ledger 1") for line in (lines[0], lines[2])]
        return [*made_anew(older)[:1], lines[1]]
    order = {"taken out": [0, 2], "twice": [0, 1, 1, 2], "other order": [1, 0, 2], "first": [1, 2]}
    return [lines[i] for i in order[how]]


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


HOW = ["a field", "a field and its hash", "taken out", "taken out, and made anew", "twice",
       "other order", "first", "made anew as of an earlier version"]  # fmt: skip


def three_entries(path: Path) -> tuple[list[bytes], bytes]:
    data = people()
    record = record_of(data)
    for number in range(3):
        add(path, {**record, "release": {"id": f"{number}" * 32}}, data)
    return path.read_bytes().splitlines(), path.with_name("ledger.jsonl.key").read_bytes()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], bytes]:
    return three_entries(tmp_path_factory.mktemp("three") / "ledger.jsonl")


@pytest.mark.parametrize("how", HOW)
def test_who_lacks_the_key_changes_nothing_unseen(
    three: tuple[list[bytes], bytes], how: str
) -> None:
    """Finding T7: one entry taken out, the others made anew, was called an unbroken chain."""
    lines, key = three
    whole = b"\n".join(lines) + b"\n"
    assert len(read_entries(whole, key)) == len(read_entries(whole)) == 3
    with pytest.raises(InputError, match=r"Line \d of the ledger was changed"):
        read_entries(b"\n".join(changed(lines, how)) + b"\n", key)
    with pytest.raises(InputError, match=r"Line 1 of the ledger was changed"):
        read_entries(whole, b"x" * 32)


def test_entries_of_an_earlier_version_are_read_and_followed(
    path: Path, three: tuple[list[bytes], bytes]
) -> None:
    data, (lines, key) = people(), three
    older = made_anew([each.replace(b"rwn ledger 2", b"rwn ledger 1") for each in lines[:2]])
    path.write_bytes(b"\n".join(older) + b"\n")
    path.with_name("ledger.jsonl.key").write_bytes(key)
    entry, warned = add(path, record_of(data), data)
    entries = read_entries(path.read_bytes(), key)
    assert [is_keyed(each) for each in entries] == [False, False, True]
    assert entry["before"] == orjson.loads(older[1])["hash"]
    assert entry["chain"]["unchecked"] == ["0" * 32, "1" * 32]
    assert any("could not be checked" in each for each in warned)
