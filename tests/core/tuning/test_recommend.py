"""The recommendation: hand-checkable tables, and the quick verdict on them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.variable import Role
from rwn_core.tuning.point import Setting
from rwn_core.tuning.policy_presets import USED, policy_presets
from rwn_core.tuning.quick_verdict import EVERY
from rwn_core.tuning.strength_trial import MOST_LOST, StrengthTrial


def described(frame: pd.DataFrame, **roles: Role) -> rwn.Microdata:
    """A table with roles by name."""
    data = rwn.Microdata.from_frame(frame)
    variables = tuple(
        replace(each, role=roles.get(each.name, each.role)) for each in data.schema.variables
    )
    return data.with_schema(replace(data.schema, variables=variables))


@cache
def categories(n: int = 400) -> rwn.Microdata:
    """Six related categories."""
    rng = np.random.default_rng(4)
    common = rng.standard_normal(n)
    levels = np.array(list("abcd"))
    frame = pd.DataFrame(
        {
            f"c{i}": levels[
                np.clip(np.round(1.5 + common + rng.standard_normal(n)), 0, 3).astype(int)
            ]
            for i in range(6)
        }
    )
    return described(frame, c0=Role.KEY, c1=Role.KEY, c5=Role.CONFIDENTIAL)


@cache
def numbers(n: int = 400) -> rwn.Microdata:
    """Four related numbers."""
    rng = np.random.default_rng(2)
    common = rng.standard_normal((n, 1))
    frame = pd.DataFrame(
        np.round(20 * (common + rng.standard_normal((n, 4)))), columns=["a", "b", "c", "d"]
    )
    return described(frame, a=Role.KEY, b=Role.KEY, d=Role.CONFIDENTIAL)


def test_numbers_get_a_setting_that_keeps_the_policy_on_all_records() -> None:
    """The quick verdict on the recommendation reads the whole table."""
    data = numbers(240)
    found = rwn.recommend(data)
    verdict = rwn.quick_verdict(data, found.setting, within=math.inf)
    assert verdict.answer == "can"
    assert verdict.setting is not None
    release = rwn.mask(verdict.setting.applied_to(data), verdict.setting.params, seed=1)
    readings = rwn.audit(data, release, measures=list(rwn.Policy().measures))
    assert rwn.Policy().judge_readings(readings.readings).kept


def test_what_a_part_showed_is_held_against_all_records() -> None:
    """Other methods are tried there, too; what is recommended keeps the policy and loses least."""
    data = categories()
    part, whole = rwn.recommend(data, whole=False), rwn.recommend(data)
    # of related categories some travel together, and methods for numbers are named as unfit
    assert part.setting.method == "rwn"
    assert part.setting.slices
    assert {"additive_noise", "microaggregation"} <= set(part.unfit)
    assert part.reason.startswith("6 categories, 2 keys: ")
    assert (part.confirmed, whole.confirmed, whole.kept) == (False, True, True)
    assert " tried on 250 of 400 records" in part.reason
    assert " tried on all 400 records" in whole.reason
    best, before = (
        StrengthTrial(data, each, rwn.Policy()) for each in (whole.setting, part.setting)
    )
    place, other = best.weakest(), before.weakest()
    assert place is not None
    assert best.keeps_again(place)
    assert best.at(place) == whole.setting
    assert other is None or best.mean_loss(place) <= before.mean_loss(other)


def test_can_is_said_inside_of_what_is_of_use_only() -> None:
    """Where it says "can", other releases lose at most nine tenths of the relations, too."""
    data, answers = numbers(240), []
    for method in ("microaggregation", "additive_noise"):
        verdict = rwn.quick_verdict(data, method, within=math.inf)
        answers.append(verdict.answer)
        if verdict.answer == "can":
            assert verdict.setting is not None
            trial = StrengthTrial(data, verdict.setting, rwn.Policy(), places=EVERY)
            value = getattr(verdict.setting.params, verdict.setting.params.strength)
            ends = trial.range
            place = round((value - ends.low) / (ends.high - ends.low) * trial.last)
            assert max(trial.losses(place)) <= MOST_LOST
    assert "can" in answers


def test_what_leaves_unique_records_as_they_are_cannot_keep_the_policy() -> None:
    """PRAM leaves numbers, and by these every record is unique."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"wage": rng.standard_normal(200), "sex": rng.choice(["f", "m"], 200)})
    verdict = rwn.quick_verdict(described(frame, sex=Role.KEY), "pram", within=math.inf)
    assert verdict.answer == "cannot"
    assert verdict.sentence == ("100 % of the records are unique on what stays as it is: wage.")


def test_nothing_masked_is_refused() -> None:
    """Without a masked variable there is nothing to recommend."""
    data = numbers()
    variables = tuple(replace(each, masked=False) for each in data.schema.variables)
    data = data.with_schema(replace(data.schema, variables=variables))
    with pytest.raises(rwn.ParameterError, match="masking"):
        rwn.recommend(data)
    assert rwn.quick_verdict(data, "rwn", within=math.inf).answer == "cannot"


def test_fewer_records_than_the_limit_allows_can_keep_nothing() -> None:
    """Of 15 records one is linked by chance: 6.7 %, beyond 5 %."""
    data = numbers(15)
    assert set(rwn.recommend(data).unfit) == set(rwn.METHODS)
    verdict = rwn.quick_verdict(data, "rwn", within=math.inf)
    assert verdict.answer == "cannot"
    assert verdict.sentence.startswith("Of 15 records one is linked by chance")


def test_a_rare_confidential_level_is_not_overlooked() -> None:
    """Of ten people of a level each is alone with the key: no plain noise on the key is enough."""
    rng = np.random.default_rng(3)
    ill = np.where(np.arange(400) < 10, "yes", "no")
    frame = pd.DataFrame({"a": np.where(ill == "yes", 50.0, 0.0) + rng.standard_normal(400)})
    data = described(frame.assign(ill=ill), a=Role.KEY, ill=Role.CONFIDENTIAL)
    assert rwn.quick_verdict(data, rwn.RWN(epsilon=0.1, k=5), within=math.inf).answer != "can"


def test_presets_are_distances_from_the_policy() -> None:
    """Strong uses at most .6 of the worst limit, Standard all of it, Light half more."""
    data, policy = numbers(), rwn.Policy()
    setting = rwn.recommend(data, whole=False).setting
    found = policy_presets(data, setting, policy)
    trial = StrengthTrial(data, setting, policy)
    name = setting.params.strength
    assert "Standard" in found
    for preset, levers in found.items():
        places = [
            place
            for place in range(trial.last + 1)
            if getattr(trial.at(place).params, name) == levers[name]
        ]
        assert (trial.verdict(places[0]).largest or 0.0) <= USED[preset]
    assert found["Light"][name] <= found["Standard"][name]


def test_units_and_outliers_change_no_answer() -> None:
    """A column in other units and one record far away leave method and slices as they are."""
    data = numbers(240)
    other = data.frame.assign(a=1000.0 * data.frame["a"])
    scaled = rwn.Microdata.from_frame(other, data.schema)
    one, other = (rwn.recommend(each, whole=False) for each in (data, scaled))
    assert one.setting == other.setting
    far = data.frame.copy()
    far.loc[0, "b"] = 1e6
    answer = rwn.quick_verdict(
        rwn.Microdata.from_frame(far, data.schema), "rwn", within=math.inf
    ).answer
    assert answer in ("cannot", "unknown")


def test_nearest_counts_what_further_releases_used() -> None:
    """A place that one release kept and others broke is as far from the limits as the worst."""
    limits = (("bayes_linkage", 0.05), ("attribute_gain", 0.1))
    policy = rwn.Policy(limits=tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits))
    trial = StrengthTrial(numbers(150), Setting(params=rwn.RWN(kernel="gaussian")), policy)
    place = trial.weakest()
    assert place is not None
    before = trial.nearest()[0][0]
    assert trial.share(place) <= 1 < before  # what keeps all limits is not near them, but within
    used = trial.used(place)
    assert trial.share(place) == used > 1
    assert trial.nearest() == [(used, trial.at(place))]
