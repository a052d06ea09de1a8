"""Lists both ways: a slow twin, some rows against all, ties, and what a worker has to know."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.masking import SoftRWN
from rwn_core.neighbors import soft_lists
from rwn_core.neighbors.soft_lists import Entries, list_both_ways, list_neighbors, to_rank
from rwn_core.neighbors.table import NeighborTable, complete_table
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey

ROWS = ("offsets", "records", "squared")


def tables() -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(6)
    coarse = np.column_stack([rng.integers(0, 4, (2300, 3)) / 3.7, rng.integers(0, 2, 2300) / 7])
    heavy = rng.lognormal(0, 2, (2200, 3))
    heavy[0] = 500.0  # few list it, but it lists others
    return {"ties": coarse, "heavy tails": heavy, "numbers": rng.normal(size=(2100, 6))}


@pytest.fixture(params=["ties", "heavy tails", "numbers"])
def points(request: pytest.FixtureRequest) -> NDArray[np.float64]:
    return tables()[request.param]


def test_three_records_by_hand() -> None:
    """0 and 1 are nearest to each other; 2 lists 1, so that 1 lists 2."""
    near = NeighborTable(
        offsets=np.arange(4),
        records=np.array([1, 0, 1], np.int32),
        squared=np.array([1.0, 1.0, 4.0]),
        k=1,
        epsilon=0.0,
    )
    back = Entries(near.records, np.arange(3, dtype=np.int32), near.squared)
    both = list_both_ways(near, back, 1, near.squared, 1).table
    assert both.offsets.tolist() == [0, 1, 3, 4]
    assert both.records.tolist() == [1, 0, 2, 1]
    assert both.squared.tolist() == [1.0, 1.0, 4.0, 4.0]


def test_lists_are_those_of_all_pairs(points: NDArray[np.float64]) -> None:
    """Each record's 200 nearest with their ties, and whoever has it among theirs."""
    lists, n = list_neighbors(points, 10), len(points)
    near = complete_table(points).cut(k=200, epsilon=None)
    listed = [set(near.members(i).tolist()) for i in range(n)]
    back: list[set[int]] = [set() for _ in range(n)]
    for record, members in enumerate(listed):
        for member in members:
            back[member].add(record)
    for record in range(n):
        start, stop = lists.table.offsets[record : record + 2]
        assert set(lists.table.records[start:stop].tolist()) == listed[record] | back[record]
        assert (np.diff(lists.table.squared[start:stop]) >= 0).all()
    np.testing.assert_array_equal(lists.scaling, to_rank(complete_table(points), 10))
    assert lists.least == min(map(len, listed))


def test_some_rows_are_those_of_all(
    points: NDArray[np.float64], monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = list_neighbors(points, 10)
    some = np.sort(np.random.default_rng(1).permutation(len(points))[:150])
    expected, _ = everyone.table.for_records(some)
    for rows, threads in ((50_000, 1), (700, 2)):  # in parts, and in threads
        monkeypatch.setattr(soft_lists, "AT_ONCE", rows)
        with work(threads=threads):
            lists = list_neighbors(points, 10, some)
        for name in (*ROWS, "numbers"):
            assert getattr(lists.table, name).tobytes() == getattr(expected, name).tobytes()
        assert lists.scaling.tobytes() == everyone.scaling.tobytes()
        assert lists.least == everyone.least


def test_a_scale_beyond_the_list_is_searched_for() -> None:
    points = tables()["numbers"]
    lists = list_neighbors(points, 250)
    assert lists.least >= 250
    np.testing.assert_array_equal(lists.scaling, to_rank(complete_table(points), 250))


HALF = {"balance": 0.5}
GIVEN: list[dict[str, Any]] = [{}, {"balance": 1.0}, {"own": True, "bandwidth": "fixed"}]


@pytest.mark.parametrize(
    ("n", "given"),
    [
        *((n, given) for given in GIVEN for n in (300, 2300)),
        (300, HALF),
        # half a minute of scaling; 300 records scale to one half too, and 2,300 to the whole
        pytest.param(2300, HALF, marks=pytest.mark.nightly),
    ],
)
def test_records_that_are_shown_have_the_donors_of_the_release(
    n: int, given: dict[str, Any]
) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.lognormal(size=(n, 3)), columns=list("abc"))
    frame["d"] = rng.integers(0, 3, n)
    data, key = Microdata.from_frame(frame), SecretKey.from_seed(3)
    setting = SoftRWN(kernel="gaussian", **given)
    everyone = setting.prepare(data).release(key)
    shown = setting.preview(data, most=120)
    assert len(shown.records) == 120
    np.testing.assert_array_equal(shown.release(key).donors, everyone.donors[shown.records])
    wider = replace(setting, width=1.5)
    moved = shown.with_levers(width=1.5).release(key)
    released = wider.prepare(data).release(key)
    np.testing.assert_array_equal(moved.donors, released.donors[shown.records])
    assert (moved.donors != everyone.donors[shown.records]).any()
    back = shown.with_levers(width=1.5).with_levers(width=1.0).release(key)
    np.testing.assert_array_equal(back.donors, everyone.donors[shown.records])
    some = shown.records[5:40]
    alone = setting.prepare(data, records=some).release(key)
    np.testing.assert_array_equal(alone.donors, everyone.donors[some])


@pytest.mark.parametrize(("balance", "table"), [(0.0, "heavy tails"), (1.0, "heavy tails")])
def test_equal_keys_give_equal_bytes_on_any_number_of_threads(
    balance: float, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Microdata.from_frame(pd.DataFrame(tables()[table]).add_prefix("x"))
    setting, digests = SoftRWN(kernel="gaussian", balance=balance), set()
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("RWN_THREADS", threads)
        donors = setting.prepare(data).release(SecretKey.from_seed(5)).donors
        digests.add(hashlib.sha256(donors.tobytes()).hexdigest())
    assert len(digests) == 1
