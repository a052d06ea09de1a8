"""The lessons: their numbers by loops and formulas, and what they say over fresh releases.

That standard errors are too small, how leaky a sample is and what mixes groups is held in
`tests/contracts`, beside the pages that say it.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.data.schema import Question
from rwn_core.errors import ParameterError
from rwn_core.evaluation.audit import compare
from rwn_core.evaluation.lessons import (
    choose,
    disclosure,
    edges,
    intruder,
    neighborhood,
    sampling,
    standard_errors,
    theorem,
)
from rwn_core.evaluation.lessons.densities import DENSITIES, points_of
from rwn_core.evaluation.validity import Regression
from rwn_core.masking import RowCopy
from rwn_core.measures import MEASURES, UTILITY
from tests.check_values import check_values

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "teach-90-minutes.md"
POLICY = rwn.Policy()
APART, ALONE, ROWS = choose.SLICES
NEAREST = rwn.RWN(epsilon=0.0, k=5)
key = rwn.SecretKey.from_seed


# densities
def columns(density: str, n: int, seed: int = 1) -> np.ndarray:
    return points_of(density, n, seed).matrix(["x", "y"])


def test_densities_have_their_moments_and_a_larger_table_begins_with_the_smaller_one() -> None:
    expected = {"normal": 0.8, "ring": 0.0, "two clusters": 2.25 / 2.5, "banana": 0.0}
    expected |= {"uniform disc": 0.0, "discrete": np.nan}
    assert list(expected) == list(DENSITIES)
    for density, correlation in expected.items():
        values = columns(density, 20_000)
        found = np.corrcoef(values, rowvar=False)[0, 1]
        assert np.isnan(correlation) or found == pytest.approx(correlation, abs=4 / 20_000**0.5)
        np.testing.assert_array_equal(columns(density, 300)[:50], columns(density, 50))
    assert (columns("normal", 50, seed=2) != columns("normal", 50)).all()
    radius = np.hypot(*columns("ring", 2000).T)
    assert (radius.mean(), radius.std()) == pytest.approx((1.0, 0.1), abs=0.01)
    values = columns("discrete", 500)
    np.testing.assert_array_equal(values, np.round(values))
    assert len(np.unique(values[:, 0])) < 12
    with pytest.raises(ParameterError, match="must be one of: normal"):
        points_of("square", 10)


# neighborhoods
@pytest.mark.parametrize(("epsilon", "k", "weight"), [(0.0, 20, 0.0), (1.2, 3, 1.0)])
def test_members_shares_and_the_two_radii(epsilon: float, k: int, weight: float) -> None:
    prepared = rwn.RWN(epsilon=epsilon, k=k).prepare(neighborhood.table(weight))
    frame = neighborhood.table(weight).frame
    second = (frame["group"] == "B").to_numpy()
    # the category as two dummies in standard deviations
    scaled = [(frame[name] - frame[name].mean()) / frame[name].std() for name in ("x", "y")]
    spread = np.std(second, ddof=1)
    points = np.column_stack([*scaled, weight * second / spread, weight * ~second / spread])
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    kth = np.sort(apart, axis=1)[:, k - 1]
    inside = apart <= np.maximum(kth, epsilon)[:, None] * (1 + 1e-9)
    crossing = (inside * (second[:, None] != second)).sum(axis=1) / inside.sum(axis=1)
    for record in neighborhood.RECORDS.values():
        found = neighborhood.neighborhood(prepared, record=record)
        np.testing.assert_array_equal(np.sort(found.members), np.flatnonzero(inside[record]))
        assert found.kth == pytest.approx(kth[record])
    assert found.by_k == pytest.approx((kth > epsilon).mean())
    assert found.mixed == pytest.approx((crossing > 0).mean())
    assert found.changed == pytest.approx(crossing.mean(), abs=1e-12)
    assert found.apart == pytest.approx(weight * np.sqrt(2) / spread)


def test_the_outlier_has_k_donors_and_a_k_neighborhood_seldom_crosses_a_category() -> None:
    usual, ignored = (
        rwn.RWN(epsilon=0.5, k=5).prepare(neighborhood.table(weight)) for weight in (1.0, 0.0)
    )
    found = neighborhood.neighborhood(usual, record=neighborhood.OUTLIER)
    assert (len(found.members), found.mixed) == (5, 0.0)
    assert found.kth > 2
    assert neighborhood.neighborhood(ignored, record=0).mixed > 0.2


# the intruder
def test_belief_is_bayes_rule_over_everybody_s_neighborhood() -> None:
    table = NEAREST.prepare(rwn.load_demo("bodyfat"))
    names = intruder.known_order(table.microdata)
    assert (names[:3], names[-1], len(names)) == (("age", "weight", "height"), "siri", 15)
    made = table.release(key(intruder.SEED))
    found = intruder.intruder(made, row=3, known=2)
    frame = table.microdata.frame
    neighbors = made.law.neighborhoods
    released = made.masked.frame.iloc[found.source]
    chance = np.ones(241)
    for i in range(241):
        donors = neighbors.members(i)
        for name in ("age", "weight"):
            chance[i] *= (frame[name].to_numpy()[donors] == released[name]).mean()
    belief = chance / chance.sum()
    assert found.known == ("age", "weight")
    assert found.candidates == (belief > 0).sum()
    assert found.baseline == 1 / 241
    np.testing.assert_allclose(found.belief, belief[found.records])
    np.testing.assert_allclose(found.belief, np.sort(belief)[::-1][: len(found.belief)])
    assert found.of_source == pytest.approx(belief[found.source])
    assert found.of_source > 0

    def success(k: int, known: int) -> float:
        made = table.with_levers(k=k).release(key(intruder.SEED))
        return intruder.intruder(made, row=0, known=known).success

    # more known helps the intruder, and a larger k does not
    assert 1 / 241 < success(5, 1) < success(5, 3) < success(5, 15)
    assert success(40, 3) < success(15, 3) < success(5, 3)


# disclosure
def disclosed(person: str = "Anna", **levers: float) -> disclosure.DisclosedPerson:
    setting = rwn.RWN(**{"epsilon": 0.0, "k": 1, "q": 1.0} | levers)
    data = disclosure.table()
    return disclosure.disclosure(setting.prepare(data), data, person=person)


def test_the_unmasked_file_gives_everything_away() -> None:
    for person in disclosure.PERSONS:
        seen = disclosed(person, q=0.0)
        assert (seen.linked, seen.learned) == (1.0, 1.0)
        assert seen.person == person.partition(",")[0] != ""
        assert seen.own == seen.nearest
        np.testing.assert_array_equal(seen.rows[seen.own, :2], seen.known)
        assert seen.close(seen.own)


def test_shares_are_the_means_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure, "DRAWS", 3)
    data = disclosure.table()
    before = data.matrix(disclosure.NAMES)
    anna = disclosure.PERSONS["Anna"]
    spread = before[:, :2].std(axis=0, ddof=1)
    linked = learned = 0.0
    for seed in (1, 2, 3):
        made = rwn.RWN(epsilon=0.0, k=3).prepare(data).release(key(seed))
        after = made.masked.matrix(disclosure.NAMES)
        for i in range(disclosure.N):
            apart = [float((((row - before[i, :2]) / spread) ** 2).sum()) for row in after[:, :2]]
            best = [j for j in range(len(apart)) if apart[j] <= min(apart) * (1 + 1e-9) + 1e-15]
            linked += (i in best) / len(best)
            near = [abs(after[j, 2] - before[i, 2]) <= 0.1 * before[i, 2] for j in best]
            learned += sum(near) / len(best)
    seen = disclosed(k=3)
    assert seen.linked == pytest.approx(linked / disclosure.N / 3)
    assert seen.learned == pytest.approx(learned / disclosure.N / 3)
    # Anna's row is never found, and her income always is
    prepared = rwn.RWN(epsilon=0.0, k=1).prepare(data)
    for seed in range(1, 101):
        after = prepared.release(key(seed)).masked.matrix(disclosure.NAMES)
        row = int((((after[:, :2] - before[anna, :2]) / spread) ** 2).sum(axis=1).argmin())
        assert row != anna
        assert abs(after[row, 2] - before[anna, 2]) <= 0.1 * before[anna, 2]


# edges and balance
HARD = rwn.RWN(epsilon=1.0, k=edges.NEAREST)
SOFT = rwn.SoftRWN(kernel="gaussian", width=1.0)
BALANCED = rwn.SoftRWN(kernel="gaussian", width=1.0, balance=1.0)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("setting", [HARD, BALANCED])
def test_numbers_by_loops_over_the_law(setting: rwn.RWN, together: bool) -> None:
    data = edges.table(together=together)
    shares = setting.prepare(data).law.probabilities.toarray()
    n = data.n
    values = data.matrix(["x", "y"])
    found = edges.edges(data, setting, record=7)
    np.testing.assert_allclose(found.weights, shares[7], rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.loads, shares.sum(axis=0), rtol=0, atol=1e-12)
    missed, apart = np.ones(n), np.ones(n)
    for row in shares:
        missed *= 1 - row
        apart *= 1 - (row if together else row**2)
    assert found.paired == pytest.approx(1 - apart.mean())
    order = values.argsort(axis=0)
    ends = [*order[:5].T.ravel(), *order[-5:].T.ravel()]
    assert found.extremes == pytest.approx(1 - missed[ends].mean())


def test_a_slope_across_slices_is_not_helped_and_one_within_a_slice_is() -> None:
    for width in (0.5, 2.0):
        settings = (
            rwn.RWN(epsilon=width, k=edges.NEAREST),
            replace(SOFT, width=width),
            replace(BALANCED, width=width),
        )
        (truth, one), (_, two), (_, three) = (
            edges.edges(edges.table(), each).slope for each in settings
        )
        assert three - two < 0.02 * truth
        assert abs(three - truth) > abs(one - truth)  # RWN as published shrinks both, x and y
        inside = edges.edges(edges.table(together=True), settings[2]).slope
        assert inside[1] == pytest.approx(inside[0], abs=0.005)
    # as many extremes are shown as the law says, the more the softer the edge
    shown = [edges.edges(edges.table(together=True), each) for each in (HARD, SOFT, BALANCED)]
    hard, soft, balanced = (each.extremes for each in shown)
    assert hard + 0.1 < soft < balanced - 0.05
    assert shown[0].paired + 0.005 < min(each.paired for each in shown[1:])
    possible = [(each.prepare(edges.table()).law.probabilities > 0).sum() for each in (HARD, SOFT)]
    assert possible[0] < possible[1] == edges.table().n * (edges.table().n - 1)


# samples
def test_LEAK_1_leakage_of_the_literal_design() -> None:
    expected = check_values("risk")["LEAK-1"]["expected"]
    found = sampling.leakage(11, 100_000, 2_000)
    assert found == pytest.approx(expected["ratio_of_expectations"], rel=1e-9)
    simulated = expected["simulation"]
    assert found == pytest.approx(simulated["mean_ratio"], abs=4 * simulated["mcse"])
    assert round(found, 3) != expected["published_on_slide"]
    with pytest.raises(ParameterError, match="whole population"):
        sampling.leakage(3, 10, 11)


def test_LL_1_risk_of_a_cell_and_the_epsilon_of_the_matrix() -> None:
    entry = check_values("risk")["LL-1"]
    given, expected = entry["input"], entry["expected"]
    found = sampling.sampling(fraction=given["pi"], keys=1, change=0.25)
    place = int(np.argmin(np.abs(found.rate - given["lam"])))
    assert found.rate[place] == pytest.approx(given["lam"])
    assert found.unique[place] == pytest.approx(expected["p1"])
    assert found.match[place] == pytest.approx(expected["e"])
    assert found.misclassified[place] == pytest.approx((0.75 + 0.25 / 3) * expected["e"])
    found = sampling.sampling(fraction=0.1, keys=3, change=0.3)
    same = 0.7 + 0.1
    other = 0.1
    np.testing.assert_allclose(found.matrix, other + (same - other) * np.eye(3))
    for change, epsilon in ((0.3, np.log(same / other)), (0.0, np.inf), (1.0, 0.0)):
        found = sampling.sampling(fraction=0.1, keys=3, change=change)
        assert found.epsilon == pytest.approx(epsilon)


# standard errors
def slopes_of(params: rwn.RWN, samples: int) -> standard_errors.Slopes:
    ready = (params.preview(standard_errors.sample(i)) for i in range(samples))
    return standard_errors.slopes([standard_errors.release(one, i) for i, one in enumerate(ready)])


def test_the_slope_and_its_error_are_those_of_least_squares() -> None:
    data = standard_errors.sample(3)
    fits = standard_errors.slopes([standard_errors.sample(i) for i in range(4)])
    values = data.matrix(["x1", "x2", "x3", "y"])
    design = np.column_stack([np.ones(len(values)), values[:, :3]])
    y = values[:, 3]
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    error = np.sqrt(residual @ residual / (len(values) - 4) * inverse[1, 1])
    assert (fits.slope[3], fits.error[3]) == pytest.approx((coefficients[1], error))
    held = np.abs(fits.slope - standard_errors.TRUTH) <= standard_errors.REACH * fits.error
    assert fits.coverage == held.mean()


def test_copying_alone_makes_errors_too_small_not_independent_donors() -> None:
    """If independent donors of the cells of a row were the cause, whole rows would repair it."""
    whole = slopes_of(RowCopy(epsilon=0.0, k=5), 200)
    assert whole.ratio == pytest.approx(0.7, abs=4 / np.sqrt(400) * 0.7)
    assert whole.ratio < 1 - 4 / np.sqrt(2 * 200)
    # at k = 1 there is one donor for all cells of a row
    one, other = (slopes_of(each(epsilon=0.0, k=1), 5).slope for each in (rwn.RWN, RowCopy))
    np.testing.assert_array_equal(one, other)


def test_of_x1_measured_twice_the_masked_file_prints_short_intervals_that_do_not_hold() -> None:
    one = standard_errors.sample(0)
    again = one.values("x1") + 0.02 * np.random.default_rng(1).standard_normal(one.n)
    twice = rwn.Microdata.from_frame(one.frame.assign(x1_again=again))
    asked = Question(response="y", predictors=("x1", "x2", "x3", "x1_again"))
    model = Regression(twice.with_schema(replace(twice.schema, question=asked)), asked)
    releases = (rwn.mask(twice, NEAREST, seed=seed) for seed in range(1_000, 1_040))
    slopes, errors = np.array([model.fit(each.masked) for each in releases]).transpose(1, 0, 2)
    own, error = np.array(model.own)
    assert errors[:, 1:].max() < error[1] / 10  # "short" against an original without an answer
    # three times the printed interval would not hold the original's slope
    held = np.abs(slopes[:, 1] - own[1]) <= 3 * standard_errors.REACH * errors[:, 1]
    assert held.mean() < 0.5


# the theorem
@pytest.mark.parametrize("kind", [rwn.RWN, RowCopy])
def test_closed_forms_are_the_averages_of_simulated_releases(kind) -> None:
    data = points_of("normal", 40)
    epsilon = 0.8
    draws = 1000
    values = data.matrix(["x", "y"])
    found = theorem.theorem(kind(epsilon=epsilon, k=1).prepare(data))
    steps = theorem.cut_points(values)
    # everybody's donors: within epsilon, or the nearest one where nobody is
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    apart = np.sqrt(((scaled[:, None] - scaled) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    reach = np.maximum(epsilon, apart.min(axis=1)) * (1 + 1e-9)
    donors = [np.flatnonzero(row <= end) for row, end in zip(apart, reach, strict=True)]
    np.testing.assert_array_equal(np.sort(found.members), donors[0])
    rng = np.random.default_rng(5)
    sizes = np.array([len(near) for near in donors])
    padded = np.array([np.resize(near, sizes.max()) for near in donors])

    def joint(table: np.ndarray) -> np.ndarray:
        below = table[:, None, :] <= steps
        return (below[:, :, None, 0] & below[:, None, :, 1]).mean(axis=0)

    means, shown = np.zeros(draws), np.zeros((theorem.GRID, theorem.GRID))
    for draw in range(draws):
        first, second = padded[np.arange(40), (rng.random((2, 40)) * sizes).astype(int)]
        second = first if kind is RowCopy else second
        released = np.column_stack([values[first, 0], values[second, 1]])
        means[draw] = released.sum(axis=1).mean()
        shown += joint(released)
    assert found.added_error == pytest.approx(means.std(ddof=1), rel=4 / np.sqrt(2 * draws))
    largest = np.abs(shown / draws - joint(values)).max()
    assert found.expected_distance == pytest.approx(largest, abs=4 * 0.5 / np.sqrt(draws * 40))


def test_the_distance_falls_to_nothing_with_epsilon_also_for_discrete_values() -> None:
    for density in ("banana", "discrete"):
        table = rwn.RWN(epsilon=2.0, k=1).prepare(points_of(density, 800))
        far = [
            theorem.theorem(table.with_levers(epsilon=epsilon)).expected_distance
            for epsilon in (2.0, 1.0, 0.3, 0.1)
        ]
        assert far == sorted(far, reverse=True), density
        assert far[-1] < 0.01 < 0.05 < far[0], density


def test_TH_2_coordinates_in_a_disc_are_dependent() -> None:
    expected = check_values("utility")["TH-2"]["expected"]
    # E[X^2], E[X^2 Y^2] and E[X^4] of a uniform point on the unit disc
    square, product, fourth = 1 / 2 * 1 / 2, 1 / 3 * 1 / 8, 1 / 3 * 3 / 8
    correlation = (product - square**2) / (fourth - square**2)
    found = {"Ex2": square, "Ex2y2": product, "prod": square**2, "corr_x2y2": correlation}
    assert found == pytest.approx({name: expected[name] for name in found})
    x, y = columns("uniform disc", 40_000).T
    assert (x * x * y * y).mean() == pytest.approx(product, abs=0.001)


# the choice of a setting
def test_only_body_fat_apart_keeps_all_limits() -> None:
    loss, verdicts = {}, {}
    for slices in choose.SLICES:
        ready = rwn.RWN(epsilon=8.0, k=choose.K).preview(choose.table(slices))
        found = choose.read(ready, POLICY.measures, choose.EPSILONS)
        loss[slices] = [each[UTILITY].value for each in found]
        verdicts[slices] = [POLICY.judge({k: each[k] for k in POLICY.measures}) for each in found]
    kept = {name: [verdict.kept for verdict in each] for name, each in verdicts.items()}
    assert kept == {APART: [False] * 6 + [True] * 3, ALONE: [False] * 9, ROWS: [False] * 9}
    assert loss[APART][7] == pytest.approx(0.16, abs=0.005)
    # whole rows link few records and break two other limits at any radius
    assert max(loss[ROWS]) < 0.1
    for verdict in verdicts[ROWS][5:]:
        assert verdict.broken == ("attribute_gain", "true_matches")
        assert verdict.values["true_matches"] > 0.5  # "body fat of more than half of the men"


def test_a_reading_is_that_of_the_audit_and_the_answer_holds_for_other_releases() -> None:
    data = choose.table(APART)
    setting = rwn.RWN(epsilon=4.0, k=choose.K)
    measures = ["bayes_linkage", UTILITY]
    audit = rwn.audit(data, rwn.mask(data, setting, seed=choose.SEED), measures=measures)
    (found,) = choose.read(setting.prepare(data), measures, [4.0])
    for name in measures:
        assert found[name].value == pytest.approx(audit[name].value)
    prepared = rwn.RWN(epsilon=7.0, k=choose.K).preview(data)
    for seed in range(101, 109):
        made = prepared.release(key(seed))
        judged = compare(data, made.masked).with_masked(made.masked, made.law)
        readings = {name: MEASURES[name].compute(judged) for name in POLICY.measures}
        assert POLICY.judge(readings).kept


# the solutions of the exercises
def solution(letter: str) -> str:
    solutions = PAGE.read_text(encoding="utf-8").partition("## Solutions")[2]
    return re.split(r"\n- |\n\n", solutions.partition(f"**{letter}.**")[2])[0]


def test_solutions_are_what_the_lessons_show() -> None:
    found = disclosed()  # a: people linked and incomes learned
    stated = [int(share) / 100 for share in re.findall(r"(\d+) %", solution("A"))]
    assert stated == [round(found.linked, 2), round(found.learned, 2)]
    # b: correlations above the original and below 0.4
    prepared = rwn.RWN(epsilon=0.3, k=1).preview(points_of("normal", 300))
    low, high = (float(each) for each in re.findall(r"ε = (\d\.\d)", solution("B")))
    before, after = theorem.theorem(prepared.with_levers(epsilon=low)).correlation
    assert before < after < before + 0.05
    for epsilon in (high, 2.2, 3.0):
        assert theorem.theorem(prepared.with_levers(epsilon=epsilon)).correlation[1] < 0.4
    assert theorem.theorem(prepared.with_levers(epsilon=high - 0.1)).correlation[1] > 0.4
    # c: possible originals
    made = NEAREST.prepare(rwn.load_demo("bodyfat")).release(key(1))
    stated = [int(count) for count in re.findall(r"\d+", solution("C"))]
    for place, known in ((0, 1), (1, 3), (2, 15)):
        assert intruder.intruder(made, row=4, known=known).candidates == stated[place]
