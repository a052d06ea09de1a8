"""Neighborhoods of known sizes: the same members as those that were searched for."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.laws.donor_lists import DonorTables
from rwn_core.neighbors import DrawRequest, Finder, Neighborhoods, Radii, find
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.search import Sizes, known_sizes
from rwn_core.neighbors.table import LARGEST_DENSE
from rwn_core.parallel.threads import work
from rwn_core.randomness import SecretKey

N = LARGEST_DENSE + 200
DRAWING = DrawRequest(key=SecretKey.from_seed(5), streams=(0, 1), q=np.ones(2))
BALLS = {
    "a radius": RadiusAndK(k=None, epsilon=0.5),
    "k": RadiusAndK(k=7, epsilon=None),
    "both": RadiusAndK(k=9, epsilon=0.4),
    "an open ball": RadiusAndK(k=None, epsilon=0.5, strict=True),
    "radii": RadiusAndK(k=4, epsilon=Radii(np.arange(N) % 3 / 2)),
}


def points() -> np.ndarray:
    """With many ties, and records without others near."""
    rng = np.random.default_rng(4)
    made = rng.normal(size=(N, 3))
    made[: N // 2] = np.round(2 * made[: N // 2]) / 2
    return made


def members(found: Neighborhoods) -> list[set[int]]:
    """Each record's, as the attacks read them."""
    listed = DonorTables(found)
    result: list[set[int]] = [set()] * N
    for lists in listed.blocks():
        for index, record in enumerate(listed.order[lists.records]):
            begin = lists.begin[index]
            mine = listed.order[lists.members[begin : begin + lists.sizes[index]]]
            result[record] = set(mine.tolist()) - {int(record)}
    return result


@pytest.mark.parametrize("ball", BALLS.values(), ids=BALLS)
def test_they_have_the_members_of_a_search(ball: RadiusAndK) -> None:
    found, _ = Finder(points=points()).find(ball, DRAWING)
    with work(threads=2):
        again = Finder(points=points()).find(ball, known=known_sizes(found))[0]
    for name in ("sizes", "within", "radius"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert members(again) == members(found)
    assert [len(each) for each in members(again)] == found.sizes.tolist()
    np.testing.assert_array_equal(again.members(11), found.members(11))


def test_so_they_have_where_neighbors_are_stored_or_looked_up(monkeypatch) -> None:
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    made = Finder(points=points())
    with work(threads=2):
        made.store_for_sliders()
    ends = made.slider_range
    for epsilon in (ends.stored, ends.epsilon):
        ball = RadiusAndK(k=6, epsilon=epsilon)
        known = known_sizes(made.find(ball, DRAWING)[0])
        again = Finder(points=made.points).find(ball, known=known)[0]
        assert members(again) == members(Finder(points=made.points).find(ball)[0])


def test_sizes_of_something_else_are_refused() -> None:
    found, _ = Finder(points=points()).find(BALLS["a radius"])
    known = known_sizes(found)
    wrong = Sizes(known.within, known.sizes + 1, known.kth)
    with pytest.raises(ValueError, match="fewer members"):
        members(Finder(points=points()).find(BALLS["a radius"], known=wrong)[0])


def test_those_of_some_records_are_not_known() -> None:
    made = Finder(points=points())
    with work(threads=2):
        made.store_for_sliders(most=500)
    for epsilon in (made.slider_range.stored, made.slider_range.epsilon):
        assert known_sizes(made.find(RadiusAndK(k=3, epsilon=epsilon), DRAWING)[0]) is None
