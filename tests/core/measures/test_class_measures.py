"""Equivalence classes, differential privacy, attributes, and who is singled out."""

from ast import literal_eval
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.audit import compare as compare_release
from rwn_core.laws.transition_matrix import privacy_epsilon
from rwn_core.measures.risk import guesses
from rwn_core.measures.risk.guesses import (
    ENOUGH,
    NARROW,
    VARIABLES,
    Fits,
    NumberedTable,
    Predicates,
    Thresholds,
    alone_among,
    edges,
)
from rwn_core.measures.risk.key_classes import distances, distinct_values, entropies
from rwn_core.measures.risk.population_risk import dis_scores, scores
from rwn_core.measures.statistics.intervals import newcombe
from rwn_core.measures.statistics.key_variables import class_sizes, confidential_names, key_names
from rwn_core.measures.statistics.population import fitted_risk, individual_risk, pitman_law
from tests.check_values import check_values
from tests.core.measures.attacks.attribute_tables import released
from tests.lanes import lanes
from tests.tables import described

ENTRIES = check_values("risk")


def kan_table() -> rwn.Microdata:
    given = ENTRIES["KAN-1"]["input"]
    frame = pd.DataFrame({"key": given["keys"], "secret": given["sensitive"]})
    return described(frame, key="key", secret="confidential")


def itself(data: rwn.Microdata, **about) -> rwn.Comparison:
    return rwn.Comparison(original=data, masked=data, **about)


def test_KAN_1_k_anonymity_l_diversity_and_t_closeness():
    expected = ENTRIES["KAN-1"]["expected"]
    data = kan_table()
    reading = rwn.MEASURES["k_anonymity"].compute(itself(data))
    assert reading.detail.smallest.released == expected["kmin"]
    assert reading.detail.violations.released[:2] == [expected["viol2"], expected["viol3"]]
    assert reading.value == reading.baseline == expected["viol3"] / 8
    groups = data.codes("key")[0].astype(int)
    secret = data.codes("secret")[0].astype(int)
    assert distinct_values(groups, secret).min() == expected["distinct_l"]
    found = dict(zip(data.codes("key")[1], entropies(groups, secret), strict=True))
    far = dict(zip(data.codes("key")[1], distances(groups, secret, ordered=False), strict=True))
    for ours, published in ((found, expected["entropies"]), (far, expected["t_equal"])):
        for name, value in published.items():
            letter, number = literal_eval(name)
            assert ours[f"{letter}{number}"] == pytest.approx(value, abs=1e-12)
    reading = rwn.MEASURES["l_diversity"].compute(itself(data))
    assert reading.detail.worst.released.tolist() == [expected["distinct_l"]]


def classed(keys: str, **secrets: str) -> rwn.Comparison:
    """One key and confidential variables, a letter for each record; a dot is missing."""
    columns = {name: [None if x == "." else x for x in text] for name, text in secrets.items()}
    roles = {"key": "key", **dict.fromkeys(columns, "confidential")}
    return itself(described(pd.DataFrame({"key": list(keys), **columns}), **roles))


def test_classes_with_one_value_are_those_of_the_worst_secret():
    reading = rwn.MEASURES["l_diversity"].read(classed("aabb", t="uvuu", hiv="yynn", u="vwxy"))
    assert reading.detail.mean.released.tolist() == [0.5, 1.0, 0.0]
    assert reading.value == reading.baseline == 1.0
    assert reading.detail.secret == "hiv"


def test_suppressed_secrets_hide_nothing_of_their_class():
    whole, some = classed("aaaabbbb", s="yyyynnnn"), classed("aaaabbbb", s="yyy.nnn.")
    for key, value in (("l_diversity", 1.0), ("t_closeness", 0.5)):
        assert rwn.MEASURES[key].read(whole).value == rwn.MEASURES[key].read(some).value == value
    # b has no known value, and c has two
    mixed = rwn.MEASURES["l_diversity"].read(classed("aaabbcc", s="y.y..yn"))
    assert mixed.value == pytest.approx(3 / 7)
    assert mixed.detail.worst.released.tolist() == [1]
    lost = rwn.Microdata(whole.original.frame.assign(s=None), whole.original.schema)
    for key in ("l_diversity", "t_closeness"):
        assert (
            rwn.MEASURES[key].read(rwn.Comparison(original=whole.original, masked=lost)).value == 0
        )


@pytest.mark.parametrize("population", [None, 120.0])
def test_log_linear_risk_is_of_values_and_not_of_their_groups(population):
    """Twelve ages in six groups of two: each age is half of its group."""
    data = described(pd.DataFrame({"age": range(12)}), age="key")
    reading = rwn.MEASURES["loglinear_risk"].read(
        itself(data, sampling=rwn.Sampling(population=population))
    )
    assert reading.detail.uniques == (12, 12)
    # two people of the sample stand for 20 of the population, and one for 10
    expected = 1.0 if population is None else -np.expm1(-0.9 * 10) / (0.9 * 10)
    assert reading.value == pytest.approx(expected)
    # a number that is nearly always the least is a key
    data = described(pd.DataFrame({"gain": [0] * 95 + [3, 5, 6, 7, 8, 9, 9]}), gain="key")
    reading = rwn.MEASURES["loglinear_risk"].read(itself(data))
    assert (reading.value, reading.detail.left_out) == (pytest.approx(5 / 102), [])


def test_KAN_2_ordered_t_closeness():
    """Nine salaries, three classes of three: Li et al. 2007."""
    secret = np.arange(9)
    for name, members in {"P1_345": [0, 1, 2], "P2_6_8_11": [3, 5, 8]}.items():
        groups = 1 - np.isin(secret, members)
        found = distances(groups, secret, ordered=True)[0]
        assert found == pytest.approx(ENTRIES["KAN-2"]["expected"][name], abs=1e-9)


def test_a_missing_value_matches_any():
    by_hand = np.array([[0, 0], [0, -1], [-1, -1], [1, 0], [0, 1]])
    assert class_sizes(by_hand).tolist() == [3, 4, 5, 2, 3]
    cells = np.random.default_rng(1).integers(-1, 3, (60, 4))
    slow = [int((((cells == one) | (cells < 0) | (one < 0)).all(axis=1)).sum()) for one in cells]
    assert class_sizes(cells).tolist() == slow


def test_roles_and_what_takes_their_place():
    frame = pd.DataFrame({"a": [1, 2], "b": [1.0, 2.0], "c": ["x", "y"]})
    alone = itself(rwn.Microdata.from_frame(frame))
    assert (key_names(alone), confidential_names(alone)) == (("a", "b", "c"), ())
    asked = itself(alone.original, question=rwn.Question(response="b", predictors=("a",)))
    assert (key_names(asked), confidential_names(asked)) == (("a", "c"), ("b",))
    assert key_names(itself(kan_table())) == ("key",)


def test_suda_by_its_definition():
    rng = np.random.default_rng(4)
    cells = rng.integers(0, 3, (40, 4))
    score, smallest, shares = scores(cells)
    for record in range(40):
        minimal: list[tuple[int, ...]] = []
        for size in (1, 2, 3):
            for chosen in combinations(range(4), size):
                alone = ((cells[:, chosen] == cells[record, chosen]).all(axis=1)).sum() == 1
                if alone and not any(set(known) < set(chosen) for known in minimal):
                    minimal.append(chosen)
        expected = sum({1: 3 * 2 * 1, 2: 2 * 1, 3: 1}[len(chosen)] for chosen in minimal)
        assert score[record] == expected
        for key in range(4):
            part = sum({1: 6, 2: 2, 3: 1}[len(c)] for c in minimal if key in c)
            assert shares[record, key] == pytest.approx(part / max(expected, 1))
        assert smallest[record] == (min(map(len, minimal)) if minimal else 0)


def test_suda_takes_the_keys_with_most_values():
    """Ten keys of two values single out nobody; the eleventh is unique."""
    half = np.where(np.arange(40) < 20, "a", "b")
    frame = pd.DataFrame({f"k{j}": half for j in range(10)} | {"card": np.arange(40.0)})
    data = described(frame, **dict.fromkeys(frame, "key"))
    found = rwn.MEASURES["suda"].compute(itself(data))
    assert found.value == 1.0
    assert found.detail.names == [*(f"k{j}" for j in range(9)), "card"]
    assert found.detail.left_out == 1


def test_dis_scores_by_hand():
    """Three unique records and one pair: U = 3, P = 2, f = 0.1."""
    cells = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 1], [3, 1, 0], [3, 1, 0]])
    score = scores(cells)[0]
    overall = 3 * 0.1 / (3 * 0.1 + 2 * 0.9)
    weight = score[:3] ** 1.25 * (1 / score[:3] ** 1.25).sum()
    expected = 1 / (1 + (3 / overall - 3) / weight)
    assert dis_scores(cells, score, 0.1) == pytest.approx([*expected, 0.0, 0.0])
    assert dis_scores(cells, score, 1.0).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_sampling_weights():
    """Each record stands for so many people: F of a class is the sum of its weights."""
    whole = rwn.MEASURES["individual_risk"].compute(itself(kan_table()))
    assert whole.value == pytest.approx(4 / 8)  # four classes
    assert whole.detail.expected.released == pytest.approx(4)
    frame = kan_table().frame.assign(w=[1.0, 100, 3, 100, 50, 2, 7, 40])
    data = described(frame, key="key", secret="confidential")
    found = rwn.MEASURES["individual_risk"].compute(
        itself(data, sampling=rwn.Sampling(weights="w"))
    )
    classes = frame.groupby("key")["w"]
    of_classes = classes.transform("size").to_numpy(), classes.transform("sum").to_numpy()
    expected = fitted_risk(*of_classes, pitman_law(classes.size().to_numpy()))
    older = individual_risk(*of_classes)
    np.testing.assert_allclose(found.detail.risk.released, expected)
    assert found.detail.population == frame["w"].sum()
    assert found.detail.expected.released == pytest.approx(expected.sum())
    assert found.detail.older.released == pytest.approx(older.sum())
    # weights that are all alike are a population of their sum
    same = rwn.Microdata(data.frame.assign(w=20.0), data.schema)
    alike = itself(same, sampling=rwn.Sampling(weights="w"))
    drawn = itself(data, sampling=rwn.Sampling(population=8 * 20))
    for key in ("individual_risk", "loglinear_risk"):
        one, two = rwn.MEASURES[key].compute(alike), rwn.MEASURES[key].compute(drawn)
        assert one.value == pytest.approx(two.value)
        assert one.detail.population == two.detail.population == 160


def test_weights_need_not_be_released_and_may_be_masked():
    frame = pd.DataFrame(
        {"g": list("aabbcc"), "x": [0.0, 1, 2, 3, 4, 5], "w": [1.0, 2, 3, 4, 5, 6]}
    )
    values = {}
    for role in (rwn.Role.OTHER, rwn.Role.IDENTIFIER):
        data = described(frame, g="key", x="other", w=role)
        release = rwn.mask(data, rwn.RWN(k=2), seed=3)
        comparison = compare_release(data, release, sampling=rwn.Sampling(weights="w"))
        values[role] = rwn.MEASURES["individual_risk"].compute(comparison)
        assert values[role].detail.population == 21
    released = rwn.mask(data, rwn.RWN(k=2), seed=3).masked
    assert "w" not in released.names  # the data steward's own weights stand in
    assert 0 < values[rwn.Role.IDENTIFIER].value < 0.5
    assert values[rwn.Role.OTHER].baseline == pytest.approx(values[rwn.Role.IDENTIFIER].baseline)


def test_homogeneous_neighborhoods():
    frame = pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2], "ill": ["y"] * 3 + ["n", "y", "n"]})
    data = described(frame, x="key", ill="confidential").with_weights({"ill": 0.0})
    reading = rwn.MEASURES["homogeneity"].compute(released(data, rwn.RWN(k=2)))
    assert (reading.value, reading.baseline) == (0.5, 0.0)


def privacy_of(data: rwn.Microdata, method) -> rwn.Reading:
    return rwn.MEASURES["differential_privacy"].compute(released(data, method))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (rwn.AdditiveNoise(size=0.5), "normal noise"),
        (rwn.CorrelatedNoise(), "normal noise"),
        (rwn.AdditiveNoise(size=0.8, shape="laplace"), "scale that follows from the file"),
        (rwn.KPRAM(k=10), "values of its group"),
        (rwn.KPRAM(k=50), "from the file"),
        (rwn.KNoise(k=5), "within reach of its noise"),
        (rwn.RWN(k=5), "those of its donors"),
        (rwn.RandomSwapping(share=0.5), "keeps the count of every value"),
    ],
    ids=lambda value: getattr(value, "method", None),
)
def test_other_methods_have_none_and_say_why(method, words):
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(50, 2)), columns=["x", "y"])
    reading = privacy_of(rwn.Microdata.from_frame(numbers), method)
    assert reading.detail.total_epsilon is None
    assert words in reading.detail.statement
    listed = not isinstance(method, rwn.AdditiveNoise | rwn.CorrelatedNoise | rwn.KNoise)
    assert listed == (reading.value > 0.6)  # a unique number is released so often


def test_variables_that_are_released_as_they_are_spoil_every_epsilon():
    data = rwn.load_demo("pima")
    reading = privacy_of(data, rwn.PRAM())
    assert reading.detail.total_epsilon is None
    assert "is released unmasked" in reading.detail.statement
    assert set(reading.detail.epsilon) == {None}
    assert reading.value == 1  # a unique number stands in the release for certain
    named = privacy_of(data, rwn.RecordSwapping(share=1.0))
    assert "donors" in named.detail.statement
    assert named.value == 1


def categorical() -> rwn.Microdata:
    h = np.random.default_rng(1).choice(["u", "v"], 90)
    return rwn.Microdata.from_frame(pd.DataFrame({"g": list("aabbbccccd") * 9, "h": h}))


def with_levels(data: rwn.Microdata, **levels: str) -> rwn.Microdata:
    variables = (
        replace(v, levels=tuple(levels[v.name])) if v.name in levels else v
        for v in data.schema.variables
    )
    return data.with_schema(rwn.Schema(variables=tuple(variables)))


def test_epsilons_of_declared_matrices_add_up():
    categories = categorical()
    method = rwn.PRAM(change=0.5, invariant=False)
    assert privacy_of(categories, method).detail.epsilon == [None, None]
    declared = with_levels(categories, g="abcd", h="uv")
    reading = privacy_of(declared, method)
    each = [privacy_epsilon(method.matrix(declared, name))[0] for name in ("g", "h")]
    assert reading.detail.epsilon == pytest.approx(each)
    assert reading.detail.total_epsilon == pytest.approx(sum(each))
    assert "each declared level has two records or more" in reading.detail.statement


def releases(data: rwn.Microdata, method) -> dict[tuple[str, ...], float]:
    """The exact chance of every release of a small table of one variable, rows as they stand."""
    table, values = method.prepare(data).law.table("g")
    rows = table.toarray()
    return {
        tuple(str(values[at]) for at in chosen): float(np.prod(rows[range(data.n), chosen]))
        for chosen in map(list, product(range(len(values)), repeat=data.n))
    }


def of(text: str, declared: str = "") -> rwn.Microdata:
    data = rwn.Microdata.from_frame(pd.DataFrame({"g": list(text)}))
    return with_levels(data, g=declared) if declared else data


def neighbors(text: str, alphabet: str) -> list[str]:
    """All tables in which one record has another level, or does not exist."""
    changed = [text[:i] + a + text[i + 1 :] for i in range(len(text)) for a in alphabet]
    return [each for each in changed if each != text]


P = {"g": [[0.7, 0.3], [0.2, 0.8]]}


@pytest.mark.parametrize(
    ("text", "declared", "method"),
    [
        ("aaabb", "ab", rwn.PRAM(change=0.5, invariant=False)),
        ("aabbb", "ab", rwn.PRAM(change=0.5, invariant=False, alpha=0.6)),
        ("aaabbb", "", rwn.PRAM(matrices=P, invariant=False)),
        ("aabb", "", rwn.PRAM(matrices=P, invariant=False, alpha=0.5)),
    ],
)
def test_no_neighboring_table_beats_a_stated_epsilon(text, declared, method):
    """By enumeration of all releases of all tables that differ in one record."""
    data = of(text, declared)
    total = privacy_of(data, method).detail.total_epsilon
    assert total is not None
    own = releases(data, method)
    worst = 0.0
    for other in neighbors(text, "ab"):
        theirs = releases(of(other, declared), method)
        assert set(own) == set(theirs)
        worst = max(worst, *(abs(np.log(own[each] / theirs[each])) for each in own))
    assert worst <= total + 1e-9
    assert worst == pytest.approx(total)  # and it is reached, so that a smaller one is beaten


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("aaaab", rwn.PRAM()),
        ("aaaab", rwn.PRAM(change=0.5, invariant=False)),
        ("aaaab", rwn.PRAM(matrices=P, invariant=False)),
        ("aaabb", rwn.PRAM(matrices=P)),
        ("aabbb", rwn.PRAM(change=0.4, spread="margins", invariant=False)),
    ],
)
def test_what_comes_from_the_file_has_a_delta_and_no_epsilon(text, method):
    """The planted fault of the finding: an epsilon with delta 0, though a level tells a person."""
    data = of(text)
    reading = privacy_of(data, method)
    assert reading.detail.total_epsilon is None
    alone = [level for level in "ab" if text.count(level) == 1]
    for level in alone:  # without its person it is in no release
        p = sum(chance for shown, chance in releases(data, method).items() if level in shown)
        assert reading.value == pytest.approx(p)
        without = of(text.replace(level, "a"))
        assert all(level not in shown for shown in releases(without, rwn.PRAM()))
    if not alone:  # the chances themselves move: each ratio is beyond that of one row
        part = method.prepare(data).law._parts[("g",)].row_epsilon()
        own = releases(data, method)
        others = [releases(of(other), method) for other in neighbors(text, "ab")]
        ratios = [abs(np.log(own[each] / theirs[each])) for theirs in others for each in own]
        assert max(ratios) > part + 1e-6


def test_missing_values_and_empty_entries_leave_no_epsilon():
    frame = categorical().frame
    matrix = {"h": [[1.0, 0.0], [0.3, 0.7]]}
    frame.loc[3, "h"] = None
    reading = privacy_of(rwn.Microdata.from_frame(frame), rwn.PRAM(change=0.5))
    assert reading.detail.epsilon[1] is None
    assert "keeps its missing values" in reading.detail.statement
    reading = privacy_of(categorical(), rwn.PRAM(matrices=matrix, invariant=False))
    assert reading.detail.epsilon == [None, None]
    assert "some records cannot release" in reading.detail.statement


@pytest.fixture(scope="module")
def pima():
    return released(rwn.load_demo("pima"), rwn.RWN(epsilon=1.0, k=5, q=0.5), seed=2)


GAINS = [rwn.MEASURES[key] for key in ("attribute_inference", "attribute_gain")]


def first_records(data, count):
    """The first records as a control group; none where nobody is held out."""
    return None if count is None else data.take(np.arange(count))


@pytest.mark.parametrize("held", [None, 90])
def test_the_gain_is_that_of_the_worst_variable_and_level(pima, held):
    from statsmodels.stats.proportion import confint_proportions_2indep

    outside = first_records(pima.original, held)
    given = {"original": pima.original, "masked": pima.masked, "law": pima.law}
    worst, gain = (measure.read(rwn.Comparison(**given, holdout=outside)) for measure in GAINS)
    each = gain.detail.gains[gain.detail.worst]
    # the success for all people, or the score of naming a level, whichever is larger
    assert gain.value == max(each["overall"], each["naming"]["score"]) > 0
    assert gain.interval[0] <= gain.value <= gain.interval[1]
    assert gain.value >= max(g["overall"] for g in worst.detail.gains)
    assert held or each["overall"] == pytest.approx(worst.value - worst.baseline)
    # of a number and a control group the interval is Newcombe's
    data = rwn.load_demo("bodyfat")
    outside = first_records(data, held)
    comparison = released(data, rwn.RWN(epsilon=2.0, k=5), holdout=outside)
    worst, gain = (measure.read(comparison) for measure in GAINS)
    assert gain.detail.gains[gain.detail.worst]["of_all"]
    assert gain.value == pytest.approx(worst.value - worst.baseline)
    if held is None:  # people who are taken out in turn are compared with themselves
        error = (gain.interval[1] - gain.interval[0]) / 3.92
        assert 0 < error < np.sqrt(worst.value * (1 - worst.value) * 2 / data.n)
        return
    expected = confint_proportions_2indep(
        worst.value * data.n, data.n, worst.baseline * (held or data.n), held or data.n,
        method="newcomb", compare="diff",
    )  # fmt: skip
    np.testing.assert_allclose(gain.interval, expected, atol=1e-9)


def test_why_there_is_no_gain(pima):
    keys = described(pima.original.frame, **dict.fromkeys(pima.original.names, "key"))
    reading = rwn.MEASURES["attribute_gain"].read(pima.with_original(keys))
    assert "No variable is confidential" in str(reading)
    alone = rwn.Comparison(original=related(40, 1), masked=related(40, 2), holdout=related(40, 3))
    assert isinstance(rwn.MEASURES["attribute_inference"].read(alone), rwn.NotApplicable)


def test_newcombe_is_that_of_statsmodels():
    from statsmodels.stats.proportion import confint_proportions_2indep

    for one, other in [((56, 70), (48, 80)), ((0, 10), (0, 20)), ((10, 10), (0, 20))]:
        expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")
        np.testing.assert_allclose(newcombe(one, other), expected, atol=1e-9)


def related(n: int, seed: int) -> rwn.Microdata:
    """Records of one population: five numbers, of which one is confidential."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 5)) + rng.normal(size=(n, 1))
    frame = pd.DataFrame(values, columns=["a", "b", "c", "d", "s"])
    frame["s"] += 20
    return described(frame, **dict.fromkeys("abcd", "key"), s="confidential")


REPETITIONS = {"singling_out": 40, "linkability": 40, "inference": 100}
"""At night; by day four in ten of them."""
LEAST = 0.93  # of the intervals of 95 % hold the truth
SIZES = {"as many outside": (80, 80, 80), "few outside": (120, 120, 40), "many": (60, 90, 150)}
CASES = [("singling_out", "as many outside"), ("singling_out", "many"),
         ("linkability", "few outside"), ("inference", "few outside")]  # fmt: skip


def readings(key: str, size: str, times: int, fault: float | None = None) -> list[rwn.Reading]:
    """One reading a repetition: of a fresh sample, or of the original with so much noise."""
    found = []
    n, m, h = SIZES[size]
    for seed in range(0, 3 * times, 3):
        original, masked = related(n, seed), related(m, seed + 1)
        if fault is not None:
            masked = noisy(original, fault, seed)
        beside = rwn.Comparison(original=original, masked=masked, holdout=related(h, seed + 2))
        found.append(rwn.MEASURES[key].read(beside, bare=True))
    return found


def noisy(table: rwn.Microdata, spread: float, seed: int) -> rwn.Microdata:
    frame = table.frame.copy()
    rng = np.random.default_rng(seed)
    for name in table.numeric_names:
        frame[name] += spread * rng.normal(size=table.n)
    return rwn.Microdata(frame, table.schema)


def holding_nothing(found: list[rwn.Reading]) -> int:
    """How many intervals say that there may be no risk."""
    return sum(reading.interval is not None and reading.interval[0] == 0.0 for reading in found)


@pytest.mark.parametrize("share", lanes(0.4, 1.0))
@pytest.mark.parametrize(("key", "size"), CASES)
def test_a_fresh_sample_gives_nobody_away(key, size, share):
    times = round(share * REPETITIONS[key])
    found = readings(key, size, times)
    assert holding_nothing(found) >= LEAST * times
    attack, control = (
        np.array([getattr(reading.detail, part) for reading in found])
        for part in ("attack", "control")
    )
    apart = attack - control
    assert abs(apart.mean()) <= 3.5 * apart.std(ddof=1) / np.sqrt(times)


@pytest.mark.parametrize(("key", "size"), CASES)
def test_the_original_with_noise_is_discovered(key, size):
    assert holding_nothing(readings(key, size, 12, fault=0.01)) <= 1


def test_people_replaced_by_others_are_counted_by_enumeration():
    inside, outside = np.array([1, 1, 0, 0, 1]), np.array([0, 1, 1])
    for replaced in (1, 2, 3):
        tried = [
            inside[list(stay)].sum() + outside[list(come)].sum() == 1
            for stay in combinations(range(5), 5 - replaced)
            for come in combinations(range(3), replaced)
        ]
        counted = (np.array([inside.sum()]), 5), (np.array([outside.sum()]), 3)
        assert alone_among(*counted, replaced)[0] == pytest.approx(np.mean(tried))


def test_a_condition_survives_a_tiny_change():
    """Half way to the next value: the same released rows, and the person behind them."""
    original, held = related(100, 1), related(100, 2)
    read = rwn.MEASURES["singling_out"].compute
    exact = read(rwn.Comparison(original=original, masked=original, holdout=held))
    changed = noisy(original, 1e-9, 3)
    moved = read(rwn.Comparison(original=original, masked=changed, holdout=held))
    assert exact.detail.attack == moved.detail.attack == 1.0


MEASURE = rwn.MEASURES["singling_out"]


def read(table: rwn.Microdata, k: int, holdout: rwn.Microdata | None = None) -> rwn.Reading:
    masked = rwn.mask(table, rwn.RWN(k=k), seed=1).masked
    return MEASURE.compute(rwn.Comparison(original=table, masked=masked, holdout=holdout))


def test_the_attacks_go_on_until_the_interval_is_narrow():
    """With one set of variables a row there were 48 attacks, of 768 rows of pima."""
    reading = read(rwn.load_demo("pima"), 5)
    low, high = reading.interval
    assert (high - low) / 2 <= NARROW
    detail = reading.detail
    assert detail.ended == "narrow"
    assert ENOUGH <= detail.attacks <= detail.rows < 768


def test_the_work_is_bounded(monkeypatch):
    monkeypatch.setattr(guesses, "_WORK", 1)
    reading = read(rwn.load_demo("pima"), 5)
    assert reading.detail.rows == 50
    assert reading.detail.ended == "work"


def depending_on_units() -> list[int]:
    """The units of a column, by number, in which thresholds let other records pass."""
    tenths = np.arange(10, 400)[:, None] / 10  # many stand half way between two that are released
    rows = np.arange(0, len(tenths), 2)
    passed = []
    for factor in (1.0, 1e6, 1e-6, 2.54):
        values = tenths * factor
        asked, above = edges(values[rows], np.arange(len(rows)), [True])
        passed.append(np.where(above.T, values >= asked.T, values <= asked.T))
    return [i for i, each in enumerate(passed) if not np.array_equal(each, passed[0])]


def test_the_same_records_fulfill_conditions_in_every_unit(monkeypatch):
    assert depending_on_units() == []
    monkeypatch.setattr(guesses, "_NEARLY_HALF", 0.5)  # planted: exactly half way
    assert depending_on_units()


def test_rows_that_are_not_alone_are_singled_out_by_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0] * 30, "b": [5.0, 6.0] * 30, "c": [1.5, 2.5] * 30})
    table = rwn.Microdata.from_frame(frame)
    with pytest.raises(rwn.NotApplicable, match="None of 60 sets of conditions that were tried"):
        MEASURE.compute(rwn.Comparison(original=table, masked=table))


def alone_by(table, conditions, chosen):
    """Return whether one record fulfills the conditions on some variables, one by one."""
    fulfilled = np.ones(len(table), dtype=bool)
    for column in chosen:
        bound, above, ordered = conditions[column]
        known = table[:, column]
        if not ordered:
            fulfilled &= known == bound
        elif above:
            fulfilled &= known >= bound
        else:
            fulfilled &= known <= bound
    return bool(fulfilled.sum() == 1)


@pytest.mark.parametrize(("n", "kinds"), [(130, 9), (4_000, 30), (1, 2)])
def test_the_first_unique_conditions_are_those_of_a_slow_search(n, kinds):
    """With missing values and a constant; a long table is looked through from a first part on."""
    rng = np.random.default_rng(4)
    table = rng.integers(0, kinds, size=(n, 6)).astype(float)
    table[:, 1:3] *= rng.random((n, 2)) < 0.9
    table[rng.random(table.shape) < 0.05] = np.nan
    table[:, 4] = 3.0
    ordered = [True, True, False, True, True, True]
    rows = np.arange(min(40, n))
    asked, above = edges(table, rows, ordered)
    tried = np.array(list(combinations(range(6), VARIABLES)))
    orders = np.array([rng.permutation(tried) for _ in rows])
    expected = np.full(len(rows), -1)
    fits = Fits(NumberedTable(table), Thresholds(asked, above, ordered))
    for row, order in enumerate(orders):
        conditions = list(zip(asked[row], above[row], ordered, strict=True))
        alone = [alone_by(table, conditions, chosen) for chosen in order]
        counted = fits.counts(Predicates(np.full_like(order, row), order))
        assert (counted == 1).tolist() == alone
        expected[row] = [*alone, True].index(True)
    expected[expected == len(tried)] = -1
    found = fits.first_unique(rows, orders)
    np.testing.assert_array_equal(found, expected)
    assert n == 1 or (-1 in found and len(set(found)) > 3)


def test_conditions_on_more_values_than_a_short_number_holds():
    table = np.column_stack((np.arange(70_000.0), np.arange(70_000.0)[::-1], np.zeros(70_000)))
    table[5, 0] = np.nan
    asked = np.array([[69_998.5, 1.5, 0.0], [np.nan, 3.0, 0.0], [10.0, 69_990.0, 0.0]])
    above = np.array([[True, False, True], [True, False, True], [False, True, False]])
    fits = Fits(NumberedTable(table), Thresholds(asked, above, [True, True, True]))
    for row, known in enumerate(asked):
        slow = np.where(above[row], table >= known, table <= known)
        marks = fits.bits(np.array([row]))[0]
        bits = np.unpackbits(marks.view(np.uint8), axis=1)[:, :70_000]
        np.testing.assert_array_equal(bits, slow.T)
