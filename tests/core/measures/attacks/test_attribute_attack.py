"""The attack on an attribute: by knowledge of some columns, with abstention, by predicates."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rwn_core import Comparison, Microdata, NotApplicable, SecretKey
from rwn_core.masking import NBRS2015, RWN
from rwn_core.measures import MEASURES, read
from rwn_core.measures.attacks import attribute_attack
from rwn_core.measures.attacks.attribute_attack import PREDICTIONS, STRATEGIES, Beliefs
from rwn_core.measures.attacks.likeliest_value import ReleasedValues, Tolerance
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.attacks.predicate import (
    Condition,
    Predicate,
    answer,
    simplest_between,
    single_record_predicates,
)
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.risk.repeated_releases import simulate
from rwn_core.measures.risk.worst_linkage import curve
from tests.core.measures.attacks.attribute_tables import released
from tests.tables import described


def attacked(truth: list[float], belief: list[list[float]], released: list[float],
             tolerance: float = 0.0) -> attribute_attack.Success:  # fmt: skip
    """The attack on people of whom this is believed, of rows whose keys all differ."""
    weights = sparse.csc_array(np.array(belief))
    group = np.arange(len(released))
    values = ReleasedValues(group, np.array(released), Tolerance(tolerance))
    parts = [(Beliefs(weights, [weights]), group)]
    predicted = [dict.fromkeys(PREDICTIONS, values.named(sparse.csr_array(weights)))]
    rows = np.ones(len(released), np.int64) if weights.shape[0] == len(released) else None
    asked = (
        parts,
        sparse.csr_array(weights),
        [np.array(truth)],
        [values],
        predicted,
        attribute_attack.Counted(rows),
    )
    return attribute_attack.attack(*asked)[0]


def test_every_strategy_is_tried():
    found = attacked([1.0, 2.0], [[0.9, 0.1], [0.1, 0.9]], [1.0, 2.0])
    together = attribute_attack.TOGETHER
    assert set(found.rates) == {key for key in STRATEGIES if not key.endswith(together)}
    assert found.rates["donor"] == 1.0
    assert found.rates["majority"] == 0.5  # two values as often, either may be named
    assert found.best == "source"  # the simplest of those that are always right


NAN = np.nan


@pytest.mark.parametrize(
    ("truth", "belief", "released", "reach", "rates"),
    [
        # two rows near each other outweigh the likeliest single row
        ([5.05], [[0.4, 0.3, 0.3]], [1.0, 5.0, 5.1], 0.2, {"donor": 1.0, "surest": 0.0}),
        # ties share
        ([3.0], [[0.25] * 4], [1.0, 2.0, 3.0, 4.0], 0.0, {"donor": 0.25, "surest": 0.25}),
        # the surest row is one that says something
        ([2.0], [[0.6, 0.3, 0.1]], [NAN, 2.0, 1.0], 0.0, {"surest": 1.0}),
        # of whom nothing is believed the majority is said
        ([1.0, 2.0], [[0.0] * 3, [0.0, 0.0, 1.0]], [1.0, 1.0, 2.0], 0.0,
         {"donor": 1.0, "majority": 0.5}),
        # nobody fails on people who have no value
        ([1.0, NAN], [[1.0, 0.0], [0.0, 1.0]], [1.0, NAN], 0.0, {"donor": 1.0}),
        ([NAN], [[1.0]], [2.0], 0.0, {"donor": 0.0}),
    ],
)  # fmt: skip
def test_rates_by_hand(truth, belief, released, reach, rates):
    found = attacked(truth, belief, released, reach)
    assert {key: found.rates[key] for key in rates} == rates
    assert found.targets.known == np.count_nonzero(~np.isnan(truth))


@pytest.mark.parametrize("slices", [[["x", "s"]], []])
def test_an_open_release_names_the_simplest_strategy(slices):
    """One unique key, and a coin."""
    coin = np.random.default_rng(4).choice(["heads", "tails"], 40)
    frame = pd.DataFrame({"x": np.arange(40) * 1.0, "s": coin})
    data = described(frame, slices, x="key", s="confidential").with_weights({"s": 0.0})
    reading = MEASURES["attribute_inference"].compute(released(data, RWN(k=3, q=0.0)))
    assert reading.detail.strategies == ["source"]
    assert STRATEGIES["source"] in MEASURES["attribute_inference"].sentence(reading, 40)


RELEASES = 30
TAUS = (0.31, 0.61, 0.91)
NAMES = ("age", "weight", "height", "neck")


@pytest.fixture(scope="module", params=[RWN(k=12, q=0.8), NBRS2015(epsilon=3.0, q=0.9)], ids=str)
def linked(request, bodyfat):
    """Beliefs, and how likely a link at random among the likeliest is right, of many releases."""
    law = request.param.prepare(bodyfat).release(SecretKey.from_seed(1)).law
    generator = np.random.default_rng(11)
    found = [link(law, simulate(law, generator), NAMES) for _ in range(RELEASES)]
    return [(one.best, one.top1) for one in found]


def misses(linked, tau: float, believed) -> float:
    """How far right links are from what is believed of them, in standard errors over releases."""
    apart = [(right - believed(best))[best >= tau].sum() / len(best) for best, right in linked]
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    return abs(float(np.mean(apart))) / max(float(error), 1e-12)


def test_links_are_right_as_often_as_the_curve_says(linked):
    for tau in TAUS:
        assert misses(linked, tau, lambda best: best) < 3
        best, _ = linked[0]
        found = curve(best)
        chosen = best >= tau
        at = np.flatnonzero(found.tau >= tau).max()
        assert found.precision[at] == pytest.approx(best[chosen].mean(), abs=1e-8)
        assert found.recall[at] == pytest.approx(chosen.mean())
    # an intruder with too large probabilities is refuted
    assert max(misses(linked, tau, np.sqrt) for tau in TAUS) > 6


def test_the_share_at_a_precision_is_the_largest():
    best = np.array([1.0, 1.0, 0.9, 0.9, 0.9, 0.5, 0.0])
    found = curve(best)
    assert found.recall_at(0.95) == pytest.approx(2 / 7)  # three of .9 are linked together or not
    assert found.recall_at(0.94) == pytest.approx(5 / 7)
    assert found.recall_at(1.1) == 0.0
    assert curve(np.zeros(4)).recall_at(0.5) == 0.0
    many = curve(np.linspace(0.01, 1, 5000))
    thin = many.thinned()
    assert len(thin.tau) == 200
    assert (thin.recall[0], thin.recall[-1]) == (many.recall[0], many.recall[-1])


def test_an_average_may_hide_certain_links(bodyfat):
    found = read("abstaining_linkage", released(bodyfat, RWN(epsilon=1.5, k=60, q=0.7), 3))
    keys = found.detail.keys
    assert 0 < found.detail.by_keys < found.value <= 1
    assert len(keys.tau) == len(keys.precision) == len(keys.recall)
    assert (np.diff(keys.precision) <= 1e-12).all()
    assert (np.diff(keys.recall) > 0).all()


KEYS = ("age", "weight", "height")


def levels(comparison: Comparison) -> dict[str, tuple[float | None, str]]:
    detail = MEASURES["intruder_levels"].compute(comparison).detail
    found = zip(detail.success, detail.reasons, strict=True)
    return dict(zip(detail.levels, found, strict=True))


def test_more_knowledge_links_more(bodyfat):
    roles = {name: "key" if name in KEYS else "other" for name in bodyfat.names}
    comparison = released(described(bodyfat.frame, **roles), RWN(epsilon=2.0, k=5), 3)
    found = levels(comparison)
    assert list(found) == ["L0", "L1", "L2", "L3", "L4"]
    success = {key: value for key, (value, _) in found.items()}
    assert 1 / bodyfat.n == success["L0"] < success["L1"] < success["L3"] < success["L4"]
    known = worst_case(comparison, KEYS)
    assert known.links.success == pytest.approx(0.67, abs=0.05)
    assert success["L3"] == known.success > known.links.success
    assert success["L2"] <= success["L3"]
    # a key with one level
    frame = pd.DataFrame({"c": ["same"] * 20, "x": np.random.default_rng(1).normal(size=20)})
    found = levels(released(described(frame, c="key", x="other"), RWN(k=3)))
    assert found["L1"][0] is found["L2"][0] is None
    assert "No key variable varies" in found["L2"][1]
    assert found["L3"][0] == pytest.approx(1 / 20)


def staff(slices: Sequence[Sequence[str]] = ()) -> Microdata:
    """One female engineer among ten people."""
    frame = pd.DataFrame(
        {
            "sex": ["f", "m", "m", "m", "f", "f", "f", "m", "m", "f"],
            "job": ["engineer", *["engineer"] * 3, *["clerk"] * 6],
            "age": [40, 30, 35, 50, 28, 61, 45, 33, 44, 52],
            "wage": [9.0, 4, 5, 6, 3, 2, 4, 3, 5, 4],
        }
    )
    return described(frame, slices, sex="key", job="key", age="key", wage="confidential")


def test_the_lone_female_engineer_is_found():
    data = staff()
    found = single_record_predicates(data, ["sex", "job", "age", "wage"])
    words = {predicate.words: record for predicate, record in found}
    assert words["sex = f and job = engineer"] == 0
    for predicate, record in found:
        assert np.flatnonzero(predicate.matches(data, data)).tolist() == [record]


def test_query_attack_reading():
    reading = MEASURES["queries"].compute(released(staff(), RWN(k=3, q=0.5), 4))
    detail = reading.detail
    place = detail.words.index("sex = f and job = engineer")
    assert (detail.secret, detail.record[place], reading.baseline) == ("wage", 0, 1.0)
    assert 0 < detail.one_and_target[place] <= detail.one[place] <= 1
    assert 0 <= detail.disclosed[place] <= detail.one[place] + 1e-12
    twins = Microdata.from_frame(pd.DataFrame({"g": ["a", "a", "b", "b"], "h": ["u"] * 4}))
    with pytest.raises(NotApplicable, match="exactly one record"):  # no lone member
        MEASURES["queries"].compute(released(twins, RWN(k=1)))


LONE = Predicate(
    conditions=(
        Condition(name="sex", sign="is", value="f"),
        Condition(name="job", sign="is", value="engineer"),
    )
)
WHOLE = [("sex", "job", "age", "wage")]
TOLD_BY = {
    "whole rows, all modified": (RWN(k=4, q=1.0), WHOLE),
    "whole rows": (RWN(k=4, q=0.5), WHOLE),
    "secret beside one condition": (RWN(k=6, q=0.8), [("sex", "wage")]),
    "2015, whole rows": (NBRS2015(epsilon=4.0, q=0.9), WHOLE),
    "2015, no groups": (NBRS2015(epsilon=4.0, q=0.9), ()),
}


@pytest.mark.parametrize("case", TOLD_BY)
def test_what_a_lone_match_tells_agrees_with_simulated_releases(case):
    """A secret that shares its donor with a condition comes from somebody who fulfils it."""
    params, slices = TOLD_BY[case]
    data = staff(slices)
    law = params.prepare(data).law
    fits = data.values("wage") == 9.0
    alone = np.clip(answer(law, LONE)[1], 0.0, 1.0)
    stated = float(alone @ LONE.tells(law, "wage", fits))
    generator = np.random.default_rng(3)
    releases = 500
    hits = 0
    for _ in range(releases):
        masked = simulate(law, generator)
        matches = np.flatnonzero(LONE.matches(data, masked))
        hits += len(matches) == 1 and masked.values("wage")[matches[0]] == 9.0
    error = np.sqrt(max(stated * (1 - stated), 1e-4) / releases)
    assert abs(hits / releases - stated) < 4 * error
    if case == "whole rows, all modified":  # it is not as if the secret had a donor of its own
        apart = float(alone @ np.asarray(law.probabilities @ fits))
        assert abs(hits / releases - apart) > 10 * error


FLOATS = st.floats(-1e9, 1e9, allow_nan=False, width=32)


@given(FLOATS, FLOATS)
def test_a_limit_lies_strictly_between_two_values(one, other):
    found = simplest_between(one, other)
    assert min(one, other) < found < max(one, other) or found == other


def test_found_questions_print_no_value_of_a_record(bodyfat):
    found = single_record_predicates(bodyfat, ["weight", "abdomen", "neck"])
    cuts = [each.conditions[0] for each, _ in found if len(each.conditions) == 1]
    assert cuts
    for cut in cuts:
        assert cut.value not in bodyfat.values(cut.name)
        assert len(f"{cut.value:g}") <= 6
