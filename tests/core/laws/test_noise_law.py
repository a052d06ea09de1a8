"""Laws of noise, and moments of laws."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import rwn_core as rwn
from rwn_core import Microdata, NotApplicable
from rwn_core.data.rounding import rounded_values
from rwn_core.laws.correlated_noise_law import FINE, CorrelatedNoiseOn, spread_axes
from rwn_core.laws.law import Law
from rwn_core.laws.noise_law import FAR, SUMMED_INTEGERS, Noise, NoiseOn, Shape
from rwn_core.laws.unit_law import NORMAL_NOISE, STILL_MISSING
from rwn_core.masking import KPRAM, AdditiveNoise, CorrelatedNoise
from rwn_core.measures.attacks.posterior import posteriors

NAN = np.nan
shapes = pytest.mark.parametrize("shape", get_args(Shape))


def table(**columns: object) -> Microdata:
    return Microdata.from_frame(pd.DataFrame(columns))


def noise_on(data: Microdata, noise: Noise, **more: object) -> NoiseOn:
    return NoiseOn(original=data, names=("x",), noise=noise, **more)


def test_noise_at_points_that_are_known_by_heart():
    laplace, even = Noise(shape="laplace", sd=np.sqrt(2)), Noise(shape="uniform", sd=1 / np.sqrt(3))
    normal = Noise(shape="gaussian", sd=2.0)
    ln2 = np.log(2)
    points = np.array([-ln2, 0.0, ln2])
    np.testing.assert_allclose(laplace.draw(np.array([0.25, 0.5, 0.75])), points, atol=1e-15)
    np.testing.assert_allclose(laplace.density(points), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(laplace.below(points), [0.25, 0.5, 0.75])
    assert even.half_width == pytest.approx(1.0)
    np.testing.assert_allclose(even.draw(np.array([0.0, 0.25, 1.0])), [-1.0, -0.5, 1.0])
    np.testing.assert_allclose(even.density(np.array([-1.01, 0.3, 1.01])), [0.0, 0.5, 0.0])
    np.testing.assert_allclose(even.below(np.array([-1.5, -0.5, 0.5, 2.0])), [0, 0.25, 0.75, 1])
    z = stats.norm.ppf(0.9)
    np.testing.assert_allclose(
        normal.draw(np.array([0.1, 0.5, 0.9])), [-2 * z, 0, 2 * z], atol=1e-12
    )
    np.testing.assert_allclose(normal.density(np.array([0.0, 2.0])), stats.norm.pdf([0, 1]) / 2)
    np.testing.assert_allclose(normal.below(np.array([-2.0, 0.0])), stats.norm.cdf([-1, 0]))


OWN = [0.0, 2.0, NAN]
SHOWN = np.array([-1.0, 0.0, 1.5, NAN])
ROWS = np.arange(4)


@shapes
def test_densities_of_a_release_with_and_without_signs(shape):
    data = table(x=OWN)
    noise = Noise(shape=shape, sd=1.5)
    masked = Microdata(pd.DataFrame({"x": SHOWN}), data.schema)
    plain, folded = (
        noise_on(data, noise, reflected=each).chances(masked, ROWS) for each in (False, True)
    )
    for row, shown in enumerate(SHOWN):
        for person, own in enumerate(OWN):
            if np.isnan(shown) or np.isnan(own):
                expected = both = float(np.isnan(shown) and np.isnan(own))
            else:
                expected = float(noise.density(np.array(shown - own)))
                mirrored = float(noise.density(np.array(-shown - own)))
                both = expected + mirrored if shown >= 0 else 0.0
            assert plain[row, person] == pytest.approx(expected)
            assert folded[row, person] == pytest.approx(both)


def mass(noise: Noise, own: float, reflected: bool, step: float) -> dict[float, float]:
    """P(each whole number is released), number by number."""
    found: dict[float, float] = {}
    for k in range(-60, 61):
        ends = noise.below(np.array([k - 0.5 - own, k + 0.5 - own]))
        size = float(abs(k)) if reflected else float(k)
        written = float(rounded_values(np.array([size]), step)[0]) if step else size
        found[written] = found.get(written, 0.0) + float(ends[1] - ends[0])
    return found


@shapes
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("step", [0.0, 2.0])
def test_whole_numbers_are_as_likely_as_all_that_is_rounded_to_them(shape, reflected, step):
    """At a step of 2 the numbers 3 and 5 are halfway, and both go to 4."""
    data = table(x=[0, 3, 4])
    noise = Noise(shape=shape, sd=1.9)
    part = noise_on(data, noise, discrete=True, reflected=reflected, precision={"x": step})
    grid = np.arange(-10.0, 13.0)
    found = part.chances(Microdata(pd.DataFrame({"x": grid}), data.schema), np.arange(len(grid)))
    masses = [mass(noise, own, reflected, step) for own in (0.0, 3.0, 4.0)]
    # only multiples of the step are ever released
    some = np.flatnonzero(grid % step == 0) if step else np.arange(len(grid))
    for person, expected in enumerate(masses):
        wanted = [expected.get(at, 0.0) for at in grid[some]]
        np.testing.assert_allclose(found[some, person], wanted, atol=1e-12)
    written = [rounded_values(np.array([x]), step)[0] if step else x for x in (0.0, 3.0, 4.0)]
    kept = [expected[own] for expected, own in zip(masses, written, strict=True)]
    np.testing.assert_allclose(part.retained, kept, atol=1e-12)


def test_a_continuous_number_is_never_kept_unless_it_is_missing_or_rounded():
    data = table(x=[0.5, 4.0, NAN])
    noise = Noise(shape="uniform", sd=2 / np.sqrt(3))
    part = noise_on(data, noise)
    assert part.retained.tolist() == [0.0, 0.0, 1.0]
    # to multiples of 1: 0.5 is written as 0, which noise within 2 gives with a chance of 1 in 4
    assert part.rounded({"x": 1.0}).retained.tolist() == pytest.approx([0.25, 0.25, 1.0])
    assert part.rounded({"y": 1.0}) is part
    assert part.restricted_to(frozenset("x")) is part
    assert (part.names, part.keeps_value_counts) == (("x",), False)
    for ask, words in (
        (part.table, "cannot be listed"),
        (part.rounded({"x": 1.0}).moments, "before"),
    ):
        with pytest.raises(NotApplicable, match=words):
            ask()


def test_what_noise_promises_depends_on_its_shape():
    whole, gaps = table(x=[1.0, 4.5, 3.0]), table(x=[1.0, NAN])

    def privacy(data: Microdata, shape: str) -> object:
        return noise_on(data, Noise(shape=shape, sd=np.sqrt(2) * 7)).privacy

    assert privacy(whole, "gaussian") == NORMAL_NOISE
    assert all(privacy(gaps, shape) == STILL_MISSING for shape in get_args(Shape))
    epsilon, because = privacy(whole, "laplace")
    assert (epsilon, because) == (np.inf, "has noise of a scale that follows from the file")
    epsilon, because = privacy(whole, "uniform")
    assert (epsilon, because) == (np.inf, "can only take values within reach of its noise")


@shapes
def test_moments_of_a_number_without_its_sign_are_those_of_its_density(shape):
    data = table(x=OWN)
    noise = Noise(shape=shape, sd=1.5)
    part = noise_on(data, noise, reflected=True)
    found = part.moments()
    for person, own in enumerate(OWN[:2]):
        ends = [max(0.0, own - noise.half_width), own + noise.half_width, noise.half_width - own]

        def weighted(x: float, power: int, own: float = own) -> float:
            both = noise.density(np.array([x - own, -x - own])).sum()
            return float(x**power * both)

        first, second = (
            integrate.quad(weighted, 0.0, 40.0, (power,), points=np.abs(ends), limit=200)[0]
            for power in (1, 2)
        )
        assert found.means[person, 0] == pytest.approx(first, rel=1e-6)
        assert found.variances[person, 0] == pytest.approx(second - first**2, rel=1e-6)
    assert np.isnan(found.means[2, 0])
    assert found.variances[2, 0] == 0
    plain = noise_on(data, noise).moments()
    assert plain.means[:2, 0].tolist() == OWN[:2]
    assert plain.variances[:, 0].tolist() == [2.25, 2.25, 0.0]
    assert plain.totals.tolist() == plain.together.tolist() == [[4.5]]


@shapes
@pytest.mark.parametrize("sd", [0.3, 1.7])
def test_moments_of_whole_numbers_are_those_of_their_mass(shape, sd):
    data = table(x=[0, 3, 4])
    noise = Noise(shape=shape, sd=sd)
    for reflected in (False, True):
        found = noise_on(data, noise, discrete=True, reflected=reflected).moments()
        for person, own in enumerate((0.0, 3.0, 4.0)):
            law = mass(noise, own, reflected, 0.0)
            mean = sum(at * chance for at, chance in law.items())
            square = sum(at**2 * chance for at, chance in law.items())
            assert found.means[person, 0] == pytest.approx(mean)
            assert found.variances[person, 0] == pytest.approx(square - mean**2)


@shapes
def test_wide_noise_is_as_if_it_were_not_rounded_but_for_a_twelfth(shape):
    """Added up as long as that is affordable, and taken for granted beyond."""
    own = np.array([0.0, 1000.0, 3000.0, 1e6])
    for share in (0.9, 1.1):
        noise = Noise(shape=shape, sd=share * SUMMED_INTEGERS / FAR)
        whole, plain = (noise.shortfall(own, discrete=each) for each in (True, False))
        np.testing.assert_allclose(whole, plain, rtol=1e-3, atol=1e-3)
        if shape != "uniform":  # an even one ends anywhere in a unit
            assert noise.discrete_variance == pytest.approx(noise.sd**2 + 1 / 12, abs=0.01)


S = np.array([[2.0, 0.6], [0.6, 1.0]])


def joint(data: Microdata, shrink: float = 0.8, covariance: np.ndarray = S) -> CorrelatedNoiseOn:
    names = data.numeric_names
    return CorrelatedNoiseOn(
        original=data, names=names, covariance=covariance, mean=np.array([3.0, -1.0])[: len(names)],
        shrink=shrink,
    )  # fmt: skip


def test_rows_are_as_likely_for_each_person_as_their_normal_densities():
    data = table(x=[1.0, 4.0, NAN, NAN], y=[0.5, NAN, 2.5, NAN])
    shown = table(x=[2.5, 1.0, NAN, NAN, 0.0], y=[0.5, NAN, 0.0, NAN, -9.0])
    found = joint(data).chances(shown, np.arange(5))
    # of persons with the row's own missing values, and relative to the likeliest of them
    assert found[:4].tolist() == np.eye(4).tolist()
    two = table(x=[1.0, 4.0, 2.0], y=[0.5, 2.5, NAN])
    density = [
        stats.multivariate_normal.pdf([2.5, 0.5], m + 0.8 * (np.array(own) - m), 0.64 * S)
        for m, own in ((np.array([3.0, -1.0]), row) for row in ([1.0, 0.5], [4.0, 2.5]))
    ]
    (row,) = joint(two).chances(shown, np.array([0]))
    np.testing.assert_allclose(row, [*(np.array(density) / max(density)), 0.0])
    (others,) = joint(two).chances(shown, np.array([0]), table(x=[4.0, 1.0], y=[2.5, 0.5]))
    np.testing.assert_allclose(others, row[[1, 0]])
    assert not joint(two).chances(table(x=[NAN, 1.0], y=[1.5, 1.0]), np.array([0])).any()


def test_nothing_moves_off_the_directions_of_the_noise():
    line = np.array([[1.0, 2.0], [2.0, 4.0]])
    data = table(x=[0.0, 1.0, 1.0], y=[0.0, 2.0, 5.0])
    (row,) = joint(data, 1.0, line).chances(table(x=[0.5, 2.0], y=[1.0, 4.0]), np.array([0]))
    np.testing.assert_allclose(row, [1.0, 1.0, 0.0])


def test_moments_of_correlated_noise_are_shrunk_and_whole_numbers_add_a_twelfth():
    data = table(x=[1.5, 4.0, NAN], y=[2, 5, 8])
    found = joint(data, 0.8, 4 * S).moments()
    np.testing.assert_allclose(found.means[:2, 0], [3 + 0.8 * -1.5, 3 + 0.8 * 1.0])
    np.testing.assert_allclose(found.means[:, 1], [-1 + 0.8 * 3, -1 + 0.8 * 6, -1 + 0.8 * 9])
    each, y = 0.64 * 4 * S, 0.64 * 4 + 1 / 12
    np.testing.assert_allclose(found.variances, [[each[0, 0], y], [each[0, 0], y], [0.0, y]])
    together = [[2 * each[0, 0], 2 * each[0, 1]], [2 * each[0, 1], 3 * y]]
    np.testing.assert_allclose(found.together, together)
    np.testing.assert_allclose(found.totals, together)
    with pytest.raises(NotApplicable, match="wide against the whole numbers"):
        joint(data, 0.99 * FINE).moments()
    joint(data, FINE).moments()  # where its standard deviation is 1
    none = joint(data, 0.8, np.diag([1.0, 0.0])).moments()
    assert none.variances[:, 1].tolist() == [0.0, 0.0, 0.0]


def test_only_whole_numbers_by_themselves_can_be_kept_under_correlated_noise():
    both, alone = table(x=[1.5, NAN], y=[2.5, NAN]), table(x=[3, 4, 10])
    assert joint(both).retained.tolist() == [0.0, 1.0]
    assert joint(both).restricted_to(frozenset("y")).retained.tolist() == [0.0, 1.0]
    sd = 0.8 * np.sqrt(2.0)
    expected = [
        stats.norm.cdf(own + 0.5, mean, sd) - stats.norm.cdf(own - 0.5, mean, sd)
        for own, mean in ((3, 3.0), (4, 3.8), (10, 8.6))
    ]
    np.testing.assert_allclose(joint(alone, 0.8, S[:1, :1]).retained, expected)
    assert joint(alone, 0.8, np.zeros((1, 1))).retained.tolist() == [1.0, 1.0, 0.0]
    part = joint(both).restricted_to(frozenset("y"))
    assert (part.names, part.covariance.tolist(), part.mean.tolist()) == (("y",), [[1.0]], [-1.0])
    assert dict(part.rounded({"y": 5.0}).precision) == {"y": 5.0}
    assert (part.keeps_value_counts, part.privacy) == (False, NORMAL_NOISE)
    with pytest.raises(NotApplicable, match="cannot be listed"):
        part.table()


def test_no_unit_decides_which_axes_have_noise_finding_a17():
    """A planted fault: axes of the covariance itself lose those of the small units."""
    units = np.array([1.0, 20.0, 2e6, 5e7])
    covariance = (np.full((4, 4), 0.4) + 0.6 * np.eye(4)) * np.outer(units, units)
    values = np.linalg.eigvalsh(covariance)
    assert (values <= values.max() * 1e-12).sum() == 2
    assert (spread_axes(covariance)[1] > 0).all()


def test_rounding_counts_as_noise_of_a_twelfth_of_a_squared_step():
    data, shown = table(x=[0.5, 2.5, 7.5], y=[0.5, 0.5, 0.5]), table(x=[0.0, 5.0], y=[0.5, 0.5])
    part = CorrelatedNoiseOn(
        original=data, names=("x", "y"), covariance=np.diag([2.0, 1.0]), mean=np.zeros(2), shrink=1
    )
    logs = -0.5 * np.array([0.5, 2.5, 7.5]) ** 2 / (2.0 + 25 / 12)
    found = part.rounded({"x": 5.0}).chances(shown, np.array([0]))
    np.testing.assert_allclose(found[0], np.exp(logs - logs.max()))


@pytest.mark.parametrize(("whole", "precision"), [(True, {}), (False, {"a": 0.5, "total": 20.0})])
def test_no_truth_is_impossible_where_columns_add_up_and_are_rounded(precision, whole):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 90, (80, 2)), columns=["a", "b"]) + (0 if whole else 0.25)
    frame = frame.assign(total=frame["a"] + frame["b"], same=0.1)
    data = Microdata.from_frame(frame)
    release = rwn.mask(data, CorrelatedNoise(size=0.1), seed=1, precision=precision)
    truth = np.diag(posteriors(release.law, release.masked, np.arange(80)).toarray())
    assert (truth > 0).all()
    # a sum adds nothing that the noise has not
    plain = Microdata.from_frame(frame[["a", "b"]])
    other = rwn.mask(plain, CorrelatedNoise(size=0.1), seed=1)
    alone = np.diag(posteriors(other.law, other.masked, np.arange(80)).toarray())
    assert truth.mean() == pytest.approx(alone.mean(), abs=0.05)


RELEASES = 120
LEVELS = ("attic", "flat", "house")
SETTINGS = (
    AdditiveNoise(size=0.6),
    AdditiveNoise(size=0.6, shape="laplace", reflected=True),
    CorrelatedNoise(size=0.5),
    KPRAM(k=12),
    KPRAM(k=12, draw_from="permute"),
    rwn.PRAM(change=0.4, invariant=False, variables="rooms,kind"),
    rwn.RandomSwapping(share=0.6, variables="rooms,area,kind"),
    rwn.RecordSwapping(share=0.7, within="kind", variables="area,rent"),
    rwn.RecordSwapping(share=0.5, within="kind", variables="area,rent", risk_variable="rooms"),
)
CERTAIN = (rwn.Recoding(k=10), rwn.Microaggregation(k=4), rwn.LocalSuppression(k=3))


@pytest.fixture(scope="module")
def data() -> Microdata:
    """60 dwellings; some rents are missing."""
    generator = np.random.default_rng(4)
    rooms = generator.integers(0, 6, 60)
    area = 20.0 + 12 * rooms + generator.normal(0, 8, 60)
    rent = np.where(generator.random(60) < 0.1, np.nan, 9 * area + generator.normal(0, 60, 60))
    kind = np.array(["flat", "house", "attic"])[generator.integers(0, 3, 60)]
    return table(rooms=rooms, area=area, rent=rent, kind=kind)


def simulated(data: Microdata, params) -> dict[str, np.ndarray]:
    """The statistics of many releases, by name: one row a release."""
    prepared = params.prepare(data)
    rows = []
    own = data.frame
    for seed in range(RELEASES):
        frame = prepared.release(rwn.SecretKey.from_seed(seed)).masked.frame
        same = np.column_stack([
            (frame[name].to_numpy() == own[name].to_numpy())
            | (frame[name].isna() & own[name].isna()).to_numpy()
            for name in own
        ])  # fmt: skip
        rows.append(
            {
                "means": np.nanmean(frame[list(data.numeric_names)].to_numpy(float), axis=0),
                "covariances": np.cov(frame[["rooms", "area"]].to_numpy(float).T).ravel(),
                "counts": [(frame["kind"] == each).sum() for each in LEVELS],
                "cells": same.sum(axis=0),
                "rows": [same.all(axis=1).sum()],
            }
        )
    return {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}


def stated(law: Law) -> dict[str, np.ndarray]:
    """What a law says of the same statistics, and the variances of the means."""
    own = law.moments()
    cells = law.components()[0].cells
    names = [v.name for v in law.original.schema.released]
    n = law.original.n
    known = (~np.isnan(own.means)).sum(axis=0)
    place = [own.names.index(name) for name in law.original.numeric_names]
    two = [own.names.index(name) for name in ("rooms", "area")]
    shown = own.means[:, two]
    together = own.together
    totals = own.totals
    second = shown.T @ shown + together[np.ix_(two, two)]
    of_sums = np.outer(shown.sum(axis=0), shown.sum(axis=0)) + totals[np.ix_(two, two)]
    table, values = cells.table("kind")
    levels = [values.index(each) for each in LEVELS]
    return {
        "means": np.nanmean(own.means, axis=0)[place],
        "covariances": ((second - of_sums / n) / (n - 1)).ravel(),
        "counts": np.asarray(table.sum(axis=0)).ravel()[levels],
        "cells": np.array([cells.retained(name).sum() for name in names]),
        "rows": np.array([law.rows_unchanged().sum()]),
        "mean_variances": (np.diag(totals) / known**2)[place],
    }


def differs(releases: np.ndarray, expected: np.ndarray) -> bool:
    """Whether a mean over releases is more than 4 standard errors away, or not exact."""
    error = releases.std(axis=0, ddof=1) / np.sqrt(len(releases))
    apart = np.abs(np.nan_to_num(releases).mean(axis=0) - np.nan_to_num(expected))
    return bool((apart > 4 * error + 1e-9 * (1 + np.abs(np.nan_to_num(expected)))).any())


@pytest.mark.parametrize("params", SETTINGS, ids=lambda params: params.method)
def test_releases_are_as_expected_and_a_wrong_factor_is_seen(data, params):
    releases = simulated(data, params)
    expected = stated(params.prepare(data).law)
    for name, values in releases.items():
        rare = name == "rows" and expected[name][0] * RELEASES < 5
        assert rare or not differs(values, expected[name]), name
    wrong = expected["covariances"] * 1.06 + 0.5
    assert differs(releases["covariances"], wrong)
    spread = releases["means"].var(axis=0, ddof=1)
    variances = expected["mean_variances"]
    certain = variances < 1e-12
    assert (spread[certain] < 1e-9).all()
    ratio = spread[~certain] / variances[~certain]
    assert ((ratio > 0.5) & (ratio < 1.7)).all()


@pytest.mark.parametrize("params", CERTAIN, ids=lambda params: params.method)
def test_a_method_without_chance_does_what_is_expected(data, params):
    prepared = params.prepare(data)
    frame = prepared.release(rwn.SecretKey.from_seed(0)).masked.frame
    found = stated(prepared.law)
    names = list(data.numeric_names)
    np.testing.assert_allclose(found["means"], frame[names].mean(), rtol=1e-12)
    kept = (frame.astype(object) == data.frame.astype(object)) | frame.isna() & data.frame.isna()
    np.testing.assert_allclose(found["cells"], kept.sum(), rtol=1e-12)
    assert found["mean_variances"].max() == 0
