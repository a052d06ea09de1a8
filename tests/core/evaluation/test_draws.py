"""Many draws of a setting, and forecasts without draws."""

import pickle
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rwn_core as rwn
from benchmarks.certified_forecast import forecast_certified
from rwn_core.evaluation.audit import ReadSoFar, changed_shares, untouched_words, weakly_masked
from rwn_core.evaluation.disclosure import disclose_release
from rwn_core.evaluation.draws import Gathering, draws
from rwn_core.measures.measure import plain
from rwn_core.measures.risk.repeated_releases import simulated_donors
from rwn_core.measures.statistics.intervals import Band, prediction_interval
from rwn_core.measures.utility.distributions import marginal_distances
from rwn_core.reporting.judged_release import judge_release
from tests.check_values import check_values
from tests.core.charts.drawn_by_hand import marginal
from tests.core.measures.attacks.attribute_tables import released
from tests.core.measures.attacks.test_certificate import in_blocks
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
        band, (low, high) = drawn.bands[key][part], prediction_interval(draws, bounds=bounds)
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
    reports, policy = Reports(), rwn.Policy()
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
        params = rwn.SoftRWN(kernel="gaussian", width=width, cap=0.2, bandwidth="absolute")
        reading = rwn.MEASURES["cells_changed"].compute(released(data, params))
        weak.append(weakly_masked(data, params, changed_shares(plain(reading.detail))))
    assert weak == [["siri", "age"], []]


def soft(width: float = 3.0, cap: float = 1.0, balance: float = 0.0) -> rwn.RWN:
    levers = {"width": width, "cap": cap, "balance": balance}
    return rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True, **levers)


def certified(data: rwn.Microdata, params: rwn.RWN) -> tuple[float, ...]:
    return forecast_certified(params.prepare(data).law)


def normal(n: int = 80) -> rwn.Microdata:
    values = np.random.default_rng(0).normal(size=(n, 4))
    return described(pd.DataFrame(values, columns=list("abcd")), [("a", "b"), ("c", "d")])


@pytest.mark.parametrize("params", [soft(), soft(balance=1.0), soft(1.0, cap=0.2)])
def test_it_is_above_the_certificates_of_releases_and_not_far(params: rwn.RWN) -> None:
    """Ratios that hold for every draw are smaller than those of one."""
    data, measure = normal(), rwn.MEASURES["certified_linkage"]
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


@pytest.mark.parametrize("params", [rwn.RWN(k=5), rwn.SoftRWN(kernel="exponential")])
def test_what_cannot_be_certified_is_refused(params: rwn.RWN) -> None:
    with pytest.raises(rwn.NotApplicable):
        certified(normal(30), params)


def test_variables_of_which_no_cell_changed_are_named_in_the_right_number():
    assert untouched_words(["age"]).startswith("age is masked at this setting")
    assert "state that it is not masked" in untouched_words(["age"])
    assert "state that they are not masked" in untouched_words(["age", "sex"])
    assert untouched_words(["age", "sex"]).startswith("age, sex are masked at this setting")


RELEASES = 400
FAMILY_ERROR = 1e-4


def drawn_donors(
    found: rwn.Neighborhoods, q: float, p: int, rng: np.random.Generator
) -> np.ndarray:
    """Donors drawn from the definition, by code that the program does not share."""
    starts, records = found.pairs()
    places = (rng.random((found.n, p)) * found.sizes[:, None]).astype(np.int64)
    donors = records[starts[:-1, None] + places]
    return np.where(rng.random((found.n, p)) < q, donors, np.arange(found.n)[:, None])


class Moments:
    """Every moment that a forecast states, of a table given as donors."""

    def __init__(self, data: rwn.Microdata) -> None:
        self.names = list(data.numeric_names)
        released = [v.name for v in data.schema.released]
        self.columns = [released.index(name) for name in self.names]
        self.values = data.matrix(self.names)
        self.categories = [v.name for v in data.schema.released if v.kind is rwn.Kind.CATEGORICAL]
        self.codes = [(released.index(name), *data.codes(name)) for name in self.categories]
        self.upper = np.triu_indices(len(self.names))

    def of_release(self, donors: np.ndarray) -> np.ndarray:
        numbers = np.take_along_axis(self.values, donors[:, self.columns], axis=0)
        counts = [
            np.bincount(known[donors[:, column]], minlength=len(levels))
            for column, known, levels in self.codes
        ]
        covariances = np.cov(numbers, rowvar=False)[self.upper]
        return np.concatenate([numbers.mean(axis=0), covariances, *counts]).astype(float)

    def of_forecast(self, expected: rwn.Forecast) -> np.ndarray:
        counts = [expected.category_counts[name] for name in self.categories]
        parts = [expected.means, expected.covariances.to_numpy()[self.upper], *counts]
        return np.concatenate([np.asarray(part, dtype=float) for part in parts])


def scores(releases: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """How many standard errors each moment's mean is away; a constant moment must agree.

    A count expected fewer than 25 times over all releases is left out: it is not normal.
    """
    counts = (releases == np.round(releases)).all(axis=0)
    common = ~(counts & (expected * len(releases) < 25) & (expected > 0))
    releases, expected = releases[:, common], expected[common]
    spread = releases.std(axis=0, ddof=1)
    fixed = spread <= 1e-9 * np.abs(releases).max(axis=0)
    np.testing.assert_allclose(releases.mean(axis=0)[fixed], expected[fixed], rtol=1e-9)
    error = spread[~fixed] / np.sqrt(len(releases))
    return (releases.mean(axis=0)[~fixed] - expected[~fixed]) / error


def refuted(releases: np.ndarray, expected: np.ndarray) -> bool:
    z = scores(releases, expected)
    return bool(np.abs(z).max() >= stats.norm.isf(FAMILY_ERROR / (2 * len(z))))


@pytest.mark.parametrize(("name", "epsilon"), [("bodyfat", 2.0), ("cps1988", 0.1)])
def test_forecast_agrees_with_400_releases_in_every_moment(name, epsilon, key_base):
    data = rwn.load_demo(name)
    data = data.take(np.arange(min(data.n, 1000)))
    params, moments = rwn.RWN(epsilon=epsilon, k=5, q=0.7), Moments(data)
    found = rwn.find_neighborhoods(rwn.coordinates(data), k=params.k, epsilon=params.epsilon)
    rng = np.random.default_rng(list(f"{key_base} forecast {name}".encode()))
    donors = (drawn_donors(found, params.q, data.p, rng) for _ in range(RELEASES))
    releases, right = (
        np.array([moments.of_release(each) for each in donors]),
        rwn.forecast(data, params),
    )
    assert not refuted(releases, moments.of_forecast(right))
    # and not only the largest: the z follow the standard normal law's spread
    assert 0.6 < np.sqrt((scores(releases, moments.of_forecast(right)) ** 2).mean()) < 1.5
    # planted: one neighbor too many, and a record that may be its own donor
    for wrong in (replace(params, k=6, epsilon=None), replace(params, q=params.q * 5 / 6)):
        assert refuted(releases, moments.of_forecast(rwn.forecast(data, wrong)))
    # planted: the variance of the cells left out of the covariances
    wrong = moments.of_forecast(right)
    first, end = len(moments.names), len(moments.names) + len(moments.upper[0])
    cells = np.diag(data.n * right.mean_variances.to_numpy())
    wrong[first:end] = (right.covariances.to_numpy() - cells)[moments.upper]
    assert refuted(releases, wrong)


def holes(n: int = 120) -> rwn.Microdata:
    """Numbers of which some are missing, two slices, a category and a constant."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, x)})
    frame["y"] = x + rng.normal(size=n)
    frame["g"] = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    return described(frame.assign(constant=5.0))


def test_covariances_with_missing_numbers_and_constants(key_base):
    """Of means with gaps another test tells."""
    data = holes()
    expected = rwn.forecast(data, rwn.RWN(k=4, q=0.8))
    found = rwn.find_neighborhoods(rwn.coordinates(data), k=4)
    rng = np.random.default_rng(list(f"{key_base} holes".encode()))
    values, covariance = data.matrix(["x", "y"]), []
    for _ in range(RELEASES):
        shown = np.take_along_axis(values, drawn_donors(found, 0.8, data.p, rng)[:, :2], axis=0)
        covariance.append(np.cov(shown[~np.isnan(shown).any(axis=1)].T)[0, 1])
    error = np.std(covariance, ddof=1) / np.sqrt(RELEASES)
    assert abs(np.mean(covariance) - expected.covariances.loc["x", "y"]) < 4.5 * error
    assert expected.covariances.loc["constant", "constant"] == pytest.approx(0, abs=1e-12)
    assert np.isnan(expected.correlations.loc["constant", "x"])


def test_a_correlation_is_never_beyond_1_and_a_constant_has_none() -> None:
    covariances = pd.DataFrame([[4.0, 2.0000001, 0.0], [2.0000001, 1.0, 0.0], [0.0, 0.0, 0.0]])
    none = pd.Series(dtype=float)
    made = rwn.Forecast(
        means=none, covariances=covariances, mean_variances=none, category_counts={}
    )
    found = made.correlations.to_numpy()
    np.testing.assert_array_equal(found[:2, :2], np.ones((2, 2)))
    assert np.isnan(found[2]).all()


SCANS = {
    "small": ("bodyfat", 241, [rwn.RWN(epsilon=e, k=k, q=q) for e in (0.0, 4.0)
                               for k, q in ((3, 1), (9, 0.3))]),
    "too large for all pairs": ("cps1988", 2600, [rwn.RWN(k=4), rwn.RWN(epsilon=0.9, k=8)]),
    "shrinking weights": ("cps1988", 400, [rwn.RWN(epsilon=e, k=4, weights="discrete")
                                           for e in (0.0, 0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("scan", SCANS)
def test_a_scan_equals_the_single_forecasts(scan, monkeypatch):
    demo, records, settings = SCANS[scan]
    data = rwn.load_demo(demo).take(np.arange(records))
    alone = [rwn.forecast(data, params) for params in settings]
    scans = [rwn.forecast_scan(data, settings)]
    if scan == "small":  # and so does one in many blocks
        monkeypatch.setattr("rwn_core.evaluation.forecast.expected_sums.NUMBERS_A_BLOCK", 900)
        scans.append(rwn.forecast_scan(data, settings))
    for found, one in product(range(len(settings)), scans):
        each, wanted = one[found], alone[found]
        np.testing.assert_allclose(each.means, wanted.means, rtol=1e-12)
        np.testing.assert_allclose(each.covariances, wanted.covariances, rtol=1e-9, atol=1e-12)
        for name, counts in wanted.category_counts.items():
            np.testing.assert_allclose(each.category_counts[name], counts)


def test_what_a_scan_takes_and_refuses():
    data = rwn.load_demo("bodyfat")
    radii = np.linspace(1.0, 3.0, data.n)
    assert np.isfinite(rwn.forecast(data, rwn.RWN(epsilon=radii, k=3)).means).all()
    with pytest.raises(rwn.ParameterError, match="one radius"):
        rwn.forecast_scan(data, [rwn.RWN(epsilon=radii, k=3)])
    for other in ({"scale": "range"}, {"encoding": "matching"}, {"weights": "discrete"}):
        with pytest.raises(rwn.ParameterError, match="same scale, encoding and weights"):
            rwn.forecast_scan(data, [rwn.RWN(k=3), rwn.RWN(k=3, **other)])
    for params in (rwn.RankSwapping(p=0.2), rwn.RWN(k=3, neighbors="sample", m=20), rwn.PRAM()):
        with pytest.raises(rwn.ParameterError, match="draw releases instead"):
            rwn.forecast(data, params)
        with pytest.raises(rwn.ParameterError, match="draw releases instead"):
            rwn.forecast_scan(data, [params])
    # neighbors at hand are used
    setting = rwn.RWN(epsilon=2.0, k=5)
    (found,) = rwn.forecast_scan(data, [setting], prepared=rwn.RWN(k=1).preview(data))
    np.testing.assert_allclose(found.means, rwn.forecast(data, setting).means)
    assert rwn.forecast_scan(data, []) == []


def test_a_scan_is_what_was_published_for_bodyfat():
    """Closed forms at q = 1, k = 5: 0.052, 0.053, 0.079, 0.174, 0.403 at epsilon 0, 2, 3, 4, 6."""
    data = rwn.load_demo("bodyfat")
    settings = [rwn.RWN(epsilon=epsilon, k=5) for epsilon in (0.0, 2.0, 3.0, 4.0, 6.0)]
    pairs = np.triu_indices(len(data.numeric_names), 1)
    before = np.corrcoef(data.matrix(data.numeric_names), rowvar=False)[pairs]
    scan = rwn.forecast_scan(data, settings)
    change = [np.abs(one.correlations.to_numpy()[pairs] - before).mean() for one in scan]
    assert change == pytest.approx([0.052, 0.053, 0.079, 0.174, 0.403], abs=6e-4)


Q = 0.5
NEIGHBOR = np.array([1, 0, 1, 2])  # whose value a record takes


def every_release(values: np.ndarray) -> list[np.ndarray]:
    """All 16 releases of four records, each with its own value or its neighbor's, alike likely."""
    return [
        values[np.where(taken, NEIGHBOR, np.arange(4))]
        for taken in product([False, True], repeat=4)
    ]


def of_four(numbers: np.ndarray) -> rwn.Forecast:
    frame = pd.DataFrame({"x": numbers, "y": [0.0, 1.0, 3.0, 10.0], "g": list("aabb")})
    return rwn.forecast(
        described(frame).with_weights({"x": 0.0, "y": 1.0, "g": 0.0}), rwn.RWN(k=1, q=Q)
    )


@pytest.mark.parametrize("third", [9.0, np.nan])
def test_means_are_ratios_of_expectations_and_counts_are_exact(third):
    numbers = np.array([0.0, 30.0, third, 1.0])
    found, releases = of_four(numbers), every_release(numbers)
    sums, counts = np.nansum(releases, axis=1), (~np.isnan(releases)).sum(axis=1)
    assert found.means["x"] == pytest.approx(sums.mean() / counts.mean(), abs=1e-12)
    if not np.isnan(third):  # then a ratio of expectations is the expected mean
        assert found.means["x"] == pytest.approx((sums / counts).mean(), abs=1e-12)
    levels = every_release(np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.category_counts["g"]["a"] == pytest.approx(np.mean(levels) * 4)
    # a release may lose all its numbers: where it does there is no mean, and the others decide
    alone = np.array([np.nan, 30.0, np.nan, np.nan])
    kept = [np.nanmean(each) for each in every_release(alone) if not np.isnan(each).all()]
    assert len(kept) < 16
    assert of_four(alone).means["x"] == pytest.approx(np.mean(kept), abs=1e-12) == 30.0


def test_mean_and_sd_are_those_of_releases_where_large_values_are_missing():
    """Values are missing more often where they are large: known ones are no random part."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    y = x + 0.3 * rng.normal(size=600)
    y[(x > 0.5) & (rng.random(600) < 0.7)] = np.nan
    data = described(pd.DataFrame({"x": x, "y": y})).with_weights({"x": 1.0, "y": 0.0})
    ahead, prepared = rwn.forecast(data, rwn.RWN(k=4, q=0.7)), rwn.RWN(k=4, q=0.7).prepare(data)
    masked = [
        prepared.release(rwn.SecretKey.from_seed(seed)).masked.values("y") for seed in range(200)
    ]
    for expected, found in (
        (ahead.means["y"], [np.nanmean(each) for each in masked]),
        (ahead.covariances.loc["y", "y"], [np.nanvar(each, ddof=1) for each in masked]),
    ):
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 4 * error + 1 / 600


# soft and tied neighborhoods
BALANCED_KERNEL = rwn.SoftRWN(kernel="gaussian", balance=1.0)
OWN = rwn.SoftRWN(kernel="exponential", own=True, cap=0.3, q=0.8)


def related(n: int = 60, *, holes: bool = False) -> rwn.Microdata:
    """Related numbers, two of them in a slice, and two related categories."""
    rng = np.random.default_rng(6)
    base = rng.normal(size=n)
    values = base[:, None] + 0.5 * rng.normal(size=(5, n)).T
    frame = pd.DataFrame(values[:, :3], columns=["a", "b", "c"])
    frame["g"] = np.where(values[:, 3] > 0, "high", "low")
    frame["h"] = np.where(values[:, 4] > 0.4, "yes", "no")
    if holes:
        frame.loc[rng.random(n) < 0.15, "a"] = np.nan
    return described(frame, [("a", "b")])


@pytest.mark.parametrize("params", [replace(BALANCED_KERNEL, q=0.7, width=0.6), OWN])
def test_expectations_are_products_with_the_law(params: rwn.SoftRWN) -> None:
    data = related()
    found, n = rwn.forecast(data, params), data.n
    weights = params.prepare(data).law.probabilities.toarray()
    chances = (1 - params.q) * np.eye(n) + params.q * weights
    values = data.matrix(["a", "b", "c"])
    means = chances @ values
    np.testing.assert_allclose(found.means, means.mean(axis=0), rtol=1e-10)
    noise = (chances @ values**2 - means**2).sum(axis=0)
    np.testing.assert_allclose(found.mean_variances, noise / n**2, rtol=1e-10)
    total = means.sum(axis=0)
    apart = (means[:, 0] @ means[:, 2] - total[0] * total[2] / n) / (n - 1)
    assert found.covariances.loc["a", "c"] == pytest.approx(apart, rel=1e-9)
    product = (chances @ (values[:, 0] * values[:, 1])).sum()
    shared = product - means[:, 0] @ means[:, 1]
    together = (product - (total[0] * total[1] + shared) / n) / (n - 1)
    assert found.covariances.loc["a", "b"] == pytest.approx(together, rel=1e-9)
    high = chances @ (data.frame["g"] == "high").to_numpy()
    assert found.category_counts["g"]["high"] == pytest.approx(high.sum())


@pytest.mark.parametrize("words", ["each alone", "4 slices"])
def test_BAL_5_forecasts_of_bodyfat(words: str) -> None:
    data = rwn.load_demo("bodyfat")
    if words == "4 slices":
        data = data.with_slices([tuple(part) for part in np.array_split(data.numeric_names, 4)])
    values = data.matrix(data.numeric_names)
    spread, n = values.std(axis=0), data.n
    pairs, original = np.triu_indices(values.shape[1], 1), np.corrcoef(values.T)
    settings = {
        "gauss": rwn.SoftRWN(kernel="gaussian"),
        "balanced": BALANCED_KERNEL,
        "even k=40": rwn.RWN(k=40),
    }
    for name, params in settings.items():
        made = rwn.forecast(data, params)
        awaited = check_values("kernel")["BAL-5"]["expected"][f"{name}, {words}"]
        drift = (made.means.to_numpy() - values.mean(axis=0)) / spread
        assert abs(drift).mean() == pytest.approx(awaited["mean |drift| in sd"], abs=2e-6)
        # about the expected mean, with divisor n: what the variance of the mean takes comes back
        covariance = made.covariances.to_numpy() * (n - 1) / n + np.diag(made.mean_variances)
        after, close = made.correlations.to_numpy(), 2e-3
        if words == "each alone":  # variables of a slice take more from each other, of order 1/n
            sd = np.sqrt(np.diag(covariance))
            after, close = covariance / np.outer(sd, sd), 2e-6
        change = abs(after - original)[pairs].mean()
        assert change == pytest.approx(awaited["mean |change of correlation|"], abs=close)
        ratio = np.sqrt(np.diag(covariance)) / spread
        assert abs(ratio - 1).mean() == pytest.approx(awaited["mean |sd ratio - 1|"], abs=2e-6)


def test_a_scan_along_the_width_is_each_forecast_alone() -> None:
    data = related()
    settings = [replace(OWN, width=width, q=q) for width in (0.4, 1.0) for q in (0.5, 1.0)]
    shares: list[float] = []
    scan = rwn.forecast_scan(data, settings, progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    for each, setting in zip(scan, settings, strict=True):
        assert each.means.tolist() == rwn.forecast(data, setting).means.tolist()
    # by hand, the smallest cap, which is the even kernel over all others: (2.5 + 2 + 0.5) / 3
    three = described(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    assert rwn.forecast(three, rwn.SoftRWN(kernel="gaussian", cap=0.5)).means["x"] == pytest.approx(
        5 / 3
    )
    # a large table of which all records give has no forecast and says why
    params = rwn.SoftRWN(kernel="exponential", bandwidth="absolute", own=True)
    with pytest.raises(rwn.ParameterError, match="all pairs of 2,100 records"):
        rwn.forecast(table("cloud", 2100), params)
    assert np.isfinite(rwn.forecast(data, params).means).all()


@pytest.mark.parametrize("holes", [False, True])
def test_a_tie_adds_to_covariances_what_releases_show(holes: bool) -> None:
    data, params = related(holes=holes), rwn.SoftRWN(tie=True, balance=1.0, cap=0.3)
    made, apart = rwn.forecast(data, params), rwn.forecast(data, replace(params, tie=False))
    law = params.prepare(data).law
    numbers, draws, values = [], 600, data.matrix(["a", "b", "c"])
    for seed in range(draws):
        donors = simulated_donors(law, np.random.default_rng(seed))
        shown = np.take_along_axis(values, donors[:, :3], axis=0)
        numbers.append(pd.DataFrame(shown).cov().to_numpy() if holes else np.cov(shown.T))
    expected, without = made.covariances.to_numpy(), apart.covariances.to_numpy()
    error, mean = np.std(numbers, axis=0) / np.sqrt(draws), np.mean(numbers, axis=0)
    assert (np.abs(mean - expected) < 4 * error + 0.01 * holes).all()
    assert (np.abs(mean - without) > 4 * error).any()  # slices drawn apart are another law
    for same in ("means", "mean_variances"):
        pd.testing.assert_series_equal(getattr(made, same), getattr(apart, same))
