"""What the Risk page warns of is true of the release: each sentence beside a wrong case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.measures.comparison import Comparison
from rwn_core.randomness import SecretKey
from rwn_ui.risk import view
from rwn_ui.risk.form import Attack
from rwn_ui.risk.warnings import warnings
from rwn_ui.state.results import current_release

READ = (
    *("bayes_linkage", "distance_linkage", "extremes", "homogeneity", "cells_changed"),
    *("differential_privacy", "neighborhood_size"),
)


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 4)).round(3)
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))


def read(data: rwn.Microdata, params: Any) -> Any:
    made = params.prepare(data).release(SecretKey.from_seed(5))
    comparison = Comparison(original=data, masked=made.masked, law=made.law)
    return {key: rwn.MEASURES[key].read(comparison) for key in READ}


def said(data: rwn.Microdata, params: Any, *, digits: bool = True, lone: int = 4) -> str:
    return " ".join(warnings(params, read(data, params), digits=digits, lone=lone))


def test_few_originals_are_said_of_a_row_where_they_are_few(data) -> None:
    """Exact values and small neighborhoods: the row alone tells."""
    params = rwn.RWN(epsilon=0.1, k=3)
    found = read(data, params)
    assert found["bayes_linkage"].detail["row_by_row"] > 0.8
    assert np.median(found["bayes_linkage"].detail["candidates"]) == 1
    assert "leave few originals" in said(data, params)


def test_where_all_rows_at_once_tell_a_row_alone_is_not_said_to(data) -> None:
    """Planted: rows of which each leaves ten originals, and which are all found together."""
    params = rwn.RWN(epsilon=0.1, k=30)
    found = read(data, params)
    linked = found["bayes_linkage"]
    assert linked.detail["row_by_row"] < 0.2
    assert np.median(linked.detail["candidates"]) > 10
    planted = replace(linked, value=0.75)
    (text, *_) = warnings(params, found | {"bayes_linkage": planted}, digits=True, lone=4)
    assert "75 %" in text
    assert "leave few originals" not in text
    assert "source of only one row" in text
    assert "Ordinary linkage finds" not in said(data, rwn.RWN(epsilon=4.0, k=5))


def test_extremes_that_are_gone_are_not_called_a_real_persons(data) -> None:
    found = read(data, rwn.RWN(epsilon=0.1, k=3))
    copies = found["extremes"].detail["released"]
    there = sum(count > 0 for count in copies)
    assert there
    text = " ".join(warnings(rwn.RWN(k=3), found, digits=True, lone=4))
    assert f"Of the {len(copies)} largest and smallest values {there} stand" in text
    planted = replace(found["extremes"], detail={"released": [0] * len(copies)})
    gone = found | {"extremes": planted}
    text = " ".join(warnings(rwn.RWN(k=3), gone, digits=True, lone=4))
    assert f"None of the {len(copies)} largest and smallest values" in text
    assert "real person's" not in text


def test_digits_are_warned_of_where_some_are_released(open_page) -> None:
    """Planted: a table of categories alone, and one whose numbers are all rounded."""
    screen = open_page("risk")
    assert "all their digits" in _shown(screen)
    session = screen.session
    names = [v.name for v in session.data.schema.released if v.kind is rwn.Kind.CONTINUOUS]
    assert "all their digits" in _shown(screen, tuple((name, 1.0) for name in names[1:]))
    assert "all their digits" not in _shown(screen, tuple((name, 1.0) for name in names))


def test_whole_rows_have_no_donors_of_their_own(data) -> None:
    """Planted: variables that all travel together, by slices or by the method."""
    apart = said(data, rwn.RWN(epsilon=1.0, k=5))
    assert "4 variables take their values from donors of their own" in apart
    assert "donors of their own" not in said(data, rwn.RWN(epsilon=1.0, k=5), lone=0)
    rows = said(data, rwn.METHODS["row_copy"](epsilon=1.0, k=5))
    assert "donors of their own" not in rows
    assert "Small groups shrink" in rows


def test_who_may_give_a_value_is_not_said_to_be_nearly_anybody(data) -> None:
    """A neighborhood of 51 % leaves 49 % out."""
    wide = rwn.RWN(epsilon=3.2, k=31)
    size = read(data, wide)["neighborhood_size"].value
    assert 0.5 < size / data.n < 0.95
    text = said(data, wide)
    assert "may come from most of the other people" in text
    assert "nearly anybody" not in text
    assert "more than half the file" not in said(data, rwn.RWN(epsilon=0.1, k=5))


def _shown(screen: Any, precision: tuple[tuple[str, float], ...] = ()) -> str:
    session = screen.session
    current = current_release(session)
    found = type("Found", (), {"readings": {key: rwn.MEASURES[key].read(current.comparison)
                                            for key in READ}})  # fmt: skip
    table = view._warnings(session, Attack(keys=(), precision=precision), found)
    return " ".join(row[1] for row in table["rows"])
