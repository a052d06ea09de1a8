"""Forecasts of many settings in one pass: each is the forecast of its setting alone."""

from __future__ import annotations

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.evaluation.forecast import forecast, forecast_scan


@pytest.mark.parametrize(
    ("demo", "records", "settings"),
    [
        (
            "bodyfat",
            241,
            [rwn.RWN(epsilon=e, k=k, q=q) for e in (0.0, 2.0, 4.0) for k, q in ((3, 1), (9, 0.3))],
        ),
        ("cps1988", 2600, [rwn.RWN(epsilon=e, k=k) for e, k in ((0.0, 4), (0.5, 8), (0.9, 4))]),
        ("cps1988", 400, [rwn.RWN(epsilon=e, k=4, weights="discrete") for e in (0.0, 0.5)]),
    ],
    ids=["small", "too large for all pairs", "shrinking weights"],
)
def test_a_scan_equals_the_single_forecasts(demo, records, settings):
    data = rwn.load_demo(demo).take(np.arange(records))
    for params, found in zip(settings, forecast_scan(data, settings), strict=True):
        alone = forecast(data, params)
        np.testing.assert_allclose(found.means, alone.means, rtol=1e-12)
        np.testing.assert_allclose(found.covariances, alone.covariances, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.cells_intact, alone.cells_intact, rtol=1e-12)
        assert found.rows_intact == pytest.approx(alone.rows_intact)


def test_radii_of_records():
    data = rwn.load_demo("bodyfat")
    radii = np.linspace(1.0, 3.0, data.n)
    found = forecast(data, rwn.RWN(epsilon=radii, k=3))
    assert np.isfinite(found.means).all()
    with pytest.raises(ParameterError, match="one radius"):
        forecast_scan(data, [rwn.RWN(epsilon=radii, k=3)])


def test_a_scan_in_many_blocks_is_the_same_scan(monkeypatch):
    data = rwn.load_demo("pima")
    settings = [rwn.RWN(k=k, q=0.4) for k in (2, 6)]
    whole = forecast_scan(data, settings)
    monkeypatch.setattr("rwn_core.evaluation.forecast.expected_sums.NUMBERS_A_BLOCK", 900)
    for one, other in zip(whole, forecast_scan(data, settings), strict=True):
        np.testing.assert_allclose(one.covariances, other.covariances, rtol=1e-9)
        assert one.category_counts["test"].tolist() == pytest.approx(
            other.category_counts["test"].tolist()
        )


def test_a_scan_uses_neighbors_at_hand():
    data = rwn.load_demo("bodyfat")
    prepared = rwn.RWN(k=1).preview(data)
    (found,) = forecast_scan(data, [rwn.RWN(epsilon=2.0, k=5)], prepared=prepared)
    assert found.means.to_numpy() == pytest.approx(
        forecast(data, rwn.RWN(epsilon=2.0, k=5)).means.to_numpy()
    )
    assert forecast_scan(data, []) == []


def test_a_scan_refuses_two_metrics():
    data = rwn.load_demo("pima")
    for other in ({"scale": "range"}, {"encoding": "matching"}, {"weights": "discrete"}):
        with pytest.raises(ParameterError, match="same scale, encoding and weights"):
            forecast_scan(data, [rwn.RWN(k=3), rwn.RWN(k=3, **other)])


def test_a_scan_is_what_was_published_for_bodyfat():
    """Closed forms at q = 1, k = 5: 0.052, 0.053, 0.079, 0.174, 0.403 at epsilon 0, 2, 3, 4, 6."""
    data = rwn.load_demo("bodyfat")
    settings = [rwn.RWN(epsilon=epsilon, k=5) for epsilon in (0.0, 2.0, 3.0, 4.0, 6.0)]
    pairs = np.triu_indices(len(data.numeric_names), 1)
    before = np.corrcoef(data.matrix(data.numeric_names), rowvar=False)[pairs]
    scan = forecast_scan(data, settings)
    change = [np.abs(one.correlations.to_numpy()[pairs] - before).mean() for one in scan]
    assert change == pytest.approx([0.052, 0.053, 0.079, 0.174, 0.403], abs=6e-4)
