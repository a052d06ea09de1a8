"""The preview: the sliders' neighborhoods at hand, and random records of a large table."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rwn_core.errors import ParameterError
from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors import DrawRequest, Finder, find, find_neighborhoods
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.slider_range import find_slider_range
from rwn_core.parallel.threads import Cancelled, work
from rwn_core.randomness import SecretKey

KEY = SecretKey.from_seed(7)
RNG = np.random.default_rng(1)
POINTS = RNG.normal(size=(4000, 3)) @ RNG.normal(size=(3, 3))


def build_preview(points: np.ndarray, progress=None, cancel=None, **options) -> Finder:
    """What the sliders of a screen begin with."""
    made = Finder(points=points)
    with work(progress=progress, cancel=cancel):
        made.store_for_sliders(**options)
    return made


@pytest.fixture(params=["whole", "some"], scope="module")
def built(request):
    return build_preview(POINTS, most=2500 if request.param == "some" else 5000)


def donors_of(neighborhoods, records: np.ndarray, q: float = 0.7) -> np.ndarray:
    return draw_donors(neighborhoods, Draws(KEY, records, (0, 1)), np.full(2, q))


@pytest.mark.parametrize(
    ("end", "beyond"), [("stored", 0.3), ("stored", 1.0), ("epsilon", 1.0), ("epsilon", 1.2)]
)
def test_shown_records_have_the_neighborhoods_of_the_full_table(built, end, beyond):
    setting = {"k": 5, "epsilon": beyond * getattr(built.slider_range, end)}
    full = find_neighborhoods(POINTS, **setting)
    result = built.find(RadiusAndK(**setting))[0]
    np.testing.assert_array_equal(result.sizes, full.sizes[built.records])
    np.testing.assert_array_equal(result.nearest, full.nearest[built.records])
    expected = donors_of(full, np.arange(4000))[built.records]
    np.testing.assert_array_equal(donors_of(result, built.records), expected)


def test_a_radius_for_each_record_is_searched_and_a_wrong_k_refused(built):
    radii = np.linspace(0.2, 1.5 * built.slider_range.stored, 4000)  # some beyond the table
    result = built.find(RadiusAndK(k=5, epsilon=radii))[0]
    full = find_neighborhoods(POINTS, k=5, epsilon=radii)
    np.testing.assert_array_equal(result.sizes, full.sizes[built.records])
    with pytest.raises(ParameterError, match="k must be"):
        built.find(RadiusAndK(k=4000, epsilon=None))


def test_a_table_with_full_places_is_stored_less_far(monkeypatch):
    """Then the sliders' ends are searched when they are asked for."""
    monkeypatch.setattr(find, "TABLE_BYTES", 12e6)
    built = build_preview(POINTS)
    assert built.table.epsilon < built.slider_range.epsilon
    assert 12 * len(built.table.records) <= 12e6
    setting = {"k": 5, "epsilon": built.slider_range.epsilon}
    sizes = built.find(RadiusAndK(**setting))[0].sizes
    np.testing.assert_array_equal(sizes, find_neighborhoods(POINTS, **setting).sizes)


def test_the_slider_goes_farther_than_the_table(monkeypatch):
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    monkeypatch.setattr(find, "LISTED_PAIRS", 200_000)
    built = build_preview(POINTS)
    sizes = {
        end: built.find(RadiusAndK(k=None, epsilon=getattr(built.slider_range, end)))[0].sizes.sum()
        for end in ("stored", "epsilon")
    }
    assert sizes["stored"] == pytest.approx(60_000, rel=0.3)
    assert sizes["epsilon"] == pytest.approx(200_000, rel=0.3)
    assert built.stores(RadiusAndK(k=built.slider_range.k, epsilon=built.slider_range.stored))
    assert not built.stores(RadiusAndK(k=5, epsilon=built.slider_range.epsilon))


@pytest.mark.parametrize("beyond", [1.0, 1.3])
def test_a_search_beyond_the_table_draws_in_the_same_pass(built, beyond):
    setting = {"k": 5, "epsilon": beyond * built.slider_range.epsilon}
    shares: list[float] = []
    q = np.array([1.0, 0.4])
    drawing = DrawRequest(key=KEY, streams=(0, 1), q=q)
    with work(progress=shares.append):
        result, donors = built.find(RadiusAndK(**setting), drawing)
    later = draw_donors(result, Draws(KEY, built.records, (0, 1)), q)
    if built.stores(RadiusAndK(**setting)):
        assert donors is None
    else:
        assert shares[-1] == 1.0
        np.testing.assert_array_equal(donors, later)
    full = find_neighborhoods(POINTS, **setting)
    expected = draw_donors(full, Draws(KEY, np.arange(4000), (0, 1)), q)
    np.testing.assert_array_equal(later, expected[built.records])


def test_what_a_search_raises_through_its_progress_stops_it(built):
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), work(progress=stop):
        built.find(RadiusAndK(k=5, epsilon=2 * built.slider_range.epsilon))


def test_twins_by_the_thousand_need_no_table(monkeypatch):
    monkeypatch.setattr(find, "TABLE_BYTES", 1e6)
    twins = (np.arange(3000) % 3)[:, None] * np.ones(2)
    built = build_preview(twins)
    assert built.table is None
    assert built.slider_range.epsilon > 0
    for setting in ({"k": 5, "epsilon": None}, {"k": 5, "epsilon": 1.5}):
        result = built.find(RadiusAndK(**setting))[0]
        expected = find_neighborhoods(twins, **setting)
        np.testing.assert_array_equal(result.sizes, expected.sizes)
        np.testing.assert_array_equal(
            donors_of(result, np.arange(3000)), donors_of(expected, np.arange(3000))
        )


@pytest.mark.parametrize("far", [1e3, 1e13, 1e16])
def test_the_sliders_reach_to_near_records_beside_one_far_away(far):
    """A number meant as "unknown" stretches the scale; the others lie close together on it."""
    points = np.random.default_rng(0).normal(size=(500, 2))
    points[0] = far
    points /= points.std(axis=0)
    slider_range = find_slider_range(points, 12_000_000)
    near = np.array(
        [(np.hypot(*(points - each).T) <= slider_range.epsilon).mean() for each in points]
    )
    assert 0.2 < near.mean() < 0.27  # a quarter of the file, for strict policies
    assert slider_range.epsilon < 15.01 * slider_range.typical
    assert slider_range.stored == slider_range.epsilon
    assert 50 <= slider_range.epsilon / slider_range.step <= 126


def test_it_reports_its_progress_and_can_be_cancelled():
    shares: list[float] = []
    build_preview(POINTS, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        build_preview(POINTS, cancel=cancel)


def test_the_shown_records_are_those_of_the_seed():
    first, again, other = (build_preview(POINTS, most=300, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.records, again.records)
    assert not np.array_equal(first.records, other.records)
    assert (np.diff(first.records) > 0).all()
