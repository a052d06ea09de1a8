"""Parts of files, foreign files, further releases, differences and chains of them."""

from collections import Counter
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Microdata, NotApplicable, Role
from rwn_core.evaluation.disclosure import distinct_donors, mode_is_own
from rwn_core.masking import METHODS, RWN, AdditiveNoise, RandomSwapping
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.attacks.red_team import attack, finding, merge, nearest, prediction
from rwn_core.measures.attacks.red_team.chain import chain
from rwn_core.measures.attacks.red_team.files import intruder_files
from rwn_core.measures.attacks.red_team.subtraction import Subtrahend, subtract
from rwn_core.measures.attacks.worst_case import LEAST, cut_into_parts
from rwn_core.measures.risk import repeated_releases as repeated
from rwn_core.measures.risk.repeated_releases import bhattacharyya, simulate
from rwn_core.measures.statistics.intervals import naming_score
from rwn_core.tuning import Limit, Policy
from tests.attacked_tables import described, released
from tests.lanes import lanes
from tests.oracles.exact_cells import coincidence


def cells(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three variables: one that rows cross, one seldom, one of three levels never."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, [50, 50, 3], (n, 3))
    steps = rng.integers(-2, 3, n)
    after = np.column_stack([rng.permutation(before[:, 0]), before[:, 1] + steps, before[:, 2]])
    return before, after


def crossing(side: np.ndarray, other: np.ndarray) -> float:
    """Crossed rows over the smaller side; nothing for a lopsided cut."""
    share = side.mean()
    if not LEAST <= share <= 1 - LEAST:
        return np.inf
    return float(np.mean(side != other) / min(share, 1 - share))


def best_cut(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Of all cuts at all values, the sides of the best."""
    cuts = []
    for own, later in zip(before.T, after.T, strict=True):
        for value, cut in product(np.unique(own), (np.less, np.equal)):
            cuts.append((crossing(cut(own, value), cut(later, value)), cut(own, value)))
    return min(cuts, key=lambda cut: cut[0])[1]


def test_the_first_cut_is_the_best_of_all() -> None:
    before, after = cells()
    parts = cut_into_parts(before, after, np.arange(400), (399,))[0]
    side = best_cut(before, after)
    assert len(np.unique(parts)) == 2
    assert len(np.unique(parts[side])) == len(np.unique(parts[~side])) == 1


def test_parts_have_the_sizes_asked_for_and_lie_within_each_other() -> None:
    before, after = cells(1000)
    sizes = (400, 150, 60)
    levels = cut_into_parts(before, after, np.arange(1000), sizes)
    for size, of in zip(sizes, levels, strict=True):
        assert 0 < np.bincount(of).min() <= np.bincount(of).max() <= size
    for larger, smaller in pairwise(levels):
        for part in np.unique(smaller):
            assert len(np.unique(larger[smaller == part])) == 1
    same, nobody = np.zeros((50, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    assert not cut_into_parts(same, same, np.arange(50), (20, 10)).any()  # nothing to cut at
    assert not cut_into_parts(before, after, nobody, (20,)).any()


def compared(original: pd.DataFrame, masked: pd.DataFrame) -> Comparison:
    data = Microdata.from_frame(original)
    return Comparison(original=data, masked=Microdata(masked, data.schema))


def linked(original: pd.DataFrame, masked: pd.DataFrame) -> float:
    found = attack(compared(original, masked))
    return max(each.score for each in found if each.kind == "identity")


def noisy(frame: pd.DataFrame, names: str) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    made = frame.copy()
    for name in names:
        made[name] = made[name] + rng.normal(0, 1.5 * float(made[name].std()), len(made))
    return made


def numbers(n: int = 300, seed: int = 0) -> pd.DataFrame:
    values = np.random.default_rng(seed).normal(size=(n, 6)) * 10 + 50
    return pd.DataFrame(values, columns=list("abcdef"))


def test_rows_are_linked_by_what_is_left_of_them() -> None:
    rng = np.random.default_rng(4)
    frame = numbers()
    masked = noisy(frame, "bcdef")
    panel = pd.concat([frame.head(60)] * 5, ignore_index=True)
    born = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, 300), "D")
    dated = numbers(seed=4)[list("abcd")].assign(born=born)
    half = noisy(dated, "abcd")
    half.loc[::2, "born"] = rng.permutation(half.loc[::2, "born"].to_numpy())
    cases = {
        "one forgotten variable": (frame, masked, 0.99, 1),
        "rounded": (frame, masked.assign(a=frame["a"].round(1)), 0.6, 1),
        "in other units": (frame, masked.assign(a=frame["a"] * 1.1 + 3), 0.9, 1),
        "half of the dates": (dated, half, 0.4, 0.7),
        "one of five equal rows": (panel, noisy(panel, "bcdef"), 0.15, 0.3),
        "nothing": (frame, frame.apply(lambda one: rng.permutation(one.to_numpy())), 0, 0.05),
    }
    found = {case: linked(one, other) for case, (one, other, *_) in cases.items()}
    assert all(low <= found[case] <= high for case, (*_, low, high) in cases.items()), found
    # nor does the exact distance drop it as flat, and a common shift is learned
    for shown in (masked, masked.assign(a=frame["a"] + 7)):
        exact = MEASURES["mahalanobis_linkage"].read(compared(frame, shown), bare=True)
        assert exact.value > 0.99
    team = MEASURES["red_team"].read(compared(frame, masked), bare=True)
    assert "at least" in MEASURES["red_team"].sentence(team, 300)


def test_coarse_forgotten_variables_are_put_together() -> None:
    rng = np.random.default_rng(2)
    frame = numbers().assign(
        a=rng.choice(list("uvwxyz"), 300), b=rng.choice(list("uvwxyz"), 300),
        c=rng.integers(0, 12, 300),
    )  # fmt: skip
    masked = noisy(frame, "def")
    assert linked(frame, masked) > 0.6
    found = list(merge.links(intruder_files(compared(frame, masked))))
    sets = {frozenset(each.words.removeprefix("a merge on ").split(" + ")) for each in found}
    assert {frozenset(name) for name in "abcdef"} <= sets  # begins with each alone
    assert frozenset("abc") in sets
    alone = max(each.score for each in found if " + " not in each.words)
    assert max(each.score for each in found) > 3 * alone


def noise_of_100_deviations(seed: int, categories: bool, n: int = 300) -> Comparison:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 2))
    score = 2 * values[:, 0] + 0.5 * rng.normal(size=n)
    frame = pd.DataFrame(values * 10 + 50, columns=["a", "b"])
    frame["s"] = np.where(score > 0, "yes", "no") if categories else score
    return released(described(frame, ["a", "b"], ["s"]), AdditiveNoise(size=100.0), seed=seed)


def beyond_the_limit(releases: int, categories: bool, n: int = 300) -> int:
    """How many releases without any relation read above the usual limit of .05."""
    made = (noise_of_100_deviations(seed, categories, n) for seed in range(releases))
    attributes = ([x for x in attack(each) if x.kind == "attribute"] for each in made)
    return sum(any(each.score > 0.05 for each in found) for found in attributes)


@pytest.mark.parametrize("releases", lanes(4, 10))
def test_luck_of_one_coefficient_vector_breaks_no_limit(releases: int) -> None:
    found = beyond_the_limit(releases, True) + beyond_the_limit(releases, False)
    assert found <= 2 * releases * 0.05


def test_without_the_guards_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else they would hold for nothing: three in eight, where one in twenty may."""
    count = finding.count_names
    monkeypatch.setattr(prediction, "_relates", lambda *_: True)
    monkeypatch.setattr(nearest, "count_names", lambda *a, weights, **how: count(*a, **how))
    assert beyond_the_limit(8, True, n=600) > 2


def coin(weight: float, n: int = 500) -> Comparison:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) * 10 + 50, columns=list("abc"))
    frame["coin"] = rng.choice(["heads", "tails"], n)
    data = described(frame, list("abc"), ["coin"], fixed=[] if weight else ["coin"])
    return released(data, RWN(epsilon=0, k=20), 3)


def test_a_forest_reads_a_fair_coin_that_chose_the_neighborhoods() -> None:
    def best(found: list[finding.Finding], words: str) -> float:
        scores = [each.score for each in found if words in each.words and each.kind == "attribute"]
        return max(scores, default=0.0)

    comparison = coin(1.0)
    found = attack(comparison)
    assert best(found, "forest") > 0.1
    assert best(found, "regression") < 0.05  # which is why a forest is among the models
    assert best(attack(coin(0.0)), "forest") < 0.05
    # and a role is all that makes a secret
    schema = comparison.original.schema.replace_variable("coin", role=Role.OTHER)
    found = attack(comparison.with_original(comparison.original.with_schema(schema)))
    assert {each.kind for each in found} == {"identity"}


def test_ATT_5_and_ATT_8_two_releases_coincide(e1_law, check_values):
    law = e1_law(0.5)
    np.testing.assert_allclose(bhattacharyya(law), check_values["ATT-5"], atol=1e-6)
    found = coincidence(law)
    tables = [law.table(name)[0].toarray() for name in ("x", "y")]
    np.testing.assert_allclose(found, np.prod([(t**2).sum(axis=1) for t in tables], axis=0))
    generator = np.random.default_rng(8)
    drawn = [simulate(law, generator).matrix(["x", "y"]) for _ in range(1200)]
    share = np.equal(drawn[::2], drawn[1::2]).all(axis=2).mean(axis=0)
    assert (np.abs(share - found) < 4 * np.sqrt(found * (1 - found) / 600) + 1e-12).all()


def test_MODE_1_and_2_the_mode_reveals_the_own_value_and_donors_are_counted(check_values):
    for releases in (1, 2, 3, 5, 10, 20):
        found = [mode_is_own(0.5, np.full(5, 0.1), releases)]
        found.append(distinct_donors(np.full(5, 0.2), releases))
        expected = [check_values[id_][str(releases)] for id_ in ("MODE-1", "MODE-2")]
        assert found == pytest.approx(expected, abs=1e-9), releases


def test_BF_4_published_values_of_three_keys(bodyfat):
    law = RWN(k=5, q=1.0, epsilon=0.0).prepare(bodyfat).law
    keys = ("age", "weight", "height")
    alike = bhattacharyya(law, keys)
    generator = np.random.default_rng(12)
    bounds = repeated.bounds_of_records(alike, (1, 2, 3, 5)).mean(axis=1)
    np.testing.assert_allclose(bounds, [0.09, 0.80, 0.95, 0.993], atol=0.006)
    releases = [simulate(law, generator) for _ in range(5)]
    known = repeated.beliefs_after(law, releases, keys)
    success = repeated.success_of_rows(known, None).mean(axis=1)[[0, 1, 2, 4]]
    np.testing.assert_allclose(success, [0.67, 0.94, 0.98, 0.997], atol=0.03)
    assert (bounds <= success + 1e-9).all()  # each is a bound


def test_a_lower_bound_keeps_no_limit(bodyfat):
    """Finding A7a: a method whose releases cannot be drawn again has a bound only."""
    found = MEASURES["repeated_releases"].compute(released(bodyfat, RandomSwapping(share=0.5)))
    assert found.detail.standing == "at least"
    limit = Limit(measure="repeated_releases", at_most=max(found.value, 0.99))
    verdict = Policy(limits=(limit,)).judge({"repeated_releases": found})
    assert not verdict.kept
    assert "lower bound" in verdict.unread["repeated_releases"]


def test_a_sample_of_records_is_compared_with_all(bodyfat, monkeypatch):
    """A table too large for all pairs: a stated random sample, row by row, is a lower bound."""
    release = released(bodyfat, RWN(epsilon=2.0, k=5))
    measure = MEASURES["repeated_releases"]
    whole = measure.compute(release)
    assert (whole.detail.sampled, whole.interval) == (False, None)
    alike = bhattacharyya(release.law, whole.detail.names)
    monkeypatch.setattr(repeated, "ATTACKED_PAIRS", 241 * 120)
    some = measure.compute(release)
    assert (some.detail.sampled, some.detail.standing) == (True, "at least")
    assert len(some.detail.records) == 120
    assert some.interval[0] <= whole.value
    assert some.interval[0] <= some.value <= some.interval[1]
    part = bhattacharyya(release.law, whole.detail.names, some.detail.records)
    np.testing.assert_allclose(part, alike[some.detail.records])
    monkeypatch.setattr(repeated, "ATTACKED_PAIRS", 241 * 40)
    with pytest.raises(NotApplicable, match="At least 50 records"):
        measure.compute(release)


def test_draws_in_some_order_follow_the_law_and_not_the_order(e1_law):
    law = e1_law(0.5)
    generator = np.random.default_rng(5)
    order = np.array([3, 0, 5, 1, 4, 2])
    values = np.stack([simulate(law, generator, order).matrix(["x", "y"]) for _ in range(1000)])
    for place, name in enumerate(("x", "y")):
        chances, possible = law.table(name)
        for column, value in enumerate(possible):
            if value is not None:
                shares = (values[:, :, place] == value).mean(axis=0)
                said = chances.toarray()[:, column]
                assert (np.abs(shares - said) <= 4 * np.sqrt(said * (1 - said) / 1000)).all()


def by_hand(original, one: pd.DataFrame, two: pd.DataFrame) -> tuple[dict[int, float], int]:
    """From b to c by the second release, c to s by the first, in plain dictionaries."""

    def agreed(frame: pd.DataFrame, left: str, right: str) -> dict[float, float]:
        found: dict[float, set[float]] = {}
        for x, y in zip(frame[left], frame[right], strict=True):
            found.setdefault(x, set()).add(y)
        return {x: ys.pop() for x, ys in found.items() if len(ys) == 1}

    first, second = agreed(two, "b", "c"), agreed(one, "c", "s")
    named = {
        person: second[first[b]]
        for person, b in enumerate(original["b"])
        if b in first and first[b] in second
    }
    exact = sum(original["s"].iloc[person] == value for person, value in named.items())
    return named, exact


def test_two_slicings_of_one_table_name_a_quarter_exactly() -> None:
    normal = np.random.default_rng(0).multivariate_normal(np.zeros(4), 0.7 * np.eye(4) + 0.3, 800)
    frame = pd.DataFrame((normal * 10 + 50).round(2), columns=list("abcs"))
    table = described(frame, ["a", "b"], ["s"])
    params = rwn.RWN(epsilon=0, k=250, q=1)
    one = rwn.mask(table.with_slices([["a", "b"], ["c", "s"]]), params).published().frame
    two = rwn.mask(table.with_slices([["b", "c"]]), params).published().frame
    slices = [["a", "b"], ["c", "s"]], [["b", "c"], ["a"], ["s"]]
    found = chain(table.frame, [(one, slices[0]), (two, slices[1])], ["a", "b"], ["s"])
    best = found[0]
    assert best.path == ((1, ("b", "c")), (0, ("c", "s")))
    named, exact = by_hand(table.frame, one, two)
    assert (best.named, best.exact) == (len(named), exact)
    assert best.exact > 0.22 * table.n
    assert best.named > 0.28 * table.n
    assert best.right / best.named > 0.7
    assert best.score > 0.05
    for alone, given in zip((one, two), slices, strict=True):
        chained = chain(table.frame, [(alone, given)], ["a", "b"], ["s"])
        assert all(each.score < 0.02 for each in chained)


def test_rows_cut_off_from_their_owners_give_nothing() -> None:
    """A planted null: 30 tables whose slices join values of different people at random."""
    alarms = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.integers(0, 1000, (150, 4)), columns=list("abcs"))
        broken = [frame.apply(rng.permutation) for _ in range(2)]
        pieces = [["a", "b"], ["c", "s"]], [["b", "c"]]
        found = chain(frame, list(zip(broken, pieces, strict=True)), ["a", "b"], ["s"])
        alarms += any(each.score > 0.05 for each in found)
    assert alarms == 0


HAND = pd.DataFrame({
    "a": [1.0, 2.0, 3.0, 4.0, 5.0],
    "c": ["u", "v", "w", "x", "x"],
    "s": ["ill", "well", "well", "well", "well"],
})  # fmt: skip


def test_counts_of_five_people_by_hand() -> None:
    one = HAND.iloc[[2, 0, 1, 4, 3]]  # c and s of one person
    two = HAND.iloc[[1, 0, 3, 2]]  # a and c; nobody looks like the fifth
    found = chain(HAND, [(one, [["c", "s"]]), (two, [["a", "c"]])], ["a"], ["s"])
    ill, well = (next(f for f in found if f.level == level) for level in ("ill", "well"))
    assert (ill.right, ill.named, ill.people, ill.base) == (1, 1, 1, 0.2)
    assert (well.right, well.named, well.people, well.base) == (3, 3, 4, 0.8)
    assert ill.score == naming_score(1, 1, 1, 0.2)
    assert ill.path == ((1, ("a", "c")), (0, ("c", "s")))


def test_rows_that_disagree_or_miss_the_value_name_nobody_and_rounded_ones_do() -> None:
    disagreeing = pd.concat([HAND, HAND.iloc[[0]].assign(s="well")])  # "u" is ill, and well
    for one in (disagreeing, HAND.astype(object).where(HAND["c"] != "u", None)):
        found = chain(HAND, [(one, [["c", "s"]]), (HAND, [["a", "c"]])], ["a"], ["s"])
        assert not any(f.named for f in found if f.level == "ill")
    tens = (np.arange(200.0) / 10).round() * 10
    frame = pd.DataFrame({"a": np.arange(200.0), "s": tens * 7 + 1})
    rounded = frame.assign(a=tens).drop_duplicates()
    best = chain(frame, [(rounded, [["a", "s"]])], ["a"], ["s"])[0]
    assert best.named == 200
    assert best.exact >= 190  # halves may be rounded the other way


SETTINGS_OF_SUBTRACTION: dict[str, dict[str, Any]] = {
    "random_swapping": {"share": 0.9, "variables": ("a", "b", "c", "g")},
    "microaggregation": {"k": 30},
    "rwn": {"k": 5},
    "record_swapping": {"share": 1.0, "within": "g", "variables": "a,b"},
    "k_pram": {"k": 10, "draw_from": "permute"},
    "nbrs2015": {"epsilon": 2.0},
    "row_copy": {"k": 5},
}


def people(n: int = 301, seed: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    covariance = 0.6 * np.eye(3) + 0.4
    frame = pd.DataFrame(rng.multivariate_normal(np.zeros(3), covariance, n), columns=list("abc"))
    return frame.round(4).assign(g=rng.choice(["n", "s", "w"], n, p=[0.5, 0.3, 0.2]))


def part(frame: pd.DataFrame, method: str, **setting: Any) -> Subtrahend:
    """What is known of the release of a table."""
    data = Microdata.from_frame(frame)
    setting = setting or SETTINGS_OF_SUBTRACTION.get(method, neutral_levers(METHODS[method]))
    release = rwn.mask(data, METHODS[method](**setting))
    keeps = release.params.invariants(data)
    return Subtrahend(frame=release.published().frame, keeps=keeps, precision={})


def test_rows_that_a_file_nearly_repeats_are_read_whatever_the_method_is() -> None:
    """With one neighbor each, rows are copied without chance."""
    frame = people()
    one, two = (part(each, "row_copy", k=1) for each in (frame, frame.drop(index=7)))
    assert set(subtract(one, two, (1, 0)).read) == set("abcg")


def test_people_who_are_not_known_to_be_common_are_seen_in_the_files() -> None:
    frame = people()
    frames = frame, frame.drop(index=7)[["a", "b"]], people(seed=9)
    whole, some, strangers = (part(each, "rank_swapping") for each in frames)
    assert set(subtract(whole, some, None).exact) == {"a", "b"}
    assert not subtract(whole, strangers, None).read


def read_by_hand(one: pd.DataFrame, two: pd.DataFrame, person: pd.Series) -> set[str]:
    """The columns of a person that plain subtraction gives: totals, values, and equal rows.

    The three levels of g may agree with a person's by luck, so they count only in a row.
    """
    read = set[str]()
    for name in "abc":
        left, right = Counter(one[name]), Counter(two[name])
        for more in (left - right, right - left):
            if list(more.elements()) == [person[name]]:
                read.add(name)
        if abs(abs(one[name].sum() - two[name].sum()) - abs(person[name])) < 1e-7:
            read.add(name)
    rows = [Counter(map(tuple, each.to_numpy())) for each in (one, two)]
    changed = [*(rows[0] - rows[1]).elements(), *(rows[1] - rows[0]).elements()]
    return read | set(one if len(changed) < 10 and tuple(person) in changed else ())


@pytest.mark.parametrize("method", METHODS)
def test_where_no_reading_is_found_plain_subtraction_reads_nothing(method: str) -> None:
    frame, corrected = people(), people()
    corrected.loc[7, ["a", "b", "c"]] += [2.5, -1.5, 3.25]
    for other, changed in ((frame.drop(index=7), (1, 0)), (corrected, (1, 1))):
        one, two = part(frame, method), part(other, method)
        found = subtract(one, two, changed)
        assert read_by_hand(one.frame, two.frame, frame.loc[7]) <= set(found.read)
        if not found.read:  # of a correction g is as it was
            assert not set(one.keeps.values) - set("g" if other is corrected else "")
            assert not one.keeps.totals
            assert not one.keeps.fixed
