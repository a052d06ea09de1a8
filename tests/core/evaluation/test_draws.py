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
from rwn_core import MEASURES, RWN, Microdata, Role, SoftRWN, audit
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.audit import ReadSoFar, changed_shares, untouched_words, weakly_masked
from rwn_core.evaluation.disclosure import disclose_release
from rwn_core.evaluation.draws import Gathering, draws, ensemble
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.measures.measure import Reading, plain
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting.judged_release import judge_release
from tests.core.charts.drawn_by_hand import marginal
from tests.core.measures.attacks.attribute_tables import released
from tests.core.measures.test_certified_linkage import described, in_blocks

KEYS = ["correlation", "regression", "principal_components", "prediction"]


@pytest.fixture(scope="module")
def drawn():
    data, shares, given = rwn.load_demo("bodyfat"), [], {"repeats": 12, "seed": 4}
    params = rwn.RWN(epsilon=2.0, k=5)
    made = ensemble(data, params, measures=KEYS, progress=shares.append, **given)
    assert shares == sorted(shares)
    return data, made


def test_median_and_interval(drawn):
    _, made = drawn
    low, high = made.interval("correlation")
    values = made.values["correlation"]
    assert len(values) == made.repeats == 12
    assert low < made.median("correlation") < high
    assert (low, high) == pytest.approx(prediction_interval(values))
    reading = made.reading("correlation")
    assert reading.interval == (low, high)


def test_bands_are_where_the_parts_of_the_details_fall(drawn):
    data, made = drawn
    readings = [
        rwn.audit(data, rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=seed), measures=KEYS[:3])
        for seed in range(4, 16)
    ]
    values = [reading["correlation"].value for reading in readings]
    np.testing.assert_allclose(made.values["correlation"], values, rtol=1e-12)
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
        band, (low, high) = made.bands[key][part], prediction_interval(draws, bounds=bounds)
        np.testing.assert_allclose([band.low, band.high], [low, high])
        np.testing.assert_allclose(band.median, np.median(draws, axis=0))


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


def test_a_draw_lies_inside_or_outside_its_band():
    band = Band.from_draws(np.linspace([0.0, 0.0, np.nan], [1.0, 10.0, 1.0], 19))
    assert band.outside(np.array([0.5, 11.0, 0.0])).tolist() == [False, True, False]


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


def test_a_measure_without_an_answer_keeps_its_reason(drawn):
    _, made = drawn
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


KEYS_OF_READ_SO_FAR = ("bayes_linkage", "certified_linkage", "true_matches", "suda")


class Reports:
    """The shares done that are reported, and what was read."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.read: list[ReadSoFar] = []
        self.found = self.read.append

    def __call__(self, share: float) -> None:
        self.shares.append(share)


def small() -> rwn.Microdata:
    return rwn.load_demo("bodyfat").take(np.arange(60))


def test_what_is_told_are_the_readings_of_the_end() -> None:
    data, reports = small(), Reports()
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=3), seed=1)
    readings = audit(data, release, measures=KEYS_OF_READ_SO_FAR, progress=reports).readings
    assert [each.now for each in reports.read] == list(KEYS_OF_READ_SO_FAR)
    for number, each in enumerate(reports.read):
        answered = [
            key for key in KEYS_OF_READ_SO_FAR[:number] if readings[key].__class__ is rwn.Reading
        ]
        assert list(each.values) == answered, "a limit without an answer is not told as one"
        assert all(each.values[key][0] == readings[key].value for key in answered)
    assert "certified_linkage" not in reports.read[-1].values


def test_a_release_tells_the_limits_first_and_nothing_of_a_record() -> None:
    data, reports = small(), Reports()
    policy = rwn.Policy()
    judge_release(data, rwn.RWN(epsilon=2.0, k=3), "csv", policy, further=1, progress=reports)
    assert tuple(each.now for each in reports.read[: len(policy.limits)]) == policy.measures
    assert reports.shares == sorted(reports.shares)
    plain: list[Any] = [part for each in reports.read for part in each.values.values()]
    assert plain
    assert all(isinstance(value, float) and isinstance(words, str) for value, words in plain)


def test_the_risk_of_a_release_tells_the_worst_case_on_its_way() -> None:
    reports = Reports()
    found = disclose_release(small(), rwn.RWN(epsilon=2.0, k=3), seed=1, progress=reports)
    assert reports.read[-1].values["bayes_linkage"][0] == found.readings["bayes_linkage"].value
    assert reports.shares == sorted(reports.shares)


BALANCED = SoftRWN(kernel="gaussian", balance=1.0, width=0.5)
SETTINGS = (replace(BALANCED, balance=0.0), BALANCED, SoftRWN(kernel="exponential", own=True))


def table() -> Microdata:
    return rwn.load_demo("bodyfat").take(np.arange(120))


def mean_inflation(data: Microdata, params: SoftRWN) -> pd.DataFrame:
    """The variance of every released mean over that of the original's, in closed form."""
    expected, unit = rwn.forecast(data, params), data.frame.var() / data.n
    shift, added = expected.means - data.frame.mean(), expected.mean_variances
    return pd.DataFrame({"se": np.sqrt(unit), "shift": shift, "inflation": 1 + added / unit})


def test_expected_means_of_balance_have_no_shift() -> None:
    data = table()
    balanced, free = mean_inflation(data, BALANCED), mean_inflation(data, SETTINGS[0])
    error = balanced["se"]
    assert (abs(balanced["shift"]) < 1e-4 * error).all()
    assert (abs(free["shift"]) > 0.1 * error).any()


def test_the_inflation_of_means_is_that_of_masked_bootstrap_samples() -> None:
    """Over 300 samples of the records; the planted fault counts no noise of the masking."""
    data = table()
    said = mean_inflation(data, BALANCED)
    names = list(said.index)
    samples = draws(data, BALANCED, 300, 1, resampled=True)
    means = np.array([each.masked.frame[names].mean() for each in samples])
    ratio = means.var(axis=0, ddof=1) / said["se"] ** 2
    error = np.sqrt(2 / 300) * ratio.mean() * 2  # the variables of a body are related
    assert abs((ratio - said["inflation"]).mean()) < error
    assert abs((ratio - 1).mean()) > 2 * error


def test_a_narrow_width_among_clones_is_called_weak() -> None:
    values = np.repeat(np.arange(12.0), 10)
    frame = table().frame.iloc[:, :2].assign(siri=values, age=values.astype(int))
    data = Microdata.from_frame(frame[["siri", "age"]])
    weak = []
    for width in (0.05, 30.0):
        params = SoftRWN(kernel="gaussian", width=width, cap=0.2, bandwidth="absolute")
        reading = MEASURES["cells_changed"].compute(released(data, params))
        weak.append(weakly_masked(data, params, changed_shares(plain(reading.detail))))
    assert weak == [["siri", "age"], []]


def soft(width: float = 3.0, cap: float = 1.0, balance: float = 0.0) -> RWN:
    levers = {"width": width, "cap": cap, "balance": balance}
    return SoftRWN(kernel="exponential", bandwidth="absolute", own=True, **levers)


def normal(n: int = 80, seed: int = 0) -> Microdata:
    values = np.random.default_rng(seed).normal(size=(n, 4))
    data = Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))
    return data.with_slices((("a", "b"), ("c", "d")))


def law_of(data: Microdata, params: RWN) -> Law:
    return params.prepare(data).law


def law_in_blocks(data: Microdata, params: RWN) -> CellLaw:
    """The law of a large table, of a small one."""
    return in_blocks(data, params).law


@pytest.mark.parametrize("params", [soft(), soft(balance=1.0), soft(1.0, cap=0.2)])
def test_it_is_above_the_certificates_of_releases_and_not_far(params: RWN) -> None:
    """Ratios that hold for every draw are smaller than those of one."""
    data, measure = normal(), MEASURES["certified_linkage"]
    known = forecast_certified(law_of(data, params))
    drawn = [measure.read(released(data, params, seed)).value for seed in range(6)]
    assert len(known) == 3
    assert min(known) >= max(drawn) * 0.9
    assert np.mean(drawn) <= np.mean(known) <= 6 * np.mean(drawn)


def test_bodyfat_in_two_slices_is_as_published_with_the_method() -> None:
    """.448 and .084 at widths 2 and 4, mean of three draws."""
    data = rwn.load_demo("bodyfat")
    names = list(data.frame)
    data = data.with_slices((tuple(names[:8]), tuple(names[8:])))
    for width, expected in ((2.0, 0.448), (4.0, 0.084)):
        found = np.mean(forecast_certified(law_of(data, soft(width))))
        assert found == pytest.approx(expected, rel=0.06)


def test_blocks_say_what_the_law_says_where_values_are_unique() -> None:
    data = normal(60)
    by_law = forecast_certified(law_of(data, soft()))
    a_priori = forecast_certified(law_in_blocks(data, soft()), rows=60)
    np.testing.assert_allclose(a_priori, by_law, rtol=1e-3)
    # a sample of the rows is about as high
    some = forecast_certified(law_in_blocks(data, soft()), rows=40)
    assert np.mean(some) == pytest.approx(np.mean(by_law), rel=0.2)


def test_records_of_one_household_are_no_cover() -> None:
    frame = normal(30).frame.assign(h=np.arange(30) // 3)
    alone = Microdata.from_frame(frame)
    together = described(alone, h={"role": Role.HOUSEHOLD})
    without = described(alone, h={"role": Role.IDENTIFIER}).with_slices((("a", "b"), ("c", "d")))
    assert np.mean(forecast_certified(law_of(together, soft()))) > 1.5 / 30
    in_rows, of_rows = (
        forecast_certified(law_in_blocks(data, soft()), rows=30) for data in (together, alone)
    )
    assert np.mean(in_rows) > np.mean(of_rows)
    # an identifier that repeats is a unit, too
    laws = (law_of(data, soft()) for data in (without, normal(30)))
    assert len(set(map(forecast_certified, laws))) == 2


def test_what_cannot_be_certified_is_refused() -> None:
    data = normal(30)
    for law in (law_of(data, RWN(k=5)), law_of(data, SoftRWN(kernel="exponential"))):
        with pytest.raises(NotApplicable):
            forecast_certified(law)
    kept = law_in_blocks(data, soft())
    kept.q = np.full(4, 0.5)
    with pytest.raises(NotApplicable, match="q = 1"):
        forecast_certified(kept)


def test_variables_of_which_no_cell_changed_are_named_in_the_right_number():
    assert untouched_words(["age"]).startswith("age is masked at this setting")
    assert "state that it is not masked" in untouched_words(["age"])
    assert "state that they are not masked" in untouched_words(["age", "sex"])
    assert untouched_words(["age", "sex"]).startswith("age, sex are masked at this setting")
