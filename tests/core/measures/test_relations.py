"""Correlations, components and loadings: by hand, and against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, NotApplicable
from rwn_core.measures.utility import relations


def test_check_value_ut_corr(compare, check_values, ut_frames):
    reading = MEASURES["correlation"].compute(compare(*ut_frames))
    original, released, change = check_values["UT-corr"]["expected"]
    assert reading.detail.original[0, 1] == pytest.approx(original, abs=1e-12)
    assert reading.detail.released[0, 1] == pytest.approx(released, abs=1e-12)
    assert reading.value == pytest.approx(change, abs=1e-12)
    assert reading.detail.mean_absolute_change == reading.value


def test_a_sign_change_is_counted(compare):
    original = pd.DataFrame({"x": [0.0, 1, 2, 3], "y": [0.0, 1, 2, 3], "z": [1.0, 0, 0, 1]})
    masked = original.assign(y=[3.0, 2, 1, 0])
    reading = MEASURES["correlation"].compute(compare(original, masked))
    assert reading.detail.sign_changes == 1
    assert reading.detail.pairs == 3
    assert reading.value == pytest.approx(2 / 3)  # one pair from 1 to -1, two stay at 0


def test_each_pair_uses_the_records_that_have_both(numeric_frames):
    frame = numeric_frames[0].copy()
    frame.loc[:9, "a"] = np.nan
    frame.loc[5:20, "b"] = np.nan
    expected = frame.corr().to_numpy()
    np.testing.assert_allclose(relations.correlation_matrix(frame.to_numpy()), expected, atol=1e-12)


def test_a_constant_variable_is_left_out_of_the_mean(compare, numeric_frames):
    original, masked = numeric_frames
    plain = MEASURES["correlation"].compute(compare(original, masked))
    fixed = (frame.assign(fixed=0.1) for frame in (original, masked))
    more = MEASURES["correlation"].compute(compare(*fixed))
    assert more.value == pytest.approx(plain.value, abs=1e-12)
    assert more.detail.pairs == plain.detail.pairs == 6
    assert np.isnan(more.detail.original[4]).all()
    # and a pair that is constant where both are known
    values = np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, np.nan], [np.nan, 9.0]])
    assert np.isnan(relations.correlation_matrix(values)[0, 1])


@pytest.mark.parametrize(
    ("key", "other", "reason"),
    [
        ("correlation", ["a", "b"], "at least two continuous or count"),
        ("correlation", [3.0, 3.0], "varies in both tables"),
        ("principal_components", [3.0, 3.0], "at least two continuous or count"),
    ],
)
def test_two_numbers_that_vary_are_needed(compare, key, other, reason):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": other})
    with pytest.raises(NotApplicable, match=reason):
        MEASURES[key].compute(compare(frame, frame))


def test_by_hand():
    one, other = np.array([[0.6, 0.0], [0.8, 1.0]]), np.array([[-0.8, 0.0], [-0.6, 1.0]])
    assert relations.loading_changes(one, other) == pytest.approx(
        [0.2, 0.0]
    )  # the sign is turned back
    assert (
        relations.near_neighbors(np.array([2.0, 1.9, 0.1]), 200, 2) == 1
    )  # 0.1 < 2 sqrt(2 / 200) = 0.2


MEASURE = MEASURES["principal_components"]


def test_two_variables_have_the_components_one_plus_and_minus_r(compare, ut_frames):
    detail = MEASURE.compute(compare(*ut_frames)).detail
    for side, frame in zip(("original", "released"), ut_frames, strict=True):
        r = frame["one"].corr(frame["two"])
        halves = [(1 + r) / 2, (1 - r) / 2]
        assert getattr(detail, f"share_{side}") == pytest.approx(halves, abs=1e-12)
        assert getattr(detail, f"sd1_{side}") == pytest.approx((1 + r) ** 0.5, abs=1e-12)
        assert getattr(detail, f"cumulative5_{side}") == pytest.approx(1.0)


def test_components_are_those_of_complete_records_and_of_what_varies(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MEASURE.compute(compare(original, masked))
    before, after = (
        np.cumsum(getattr(reading.detail, f"share_{s}")) for s in ("original", "released")
    )
    assert reading.value == np.abs(before - after).max()
    gaps = original.copy()
    gaps.loc[4, "c"] = np.nan
    detail = MEASURE.compute(compare(gaps, masked)).detail
    assert (detail.n_original, detail.n_released) == (59, 60)
    expected = np.linalg.eigvalsh(gaps.dropna().corr())[::-1] / 4
    np.testing.assert_allclose(detail.share_original, expected)
    detail = MEASURE.compute(compare(original.assign(b=1.0), masked)).detail
    assert detail.names == ["a", "c", "d"]
    expected = np.linalg.eigvalsh(original[["a", "c", "d"]].corr())[::-1] / 3
    np.testing.assert_allclose(detail.share_original, expected)


def test_a_variable_that_no_longer_varies_has_lost_its_relations(compare):
    """One of three comes out constant: its r of .9 and of -.32 are gone."""
    original = pd.DataFrame(
        {"x": [0.0, 1, 2, 3, 4], "y": [0.0, 1, 2, 4, 3], "z": [1.0, -1, 0, -1, 1]}
    )
    r = original.corr().to_numpy()
    constant = compare(original, original.assign(y=2.0))
    lost = (r[0, 1] + abs(r[1, 2])) / 3
    for key in ("correlation", "association"):
        assert MEASURES[key].compute(constant).value == pytest.approx(lost)
    ranks = original.corr(method="spearman").to_numpy()
    found = MEASURES["rank_correlation"].compute(constant)
    assert found.value == pytest.approx((ranks[0, 1] + abs(ranks[1, 2])) / 3)
    # of all three variables, with zero correlations of y: 1, 1 + r(x, z), 1 - r(x, z) = 1 each
    before = np.linalg.eigvalsh(r)[::-1]
    assert MEASURES["eigenvalues"].compute(constant).value == pytest.approx(
        np.abs(1 / before - 1).sum()
    )
    assert MEASURES["loadings"].compute(constant).value > 0.05
    detail = MEASURE.compute(constant).detail
    np.testing.assert_allclose(detail.share_released, [1 / 3] * 3)
    assert MEASURE.compute(constant).value == pytest.approx(
        np.abs(np.cumsum(before) / 3 - [1 / 3, 2 / 3, 1]).max()
    )
