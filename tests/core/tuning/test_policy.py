"""A policy holds when all of its limits hold, and never where one could not be read."""

from __future__ import annotations

import math
import time
import tomllib

import pytest

import rwn_core as rwn
from rwn_core import InputError, Limit, NotApplicable, ParameterError, Policy
from rwn_core.data.plain import read_plain, toml_text
from rwn_core.measures.measure import Detail, Reading
from rwn_core.tuning.verdict import share_words

TWO = Policy(
    limits=(
        Limit(measure="bayes_linkage", at_most=0.05, source="handbook 3.1", set_by="A. Steward"),
        Limit(measure="attribute_inference", at_most=0.1),
    )
)


BOTH = {"bayes_linkage": 0.02, "attribute_inference": 0.09}


def test_the_default_has_a_limit_on_each_kind_of_disclosure():
    policy = rwn.Policy()
    limits = {limit.measure: limit.at_most for limit in policy.limits}
    # nobody may stand open, whatever the mean over everybody
    assert limits.pop("linked_over_half") == 0.0
    assert limits == dict.fromkeys(("bayes_linkage", "attribute_gain", "true_matches"), 0.05)


@pytest.mark.parametrize("value", [None, math.nan])
def test_a_limit_that_could_not_be_read_is_not_kept(value):
    for values in ({"bayes_linkage": 0.0, "attribute_inference": value}, {"bayes_linkage": 0.0}):
        verdict = TWO.judge(values)
        assert set(verdict.unread) == {"attribute_inference"}
        assert not verdict.kept
        assert not verdict.broken


def test_the_reason_stands_beside_what_could_not_be_read():
    readings = {
        "bayes_linkage": Reading(value=0.01, detail=Detail()),
        "attribute_inference": NotApplicable("No variable is confidential."),
    }
    verdict = TWO.judge(readings)
    assert verdict.unread == {"attribute_inference": "No variable is confidential."}
    assert verdict.states == {"bayes_linkage": "kept", "attribute_inference": "not judged"}
    assert not verdict.kept


def test_a_limit_of_nothing():
    none = Policy(limits=(Limit(measure="bayes_linkage", at_most=0),))
    assert none.judge({"bayes_linkage": 0.0}).shares == {"bayes_linkage": 0.0}
    assert none.judge({"bayes_linkage": 0.0}).kept
    broken = [none.judge({"bayes_linkage": value}) for value in (0.001, 0.01, 0.9)]
    assert [each.largest for each in broken] == pytest.approx([1.1, 2, 91])  # a way down
    assert "Worst-case linkage, which uses more than its limit" in broken[0].sentence
    # a gain below 0 uses nothing of a limit
    gain = Policy(limits=(Limit(measure="attribute_gain", at_most=0.05),))
    assert gain.judge({"attribute_gain": -0.2}).largest == 0.0


def test_a_policy_without_limits_keeps_nothing():
    verdict = Policy(limits=()).judge({"bayes_linkage": 0.0})
    assert verdict.first is None
    assert verdict.largest is None
    assert not verdict.kept


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"measure": "safety", "at_most": 0.1}, "There is no measure safety"),
        ({"measure": "neighborhood_size", "at_most": 0.1}, "less is not better"),
        ({"measure": "ci_overlap", "at_most": 0.1}, "less is not better"),
        *(
            ({"measure": "bayes_linkage", "at_most": wrong}, "must be a number of at least 0")
            for wrong in (-0.1, math.nan, math.inf, "5 %", True, None)
        ),
    ],
)
def test_a_limit_is_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        Limit(**given)


def test_a_chain_is_judged_with_limits_on_its_own_risks_only():
    chain = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
    linkage = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
    assert linkage.unjudged(chain)
    assert (linkage.unjudged(rwn.RWN(k=5)), rwn.Policy().unjudged(chain)) == ("", "")


def test_two_limits_on_one_measure_are_refused():
    with pytest.raises(ParameterError, match="two limits"):
        Policy(limits=(*TWO.limits, Limit(measure="bayes_linkage", at_most=0.2)))


def test_a_policy_survives_its_file():
    text = toml_text({"limit": TWO.to_records()}, ordered=True)
    assert text.count("[[limit]]") == 2
    assert "handbook 3.1" in text
    assert read_plain(Policy, tomllib.loads(text)["limit"], "policy", path="limit") == TWO
    assert read_plain(Policy, [], "policy", path="limit") == Policy(limits=())


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (["bayes_linkage"], r"limit\[1\] of the policy must be a table with: measure, at_most"),
        ([{"measure": "bayes_linkage"}], r"limit\[1\] of the policy has no at_most; state it"),
        ([{"measure": "x", "at_most": 0.1, "at_least": 0.0}], "has the unknown field at_least"),
        ([{"measure": 3, "at_most": 0.1}], r"limit\[1\].measure of the policy must be a text"),
        ([{"measure": "x", "at_most": 0.1, "source": 7}], r"\.source of the policy must be a text"),
        ("bayes_linkage", "limit of the policy must be a list; correct it"),
    ],
)
def test_a_record_of_another_kind_is_refused(records, why):
    with pytest.raises(InputError, match=why):
        read_plain(Policy, records, "policy", path="limit")


def test_the_sentence_says_which_limit_and_what_was_not_judged():
    kept = TWO.judge(BOTH).sentence
    assert kept.startswith("All 2 limits are kept; nearest is Attribute inference")
    assert kept.endswith("uses 90 % of its limit.")
    broken = TWO.judge({"bayes_linkage": 0.115, "attribute_inference": 0.09}).sentence
    assert broken.startswith("1 of 2 limits is broken, most of all Worst-case linkage")
    assert "2.3 times its limit" in broken
    # the planted wrong case: one that holds, one that was not read
    some = TWO.judge({"bayes_linkage": 0.02}, {"attribute_inference": "No law."}).sentence
    assert some == ("Keeps 1 of 2 limits; attribute inference, worst case not judged: no law.")
    assert "nothing is judged" in Policy(limits=()).judge({}).sentence


@pytest.mark.parametrize(
    ("values", "state", "first", "largest"),
    [
        (BOTH | {"correlation": 9.0}, "kept", "attribute_inference", 0.9),
        ({"bayes_linkage": 0.05, "attribute_inference": 0.1}, "kept", "bayes_linkage", 1.0),
        ({"bayes_linkage": 0.0, "attribute_inference": 0.11}, "broken", "attribute_inference", 1.1),
        ({"bayes_linkage": 0.02}, "not judged", None, None),
        ({"bayes_linkage": 0.1}, "broken", "bayes_linkage", 2.0),
        ({}, "not judged", None, None),
    ],
)
def test_a_verdict_has_one_of_three_states(values, state, first, largest):
    """An aggregate over limits is undefined while one is missing, unless another is broken."""
    verdict = TWO.judge(values, {"attribute_inference": "No law."})
    assert (verdict.state, verdict.first, bool(verdict.broken)) == (state, first, state == "broken")
    assert verdict.largest == (None if largest is None else pytest.approx(largest))
    assert verdict.kept == (state == "kept")
    missing = set(TWO.measures) - set(values)
    assert {key for key, each in verdict.states.items() if each == "not judged"} == missing
    few = TWO.judge(BOTH, released=0.0)
    assert (few.state, few.kept) == ("not judged", False)


def test_a_share_just_beyond_the_limit_is_not_said_to_be_all_of_it():
    assert share_words(1.0) == "100 % of"
    assert share_words(1.001) == "just over"


def test_very_many_limits_are_refused_at_once() -> None:
    """Finding T1: the cost of a policy from outside grows with its length, not its square."""
    limits = (Limit(measure="bayes_linkage", at_most=0.05),) * 30_000
    started = time.perf_counter()
    with pytest.raises(ParameterError, match="two limits"):
        Policy(limits=limits)
    assert time.perf_counter() - started < 2
