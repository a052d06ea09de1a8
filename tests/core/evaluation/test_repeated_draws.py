from __future__ import annotations

import pickle

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.draws import Gathering, ensemble
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.distributions import Marginal
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.measures.utility.distributions import marginal_distances

KEYS = ["correlation", "regression", "principal_components", "prediction"]


@pytest.fixture(scope="module")
def drawn():
    data = rwn.load_demo("bodyfat")
    shares: list[float] = []
    made = ensemble(
        data, rwn.RWN(epsilon=2.0, k=5), repeats=12, measures=KEYS, seed=4, progress=shares.append
    )
    return data, made, shares


def test_each_draw_is_the_release_of_its_seed(drawn):
    data, made, _ = drawn
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=6)
    reading = rwn.audit(data, release, measures=["correlation"])["correlation"]
    assert made.values["correlation"][2] == pytest.approx(reading.value, rel=1e-12)


def test_median_and_interval(drawn):
    _, made, _ = drawn
    low, high = made.interval("correlation")
    values = made.values["correlation"]
    assert len(values) == made.repeats == 12
    assert low < made.median("correlation") < high
    assert (low, high) == pytest.approx(prediction_interval(values))
    reading = made.reading("correlation")
    assert isinstance(reading, Reading)
    assert reading.interval == (low, high)


def test_bands_are_where_the_parts_of_the_details_fall(drawn):
    data, made, _ = drawn
    readings = [
        rwn.audit(data, rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=seed), measures=KEYS[:3])
        for seed in range(4, 16)
    ]
    anything = (-np.inf, np.inf)
    for key, part, bounds in (
        ("correlation", "released", (-1, 1)),
        ("regression", "coefficient_released", anything),
        ("regression", "se_released", (0, np.inf)),
        ("principal_components", "share_released", (0, 1)),
    ):
        draws = np.array([getattr(reading[key].detail, part) for reading in readings])
        band = made.bands[key][part]
        low, high = prediction_interval(draws, bounds=bounds)
        np.testing.assert_allclose(band.low, low)
        np.testing.assert_allclose(band.median, np.median(draws, axis=0))
        np.testing.assert_allclose(band.high, high)
    # the sums of single draws' shares, not sums of the shares' ends
    draws = [
        np.cumsum(reading["principal_components"].detail.share_released) for reading in readings
    ]
    band = made.bands["principal_components"]["cumulative_released"]
    np.testing.assert_allclose(band.high, prediction_interval(draws, bounds=(0, 1))[1])


def test_bands_of_counts_belong_to_one_set_of_bins():
    data = rwn.load_demo("pima")
    made = ensemble(data, rwn.RWN(k=5), repeats=5, measures=["marginals"], seed=1)
    bands = made.bands["marginals"]
    assert {"released test", "released age", "mean age", "sd age"} <= set(bands)
    assert "mean test" not in bands
    counts = bands["released test"]
    assert counts.low.shape == counts.high.shape == (2,)
    assert (counts.low <= counts.high).all()
    gathering = Gathering("marginals")
    for edges in ([0.0, 1.0, 2.0], [0.0, 1.0, 3.0]):
        shown = Marginal(
            edges=np.array(edges),
            original=np.array([1, 2]),
            released=np.array([1, 2]),
            difference=0.0,
            missing_original=0,
            missing_released=0,
            mean_released=1.0,
            sd_released=0.5,
        )
        gathering.add(Reading(value=0.0, detail=marginal_distances({"x": shown})))
    assert set(gathering.bands()) == {"mean x", "sd x"}


def test_a_draw_lies_inside_or_outside_its_band():
    band = Band.from_draws([[0.0, 0.0, np.nan], [1.0, 10.0, 1.0]], level=1 / 3)
    assert band.outside(np.array([0.5, 11.0, 0.0])).tolist() == [False, True, False]


def test_what_is_kept_does_not_grow_with_the_records():
    """Statistics only: a large table's draws are as small as a small table's, and no record."""
    keys = ["correlation", "regression", "marginals", "subgroups", "cooks_distance", "mahalanobis"]
    sizes = []
    for n in (300, 3000):
        data = rwn.load_demo("cps1988").take(np.arange(n))
        made = ensemble(data, rwn.RWN(k=3), repeats=2, measures=keys, seed=1)
        sizes.append(len(pickle.dumps(made)))
        arrays = [
            end
            for parts in made.bands.values()
            for band in parts.values()
            for end in (band.low, band.median, band.high)
        ]
        assert all(np.shape(array)[:1] != (n,) for array in arrays)
    assert sizes[1] < 2 * sizes[0]


def test_a_measure_without_an_answer_keeps_its_reason(drawn):
    _, made, _ = drawn
    assert isinstance(made.reading("prediction"), NotApplicable)
    frame = made.frame().set_index("measure")
    assert "held-out" in frame.loc["prediction", "not_applicable"]
    assert frame.loc["correlation", "draws"] == 12


def test_refusals():
    data = rwn.load_demo("bodyfat")
    with pytest.raises(ParameterError, match="repeats"):
        ensemble(data, rwn.RWN(k=5), repeats=1)
    with pytest.raises(ParameterError, match="no measure nothing"):
        ensemble(data, rwn.RWN(k=5), measures=["nothing"])
