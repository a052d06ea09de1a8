"""A reading that rests on fewer rows than the file has says so in every view."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli.terminal import readings_table
from rwn_core.data.schema import Question
from rwn_core.evaluation.audit import read_all
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

QUESTION = Question(response="y", predictors=("a", "b"))


def compared(gaps: int, n: int = 120) -> Comparison:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["y"] = frame["a"] + frame["b"] + rng.normal(size=n)
    frame.loc[rng.choice(n, gaps, replace=False), "b"] = np.nan
    data = rwn.Microdata.from_frame(frame)
    masked = rwn.Microdata(frame.assign(a=frame["a"] + rng.normal(size=n)), data.schema)
    return Comparison(original=data, masked=masked, question=QUESTION)


@pytest.mark.parametrize(
    "key", ["regression", "ci_overlap", "r_squared", "mahalanobis_linkage", "cooks_distance"]
)
def test_gaps_in_a_predictor_are_told(key: str) -> None:
    comparison = compared(70)
    for _ in range(2):  # also where the fit is remembered
        reading = MEASURES[key].read(comparison)
        assert isinstance(reading, Reading)
        assert (reading.used, reading.total) == (50, 120)
        assert MEASURES[key].reading_title(reading).endswith("(50 of 120 rows)")


def test_a_file_without_gaps_says_nothing() -> None:
    for key in ("regression", "mahalanobis_linkage", "distance_linkage"):
        reading = MEASURES[key].read(compared(0))
        assert isinstance(reading, Reading)
        assert reading.used is None
        assert "rows)" not in MEASURES[key].reading_title(reading)


def test_random_rows_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = MEASURES["distance_linkage"].read(compared(0, n=7000), bare=True)
    assert isinstance(reading, Reading)
    assert reading.total == 7000
    assert reading.used == len(reading.detail.records) < 7000


def test_the_audit_prints_rows_in_the_terminal_the_notebook_and_records() -> None:
    found = read_all(compared(70), ["regression", "distance_linkage"])
    assert "(50 of 120 rows)" in readings_table(found.records())
    assert "(50 of 120 rows)" in repr(found)
    rows = found.frame().set_index("measure")
    assert rows.loc["regression", ["used", "total"]].tolist() == [50, 120]
    assert rows["used"].isna()["distance_linkage"]
    assert readings_table(found.records()) == readings_table(found.records())  # nothing is added


def test_a_variable_that_nobody_masked_is_named() -> None:
    comparison = compared(0)
    reading = MEASURES["cells_changed"].read(comparison)
    assert isinstance(reading, Reading)
    words = MEASURES["cells_changed"].sentence(reading, 120)
    assert "Over 90 % of the cells are unchanged in: b, c, y." in words
    masked = comparison.masked.frame.apply(lambda column: column + 1)
    changed = comparison.with_masked(rwn.Microdata(masked, comparison.original.schema))
    assert "unchanged" not in MEASURES["cells_changed"].sentence(
        MEASURES["cells_changed"].read(changed), 120
    )
