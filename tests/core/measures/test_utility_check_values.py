"""Utility measures against published and hand-computed check values, by id."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Question
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.distributions import hellinger, total_variation, wasserstein
from rwn_core.measures.utility.distributions import (
    distribution_steps,
    il1_percent,
    il1s,
    kolmogorov_smirnov,
)
from rwn_core.measures.utility.regressions import interval_overlap
from tests.check_values import check_values

VALUES = check_values("utility")
TIGHT = {"rel": 1e-9}


def expected(check: str):
    return VALUES[check]["expected"]


@pytest.fixture
def tables() -> tuple[np.ndarray, np.ndarray]:
    given = VALUES["UT-corr"]["input"]
    return np.array(given["X"]), np.array(given["Y"])


@pytest.fixture
def comparison(tables) -> Comparison:
    """The six records, with a third column that keeps the regression of two on one."""
    before, after = (
        Microdata.from_frame(pd.DataFrame(table, columns=["one", "two"])) for table in tables
    )
    return Comparison(
        original=before,
        masked=after,
        question=Question(response="two", predictors=("one",)),
    )


def detail(key: str, comparison: Comparison):
    return MEASURES[key].compute(comparison).detail


def test_UT_IL1s_mean_and_sum(comparison, tables):
    reading = MEASURES["il1s"].compute(comparison)
    assert reading.value == pytest.approx(expected("UT-IL1s_mean"), **TIGHT)
    assert reading.detail.il1s_sum == pytest.approx(expected("UT-IL1s_sum"), **TIGHT)
    cells = il1s(*tables, tables[0].std(axis=0, ddof=1))
    assert cells.sum() == pytest.approx(expected("UT-IL1s_sum"), **TIGHT)


def test_UT_IL1_pct_sum(comparison, tables):
    assert il1_percent(*tables).sum() == pytest.approx(expected("UT-IL1_pct_sum"), **TIGHT)
    assert detail("il1s", comparison).il1_percent_sum == pytest.approx(
        expected("UT-IL1_pct_sum"), **TIGHT
    )


def test_UT_eig(comparison):
    original, released, distance = expected("UT-eig")
    reading = MEASURES["eigenvalues"].compute(comparison)
    assert reading.value == pytest.approx(distance, **TIGHT)
    assert reading.detail.original == pytest.approx(original, **TIGHT)
    assert reading.detail.released == pytest.approx(released, **TIGHT)


def test_UT_corr_of_ranks_is_by_hand():
    # ranks 1, 2, 3, 4 against 2, 1, 4, 3: 1 - 6 * 4 / (4 * 15) = 0.6
    before = pd.DataFrame({"a": [1.0, 2, 3, 40], "b": [1.0, 2, 3, 4]})
    after = pd.DataFrame({"a": [1.0, 2, 3, 40], "b": [20.0, 1, 400, 30]})
    comparison = Comparison(
        original=Microdata.from_frame(before), masked=Microdata.from_frame(after)
    )
    reading = MEASURES["rank_correlation"].compute(comparison)
    assert reading.value == pytest.approx(0.4, **TIGHT)


def test_UT_CIO_by_hand():
    pairs = {"a": ((0, 10), (5, 15)), "b": ((0, 10), (2, 6)), "c": ((0, 1), (2, 3))}
    pairs["d"] = ((1, 3), (1, 3))
    for name, ends in pairs.items():
        one, other = ([np.array([float(end)]) for end in each] for each in ends)
        assert interval_overlap(tuple(one), tuple(other))[0] == pytest.approx(
            expected("UT-CIO")[name], **TIGHT
        )


def test_UT_CIO_slope_z(comparison):
    found = detail("ci_overlap", comparison)
    assert found.overlap[1] == pytest.approx(expected("UT-CIO_slope_z"), **TIGHT)


def test_UT_std_diff_slope(comparison):
    found = detail("ci_overlap", comparison)
    assert found.standardized_difference[1] == pytest.approx(expected("UT-std_diff_slope"), **TIGHT)


def test_UT_ols_standard_errors(comparison):
    found = detail("standard_errors", comparison)
    assert found.se_original == pytest.approx(expected("UT-ols_X")[1], **TIGHT)
    assert found.se_released == pytest.approx(expected("UT-ols_Y")[1], **TIGHT)
    slope = expected("UT-ols_Y")[1][1] / expected("UT-ols_X")[1][1]
    assert MEASURES["standard_errors"].compute(comparison).value == pytest.approx(slope - 1)


def test_UT_HEL():
    one, other = np.array([5, 3, 2]), np.array([4, 4, 2])
    assert hellinger(one, other) == pytest.approx(expected("UT-HEL")["hellinger"], **TIGHT)
    assert total_variation(one, other) == pytest.approx(expected("UT-HEL")["tvd"], **TIGHT)


def test_UT_wass_col2(tables):
    assert wasserstein(tables[0][:, 1], tables[1][:, 1]) == expected("UT-wass_col2")


def test_UT_wass_col2_vs_Y2(tables):
    distance, other, ks = expected("UT-wass_col2_vs_Y2")
    assert wasserstein(tables[0][:, 1], np.array(other)) == pytest.approx(distance, **TIGHT)
    found = kolmogorov_smirnov(distribution_steps(np.sort(tables[0][:, 1])), np.sort(other))
    assert found == pytest.approx(ks, **TIGHT)


def test_UT_PMSE():
    before = pd.DataFrame({"x": [1.0] * 6 + [0.0] * 4})
    after = pd.DataFrame({"x": [1.0] * 8 + [0.0] * 2})
    comparison = Comparison(
        original=Microdata.from_frame(before), masked=Microdata.from_frame(after)
    )
    found = detail("pmse", comparison)
    wanted = expected("UT-PMSE")
    for each in (found, found.main):
        assert each.pmse == pytest.approx(wanted["pMSE"], rel=1e-7)
        assert each.null_mean == pytest.approx(wanted["E0"], **TIGHT)
        assert each.null_sd == pytest.approx(wanted["SD0"], **TIGHT)
        assert each.ratio == pytest.approx(wanted["ratio"], rel=1e-7)
        assert each.standardized == pytest.approx(wanted["std"], rel=1e-6)
        assert each.parameters == 2
        # the scores are 6/14 and 4/6: the two files' shares differ by 8/10 - 6/10
        assert each.specks == pytest.approx(0.2, **TIGHT)


def test_TH_2_a_disc_is_no_product_neighborhood():
    """The uniform law on the unit disc: uncorrelated coordinates whose squares are dependent."""
    wanted = expected("TH-2")
    radius = (np.arange(4000) + 0.5) / 4000
    angle = (np.arange(400) + 0.5) * 2 * np.pi / 400
    weight = 2 * radius / radius.size / angle.size
    x2 = np.outer(radius**2, np.cos(angle) ** 2)
    y2 = np.outer(radius**2, np.sin(angle) ** 2)

    def mean(values: np.ndarray) -> float:
        return float((values * weight[:, None]).sum())

    assert mean(x2) == pytest.approx(wanted["Ex2"], rel=1e-6)
    assert mean(x2 * y2) == pytest.approx(wanted["Ex2y2"], rel=1e-6)
    assert mean(x2) * mean(y2) == pytest.approx(wanted["prod"], rel=1e-6)
    covariance = mean(x2 * y2) - mean(x2) * mean(y2)
    spread = mean(x2**2) - mean(x2) ** 2
    assert covariance / spread == pytest.approx(wanted["corr_x2y2"], rel=1e-5)
