"""The one door of searches: what may change is what changes, and the time is kept."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
import rwn_core.tuning
from rwn_core.errors import ParameterError
from rwn_core.tuning import Limit, Policy, Setting, SliceRanges, Space, search, seek_slices
from rwn_core.tuning.evaluate import PART, PreparedTables, evaluate
from tests.core.tuning.test_goal_of_a_policy import policy
from tests.core.tuning.test_partial_answer import Reports

POLICY = policy(distance_linkage=0.12, true_matches=0.2)
START = Setting(params=rwn.RWN(epsilon=1.0, k=7), precision=(("age", 5.0),))


def test_without_a_space_of_its_own_it_is_the_recommendation(few) -> None:
    found, same = search(few, POLICY, seconds=1e6), rwn.recommend(few, POLICY, within=1e6)
    assert (found.setting, found.sentence) == (same.setting, same.sentence)


def test_only_the_strength_changes_unless_more_may(few) -> None:
    found = search(few, POLICY, Space(setting=START), seconds=1e6)
    assert found.kept
    assert found.verdict.kept
    (one,) = found.settings
    setting = one.setting
    assert (setting.method, setting.params.k, setting.precision) == ("rwn", 7, START.precision)
    assert setting.params.epsilon != 1.0
    assert f"loses {one.lost} of the relations" in found.sentence
    # fresh releases keep what is said of one more release, 9 times in 10
    table = setting.applied_to(few)
    kept = 0
    for seed in range(500, 520):
        release = rwn.mask(table, setting.params, seed=seed, precision=dict(setting.precision))
        audit = rwn.audit(table, release, measures=list(POLICY.measures))
        kept += POLICY.judge(audit.readings).kept
    assert kept >= 14


def test_settings_come_best_first_and_more_freedom_loses_no_more(few) -> None:
    alone = search(few, POLICY, Space(setting=START), seconds=1e6)
    wider = search(few, POLICY, Space(setting=START, kernels=True), seconds=1e6)
    assert wider.tried == 3
    assert [each.rank for each in wider.settings] == sorted(each.rank for each in wider.settings)
    assert wider.loss <= alone.loss


def test_with_a_loss_that_is_allowed_the_least_risk_is_found(few) -> None:
    """A stricter loss leaves more risk: no setting is said to keep what it does not keep."""
    strict = Policy(limits=tuple(replace(each, at_most=0.05) for each in POLICY.limits))
    shares = []
    for most in (0.08, 0.3):
        found = search(few, strict, Space(lose_at_most=most, kernels=True), seconds=1e6)
        assert found.reached == found.settings[0].kept
        used = [each.share for each in found.settings]
        assert used == sorted(used)
        assert all(each.loss <= most + 0.1 for each in found.settings)  # luck of one release
        shares.append(used[0])
    assert shares[0] > 1 >= shares[1]
    none = search(few, POLICY, Space(lose_at_most=0.0), seconds=1e6)
    assert (none.settings, none.state) == ((), "not judged")
    assert "loses few enough relations" in none.sentence
    with pytest.raises(ParameterError, match="a fraction from 0 to 1"):
        Space(lose_at_most=5)


def test_slices_are_searched_until_the_time_is_over(few) -> None:
    begin = time.process_time()
    found = search(few, POLICY, Space(slices=True), seconds=2.0, workers=1)
    assert time.process_time() - begin < 60
    assert found.late
    assert "The time was over" in found.sentence
    assert found.reached == found.verdict.kept


def test_a_check_that_the_time_cuts_short_says_what_it_leaves_unsaid(few, monkeypatch) -> None:
    """Without any time the first choice is read on a few fresh releases; more would be late."""
    drawn: list[int] = []
    compared = PreparedTables.compared

    def counted(self: PreparedTables, setting: Setting, seed: int) -> object:
        drawn.append(seed)
        return compared(self, setting, seed)

    monkeypatch.setattr(PreparedTables, "compared", counted)
    found = seek_slices(few, POLICY, ranges=SliceRanges(seconds=1e-9), workers=1)
    assert {len(each.values) for each in found.point.spreads.values()} == {PART + 1}
    assert len({seed for seed in drawn if seed > 2_000_000}) == PART + 1
    assert (found.late, found.confirmed) == (True, False)
    assert f"over after {PART + 1} of 59 fresh releases" in found.sentence
    assert "Simple attacks on its releases were not tried" in found.sentence


def test_a_check_with_time_is_whole_and_says_nothing_of_time(few) -> None:
    found = seek_slices(few, POLICY, ranges=SliceRanges(seconds=1e4), workers=1)
    assert {len(each.values) for each in found.point.spreads.values()} == {59}
    assert found.confirmed == found.reached
    assert "time was over" not in found.sentence


def test_releases_are_drawn_in_one_place_of_all_that_tunes() -> None:
    """A recommendation draws one of a few records more, which shows the kinds of a method."""
    files = Path(rwn_core.tuning.__file__).parent.glob("*.py")
    drawing = {each.name for each in files if ".release(" in each.read_text(encoding="utf-8")}
    assert drawing == {"evaluate.py", "recommend.py"}


def test_a_trial_that_is_late_reads_nothing_and_refusals_are_reasons(few) -> None:
    setting = START.resolved(few)
    measures = ("distance_linkage", "true_matches")
    assert evaluate(few, setting, range(3), measures, 0.0).spreads == {}
    whole = evaluate(few, setting, range(3), measures)
    assert {key: len(each.values) for key, each in whole.spreads.items()} == dict.fromkeys(
        measures, 3
    )
    refused = replace(setting, params=rwn.RWN(epsilon=1.0, k=few.n + 5))
    assert evaluate(few, refused, range(3), measures).unread.keys() == set(measures)
    with pytest.raises(ParameterError):
        evaluate(few, refused, range(3), measures, read=lambda release: {})


def test_without_time_nothing_is_said_to_be_kept(few) -> None:
    found = search(few, POLICY, Space(setting=START), seconds=0.0)
    assert (found.settings, found.kept, found.late) == ((), False, True)
    assert found.sentence == "Nothing was tried in time."


def test_limits_that_cannot_be_broken_are_refused(few) -> None:
    loose = Policy(limits=(Limit(measure="t_closeness", at_most=1.0),))
    with pytest.raises(ParameterError, match="No limit can be judged on this table"):
        search(few, loose, Space())


def test_an_answer_has_all_that_was_found_on_its_way(few) -> None:
    for space in (None, Space(setting=START, kernels=True)):
        heard = Reports()
        found = search(few, POLICY, space, seconds=30.0, workers=1, progress=heard)
        keys = [each.setting.key for each in found.settings]
        assert len(keys) == len(set(keys)) > 1
        ranks = [each.rank for each in found.settings[1:]]
        assert ranks == sorted(ranks)
        assert heard.answers
        for answer in heard.answers:
            if answer.records == found.records:
                assert {each.setting.key for each in answer.settings} <= {*keys}
        words = f"Of {found.tried} settings tried, the best that keeps all limits leaves "
        assert found.attainable.startswith(words)


def test_methods_are_each_read_at_their_best_strength_or_named_with_a_reason(few) -> None:
    for most in (None, 0.5):
        space = Space(setting=START, methods=True, lose_at_most=most)
        found = search(few, POLICY, space, seconds=1e6)
        read = [each.setting.method for each in found.settings]
        assert len(read) == len(set(read)) > 2, "also those that lose more than the best"
        assert set(rwn.METHODS) == {*read, *found.unfit}
        assert all(found.unfit.values())


def test_levers_that_may_change_are_tried_and_others_stay(few) -> None:
    tried = list(Space(setting=START, levers=("q",)).starts(few))
    assert [each.params.q for each in tried] == [1.0, 0.5]
    assert {each.params.k for each in tried} == {7}
    found = search(few, POLICY, Space(setting=START, levers=("k", "q")), seconds=1e6)
    assert found.tried == 2 * len({7, 3, 10, 40})
    assert {each.setting.params.k for each in found.settings} <= {7, 3, 10, 40}
    assert {each.setting.params.q for each in found.settings} <= {0.5, 1.0}
    assert {each.setting.precision for each in found.settings} == {START.precision}


def test_a_search_goes_on_from_where_it_ended(few) -> None:
    space = Space(setting=START, kernels=True)
    whole = search(few, POLICY, space, seconds=1e6)
    first = replace(whole, settings=whole.settings[-1:], tried=1, late=True)
    again = search(few, POLICY, replace(space, known=first), seconds=1e6)
    assert again.tried == whole.tried == 3
    assert again.setting == whole.setting
    late = search(few, POLICY, replace(space, known=whole), seconds=0.0)
    assert [each.setting for each in late.settings] == [each.setting for each in whole.settings]


def test_where_nothing_keeps_the_limits_the_nearest_says_what_is_left(few) -> None:
    strict = Policy(limits=(Limit(measure="distance_linkage", at_most=1e-4),))
    found = search(few, strict, Space(setting=START), seconds=1e6)
    assert not found.reached
    left = f"{1 - found.loss:.0%}".replace("%", " %")
    assert found.attainable.startswith(
        f"Of 1 setting tried, none is known to keep all limits; the nearest leaves {left} of the "
    )
    assert found.attainable.endswith(" times a limit.")


def test_each_kernel_and_the_usual_slices_come_early_and_own_ones_first(few) -> None:
    soft = Setting(params=rwn.SoftRWN(width=1.0, balance=1.0))
    tried = list(Space(setting=soft, slices=True, kernels=True).starts(few))
    assert tried[0] == soft
    assert len(tried) == len(set(tried))
    first = {(each.method, getattr(each.params, "balance", 0.0)) for each in tried[:6]}
    assert first == {("soft_rwn", 1.0), ("soft_rwn", 0.0), ("rwn", 0.0)}
    assert len({each.slices for each in tried[:6]}) > 1
    others = list(Space(setting=START, methods=True).starts(few))
    assert [each.method for each in others].count("rwn") == 1


def test_what_a_part_of_the_records_reads_is_judged_by_the_policy_itself(monkeypatch) -> None:
    """A ranking on a part goes by wider limits, which nobody has asked for."""
    rng = np.random.default_rng(4)
    one = rng.normal(size=1300)
    frame = {"a": one, "b": one + rng.normal(size=1300), "c": rng.normal(size=1300)}
    data = rwn.Microdata.from_frame(pd.DataFrame(frame).round(2))
    policy = Policy(limits=(Limit(measure="bayes_linkage", at_most=0.005),))
    heard = Reports()
    monkeypatch.setattr(
        import_module("rwn_core.tuning.recommend"), "_PART_TIME", 4.0
    )  # the ranking takes all of the time
    found = search(data, policy, seconds=2.0, progress=heard)
    parts = [each for each in heard.answers if each.records < each.of]
    assert parts
    for answer in (*parts, found):
        assert answer.reached == answer.settings[0].kept
        for each in answer.settings:
            assert not each.kept or policy.judge(each.point).kept
    assert found.records == 500
    assert "random records of 1,300; read it on all of them before it is used" in found.sentence
    assert "on 500 of 1,300 records" in found.attainable


CERTIFIED = Policy(limits=(*POLICY.limits, Limit(measure="certified_linkage", at_most=0.05)))


def test_a_limit_on_certified_linkage_is_kept_by_soft_kernels_with_own(few) -> None:
    found = search(few, CERTIFIED, seconds=1e6)
    assert found.kept
    assert not found.unread
    assert found.verdict.values["certified_linkage"] <= 0.05
    params = found.setting.params
    assert (params.method, params.own) == ("soft_rwn", True)
    release = rwn.mask(found.setting.applied_to(few), params, seed=901)
    audit = rwn.audit(few, release, measures=["certified_linkage"])
    assert audit["certified_linkage"].value <= 0.06


def test_where_no_setting_has_an_answer_for_a_limit_the_reason_is_said(few) -> None:
    found = search(few, CERTIFIED, Space(setting=START), seconds=1e6)
    assert not found.kept
    assert "an even kernel gives most records no chance to be a donor" in found.reason
    # a soft kernel that is not to change keeps own = false, and the reason names what to set
    fixed = Setting(params=rwn.SoftRWN(own=False))
    found = search(few, CERTIFIED, Space(setting=fixed), seconds=1e6)
    assert not found.kept
    assert not any(each.setting.params.own for each in found.settings)
    assert "set own = true" in found.reason
    # where kernels may change, own may, too
    found = search(few, CERTIFIED, Space(setting=fixed, kernels=True), seconds=1e6)
    assert found.setting.params.own
    assert "certified_linkage" in found.verdict.values


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        (rwn.RWN(k=5, q=0), "an exponential or gaussian kernel"),  # the unmasked file
        (rwn.RWN(epsilon=1, k=5), "an exponential or gaussian kernel"),
        (rwn.SoftRWN(own=False), "set own = true"),
    ],
)
def test_what_has_no_certificate_does_not_keep_a_limit_on_it(few, params, reason) -> None:
    alone = Policy(limits=CERTIFIED.limits[-1:])
    audit = rwn.audit(few, rwn.mask(few, params, seed=7), measures=["certified_linkage"])
    verdict = alone.judge(audit.readings)
    assert not verdict.kept
    assert not verdict.values
    assert reason in verdict.unread["certified_linkage"]
    said = rwn.quick_verdict(few, params, alone, steps=False)
    assert said.answer == "unknown"
    assert reason in said.reason
