"""What helps where a policy is not kept: each remedy is tried, and gives what it promised."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.tuning import SearchAnswer, Setting, Space, remedies
from rwn_core.tuning.answer import FoundSetting, Remedy
from rwn_core.tuning.remedies import remedied, with_known_remedies, with_remedies
from tests.tables import described

N = 60
WEAK = Setting(params=rwn.RWN(epsilon=0.0, k=2))
LONG = math.inf


def limit(at_most: float) -> rwn.Policy:
    return rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=at_most),))


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    """A key, a secret, and a survey weight that is released unmasked and tells everybody apart."""
    rng = np.random.default_rng(3)
    age = rng.normal(50, 15, N).round()
    pay = (20 * age + rng.normal(0, 200, N)).round()
    frame = pd.DataFrame({"age": age, "pay": pay, "weight": rng.gamma(3, 50, N).round(2)})
    return described(frame, unmasked=["weight"], age=rwn.Role.KEY, pay=rwn.Role.CONFIDENTIAL)


@pytest.fixture(scope="module")
def offered(data: rwn.Microdata) -> tuple[Remedy, ...]:
    policy = limit(0.12)
    found = with_remedies(SearchAnswer(goal=policy), data, WEAK, policy, within=LONG)
    assert found.caution == ""
    return found.remedies


def pressed(data: rwn.Microdata, remedy: Remedy) -> rwn.Microdata:
    return data if remedy.schema is None else data.with_schema(remedy.schema)


def gives_what_it_promised(promised: float, read: float) -> bool:
    return abs(promised - read) <= 0.2 * read


def read_after(data: rwn.Microdata, remedy: Remedy, policy: rwn.Policy) -> float:
    """What one more release uses of its worst limit, as every page reads it after the press."""
    judged = remedy.policy or policy
    return rwn.judge_setting(pressed(data, remedy), remedy.setting, judged).largest or 0.0


def test_what_stays_as_it_is_is_masked_or_left_out(data, offered) -> None:
    titles = [each.title.partition(",")[0] for each in offered]
    assert {"Mask weight", "Leave weight out"} & {*titles}
    assert all(each.kept for each in offered)
    assert all(": keeps its limit. Left: " in each.words for each in offered)


def test_pressed_it_gives_what_it_promised(data, offered) -> None:
    for remedy in offered:
        read = read_after(data, remedy, limit(0.12))
        assert gives_what_it_promised(remedy.interval[1], read), remedy.words
        assert read <= 1
    # the planted fault: a remedy that promises what another setting gives
    false = replace(offered[0], point=replace(offered[0].point, setting=WEAK.resolved(data)))
    assert not gives_what_it_promised(false.interval[1], read_after(data, false, limit(0.12)))


def test_where_a_strength_keeps_the_policy_it_is_the_remedy(data) -> None:
    masked = data.with_schema(data.schema.replace_variable("weight", masked=True, group=None))
    policy = limit(0.12)
    found = with_remedies(SearchAnswer(goal=policy), masked, WEAK, policy, within=LONG)
    (remedy,) = found.remedies
    assert remedy.title.startswith("ε = ")
    assert (remedy.kept, remedy.confirmed, found.caution) == (True, True, "")
    assert read_after(masked, remedy, policy) == pytest.approx(remedy.interval[1])


def test_what_a_recommendation_has_read_is_offered_before_anything_is_tried(
    data, offered, monkeypatch
) -> None:
    """Nothing else is: what was read under another policy, once, or breaks it, or is on screen."""
    monkeypatch.setattr(remedies.TableSearch, "look", lambda *_: pytest.fail("it was tried"))
    policy = limit(0.12)
    other = Setting(params=rwn.SoftRWN(balance=1.0))
    kept = replace(offered[0], point=replace(offered[0].point, setting=other))
    no = SearchAnswer(goal=policy, refused=True)

    def steps(
        best: FoundSetting, goal: rwn.Policy = policy, before: SearchAnswer = no
    ) -> list[str]:
        advice = SearchAnswer(goal=goal, settings=(best,), reached=True)
        found = with_known_remedies(before, data, WEAK, policy, advice)
        return [each.title for each in found.remedies]

    assert steps(kept) == ["Try RWN with balance: Each alone (RWN 2022)"]
    assert steps(kept, limit(0.5)) == []
    assert steps(replace(kept, confirmed=False)) == []
    assert steps(replace(kept, share=1.2)) == []
    assert steps(replace(kept, point=replace(kept.point, setting=WEAK))) == []
    assert steps(kept, before=SearchAnswer(goal=policy, reached=True)) == []


def test_where_none_does_the_best_attainable_is_said_and_can_be_taken(data) -> None:
    # of 60 records one is linked by chance
    policy = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.01),))
    answer = SearchAnswer.of_point(policy, rwn.tuning.Point(setting=WEAK, spreads={}))
    found = remedied(answer, data, policy, Space(setting=WEAK), 2 * 60.0)
    assert not any(each.kept for each in found.remedies if not each.asks_less)
    first = found.remedies[0]
    assert found.caution == f"None does; best attainable is {first.words}."
    assert any(each.title.startswith("The nearest, ε = ") for each in found.remedies)
    assert gives_what_it_promised(first.interval[1], read_after(data, first, policy))


def test_an_answer_that_keeps_the_policy_needs_none(data) -> None:
    answer = SearchAnswer(goal=limit(0.5), reached=True)
    assert remedied(answer, data, limit(0.5), Space(), 60.0) is answer
    lost = SearchAnswer.of_point(limit(0.5), rwn.tuning.Point(setting=WEAK, spreads={}))
    assert remedied(lost, data, limit(0.5), Space(lose_at_most=0.1), 60.0) is lost


def test_without_time_nothing_is_named_that_was_not_tried(data) -> None:
    policy = limit(0.12)
    found = with_remedies(SearchAnswer(goal=policy), data, WEAK, policy, within=0.0)
    assert (found.remedies, found.caution) == ((), "Nothing that was tried helps.")


def test_what_takes_away_by_what_a_limit_is_judged_is_no_remedy(data) -> None:
    masked = data.with_schema(data.schema.replace_variable("weight", masked=True, group=None))
    policy = rwn.Policy(limits=(rwn.Limit(measure="attribute_gain", at_most=0.1),))
    shop = remedies._Shop(masked, policy, LONG)
    public = masked.schema.replace_variable("pay", role=rwn.Role.OTHER)
    strong = Setting(params=rwn.RWN(epsilon=0.0, k=40))
    assert shop.tried(remedies.Edit(title="No secret", setting=strong, schema=public), LONG) is None
    same = remedies.Edit(title="As described", setting=strong, schema=masked.schema)
    assert shop.tried(same, LONG) is not None
