"""Policies by name: who set each limit, and which of them allows more."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core.tuning.named_policies import (
    DECIDED_HERE,
    NAMED_POLICIES,
    USUAL,
    name_of,
    weaker_policy,
)

OF_READERS = ("Public file", "Researchers under contract", "Inside the organization")


def test_every_limit_says_who_set_it() -> None:
    for named in NAMED_POLICIES.values():
        for limit in named.policy.limits:
            assert limit.origin
            published = limit.measure == "largest_linkage"
            assert bool(limit.source) == published
            assert (DECIDED_HERE in limit.origin) == (not published and named.name != USUAL)


def test_a_number_of_ones_own_has_no_default_for_its_author() -> None:
    assert "default of this program" in rwn.Policy().limits[0].origin
    assert "whom is not stated" in rwn.Limit(measure="bayes_linkage", at_most=0.04).origin
    stated = rwn.Limit(measure="bayes_linkage", at_most=0.05, source="3.1", set_by="A. Steward")
    assert stated.origin == "3.1, A. Steward"


def test_a_name_gives_its_policy_whatever_its_case() -> None:
    assert rwn.policy_called("PUBLIC file") is NAMED_POLICIES["Public file"].policy
    assert rwn.policy_called(USUAL) == rwn.Policy()
    with pytest.raises(rwn.ParameterError, match=r"choose one of .*Inside the organization"):
        rwn.policy_called("Publick file")


def test_limits_are_known_by_their_numbers() -> None:
    assert name_of(rwn.Policy()) == USUAL
    public = NAMED_POLICIES["Public file"].policy
    signed = rwn.Policy(limits=tuple(replace(limit, set_by="board") for limit in public.limits))
    assert name_of(signed) == "Public file"
    other = replace(public.limits[0], at_most=0.06)
    assert name_of(rwn.Policy(limits=(other, *public.limits[1:]))) is None


@pytest.mark.parametrize(
    ("name", "weaker"),
    [
        (USUAL, "Researchers under contract"),
        ("Public file", "Limits for clinical data"),
        ("Researchers under contract", "Inside the organization"),
        ("Inside the organization", None),
    ],
)
def test_the_weaker_one_is_the_strictest_that_allows_more(name: str, weaker: str | None) -> None:
    found = weaker_policy(NAMED_POLICIES[name].policy)
    assert (found and found.name) == weaker


def test_a_policy_that_forbids_more_somewhere_is_not_weaker() -> None:
    inside = NAMED_POLICIES["Inside the organization"].policy
    wide = tuple(replace(limit, at_most=0.9) for limit in inside.limits)
    assert weaker_policy(rwn.Policy(limits=wide)) is None


@pytest.fixture(scope="module")
def verdicts() -> dict[int, dict[str, rwn.tuning.Verdict]]:
    """By k, the verdict of each policy of readers on one release of bodyfat."""
    data = rwn.load_demo("bodyfat")
    made = {}
    for k in (2, 8, 240):
        release = rwn.mask(data, rwn.RWN(epsilon=0.0, k=k), seed=1)
        policies = {name: NAMED_POLICIES[name].policy for name in OF_READERS}
        keys = set[str]().union(*(policy.measures for policy in policies.values()))
        audit = rwn.audit(data, release, measures=(*keys, "bayes_linkage"))
        made[k] = {name: policy.judge(audit.readings) for name, policy in policies.items()}
        value = {key: audit.readings[key].value for key in (*keys, "bayes_linkage")}
        # what lets a bound on one stand for a bound on the other, over releases on average
        assert value["intruder_levels"] <= 1.1 * value["bayes_linkage"]
        assert value["bayes_linkage"] <= 1.1 * value["largest_linkage"]
    return made


def test_what_a_closer_reader_may_not_have_nobody_may(verdicts) -> None:
    for by_name in verdicts.values():
        shares = [max(verdict.shares.values()) for verdict in by_name.values()]
        assert shares == sorted(shares, reverse=True)


def test_a_weak_file_breaks_all_and_one_without_relations_keeps_all(verdicts) -> None:
    assert all(verdict.broken for verdict in verdicts[2].values())
    assert all(verdict.kept for verdict in verdicts[240].values())
