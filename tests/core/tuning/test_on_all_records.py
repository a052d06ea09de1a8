"""What a search says of its answer is read on all records, and "none" only where the ends broke."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.tuning import SearchAnswer, Setting, evaluate
from rwn_core.tuning.on_all_records import on_all_records, safest_of_rwn
from rwn_core.tuning.several_draws import (
    DECISIVE,
    RELEASES,
    further_keys,
    judge_setting,
    kept_draws,
    read_draws,
)
from tests.tables import described

LONG = 1e6  # processor seconds, which no test takes
N = 104


def limit(at_most: float) -> rwn.Policy:
    return rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=at_most),))


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    rng = np.random.default_rng(7)
    age = rng.integers(20, 80, N)
    frame = pd.DataFrame({"age": age, "pay": 20 * age + rng.normal(0, 200, N).round()})
    return described(frame, age=rwn.Role.KEY, pay=rwn.Role.CONFIDENTIAL)


WEAK = Setting(params=rwn.RWN(epsilon=0.0, k=2))


def answer(data: rwn.Microdata, policy: rwn.Policy, records: int = N) -> SearchAnswer:
    """What a search says that has read one draw of a weak setting."""
    point = evaluate(data, WEAK.resolved(data), (1,), policy.measures)
    return SearchAnswer.of_point(policy, point, records=records, of=N, tried=1)


def ends(data: rwn.Microdata, policy: rwn.Policy) -> list[Setting]:
    return list(safest_of_rwn((), policy, records=data.n, soft=False))


def test_none_is_said_only_where_the_safest_end_of_every_way_broke(data) -> None:
    strict = limit(0.0001)
    found = on_all_records(data, strict, answer(data, strict), ends(data, strict), LONG)
    assert (found.refused, found.reached, found.late) == (True, False, False)
    assert found.sentence.startswith(
        "None keeps all limits: 1 setting tried, and the safest end of every way tried breaks one; "
        "nearest is ε = 0 · k = 2"
    )
    # the planted wrong case: the same answer, and an end that keeps the policy
    loose = limit(0.3)
    found = on_all_records(data, loose, answer(data, loose), ends(data, loose), LONG)
    assert not found.refused
    assert not found.sentence.startswith("None keeps")
    kept = [each for each in found.settings if each.kept]
    assert kept or "Every limit is kept at ε" in found.note
    # and ends that nobody has looked at say nothing of others
    found = on_all_records(data, strict, answer(data, strict), (), LONG)
    assert not found.refused


def test_without_time_it_says_that_it_is_not_finished(data) -> None:
    policy = limit(0.01)
    found = on_all_records(data, policy, answer(data, policy), ends(data, policy), 0.0)
    assert (found.late, found.refused, found.reached) == (True, False, False)
    assert found.sentence.startswith("Not finished: 1 setting tried, and none of them keeps")
    sample = on_all_records(data, policy, answer(data, policy, 50), ends(data, policy), 0.0)
    words = "Not finished: 1 setting tried, and none was read on all 104 records; the best so far"
    assert sample.sentence.startswith(words)


def test_a_verdict_of_a_sample_is_read_again_on_all_records(data) -> None:
    policy = limit(0.9)
    before = replace(answer(data, policy, 50), reached=True)
    assert not before.settings[0].whole
    assert before.settings[0].mark == "one draw", "nothing is kept that was read on a sample"
    found = on_all_records(data, policy, before, (), LONG)
    (best,) = found.settings
    assert (found.records, found.reached, found.confirmed) == (N, True, True)
    assert (best.whole, best.mark, best.releases) == (True, "kept", DECISIVE)
    assert best.loss == pytest.approx(1.0 - best.left.least)
    assert best.verdict.headline == judge_setting(data, WEAK, policy).headline


def test_more_draws_are_read_where_few_do_not_say_that_a_limit_is_broken(data) -> None:
    assert further_keys(3) == (1, 2, 3), "of a large table the first one is known"
    assert further_keys(RELEASES) == (2, 3, 4, 5, 6, 7)
    for at_most, releases in ((0.9, DECISIVE), (0.01, RELEASES)):
        policy = limit(at_most)
        point = read_draws(data, WEAK, policy)
        own = rwn.MEASURES["distance_linkage"]
        assert point.setting == WEAK.resolved(data)
        values = point.spreads[own.key].values
        assert len(values) == releases
        assert kept_draws(policy, point) == tuple(value <= at_most for value in values)
        # draw by draw what a release of that seed reads
        release = rwn.mask(data, WEAK.params, seed=further_keys(releases)[3])
        read = rwn.audit(data, release, measures=[own.key])[own.key]
        assert values[3] == pytest.approx(read.value)
    # the largest of 19 bounds one more, 9 times in 10
    verdict = judge_setting(data, WEAK, limit(0.9))
    most = max(read_draws(data, WEAK, limit(0.9)).spreads["distance_linkage"].values)
    assert verdict.values["distance_linkage"] == most
    assert (verdict.draws, verdict.mark) == (DECISIVE, "kept")
