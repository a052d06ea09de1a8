"""Nearest rows are attacks only beyond what they tell of people outside the file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import NotApplicable, attribute_difference
from rwn_core.evaluation import control_group
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning import Limit, Policy, Setting, evaluate
from tests.attacked_tables import described, flagged_register

WEAK, STRONG = rwn.RWN(epsilon=0.0, k=1, q=0.1), rwn.RWN(epsilon=6.0, k=20)
GAIN = Policy(limits=(Limit(measure="attribute_gain", at_most=0.05),))


def numbers(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Two keys, two other variables, and a secret that they tell something of."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 4))
    secret = x.sum(axis=1) + draw.normal(size=n)
    return pd.DataFrame(x, columns=["a", "b", "c", "d"]).assign(s=secret)


def roles(frame: pd.DataFrame) -> rwn.Microdata:
    return described(frame, ["a", "b"], ["s"])


@pytest.fixture(scope="module")
def weak() -> control_group.AttributeDifference:
    return attribute_difference(roles(numbers()), WEAK)


def test_an_unmasked_file_tells_of_nearly_everybody_inside_and_of_nobody_more_outside(weak):
    table = roles(numbers())
    file = attribute_difference(table, STRONG, masked=table)
    assert file.inside == pytest.approx(1.0)
    assert file.value > 0.85
    assert weak.value > 0.6
    assert 0 < weak.error < 0.05
    assert set(weak.frame()["secret"]) == {"s"}
    assert {each.endswith("the keys") for each in weak.frame()["words"]} == {True, False}


def test_strong_masking_has_no_difference_beyond_luck():
    found = attribute_difference(roles(numbers()), STRONG)
    assert abs(found.value) < 0.05
    assert abs(found.value) < 4 * found.error + 0.01


def test_a_relation_that_outsiders_share_is_no_difference():
    """Every row near a person tells the secret, inside as outside."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 100, 400)
    frame = pd.DataFrame({"a": x, "b": x + draw.normal(size=400), "s": x // 34})
    table = described(frame, ["a", "b"], ["s"])
    found = attribute_difference(table, rwn.RWN(epsilon=0.5, k=20))
    assert (found.frame()["outside"] > 0.3).any()
    assert found.value < 0.1


def test_a_planted_mix_of_both_sides_is_seen(weak, monkeypatch):
    """If people outside were in the file all the same, no disclosure would be found."""
    halved, draw = control_group._halved, np.random.default_rng(0)

    def mixed(*about):
        for number, files in halved(*about):
            owner = draw.permutation(len(files.people))[: files.n]
            yield number, replace(files, owner=owner)

    monkeypatch.setattr(control_group, "_halved", mixed)
    mistaken = attribute_difference(roles(numbers()), WEAK)
    assert mistaken.value < 0.15 * weak.value


def test_a_rare_level_counts_though_few_have_it():
    table = flagged_register()
    found = attribute_difference(table, WEAK, splits=4)
    flag = found.frame().set_index("secret")
    assert found.level is not None
    assert (flag["value"] > 0.4).any()
    everybody = flag[flag["level"].isna()]
    assert (everybody["value"] < 0.4).all()


def test_one_far_person_hides_nothing(weak):
    frame = numbers()
    frame.loc[3, ["c", "s"]] = 1e9
    far = attribute_difference(roles(frame), WEAK)
    assert far.value == pytest.approx(weak.value, abs=0.1)


def test_units_names_and_order_change_nothing():
    frame = numbers().assign(g=np.random.default_rng(5).choice(list("xyz"), 200))
    found = attribute_difference(roles(frame), WEAK, splits=4)
    other = frame.assign(c=1024 * frame["c"], s=frame["s"] / 64)
    other["g"] = other["g"].map({"x": "one", "y": "two", "z": "three"})
    moved = attribute_difference(roles(other), WEAK, splits=4)
    assert moved.value == pytest.approx(found.value, abs=0.02)
    shuffled = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    again = attribute_difference(roles(shuffled), WEAK, splits=4)
    assert again.value == pytest.approx(found.value, abs=4 * (found.error + again.error))


def test_a_tenth_left_as_it_is_is_found():
    table = roles(numbers(600))
    frame = rwn.mask(table, STRONG, seed=1).masked.frame.copy()
    frame.iloc[:60] = table.frame[list(frame)].iloc[:60]
    file = attribute_difference(table, STRONG, masked=roles(frame), splits=4)
    assert file.value == pytest.approx(0.1, abs=0.05)


def test_another_set_of_releases_says_the_same(weak):
    other = attribute_difference(roles(numbers()), WEAK, seed=1_000)
    assert abs(other.value - weak.value) < 4 * np.hypot(other.error, weak.error)


def test_rows_of_one_person_are_on_one_side():
    """If rows of a person were inside and outside, both would be named: a difference of 0."""
    frame = numbers(80).loc[np.repeat(np.arange(80), 3)].reset_index(drop=True)
    frame = frame.assign(person=np.repeat(np.arange(80), 3))
    table = roles(frame)
    persons = table.with_schema(table.schema.replace_variable("person", role=rwn.Role.PERSON))
    setting = rwn.RWN(epsilon=0.0, k=3, q=0.1)
    found = attribute_difference(persons, setting)
    assert found.value > 0.5
    assert attribute_difference(table, setting).value < found.value - 0.2


SETTINGS = (
    *(rwn.CARTSynthesis(leaf=5), rwn.AdditiveNoise(size=0.2), rwn.RankSwapping()),
    *(rwn.Microaggregation(), rwn.RandomSample(), rwn.SoftRWN(width=2.0)),
)


@pytest.mark.parametrize("params", SETTINGS, ids=lambda each: each.method)
def test_every_method_is_judged_alike(params):
    found = attribute_difference(roles(numbers()), params, splits=3)
    assert -0.2 < found.value <= 1
    assert found.error > 0


def test_the_limit_on_attribute_gain_applies_to_the_difference():
    table = roles(numbers())
    cart = rwn.CARTSynthesis(leaf=3)
    verdict = judged(table, rwn.mask(table, cart, seed=1), GAIN)
    assert verdict.broken == ("attribute_gain",)  # though no law of it is known
    loose = Policy(limits=(Limit(measure="attribute_gain", at_most=0.2),))
    strong = judged(table, rwn.mask(table, rwn.CARTSynthesis(leaf=60), seed=1), loose)
    assert not strong.kept  # the nearest rows alone keep no limit
    assert "nearest rows" in str(strong.unread)
    point = evaluate(table, Setting(params=cart), (1, 2), ("attribute_gain", "red_team"))
    difference = attribute_difference(table, cart).value
    assert point.median("attribute_gain") == pytest.approx(difference, abs=1e-12)
    # a stated gain below the difference is raised to it, and names the attack
    weak = judged(table, rwn.mask(table, WEAK, seed=1), GAIN)
    assert weak.broken == ("attribute_gain",)


def test_the_red_team_says_the_difference_with_its_error():
    table = roles(numbers())
    release = rwn.mask(table, WEAK, seed=1)
    read = rwn.audit(table, release, measures=["red_team"]).readings
    readings = control_group.with_difference(read, lambda: attribute_difference(table, WEAK))
    said = rwn.MEASURES["red_team"].sentence(readings["red_team"], table.n)
    assert "8 random halvings of 200 records" in said
    assert "standard error" in said


def test_refusals():
    table = roles(numbers())
    with pytest.raises(NotApplicable, match="confidential"):
        attribute_difference(described(numbers(), ["a"], []), WEAK)
    with pytest.raises(NotApplicable, match="fewer than 40"):
        attribute_difference(roles(numbers(30)), WEAK)
    with pytest.raises(NotApplicable, match="Half of the records"):
        attribute_difference(table, rwn.RWN(k=150))
    with pytest.raises(rwn.ParameterError, match="splits"):
        attribute_difference(table, WEAK, splits=1)
