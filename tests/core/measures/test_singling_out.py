"""Singling out goes on until its interval is narrow, or says why it ended before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk import guesses
from rwn_core.measures.risk.guesses import ENOUGH, NARROW, VARIABLES, Conditions, edges

MEASURE = MEASURES["singling_out"]


def read(table: Microdata, k: int, holdout: Microdata | None = None) -> Reading:
    masked = mask(table, RWN(k=k), seed=1).masked
    return MEASURE.compute(Comparison(original=table, masked=masked, holdout=holdout))


def half_width(reading: Reading) -> float:
    assert reading.interval is not None
    low, high = reading.interval
    return (high - low) / 2


@pytest.mark.parametrize("k", [5, 20])
def test_the_attacks_go_on_until_the_interval_is_narrow(k):
    """With one set of variables a row there were 48 and 54 attacks, of 768 rows of pima."""
    reading = read(load_demo("pima"), k)
    assert half_width(reading) <= NARROW
    detail = reading.detail
    assert detail.ended == "narrow"
    assert ENOUGH <= detail.attacks <= detail.rows < 768
    said = MEASURE.sentence(reading, 768)
    assert f" {detail.tried:,} sets of conditions of {detail.rows:,} released rows" in said
    assert "95 % interval" in said
    assert "stays wide" not in said


def test_the_work_is_bounded(monkeypatch):
    monkeypatch.setattr(guesses, "_WORK", 1)
    reading = read(load_demo("pima"), 5)
    assert reading.detail.rows == 50
    assert reading.detail.ended == "work"
    assert "would take too long" in MEASURE.sentence(reading, 768)


def test_rows_that_are_not_alone_are_singled_out_by_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0] * 30, "b": [5.0, 6.0] * 30, "c": [1.5, 2.5] * 30})
    table = Microdata.from_frame(frame)
    with pytest.raises(NotApplicable, match="None of 60 sets of conditions that were tried"):
        MEASURE.compute(Comparison(original=table, masked=table))


def test_the_first_unique_conditions_are_those_of_a_slow_search():
    rng = np.random.default_rng(4)
    table = rng.integers(0, 9, size=(130, 5)).astype(float)
    table[rng.random(table.shape) < 0.05] = np.nan
    ordered, rows = [True, True, False, True, True], np.arange(40)
    asked, above = edges(table, rows, ordered)
    tried = np.array(list(combinations(range(5), VARIABLES)))
    columns, firsts = list(table.T), []
    for row in rows:
        again = np.repeat(rows[row : row + 1], len(tried))
        slow = Conditions(asked[again], above[again], tried, ordered).counts(table)
        expected = int(np.argmax(slow == 1)) if (slow == 1).any() else None
        firsts.append(expected)
        assert Conditions(asked, above, tried, ordered).first_unique(columns, row) == expected
    assert None in firsts
    assert len(set(firsts)) > 3
