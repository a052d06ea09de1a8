"""Some records on screen: numbers of the file, and what is said where all records are needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.neighbors import find
from rwn_ui.features import analysis_plan
from rwn_ui.state import results
from rwn_ui.state.results import SHOWN, PreparedTable, current_release, full_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view
from rwn_ui.utility.results import _is_expected
from tests.ui.large_table import csv, table

PAGES = ("data", "tune", "utility", "risk", "find", "compare")


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of more than 2,100 records are shown by 2,100 of them."""
    monkeypatch.setattr(results, "LIVE_RECORDS", 2100)


def same_release(current, release, records: np.ndarray) -> None:
    np.testing.assert_array_equal(current.masked.donors, release.donors[records])
    expected = release.masked.frame.take(records).reset_index(drop=True)
    pd.testing.assert_frame_equal(current.masked.masked.frame, expected)


@pytest.mark.parametrize("beyond", [0.5, 1.0, 1.3])
def test_a_look_is_the_release_of_its_seed_wherever_the_neighbors_come_from(monkeypatch, beyond):
    monkeypatch.setattr(find, "STORED_PAIRS", 60_000)
    data = table()
    ready = PreparedTable.prepare(data)
    params = rwn.RWN(epsilon=beyond * ready.prepared.about.stored, k=5, q=0.7)
    assert ready.prepared.with_levers(k=5, epsilon=params.epsilon).is_quick is (beyond <= 1)
    current = ready.release(params, 3)
    same_release(current, rwn.mask(data, params, seed=3), np.arange(data.n))
    assert isinstance(current.readings["neighborhood_size"], rwn.Reading)


@pytest.mark.parametrize("beyond", [0.5, 1.3])
def test_some_records_look_as_in_the_release_of_all(some, beyond: float) -> None:
    data = table()
    ready = PreparedTable.prepare(data)
    records = ready.prepared.records
    assert (len(records), ready.prepared.masks_all_records) == (2100, False)
    params = rwn.RWN(epsilon=beyond * ready.prepared.about.epsilon, k=5, q=0.7)
    release = rwn.mask(data, params, seed=3)
    current = ready.release(params, 3)
    same_release(current, release, records)
    plain = rwn.Comparison(original=data.take(records), masked=current.masked.masked)
    for key in SHOWN:
        reading = current.readings[key]
        if rwn.MEASURES[key].side == "utility":  # the same records, before and after
            assert reading.value == rwn.MEASURES[key].read(plain).value
    sizes = current.readings["neighborhood_size"].detail.sizes
    np.testing.assert_array_equal(sizes, release.law.neighborhoods.sizes[records])


def test_records_that_are_shown_keep_the_numbers_of_the_file(some) -> None:
    data = table()
    ready = PreparedTable.prepare(data)
    readings = ready.release(rwn.RWN(epsilon=0.1, k=5), 3).readings
    for key in ("cooks_distance", "mahalanobis"):
        detail = readings[key].detail
        np.testing.assert_array_equal(detail.records_original, ready.prepared.records)
        place = int(np.argmax(detail.original))
        assert detail.argmax_original == ready.prepared.records[place]


def test_an_intruder_holds_all_records_whichever_are_shown(some) -> None:
    data = table()
    ready = PreparedTable.prepare(data)
    params = rwn.RWN(epsilon=0.05, k=1, q=0.5)
    shown = ready.release(params, 3).readings["distance_linkage"]
    release = rwn.mask(data, params, seed=3)
    full = rwn.audit(data, release, measures=["distance_linkage"])["distance_linkage"]
    np.testing.assert_allclose(shown.detail.score, full.detail.score[ready.prepared.records])
    assert shown.baseline == 1 / data.n
    assert (shown.detail.of, shown.detail.sampled) == (data.n, True)


def test_what_needs_every_record_says_so_and_nothing_fails(some) -> None:
    ready = PreparedTable.prepare(table())
    comparison = ready.release(rwn.RWN(epsilon=0.1, k=5), 3).comparison
    result = {key: measure.read(comparison) for key, measure in rwn.MEASURES.items()}
    reasons = {
        key: str(reading) for key, reading in result.items() if not isinstance(reading, rwn.Reading)
    }
    assert set(reasons) >= {"bayes_linkage", "membership", "k_anonymity", "nearest_distance"}
    for key, reason in reasons.items():
        if rwn.MEASURES[key].side == "risk" and key != "certified_linkage":  # wants a soft kernel
            assert "these are 2,100 random ones of 2,600" in reason
    risks = [key for key in result if rwn.MEASURES[key].side == "risk" and key not in reasons]
    assert set(risks) == {
        "cells_changed",
        "neighborhood_size",
        "distance_linkage",
        "cooks_distance",
        "mahalanobis",
    }


def test_a_page_says_that_some_records_are_shown_and_no_page_fails(some, open_page) -> None:
    screen = open_page("data").upload("large.csv", csv()).wait()
    for page in PAGES:
        screen.visit(page)
        assert screen.errors == [], page
        noted = any(
            "random sample of 2,100 of 2,600 records" in each.value for each in screen.test.caption
        )
        assert noted is (page == "tune"), page
    session: Session = screen.session
    assert _is_expected(session)
    assert full_release(session).masked.masked.n == session.data.n
    assert len(screen.panel["cards"]) == 9


def test_the_slope_of_some_records_is_not_held_against_the_policy(some) -> None:
    session = Session(name="large", demo=None, data=table())
    session.clamp(prepared(session).prepared)
    shown = tune_view.payload(session, current_release(session))["tiles"]
    (slope,) = (tile for tile in shown if tile["label"].startswith("Largest |Δ slope|"))
    assert (slope["state"], slope["limit"]) == (None, "SE of the shown records")
    assert "full table has smaller standard errors" in slope["help"]


def test_analyses_of_some_records_have_no_tile_on_tune(some) -> None:
    """They are not judged there, and “0 of 0, all within tolerance” would say that they pass."""
    session = Session(name="large", demo=None, data=table())
    session.clamp(prepared(session).prepared)
    session.analysis_plan = analysis_plan.suggested(session.data)
    labels = [t["label"] for t in tune_view.payload(session, current_release(session))["tiles"]]
    assert "Analysis plan" not in labels
