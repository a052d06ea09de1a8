"""The recommendation: hand-checkable tables, and the quick verdict on them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import Role, SearchAnswer, Setting
from rwn_core.tuning.quick_verdict import EVERY
from rwn_core.tuning.recommend import USED, policy_presets, refusal
from rwn_core.tuning.strength import MOST_LOST, StrengthTrial, TableSearch
from tests.tables import described


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


@cache
def of_numbers() -> SearchAnswer:
    """What is recommended for 240 records of four numbers."""
    return rwn.recommend(numbers(240), within=math.inf)


def test_numbers_get_a_setting_that_keeps_the_policy_on_all_records() -> None:
    data, found = numbers(240), of_numbers()
    verdict = rwn.quick_verdict(data, found.setting, within=math.inf, steps=False)
    assert verdict.answer == "can"
    release = rwn.mask(verdict.setting.applied_to(data), verdict.setting.params, seed=1)
    readings = rwn.audit(data, release, measures=list(rwn.Policy().measures))
    assert rwn.Policy().judge(readings.readings).kept


def fresh_shares(
    data: rwn.Microdata, setting: Setting, policy: rwn.Policy, releases: int = 3
) -> dict[str, float]:
    """What further releases use of each limit, the middle one, read by the audit."""
    read: dict[str, list[float]] = {key: [] for key in policy.measures}
    table = setting.applied_to(data)
    for seed in range(100, 100 + releases):
        release = rwn.mask(table, setting.params, seed=seed, precision=dict(setting.precision))
        audit = rwn.audit(table, release, measures=[*policy.measures, "red_team"])
        for key, share in policy.judge(audit.readings).shares.items():
            read[key].append(share)
    return {key: float(np.median(shares)) for key, shares in read.items() if shares}


@pytest.mark.usefixtures("brief")
def test_related_categories_are_confirmed_on_all_records() -> None:
    """Of related categories some travel together, and methods for numbers are named as unfit."""
    data = categories(600)
    found = rwn.recommend(data, within=math.inf)
    assert found.setting.method == "rwn"
    assert found.setting.slices
    assert {"additive_noise", "microaggregation"} <= set(found.unfit)
    assert found.reason.startswith("6 categories, 2 keys: ")
    assert (found.reached, found.confirmed) == (True, True)
    assert (found.kept, found.state) == (not found.unread, "not judged" if found.unread else "kept")
    assert " on all 600 records, 6 releases, and loses least: " in found.reason
    fresh = fresh_shares(data, found.setting, rwn.Policy())
    assert max(fresh.values()) <= 1


def survey(n: int) -> rwn.Microdata:
    """Eleven variables of a survey, most of them categories of up to twelve levels."""
    rng = np.random.default_rng(6)
    own = rng.standard_normal(n)

    def levels(count: int, tied: float) -> np.ndarray:
        place = (count - 1) / 2 + (tied * own + rng.standard_normal(n)) * count / 5
        return np.array([f"l{i}" for i in range(count)])[
            np.clip(np.round(place), 0, count - 1).astype(int)
        ]

    frame = pd.DataFrame(
        {
            "age": np.clip(np.round(45 + 15 * own + 8 * rng.standard_normal(n)), 16, 95),
            "sex": rng.choice(["f", "m"], n),
            "district": levels(12, 0.5),
            "school": levels(4, 1.0),
            "job": levels(9, 0.8),
            "health": levels(5, -0.7),
            "vote": levels(6, 0.5),
            "ill": np.where(rng.random(n) < 1 / (1 + np.exp(3 - own)), "yes", "no"),
            "wage": np.round(np.exp(7 + 0.5 * own + 0.4 * rng.standard_normal(n))),
        }
    )
    keys = dict.fromkeys(("age", "sex", "district", "school"), Role.KEY)
    return described(frame, **keys, ill=Role.CONFIDENTIAL, wage=Role.CONFIDENTIAL)


def correlated(n: int) -> rwn.Microdata:
    """Five correlated numbers and a category."""
    rng = np.random.default_rng(5)
    own = rng.standard_normal(n)
    frame = pd.DataFrame(
        {f"x{i}": np.round(20 * (own + rng.standard_normal(n)), 1) for i in range(5)}
    )
    place = np.clip(np.round(2.5 + own + rng.standard_normal(n)), 0, 5).astype(int)
    frame["region"] = np.array(list("abcdef"))[place]
    return described(frame, x0=Role.KEY, x1=Role.KEY, region=Role.KEY, x4=Role.CONFIDENTIAL)


@pytest.mark.parametrize(
    ("make", "n"),
    [
        pytest.param(survey, 2_500, marks=pytest.mark.nightly),
        *(
            pytest.param(make, n, marks=pytest.mark.nightly)
            for make, n in ((correlated, 2_500), (correlated, 6_000), (survey, 6_000))
        ),
    ],
)
def test_stated_shares_are_those_of_fresh_releases(make, n: int) -> None:
    """Whatever a part of the records shows, what is said was read on all of them."""
    data = make(n)
    found = rwn.recommend(data, within=600.0)
    assert found.confirmed
    assert f"on all {n:,} records, 3 releases" in found.reason
    fresh = fresh_shares(data, found.setting, rwn.Policy())
    stated = max(found.shares.values())
    assert stated == pytest.approx(max(fresh.values()), rel=0.2)
    for key, share in fresh.items():
        assert found.shares[key] == pytest.approx(share, rel=0.2, abs=0.1)
    assert found.reached is (stated <= 1)


def test_a_limit_of_time_is_said() -> None:
    found = rwn.recommend(numbers(1_200), within=0.0)
    assert (found.kept, found.confirmed, found.shares) == (False, False, {})
    assert "none was tried on all 1,200 records" in found.reason


@pytest.mark.usefixtures("brief")
def test_another_method_is_an_alternative_only() -> None:
    """Microaggregation may lose less than RWN; it is named, and the setting is of RWN."""
    found = rwn.recommend(correlated(300), within=math.inf)
    own = ("rwn", "soft_rwn")
    assert found.setting.method in own
    if found.alternative is not None:
        assert found.alternative.setting.method not in own
        assert rwn.METHODS[found.alternative.setting.method].title in found.reason


@pytest.mark.usefixtures("brief")
def test_a_registered_response_keeps_its_kind() -> None:
    """Noise on 0 and 1 leaves no logistic model; the recommended release has one."""
    import statsmodels.api as sm

    rng = np.random.default_rng(8)
    x = rng.standard_normal((300, 2))
    ill = (rng.random(300) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1] + x[:, 0], "ill": ill})
    data = described(frame, a=Role.KEY, ill=Role.CONFIDENTIAL)
    question = rwn.Question(response="ill", predictors=("a", "b"))
    data = data.with_schema(replace(data.schema, question=question))
    found = rwn.recommend(data, within=math.inf)
    for key in ("correlated_noise", "additive_noise"):
        assert key in found.unfit
    assert "two values" in found.unfit["correlated_noise"]
    masked = rwn.mask(found.setting.applied_to(data), found.setting.params, seed=1).masked.frame
    assert set(masked["ill"]) == {0, 1}
    fit = sm.Logit(masked["ill"], sm.add_constant(masked[["a", "b"]])).fit(disp=False)
    assert np.isfinite(fit.params).all()


def test_can_is_said_inside_of_what_is_of_use_only() -> None:
    """Where it says "can", other releases lose at most nine tenths of the relations, too."""
    data, answers = numbers(240), []
    for method in ("microaggregation", "additive_noise"):
        verdict = rwn.quick_verdict(data, method, within=math.inf, steps=False)
        answers.append(verdict.answer)
        if verdict.answer == "can":
            table = TableSearch(microdata=data, policy=rwn.Policy(), places=EVERY)
            trial = StrengthTrial(table, verdict.setting)
            value = getattr(verdict.setting.params, verdict.setting.params.strength)
            place = trial.values.index(value)
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
    data = numbers()
    variables = tuple(replace(each, masked=False) for each in data.schema.variables)
    data = data.with_schema(replace(data.schema, variables=variables))
    with pytest.raises(rwn.ParameterError, match="masking"):
        rwn.recommend(data)
    assert rwn.quick_verdict(data, "rwn", within=math.inf, steps=False).answer == "cannot"


def test_fewer_records_than_the_limit_allows_can_keep_nothing() -> None:
    """Of 15 records one is linked by chance: 6.7 %, beyond 5 %."""
    data = numbers(15)
    assert set(rwn.recommend(data).unfit) == set(rwn.METHODS) - {"soft_rwn"}  # rwn is for both
    verdict = rwn.quick_verdict(data, "rwn", within=math.inf, steps=False)
    assert verdict.answer == "cannot"
    assert verdict.sentence.startswith("Of 15 records one is linked by chance")


def test_a_rare_confidential_level_is_not_overlooked() -> None:
    """Of ten people of a level each is alone with the key: no plain noise on the key is enough."""
    rng = np.random.default_rng(3)
    ill = np.where(np.arange(400) < 10, "yes", "no")
    frame = pd.DataFrame({"a": np.where(ill == "yes", 50.0, 0.0) + rng.standard_normal(400)})
    data = described(frame.assign(ill=ill), a=Role.KEY, ill=Role.CONFIDENTIAL)
    fine = rwn.RWN(epsilon=0.1, k=5)
    assert rwn.quick_verdict(data, fine, within=math.inf, steps=False).answer != "can"


def test_presets_are_distances_from_the_policy() -> None:
    """Strong uses at most .6 of the worst limit, Standard all of it, Light half more."""
    data, policy = numbers(), rwn.Policy()
    setting = Setting(params=rwn.SoftRWN(kernel="gaussian"), slices=(("a", "b"),))
    found = policy_presets(data, setting, policy)
    trial = StrengthTrial(TableSearch(microdata=data, policy=policy), setting)
    name = setting.params.strength
    assert "Standard" in found
    for preset, moved in found.items():
        assert (moved.params.kernel, moved.slices) == (setting.params.kernel, setting.slices)
        places = [
            place
            for place in range(trial.last + 1)
            if getattr(trial.at(place).params, name) == getattr(moved.params, name)
        ]
        assert (trial.verdict(places[0]).largest or 0.0) <= USED[preset]
    assert getattr(found["Light"].params, name) <= getattr(found["Standard"].params, name)


def test_units_and_outliers_change_no_answer() -> None:
    """A column in other units and one record far away leave the setting as it is."""
    data = numbers(240)
    other = data.frame.assign(a=1000.0 * data.frame["a"])
    scaled = rwn.Microdata.from_frame(other, data.schema)
    assert rwn.recommend(scaled, within=math.inf).setting == of_numbers().setting
    far = data.frame.copy()
    far.loc[0, "b"] = 1e6
    far_table = rwn.Microdata.from_frame(far, data.schema)
    answer = rwn.quick_verdict(far_table, "rwn", within=math.inf, steps=False).answer
    assert answer in ("cannot", "unknown")


def test_nearest_counts_what_further_releases_used() -> None:
    """A place that one release kept and others broke is as far from the limits as the worst."""
    limits = (("bayes_linkage", 0.05), ("attribute_gain", 0.1))
    policy = rwn.Policy(limits=tuple(rwn.Limit(measure=key, at_most=most) for key, most in limits))
    table = TableSearch(microdata=numbers(150), policy=policy)
    trial = StrengthTrial(table, Setting(params=rwn.SoftRWN(kernel="gaussian")))
    place = trial.weakest_using(1.0, trial.strongest(1.0))
    assert place is not None
    before = trial.nearest()
    # what keeps all limits is not near them, but within
    assert before is None or trial.share(place) <= 1 < before[0]
    used = trial.used(place)
    assert trial.share(place) == used > 1
    assert trial.nearest() == min(each for each in (before, (used, place)) if each)


def test_what_cannot_keep_a_policy_is_said_before_it_is_tried():
    data = categories()
    policy = rwn.Policy()
    assert refusal(data, policy, rwn.RWN(k=5)) == ""
    assert "copies whole rows" in refusal(data, policy, rwn.RowCopy(k=5))
    assert "no exact law" in refusal(data, policy, rwn.CARTSynthesis())
    some = data.with_schema(
        replace(
            data.schema,
            variables=tuple(
                replace(v, masked=v.name in {"c0", "c5"}) for v in data.schema.variables
            ),
        )
    )
    unique = refusal(some, policy, rwn.RWN(k=5))
    assert unique.endswith(
        "of the records are unique on what stays as it is: c1, c2, c3 and 1 more."
    )
    # 400 records of 10 people: one of ten is named by chance, and nearly each has a row of its own
    few = data.frame.assign(who=[f"p{n % 10}" for n in range(data.n)])
    roles = {"c0": Role.KEY, "c1": Role.KEY, "c5": Role.CONFIDENTIAL, "who": Role.PERSON}
    assert refusal(described(few, **roles), policy, rwn.RWN(k=5)).startswith("Of 10 people one is")
