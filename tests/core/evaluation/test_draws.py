"""Many draws of a setting."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.audit import ReadSoFar, changed_shares, untouched_words, weakly_masked
from rwn_core.evaluation.disclosure import disclose_release
from rwn_core.evaluation.draws import Gathering, draws
from rwn_core.measures.measure import plain
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting.judged_release import judge_release
from tests.check_values import check_values
from tests.core.charts.drawn_by_hand import marginal
from tests.core.measures.attacks.attribute_tables import released
from tests.oracles.expected_moments import expected_of
from tests.tables import described, table

KEYS = ["correlation", "regression", "principal_components", "prediction"]
SETTING = rwn.RWN(epsilon=2.0, k=5)
FEW, SMALL = table("bodyfat", 120), table("bodyfat", 60)


def test_bands_are_where_the_parts_of_the_details_fall():
    shares: list[float] = []
    given = {"measures": KEYS, "repeats": 12, "seed": 4, "progress": shares.append}
    drawn = rwn.ensemble(rwn.load_demo("bodyfat"), SETTING, **given)
    assert shares == sorted(shares)
    data = rwn.load_demo("bodyfat")
    readings = [
        rwn.audit(data, rwn.mask(data, SETTING, seed=seed), measures=KEYS[:3])
        for seed in range(4, 16)
    ]
    values = [reading["correlation"].value for reading in readings]
    np.testing.assert_allclose(drawn.values["correlation"], values, rtol=1e-12)
    low, high = drawn.interval("correlation")
    assert low < drawn.median("correlation") < high
    assert (low, high) == pytest.approx(prediction_interval(drawn.values["correlation"]))
    assert drawn.reading("correlation").interval == (low, high)
    for key, part, bounds, of_draw in (
        ("correlation", "released", (-1, 1), np.asarray),
        ("regression", "coefficient_released", (-np.inf, np.inf), np.asarray),
        ("regression", "se_released", (0, np.inf), np.asarray),
        ("principal_components", "share_released", (0, 1), np.asarray),
        # the sums of single draws' shares, not sums of the shares' ends
        ("principal_components", "cumulative_released", (0, 1), np.cumsum),
    ):
        name = part.replace("cumulative", "share")
        draws = np.array([of_draw(getattr(reading[key].detail, name)) for reading in readings])
        band = drawn.bands[key][part]
        low, high = prediction_interval(draws, bounds=bounds)
        np.testing.assert_allclose([band.low, band.high], [low, high])
        np.testing.assert_allclose(band.median, np.median(draws, axis=0))
    band = Band.from_draws(np.linspace([0.0, 0.0, np.nan], [1.0, 10.0, 1.0], 19))
    assert band.outside(np.array([0.5, 11.0, 0.0])).tolist() == [False, True, False]
    # a measure without an answer keeps its reason
    assert isinstance(drawn.reading("prediction"), rwn.NotApplicable)
    frame = drawn.frame().set_index("measure")
    assert "held-out" in frame.loc["prediction", "not_applicable"]
    assert frame.loc["correlation", "draws"] == drawn.repeats == 12
    with pytest.raises(rwn.ParameterError, match="repeats"):
        rwn.ensemble(data, SETTING, repeats=1)
    with pytest.raises(rwn.ParameterError, match="no measure nothing"):
        rwn.ensemble(data, SETTING, measures=["nothing"])


def test_bands_of_counts_belong_to_one_set_of_bins():
    data = rwn.load_demo("pima")
    made = rwn.ensemble(data, rwn.RWN(k=5), repeats=5, measures=["marginals"], seed=1)
    bands = made.bands["marginals"]
    assert {"released test", "released age", "mean age", "sd age"} <= set(bands)
    assert "mean test" not in bands
    counts = bands["released test"]
    assert counts.low.shape == counts.high.shape == (2,)
    assert (counts.low <= counts.high).all()
    gathering = Gathering("marginals")
    for edges in ([0.0, 1.0, 2.0], [0.0, 1.0, 3.0]):
        shown = marginal([1, 2], [1, 2], 0.0, edges=np.array(edges))
        gathering.add(rwn.Reading(value=0.0, detail=marginal_distances({"x": shown})))
    assert set(gathering.bands()) == {"mean x", "sd x"}


def test_what_is_kept_does_not_grow_with_the_records():
    """Statistics only: a large table's draws are as small as a small table's, and no record."""
    keys = ["correlation", "regression", "marginals", "subgroups", "cooks_distance", "mahalanobis"]
    sizes = []
    for n in (300, 3000):
        data = rwn.load_demo("cps1988").take(np.arange(n))
        made = rwn.ensemble(data, rwn.RWN(k=3), repeats=2, measures=keys, seed=1)
        sizes.append(len(pickle.dumps(made)))
        for band in (band for parts in made.bands.values() for band in parts.values()):
            assert all(np.shape(end)[:1] != (n,) for end in (band.low, band.median, band.high))
    assert sizes[1] < 2 * sizes[0]


TOLD = ("bayes_linkage", "certified_linkage", "true_matches", "suda")


class Reports:
    """The shares done that are reported, and what was read."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.read: list[ReadSoFar] = []
        self.found = self.read.append

    def __call__(self, share: float) -> None:
        self.shares.append(share)


def test_what_is_told_are_the_readings_of_the_end() -> None:
    reports = Reports()
    release = rwn.mask(SMALL, SETTING, seed=1)
    readings = rwn.audit(SMALL, release, measures=TOLD, progress=reports).readings
    assert [each.now for each in reports.read] == list(TOLD)
    for number, each in enumerate(reports.read):
        answered = [key for key in TOLD[:number] if isinstance(readings[key], rwn.Reading)]
        assert list(each.values) == answered, "a limit without an answer is not told as one"
        assert all(each.values[key][0] == readings[key].value for key in answered)
    assert "certified_linkage" not in reports.read[-1].values


def test_a_release_tells_the_limits_first_and_nothing_of_a_record() -> None:
    reports = Reports()
    policy = rwn.Policy()
    judge_release(SMALL, SETTING, "csv", policy, further=True, progress=reports)
    assert tuple(each.now for each in reports.read[: len(policy.limits)]) == policy.measures
    assert reports.shares == sorted(reports.shares)
    plain: list[Any] = [part for each in reports.read for part in each.values.values()]
    assert plain
    assert all(isinstance(value, float) and isinstance(words, str) for value, words in plain)
    # and its risk tells the worst case on its way
    reports = Reports()
    found = disclose_release(SMALL, SETTING, seed=1, progress=reports)
    assert reports.read[-1].values["bayes_linkage"][0] == found.readings["bayes_linkage"].value
    assert reports.shares == sorted(reports.shares)


BALANCED = rwn.SoftRWN(kernel="gaussian", balance=1.0, width=0.5)


def mean_inflation(data: rwn.Microdata, params: rwn.SoftRWN) -> pd.DataFrame:
    """The variance of every released mean over that of the original's, in closed form."""
    expected = expected_of(data, params)
    unit = data.frame.var() / data.n
    shift = expected.means - data.frame.mean()
    added = expected.mean_variances
    return pd.DataFrame({"se": np.sqrt(unit), "shift": shift, "inflation": 1 + added / unit})


def test_expected_means_of_balance_have_no_shift() -> None:
    balanced, free = (mean_inflation(FEW, replace(BALANCED, balance=each)) for each in (1.0, 0.0))
    assert (abs(balanced["shift"]) < 1e-4 * balanced["se"]).all()
    assert (abs(free["shift"]) > 0.1 * balanced["se"]).any()


def test_the_inflation_of_means_is_that_of_masked_bootstrap_samples() -> None:
    """Over 300 samples of the records; the planted fault counts no noise of the masking."""
    said = mean_inflation(FEW, BALANCED)
    names = list(said.index)
    samples = draws(FEW, BALANCED, 300, 1, resampled=True)
    means = np.array([each.masked.frame[names].mean() for each in samples])
    ratio = means.var(axis=0, ddof=1) / said["se"] ** 2
    error = np.sqrt(2 / 300) * ratio.mean() * 2  # the variables of a body are related
    assert abs((ratio - said["inflation"]).mean()) < error
    assert abs((ratio - 1).mean()) > 2 * error


def test_a_narrow_width_among_clones_is_called_weak() -> None:
    values = np.repeat(np.arange(12.0), 10)
    data = described(pd.DataFrame({"siri": values, "age": values.astype(int)}))
    weak = []
    for width in (0.05, 30.0):
        params = rwn.SoftRWN(kernel="gaussian", width=width, cap=0.2, bandwidth="absolute")
        reading = rwn.MEASURES["cells_changed"].compute(released(data, params))
        weak.append(weakly_masked(data, params, changed_shares(plain(reading.detail))))
    assert weak == [["siri", "age"], []]


def test_variables_of_which_no_cell_changed_are_named_in_the_right_number():
    assert untouched_words(["age"]).startswith("age is masked at this setting")
    assert "state that it is not masked" in untouched_words(["age"])
    assert "state that they are not masked" in untouched_words(["age", "sex"])
    assert untouched_words(["age", "sex"]).startswith("age, sex are masked at this setting")


BALANCED_KERNEL = rwn.SoftRWN(kernel="gaussian", balance=1.0)


@pytest.mark.parametrize("words", ["each alone", "4 slices"])
def test_BAL_5_moments_of_bodyfat_by_its_law(words: str) -> None:
    data = rwn.load_demo("bodyfat")
    if words == "4 slices":
        data = data.with_slices([tuple(part) for part in np.array_split(data.numeric_names, 4)])
    values = data.matrix(data.numeric_names)
    spread = values.std(axis=0)
    n = data.n
    pairs = np.triu_indices(values.shape[1], 1)
    original = np.corrcoef(values.T)
    settings = {
        "gauss": rwn.SoftRWN(kernel="gaussian"),
        "balanced": BALANCED_KERNEL,
        "even k=40": rwn.RWN(k=40),
    }
    for name, params in settings.items():
        made = expected_of(data, params)
        awaited = check_values("kernel")["BAL-5"]["expected"][f"{name}, {words}"]
        drift = (made.means.to_numpy() - values.mean(axis=0)) / spread
        assert abs(drift).mean() == pytest.approx(awaited["mean |drift| in sd"], abs=2e-6)
        # about the expected mean, with divisor n: what the variance of the mean takes comes back
        covariance = made.covariances.to_numpy() * (n - 1) / n + np.diag(made.mean_variances)
        sd = np.sqrt(np.diag(made.covariances))
        after = made.covariances.to_numpy() / np.outer(sd, sd)
        close = 2e-3
        if words == "each alone":  # variables of a slice take more from each other, of order 1/n
            sd = np.sqrt(np.diag(covariance))
            after = covariance / np.outer(sd, sd)
            close = 2e-6
        change = abs(after - original)[pairs].mean()
        assert change == pytest.approx(awaited["mean |change of correlation|"], abs=close)
        ratio = np.sqrt(np.diag(covariance)) / spread
        assert abs(ratio - 1).mean() == pytest.approx(awaited["mean |sd ratio - 1|"], abs=2e-6)
