"""Many draws of a setting, on the fly and until they are stopped."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from benchmarks.certified_forecast import forecast_certified
from rwn_core import MEASURES, RWN, Microdata, SoftRWN, audit
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import ReadSoFar, changed_shares, untouched_words, weakly_masked
from rwn_core.evaluation.disclosure import disclose_release
from rwn_core.evaluation.draws import Gathering, draws, ensemble
from rwn_core.measures.measure import Reading, plain
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting.judged_release import judge_release
from tests.core.charts.drawn_by_hand import marginal
from tests.core.measures.attacks.attribute_tables import released
from tests.core.measures.test_certified_linkage import in_blocks
from tests.tables import described, table

KEYS = ["correlation", "regression", "principal_components", "prediction"]
SETTING = RWN(epsilon=2.0, k=5)
FEW, SMALL = table("bodyfat", 120), table("bodyfat", 60)


@pytest.fixture(scope="module")
def drawn():
    shares: list[float] = []
    given = {"measures": KEYS, "repeats": 12, "seed": 4, "progress": shares.append}
    made = ensemble(rwn.load_demo("bodyfat"), SETTING, **given)
    assert shares == sorted(shares)
    return made


def test_bands_are_where_the_parts_of_the_details_fall(drawn):
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
        band, (low, high) = drawn.bands[key][part], prediction_interval(draws, bounds=bounds)
        np.testing.assert_allclose([band.low, band.high], [low, high])
        np.testing.assert_allclose(band.median, np.median(draws, axis=0))
    band = Band.from_draws(np.linspace([0.0, 0.0, np.nan], [1.0, 10.0, 1.0], 19))
    assert band.outside(np.array([0.5, 11.0, 0.0])).tolist() == [False, True, False]
    # a measure without an answer keeps its reason
    assert isinstance(drawn.reading("prediction"), NotApplicable)
    frame = drawn.frame().set_index("measure")
    assert "held-out" in frame.loc["prediction", "not_applicable"]
    assert frame.loc["correlation", "draws"] == drawn.repeats == 12
    with pytest.raises(ParameterError, match="repeats"):
        ensemble(data, SETTING, repeats=1)
    with pytest.raises(ParameterError, match="no measure nothing"):
        ensemble(data, SETTING, measures=["nothing"])


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
        shown = marginal([1, 2], [1, 2], 0.0, edges=np.array(edges))
        gathering.add(Reading(value=0.0, detail=marginal_distances({"x": shown})))
    assert set(gathering.bands()) == {"mean x", "sd x"}


def test_what_is_kept_does_not_grow_with_the_records():
    """Statistics only: a large table's draws are as small as a small table's, and no record."""
    keys = ["correlation", "regression", "marginals", "subgroups", "cooks_distance", "mahalanobis"]
    sizes = []
    for n in (300, 3000):
        data = rwn.load_demo("cps1988").take(np.arange(n))
        made = ensemble(data, rwn.RWN(k=3), repeats=2, measures=keys, seed=1)
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
    readings = audit(SMALL, release, measures=TOLD, progress=reports).readings
    assert [each.now for each in reports.read] == list(TOLD)
    for number, each in enumerate(reports.read):
        answered = [key for key in TOLD[:number] if isinstance(readings[key], Reading)]
        assert list(each.values) == answered, "a limit without an answer is not told as one"
        assert all(each.values[key][0] == readings[key].value for key in answered)
    assert "certified_linkage" not in reports.read[-1].values


def test_a_release_tells_the_limits_first_and_nothing_of_a_record() -> None:
    reports, policy = Reports(), rwn.Policy()
    judge_release(SMALL, SETTING, "csv", policy, further=1, progress=reports)
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


BALANCED = SoftRWN(kernel="gaussian", balance=1.0, width=0.5)


def mean_inflation(data: Microdata, params: SoftRWN) -> pd.DataFrame:
    """The variance of every released mean over that of the original's, in closed form."""
    expected, unit = rwn.forecast(data, params), data.frame.var() / data.n
    shift, added = expected.means - data.frame.mean(), expected.mean_variances
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
        params = SoftRWN(kernel="gaussian", width=width, cap=0.2, bandwidth="absolute")
        reading = MEASURES["cells_changed"].compute(released(data, params))
        weak.append(weakly_masked(data, params, changed_shares(plain(reading.detail))))
    assert weak == [["siri", "age"], []]


def soft(width: float = 3.0, cap: float = 1.0, balance: float = 0.0) -> RWN:
    levers = {"width": width, "cap": cap, "balance": balance}
    return SoftRWN(kernel="exponential", bandwidth="absolute", own=True, **levers)


def certified(data: Microdata, params: RWN) -> tuple[float, ...]:
    return forecast_certified(params.prepare(data).law)


def normal(n: int = 80) -> Microdata:
    values = np.random.default_rng(0).normal(size=(n, 4))
    return described(pd.DataFrame(values, columns=list("abcd")), [("a", "b"), ("c", "d")])


@pytest.mark.parametrize("params", [soft(), soft(balance=1.0), soft(1.0, cap=0.2)])
def test_it_is_above_the_certificates_of_releases_and_not_far(params: RWN) -> None:
    """Ratios that hold for every draw are smaller than those of one."""
    data, measure = normal(), MEASURES["certified_linkage"]
    known = certified(data, params)
    drawn = [measure.read(released(data, params, seed)).value for seed in range(6)]
    assert len(known) == 3
    assert min(known) >= max(drawn) * 0.9
    assert np.mean(drawn) <= np.mean(known) <= 6 * np.mean(drawn)


def test_bodyfat_in_two_slices_is_as_published_with_the_method() -> None:
    """.448 and .084 at widths 2 and 4, mean of three draws."""
    data = rwn.load_demo("bodyfat")
    data = data.with_slices((data.names[:8], data.names[8:]))
    for width, expected in ((2.0, 0.448), (4.0, 0.084)):
        assert np.mean(certified(data, soft(width))) == pytest.approx(expected, rel=0.06)


def test_blocks_say_what_the_law_says_and_records_of_one_household_are_no_cover() -> None:
    data = normal(60)
    by_law, blocks = certified(data, soft()), in_blocks(data, soft()).law
    np.testing.assert_allclose(forecast_certified(blocks, rows=60), by_law, rtol=1e-3)
    # a sample of the rows is about as high
    assert np.mean(forecast_certified(blocks, rows=40)) == pytest.approx(np.mean(by_law), rel=0.2)
    frame, slices = data.frame.assign(h=np.arange(60) // 3), [("a", "b"), ("c", "d")]
    together = described(frame, slices, h="household")
    assert np.mean(certified(together, soft())) > np.mean(by_law)
    for_homes = forecast_certified(in_blocks(together, soft()).law, rows=60)
    assert np.mean(for_homes) > np.mean(by_law)


@pytest.mark.parametrize("params", [RWN(k=5), SoftRWN(kernel="exponential")])
def test_what_cannot_be_certified_is_refused(params: RWN) -> None:
    with pytest.raises(NotApplicable):
        certified(normal(30), params)


def test_variables_of_which_no_cell_changed_are_named_in_the_right_number():
    assert untouched_words(["age"]).startswith("age is masked at this setting")
    assert "state that it is not masked" in untouched_words(["age"])
    assert "state that they are not masked" in untouched_words(["age", "sex"])
    assert untouched_words(["age", "sex"]).startswith("age, sex are masked at this setting")
