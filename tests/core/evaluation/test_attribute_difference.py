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
from tests import tables
from tests.attacked_tables import flagged_register
from tests.tables import FOLLOWING, described

WEAK, STRONG = rwn.RWN(epsilon=0.0, k=1, q=0.1), rwn.RWN(epsilon=6.0, k=20)
GAIN = Policy(limits=(Limit(measure="attribute_gain", at_most=0.05),))


def numbers(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Two keys, two other variables, and a secret that they tell something of."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 4))
    secret = x.sum(axis=1) + draw.normal(size=n)
    return pd.DataFrame(x, columns=["a", "b", "c", "d"]).assign(s=secret)


def roles(frame: pd.DataFrame, **more: str) -> rwn.Microdata:
    return described(frame, a="key", b="key", s="confidential", **more)


TABLE = roles(numbers())


@pytest.fixture(scope="module")
def weak() -> control_group.AttributeDifference:
    return attribute_difference(TABLE, WEAK)


def test_an_unmasked_file_tells_of_nearly_everybody_inside_and_of_nobody_more_outside(weak):
    file = attribute_difference(TABLE, STRONG, masked=TABLE)
    assert file.inside == pytest.approx(1.0)
    assert file.value > 0.85
    assert weak.value > 0.6
    assert 0 < weak.error < 0.05
    assert set(weak.frame()["secret"]) == {"s"}
    assert {each.endswith("the keys") for each in weak.frame()["words"]} == {True, False}
    found = attribute_difference(TABLE, STRONG)  # no difference beyond luck
    assert abs(found.value) < 0.05
    assert abs(found.value) < 4 * found.error + 0.01
    another = attribute_difference(TABLE, WEAK, seed=1_000)  # another set of releases
    assert abs(another.value - weak.value) < 4 * np.hypot(another.error, weak.error)


def test_a_relation_that_outsiders_share_is_no_difference():
    """Every row near a person tells the secret, inside as outside."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 100, 400)
    table = roles(pd.DataFrame({"a": x, "b": x + draw.normal(size=400), "s": x // 34}))
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
    mistaken = attribute_difference(TABLE, WEAK)
    assert mistaken.value < 0.15 * weak.value


def test_a_rare_level_counts_though_few_have_it():
    found = attribute_difference(flagged_register(), WEAK, splits=4)
    flag = found.frame().set_index("secret")
    assert found.level is not None
    assert (flag["value"] > 0.4).any()
    assert (flag[flag["level"].isna()]["value"] < 0.4).all()  # of everybody


def test_units_names_order_and_one_far_person_change_nothing(weak):
    frame = numbers().assign(g=np.random.default_rng(5).choice(list("xyz"), 200))
    found = attribute_difference(roles(frame), WEAK, splits=4)
    other = frame.assign(c=1024 * frame["c"], s=frame["s"] / 64)
    other["g"] = other["g"].map({"x": "one", "y": "two", "z": "three"})
    moved = attribute_difference(roles(other), WEAK, splits=4)
    assert moved.value == pytest.approx(found.value, abs=0.02)
    shuffled = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    again = attribute_difference(roles(shuffled), WEAK, splits=4)
    assert again.value == pytest.approx(found.value, abs=4 * (found.error + again.error))
    far = numbers()
    far.loc[3, ["c", "s"]] = 1e9
    assert attribute_difference(roles(far), WEAK).value == pytest.approx(weak.value, abs=0.1)


def test_a_tenth_left_as_it_is_is_found():
    table = roles(numbers(600))
    frame = rwn.mask(table, STRONG, seed=1).masked.frame.copy()
    frame.iloc[:60] = table.frame[list(frame)].iloc[:60]
    file = attribute_difference(table, STRONG, masked=roles(frame), splits=4)
    assert file.value == pytest.approx(0.1, abs=0.05)


def test_rows_of_one_person_are_on_one_side():
    """If rows of a person were inside and outside, both would be named: a difference of 0."""
    person = np.repeat(np.arange(80), 3)
    frame = numbers(80).loc[person].reset_index(drop=True).assign(person=person)
    setting = rwn.RWN(epsilon=0.0, k=3, q=0.1)
    found = attribute_difference(roles(frame, person="person"), setting)
    assert found.value > 0.5
    assert attribute_difference(roles(frame), setting).value < found.value - 0.2


SETTINGS = (rwn.CARTSynthesis(leaf=5), rwn.AdditiveNoise(size=0.2), rwn.RankSwapping(),
            rwn.Microaggregation(), rwn.RandomSample(), rwn.SoftRWN(width=2.0))  # fmt: skip


@pytest.mark.parametrize("params", SETTINGS, ids=lambda each: each.method)
def test_every_method_is_judged_alike(params):
    found = attribute_difference(TABLE, params, splits=3)
    assert -0.2 < found.value <= 1
    assert found.error > 0


def test_the_limit_on_attribute_gain_applies_to_the_difference():
    table, cart = TABLE, rwn.CARTSynthesis(leaf=3)
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
    release = rwn.mask(TABLE, WEAK, seed=1)
    read = rwn.audit(TABLE, release, measures=["red_team"]).readings
    readings = control_group.with_difference(read, lambda: attribute_difference(TABLE, WEAK))
    said = rwn.MEASURES["red_team"].sentence(readings["red_team"], TABLE.n)
    assert "8 random halvings of 200 records" in said
    assert "standard error" in said


def test_refusals():
    for data, params, words in (
        (described(numbers(), a="key"), WEAK, "confidential"),
        (roles(numbers(30)), WEAK, "fewer than 40"),
        (TABLE, rwn.RWN(k=150), "Half of the records"),
    ):
        with pytest.raises(NotApplicable, match=words):
            attribute_difference(data, params)
    with pytest.raises(rwn.ParameterError, match="splits"):
        attribute_difference(TABLE, WEAK, splits=1)


# a chain names people inside a file no more than others; each line has its planted fault
CHAIN = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
KEYS_AND_SECRETS = tables.frame("following").drop(columns=["income", "sport"])
SURVEY = described(KEYS_AND_SECRETS, **FOLLOWING)
SMALL = 0.09  # a difference that luck explains, in a table of 200


def voted(setting, releases, people=None):
    """Return how often nearest rows of several releases name `rich`, inside less outside."""
    keys, n = SURVEY.frame[["age", "height"]].to_numpy(float), SURVEY.n
    scale, right = keys.std(axis=0), {True: [], False: []}
    for split in range(8):
        half = np.random.default_rng(split).permutation(n) < n // 2
        data, votes = SURVEY.take(np.flatnonzero(half)), np.zeros(n)
        for seed in range(releases):
            masked = rwn.mask(data, setting, seed=100 * split + seed).masked.frame
            rows = masked[["age", "height"]].to_numpy(float)
            near = (((keys[:, None] - rows) / scale) ** 2).sum(axis=2).argmin(axis=1)
            votes += np.where(masked["rich"].to_numpy() == "y", 1, -1)[near]
        named = (votes > 0) == (SURVEY.frame["rich"] == "y")
        for inside in right:
            some = (half == inside) if people is None else (half == inside) & people
            right[inside].append(named[some].mean())
    return np.mean(right[True]) - np.mean(right[False])


def test_a_chain_names_few_more_and_no_rare_level():
    usual = attribute_difference(SURVEY, CHAIN)
    assert usual.value < SMALL
    assert max(row["value"] for row in usual.rows if row["secret"] == "sick") < SMALL
    assert attribute_difference(SURVEY, CHAIN, masked=SURVEY).value > 0.3
    assert attribute_difference(SURVEY, WEAK).value > 0.2
    # planted: the rows of those few are their own
    shown = rwn.mask(SURVEY, CHAIN, seed=1).masked
    rare = (SURVEY.frame["sick"] == "yes").to_numpy()
    kept = shown.frame.copy()
    kept[rare] = SURVEY.frame[rare]
    found = attribute_difference(SURVEY, CHAIN, masked=rwn.Microdata(kept, shown.schema))
    assert max(row["value"] for row in found.rows if row["secret"] == "sick") > 0.3


def test_further_releases_of_one_table_add_little():
    assert voted(CHAIN, 5) < min(SMALL, voted(CHAIN, 1) + 0.04)
    assert voted(WEAK, 5) > 0.1  # planted: a method that shows the own row


def test_the_tenth_with_the_farthest_keys_is_not_named_more():
    keys = SURVEY.frame[["age", "height"]].to_numpy(float)
    distance = (((keys - keys.mean(axis=0)) / keys.std(axis=0)) ** 2).sum(axis=1)
    assert voted(CHAIN, 3, distance >= np.quantile(distance, 0.9)) < 0.15
    hard = np.abs(keys @ [2, 1] - 265) < 12  # records whose secret the keys predict worst
    assert voted(CHAIN, 3, hard) < 0.15
    assert voted(WEAK, 3, hard) > 0.3


def test_rows_of_one_person_are_inside_or_outside_together():
    twice = pd.concat([KEYS_AND_SECRETS.head(100)] * 2, ignore_index=True)
    person = np.tile(np.arange(100), 2)
    people = described(twice.assign(person=person), **FOLLOWING, person="household")
    apart = replace(CHAIN, outside_household=True)
    assert attribute_difference(people, apart).value < SMALL + 0.04
    # planted: a person with a row on either side is no outsider, and hides what rows name
    weak = attribute_difference(people, WEAK).value
    assert weak > attribute_difference(described(twice, **FOLLOWING), WEAK).value + 0.1
