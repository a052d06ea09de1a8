"""The preview: the sliders' neighborhoods at hand, and random records of a large table."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

from rwn_core.donors import Draws, copy_from_donors, draw_donors
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import Cancelled, find_neighborhoods, preview
from rwn_core.neighborhoods.preview import build_preview
from rwn_core.randomness import SecretKey

KEY = SecretKey.from_seed(7)
RNG = np.random.default_rng(1)
POINTS = RNG.normal(size=(4000, 3)) @ RNG.normal(size=(3, 3))


@pytest.fixture(params=["whole", "some"])
def built(request, monkeypatch):
    if request.param == "some":
        monkeypatch.setattr(preview, "LARGEST_WHOLE", 3000)
        monkeypatch.setattr(preview, "SHOWN", 2500)
    return build_preview(POINTS)


def donors_of(neighborhoods, records: np.ndarray, q: float = 0.7) -> np.ndarray:
    return draw_donors(neighborhoods, Draws(KEY, records, (0, 1)), np.full(2, q))


@pytest.mark.parametrize("beyond", [0.3, 1.0, 1.2])
def test_shown_records_have_the_neighborhoods_of_the_full_table(built, beyond):
    reach = {"k": 5, "epsilon": beyond * built.reach.epsilon}
    full = find_neighborhoods(POINTS, **reach)
    found = built.neighborhoods(**reach)
    np.testing.assert_array_equal(found.sizes, full.sizes[built.records])
    np.testing.assert_array_equal(found.nearest, full.nearest[built.records])
    expected = donors_of(full, np.arange(4000))[built.records]
    np.testing.assert_array_equal(donors_of(found, built.records), expected)


def test_some_shown_records_make_a_masked_table(monkeypatch):
    monkeypatch.setattr(preview, "LARGEST_WHOLE", 3000)
    monkeypatch.setattr(preview, "SHOWN", 300)
    built = build_preview(POINTS)
    assert not built.whole
    assert len(built.records) == 300
    data = Microdata.from_frame(pd.DataFrame(POINTS[:, :2], columns=["a", "b"]))
    donors = donors_of(built.neighborhoods(k=5, epsilon=None), built.records, q=1.0)
    masked = copy_from_donors(data, donors)
    assert masked.n == 300
    np.testing.assert_array_equal(masked.values("b"), POINTS[donors[:, 1], 1])


def test_a_table_with_full_places_is_stored_less_far(monkeypatch):
    """Then the sliders' ends are searched when they are asked for."""
    monkeypatch.setattr(preview, "TABLE_BYTES", 3.9e6)
    built = build_preview(POINTS)
    assert built.table.epsilon < built.reach.epsilon
    assert 12 * len(built.table.records) <= 3.9e6
    reach = {"k": 5, "epsilon": built.reach.epsilon}
    sizes = built.neighborhoods(**reach).sizes
    np.testing.assert_array_equal(sizes, find_neighborhoods(POINTS, **reach).sizes)


def test_small_tables_are_whole_without_compiled_code():
    built = build_preview(POINTS[:200])
    assert built.whole
    assert built.neighborhoods(k=3, epsilon=None).sizes.min() == 3


def test_it_tells_its_progress_and_can_be_cancelled():
    told: list[float] = []
    build_preview(POINTS, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        build_preview(POINTS, cancel=cancel)
