"""Attacks that link rows: distances, Mahalanobis, neighborhoods, halves."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core import MEASURES, RWN, Comparison, Microdata, load_demo
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import read_all
from rwn_core.evaluation.control_group import control_group
from rwn_core.laws.cell_law import CellLaw
from rwn_core.measures.attacks import attribute_guesses
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.likeliest_value import EXACT, ReleasedValues
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.risk import worst_linkage
from rwn_core.measures.risk.nearness import inside
from rwn_core.measures.risk.ordinary_linkage import OrdinaryLinkage, fit
from rwn_core.measures.statistics import nearest_points
from rwn_core.measures.statistics.intervals import excess_risk, wilson
from rwn_core.neighbors import find_neighborhoods
from rwn_core.tuning.named_policies import policy_called
from rwn_core.tuning.policy import Policy
from tests.check_values import check_values
from tests.core.measures.attacks.attribute_tables import released
from tests.tables import described

PIMA = load_demo("pima")
MEASURE = MEASURES["distance_linkage"]


def slow_scores(original: np.ndarray, released: np.ndarray) -> list[float]:
    scores = []
    for i, row in enumerate(released):
        squared = [float(((row - other) ** 2).sum()) for other in original]
        tied = [j for j, d in enumerate(squared) if d <= min(squared) * (1 + 1e-9)]
        scores.append(1 / len(tied) if i in tied else 0.0)
    return scores


def test_against_a_slow_computation(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MEASURE.compute(compare(original, masked))
    mean = original.mean()
    sd = original.std()
    expected = slow_scores(((original - mean) / sd).to_numpy(), ((masked - mean) / sd).to_numpy())
    assert reading.detail.score.tolist() == expected
    assert 0 < reading.value < 1


@pytest.mark.parametrize("few_first", [False, True])
def test_ties_share_their_link(monkeypatch, few_first: bool) -> None:
    monkeypatch.setattr(nearest_points, "FEWEST_THINNED", 1 if few_first else 10**9)
    rng = np.random.default_rng(4)
    original = rng.integers(0, 3, size=(80, 2)).astype(float)
    released = rng.integers(0, 3, size=(80, 2)) + rng.choice([0.0, 0.5], size=(80, 2))
    released[:20] = original[:20]
    scores, distinct = nearest_points.linkage_scores, nearest_points.distinct_points
    found = scores(distinct(original), released, original)
    np.testing.assert_allclose(found, slow_scores(original, released))
    assert 0 < found[:20].max() < 1
    original = np.array([[0.1 + 0.2], [0.3], [5.0]])  # the first is farther by rounding
    assert scores(distinct(original), np.array([[0.0]]), original[:1]).tolist() == [0.5]


def test_a_row_is_linked_by_another_row_of_its_unit(monkeypatch) -> None:
    """Also where a few are asked first: a nearer row of the same household is no other's."""
    monkeypatch.setattr(nearest_points, "FEWEST_THINNED", 1)
    original = np.array([[0.0], [1.0], [9.0], [10.0]])
    units = np.array([0, 0, 1, 1])
    released = np.array([[0.1], [0.1], [0.1], [10.0]])  # the second is nearest to the first
    index = nearest_points.PointIndex(original)
    found = nearest_points.linkage_scores(index, released, original, (units, units))
    assert found.tolist() == [1.0, 1.0, 0.0, 1.0]
    alone = nearest_points.linkage_scores(index, released, original)
    assert alone.tolist() == [1.0, 0.0, 0.0, 1.0]


def test_an_empty_record_links_to_nobody(compare, numeric_frames):
    original = numeric_frames[0]
    masked = original.copy()
    masked.loc[7, :] = np.nan
    found = MEASURE.compute(compare(original, masked)).detail
    assert 7 not in found.records  # it is not in the file that leaves
    assert (found.score > 0).all()
    assert MEASURE.compute(compare(original, masked * np.nan)).value == 0


@pytest.mark.parametrize(
    ("key", "change", "reason"),
    [
        ("distance_linkage", lambda x, y: (x, y.head(10)), "true sources are unknown"),
        ("mahalanobis", lambda x, _: (x[["a"]].astype(str),) * 2, "no continuous or count"),
        ("mahalanobis", lambda x, y: (x, y.assign(a=np.nan)), "released table has 0 records"),
        ("neighborhood_size", lambda x, y: (x, y), "draws from neighborhoods"),
        ("nearest_distance", lambda x, _: (x[["a"]] * 0,) * 2, "No variable of the original"),
        ("mahalanobis_linkage", lambda x, _: (x, x), "moves no number"),
        ("cells_changed", lambda x, y: (x, y.head(10)), "another number of records"),
        ("marginals", lambda x, y: (x, y.assign(b=np.nan)), "b is missing in the released table"),
    ],
)
def test_why_there_is_no_reading(compare, numeric_frames, key, change, reason):
    with pytest.raises(NotApplicable, match=reason):
        MEASURES[key].compute(compare(*change(*numeric_frames)))


ENTRIES = check_values("risk")


def test_FS_1_weights():
    given, expected = ENTRIES["FS-1"]["input"], ENTRIES["FS-1"]["expected"]
    weights = OrdinaryLinkage(matched=np.array(given["m"]), unmatched=np.array(given["u"]))
    np.testing.assert_allclose(weights.agree, expected["agree"], rtol=1e-9)
    np.testing.assert_allclose(weights.disagree, expected["dis"], rtol=1e-9)
    assert weights.weight(np.array([True, True])) == pytest.approx(expected["both"])


def test_the_weights_are_found_again_from_pairs():
    rng = np.random.default_rng(3)
    matched = rng.random((2000, 3)) < [0.9, 0.8, 0.95]
    others = rng.random((198_000, 3)) < [0.1, 0.25, 0.3]
    patterns, counts = np.unique(np.concatenate((matched, others)), axis=0, return_counts=True)
    found = fit(patterns, counts.astype(float), 0.01)
    np.testing.assert_allclose(found.unmatched, [0.1, 0.25, 0.3], atol=0.01)
    np.testing.assert_allclose(found.matched, [0.9, 0.8, 0.95], atol=0.1)


def test_one_far_person_makes_nobody_agree():
    """Numbers agree within a quarter of the standard deviation, 7.3, and of the middle half."""
    shares = []
    steps = np.arange(101.0)
    for last in (100.0, 1e7):
        frame = pd.DataFrame({"a": np.append(steps[:-1], last), "s": steps})
        data = described(frame, a="key", s="confidential")
        found = MEASURES["probabilistic_linkage"].compute(Comparison(original=data, masked=data))
        shares.append(found.value)
    assert shares[0] == pytest.approx(np.mean(1 / (1 + agreeing(101, 7))))
    # the far person is alone; of the others 12.5 is a quarter of the middle half
    assert shares[1] == pytest.approx((1 + np.sum(1 / (1 + agreeing(100, 12)))) / 101)


def agreeing(n: int, reach: int) -> np.ndarray:
    """Of each of n steps how many others lie within some steps."""
    place = np.arange(n)
    return np.minimum(place, reach) + np.minimum(n - 1 - place, reach)


def test_UT_values_of_linkage_and_of_intervals(compare, ut_frames):
    nearest = np.array(ENTRIES["UT-DBRL_D"]["expected"]).argmin(axis=1) + 1
    assert nearest[:, None].tolist() == ENTRIES["UT-DBRL_argmin1"]["expected"]
    before, after = (frame.to_numpy() for frame in ut_frames)
    for width in ("0.05", "0.3", "0.5", "0.8"):
        expected = ENTRIES["UT-dRisk"]["expected"][f"dRisk_k{width}"]
        assert inside(before, after, float(width)).mean() == pytest.approx(expected)


def test_a_suppressed_number_hides_itself_only(compare):
    before = np.array([[np.nan, 1.0], [np.nan, 2.0], [3.0, 3.0], [4.0, 4.0]])
    after = np.array([[np.nan, 1.0], [1.0, 2.0], [np.nan, 3.0], [4.0, 4.0]])
    assert inside(before, after).tolist() == [True, False, True, True]
    # and a row without any released number discloses none
    assert inside(before[:, :1], after[:, :1]).tolist() == [False, False, False, True]
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(40, 4)), columns=list("wxyz"))
    gone = frame.mask(np.arange(40)[:, None] % 4 == np.arange(4))
    assert MEASURES["interval_disclosure"].compute(compare(frame, gone)).value == 1.0


def test_ANO_1_risk_beyond_a_control_group():
    expected = ENTRIES["ANO-1"]["expected"]
    attack, control = wilson(30, 100), wilson(20, 100)
    assert attack == pytest.approx(tuple(expected["attack"]), abs=1e-9)
    assert control == pytest.approx(tuple(expected["control"]), abs=1e-9)
    assert excess_risk(attack[0], control[0]) == pytest.approx(expected["risk"], abs=1e-9)
    assert excess_risk(1.0, 1.0) == 0.0


def test_mahalanobis_linkage_sees_through_a_common_shift(compare):
    """Correlated noise hides a record from plain distances, not from one who knows its shape."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    noise = rng.normal(size=(150, 1)) * 3.0 + 0.02 * rng.normal(size=(150, 4))
    comparison = compare(frame, frame + noise)
    assert MEASURES["mahalanobis_linkage"].compute(comparison).value > 0.9
    assert MEASURES["distance_linkage"].compute(comparison).value < 0.3
    # planted: some of the records lack a number, so that none of them can be found
    frame.loc[50:, "a"] = np.nan
    found = MEASURES["mahalanobis_linkage"].compute(compare(frame, frame + noise / 1000))
    assert (found.value, found.detail.of) == (1.0, 50)


def test_ATT_7_attribute_inference():
    points = np.array(ENTRIES["ATT-7"]["input"]["W"], float)
    data = Microdata.from_frame(pd.DataFrame(points, columns=["x", "y"]))
    law = CellLaw(data, find_neighborhoods(points, k=2, epsilon=1.0), np.full(2, 0.5))
    rows = np.array([[1, 0], [0, 0], [1, 0], [0, 0], [11, 0], [10, 1]], float)
    masked = Microdata(pd.DataFrame(rows, columns=["x", "y"]), data.schema)
    expected = ENTRIES["ATT-7"]["expected"]
    everybody = np.arange(6)
    belief = beliefs(law, masked, everybody, ["x"], ["y"], everybody).source.toarray()
    np.testing.assert_allclose(belief[5], expected["pk_col6"], atol=1e-9)
    np.testing.assert_allclose(belief[5] / belief[5].sum(), expected["t"], atol=1e-9)
    # whether rows are looked at one by one or as classes of equal keys
    for group in (everybody, np.unique(rows[:, 0], return_inverse=True)[1].ravel()):
        first = np.unique(group, return_index=True)[1]
        some = beliefs(law, masked, first, ["x"], ["y"], everybody)
        weights = some.source.toarray()[5][group]
        share = weights[rows[:, 1] == 1].sum() / weights.sum()
        assert share == pytest.approx(expected["pred_y1"])
        values = ReleasedValues(group, rows[:, 1], EXACT)
        shown = values.named(sparse.csr_array(some.source))
        named = shown.right(np.ones(6), values.near)[5]
        assert named == float(expected["pred_y1"] > 0.5)


def test_attribute_inference_looks_at_classes_a_few_at_a_time(monkeypatch):
    """Tables of any size: sums are kept, not the posterior of every row."""
    compute = MEASURES["attribute_inference"].compute
    held = PIMA.take(np.arange(0, PIMA.n, 5))
    setting = PIMA.take(np.arange(1, PIMA.n, 3)), RWN(epsilon=1.0, k=5, q=0.5), 2
    whole = compute(released(*setting, holdout=held))
    monkeypatch.setattr(attribute_guesses, "CHUNK", 100)
    parts = compute(released(*setting, holdout=held))
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    assert parts.baseline == pytest.approx(whole.baseline, rel=1e-12)
    monkeypatch.setattr(attribute_guesses, "STORED_NUMBERS", 100)
    with pytest.raises(NotApplicable, match="fewer key variables"):
        compute(released(*setting, holdout=held))


KEY = "linked_over_half"
CROWD = RWN(epsilon=0.0, k=600, q=1)  # about as far as a radius reaches where some are far away


def with_outliers(n: int = 1200, apart: int = 40, seed: int = 0) -> Microdata:
    """A crowd, and people each of whom is far from everybody else."""
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, 3))
    values[n - apart :] += (60 + 12 * np.arange(apart))[:, np.newaxis]
    frame = pd.DataFrame(values * 5 + 100, columns=["a", "b", "c"])
    frame["s"] = draw.choice(list("wxyz"), n)
    data = described(frame, a="key", b="key", c="key", s="confidential")
    return data.with_weights({"s": 0.0})


def test_a_few_open_people_break_the_policy_that_the_mean_keeps() -> None:
    comparison = released(with_outliers(), RWN(epsilon=1.2, k=3, q=1))
    policy = Policy()
    readings = {key: MEASURES[key].read(comparison) for key in policy.measures}
    verdict = policy.judge(readings)
    assert verdict.broken == (KEY,)  # all that the usual policy looked at before is kept
    found = readings[KEY]
    assert found.value > 0.012
    worst = found.detail.records[np.argsort(-found.detail.truth)[:10]]
    assert (worst >= 1160).all()  # those apart, by their numbers


def test_the_share_is_that_of_the_posteriors_by_hand() -> None:
    data = with_outliers(150, 8, seed=4)
    comparison = released(data, RWN(epsilon=1.2, k=3, q=0.8))
    belief = posteriors(comparison.law, comparison.masked, np.arange(data.n)).toarray()
    found = MEASURES[KEY].read(comparison)
    assert found.detail.row_by_row == pytest.approx((np.diag(belief) > 0.5).mean())
    assert found.value == max(found.detail.row_by_row, found.detail.together)
    twins = Microdata.from_frame(pd.DataFrame({"a": [1.0, 1.0, 5.0, 5.0, 9.0, 9.0]}))
    found = MEASURES[KEY].read(released(twins, RWN(epsilon=0.0, k=1, q=1.0)))
    assert (found.detail.largest, found.value) == (pytest.approx(0.5), 0.0)  # not above one half


@pytest.mark.parametrize("apart", [0, 12])
def test_random_rows_are_judged_by_the_upper_end(apart: int, monkeypatch) -> None:
    """People far from all others are compared in every sample."""
    comparison = released(
        with_outliers(1000, apart), RWN(epsilon=1.2, k=3, q=1) if apart else CROWD
    )
    every = worst_linkage.compute_linked_over_half(comparison)
    monkeypatch.setattr(
        worst_linkage, "worst_case", lambda c, **_: worst_case(c, work=1, bounded=False)
    )
    some = worst_linkage.compute_linked_over_half(comparison)
    assert (every.detail.sampled, some.detail.sampled) == (False, True)
    assert some.detail.random < some.detail.rows < 1000
    low, high = some.interval
    assert low <= every.detail.row_by_row <= high
    assert some.value == (high if apart else 0.0)
    worst = some.detail.records[np.argsort(-some.detail.truth)[: 3 * apart]]
    assert set(range(1000 - apart, 1000)) <= set(worst.tolist())
    if not apart:
        assert some.detail.share == 0
        assert high < 0.01
    assert (Policy().judge({KEY: some}).shares[KEY] <= 1) == (not apart)


MEAN, LARGEST = MEASURES["bayes_linkage"], MEASURES["largest_linkage"]
POLICY = Policy(limits=policy_called("Limits for clinical data").limits[:1])


def test_people_apart_hide_in_a_mean_of_nine_percent_and_not_in_the_maximum() -> None:
    data = with_outliers(n=400, apart=4)
    comparison = released(data, RWN(epsilon=1.2, k=30))
    assert MEAN.read(comparison).value < 0.09
    largest = LARGEST.read(comparison)
    assert largest.value > 0.3
    assert POLICY.judge({LARGEST.key: largest}).broken == (LARGEST.key,)
    units = Microdata(data.frame.assign(a=data.frame["a"] * 1000 + 7), data.schema)
    assert LARGEST.read(released(units, RWN(epsilon=1.2, k=30))).value > 0.3


def test_a_crowd_keeps_it_and_a_file_of_twins_is_not_judged() -> None:
    crowd = with_outliers(n=300, apart=0)
    kept = LARGEST.read(released(crowd, RWN(epsilon=0.0, k=280)))
    assert POLICY.judge({LARGEST.key: kept}).kept
    assert LARGEST.read(released(crowd, RWN(k=5, q=0.0))).value == 1.0
    frame = with_outliers(n=60, apart=0).frame
    twins = Microdata.from_frame(pd.concat([frame] * 12, ignore_index=True))
    verdict = POLICY.judge({LARGEST.key: LARGEST.read(released(twins, RWN(k=5)))})
    assert not verdict.kept
    assert "cannot be broken on this table" in verdict.unread[LARGEST.key]


MAHALANOBIS = MEASURES["mahalanobis"]


def slow_distances(values: np.ndarray) -> list[float]:
    center = values.mean(axis=0)
    inverted = np.linalg.inv(np.cov(values, rowvar=False))
    return [float((row - center) @ inverted @ (row - center)) ** 0.5 for row in values]


def test_each_file_in_its_own_covariance(compare, numeric_frames):
    original, masked = numeric_frames
    reading = MAHALANOBIS.compute(compare(original, masked))
    for side, frame in (("original", original), ("released", masked)):
        expected = slow_distances(frame.to_numpy())
        np.testing.assert_allclose(getattr(reading.detail, side), expected, rtol=1e-9)
        assert getattr(reading.detail, f"argmax_{side}") == int(np.argmax(expected))
    assert reading.value == reading.detail.max_released == reading.detail.released.max()
    assert reading.baseline == reading.detail.max_original
    assert (reading.detail.rank, len(reading.detail.names)) == ((4, 4), 4)
    gaps = original.copy()  # incomplete records are dropped
    gaps.loc[[2, 9], "b"] = np.nan
    detail = MAHALANOBIS.compute(compare(gaps, masked)).detail
    assert len(detail.original) == 58
    assert set(detail.records_original) == set(range(60)) - {2, 9}


def test_a_singular_covariance_is_inverted_where_it_can_be(compare, numeric_frames):
    original, masked = numeric_frames
    double = original.assign(e=original["a"] + original["b"], f=7.0)
    detail = MAHALANOBIS.compute(compare(double, masked.assign(e=0.0, f=7.0))).detail
    assert (detail.rank, len(detail.names)) == ((4, 4), 6)
    np.testing.assert_allclose(detail.original, slow_distances(original.to_numpy()), rtol=1e-6)


LINKABILITY = MEASURES["linkability"]
NAMES = [variable.name for variable in PIMA.schema.released]


def test_halves_are_variables_in_turn_or_what_is_chosen():
    plain = released(PIMA, RWN(k=5))
    reading = LINKABILITY.compute(plain)
    assert reading.detail.parts == (NAMES[::2], NAMES[1::2])
    again = plain.with_halves([NAMES[::2], NAMES[1::2]])
    assert LINKABILITY.compute(again).value == reading.value
    assert not reading.detail.stated
    chosen = plain.with_halves([["glucose", "age"], ["bmi", "pregnant"]])
    linked = read_all(chosen, ["linkability"])["linkability"]
    assert linked.detail.parts == (["glucose", "age"], ["bmi", "pregnant"])
    assert linked.detail.attack != reading.detail.attack
    assert linked.detail.stated
    # the other half of one is all other variables
    detail = LINKABILITY.compute(plain.with_halves([["age"]])).detail
    assert detail.parts == (["age"], [name for name in NAMES if name != "age"])

    chosen = plain.with_halves([["age"], ["bmi"]])
    assert chosen.with_masked(PIMA).halves == (("age",), ("bmi",))
    assert chosen.with_key_sets([["age"]]).halves == (("age",), ("bmi",))
    control = control_group(chosen, RWN(k=5), seed=1)
    assert LINKABILITY.compute(control).detail.parts == (["age"], ["bmi"])


def away(points: np.ndarray) -> np.ndarray:
    """Distances of all pairs, and of nobody from itself."""
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    return apart + np.diag([np.inf] * len(points))


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 4), (None, 4), (4.0, None)])
def test_sizes_of_neighborhoods_against_brute_force(numeric_frames, epsilon, k):
    frame = numeric_frames[0]
    apart = away(((frame - frame.mean()) / frame.std()).to_numpy())
    made = released(Microdata.from_frame(frame), RWN(epsilon=epsilon, k=k))
    detail = MEASURES["neighborhood_size"].compute(made).detail
    within = (apart <= (epsilon or 0.0)).sum(axis=1)
    np.testing.assert_array_equal(detail.sizes, np.maximum(within, k or 0))
    np.testing.assert_array_equal(detail.governed_by_k, within < (k or 0))
    np.testing.assert_allclose(detail.nearest, apart.min(axis=1))
    assert (detail.median, detail.epsilon, detail.k) == (np.median(detail.sizes), epsilon, k)
    assert detail.share_governed_by_k == np.mean(detail.governed_by_k)


NEAREST_DISTANCE = MEASURES["nearest_distance"]


@pytest.mark.parametrize("lost", [[], [0, 30]])
def test_both_files_in_the_original_units(compare, numeric_frames, lost):
    """Records that lost every value are left out."""
    original, masked = (frame.copy() for frame in numeric_frames)
    masked.loc[lost, :] = np.nan
    detail = NEAREST_DISTANCE.compute(compare(original, masked)).detail
    assert detail.records_released.tolist() == [i for i in range(60) if i not in lost]
    for side, frame in (("original", original), ("released", masked)):
        points = ((frame.dropna() - original.mean()) / original.std()).to_numpy()
        np.testing.assert_allclose(getattr(detail, side), away(points).min(axis=1), rtol=1e-10)
    assert not detail.sampled
    assert detail.of == 60


def test_clones_are_at_distance_zero_and_categories_count_as_dummies(compare):
    points = np.array([[0.0], [0.0], [3.0], [7.0], [7.0], [7.0]])
    assert nearest_points.nearest_others(points, np.arange(6)).tolist() == [0, 0, 3, 0, 0, 0]
    frame = pd.DataFrame({"g": ["a", "a", "b", "b", "b", "c"]})
    dummies = pd.get_dummies(frame["g"]).astype(float)
    points = ((dummies - dummies.mean()) / dummies.std()).to_numpy()
    found = NEAREST_DISTANCE.compute(compare(frame, frame)).detail.original
    np.testing.assert_allclose(found, away(points).min(axis=1), atol=1e-12)


def test_a_large_file_is_sampled_evenly(compare):
    n = nearest_points.LIVE_RECORDS + 1
    original = pd.DataFrame(np.random.default_rng(1).normal(size=(n, 2)), columns=["x", "y"])
    detail = NEAREST_DISTANCE.read(compare(original, original), bare=True).detail
    assert (detail.sampled, detail.of) == (True, n)
    records = detail.records_original
    assert len(records) == nearest_points.SAMPLE
    assert set(np.diff(records)) <= {6, 7}
    assert (
        len(nearest_points.spread_sample(np.arange(nearest_points.LIVE_RECORDS)))
        == nearest_points.LIVE_RECORDS
    )
