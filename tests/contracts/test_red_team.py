"""No simple attack reads a release that the usual policy keeps; and there are such releases.

A finding reads people where more than 90 % of its names are right, and these are more than 30 % of
the people who have the value, beyond what naming it of random people gives.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rwn_core import Comparison, Microdata, Policy
from rwn_core.masking import METHODS, RWN, Method, RowCopy, mask
from rwn_core.measures import read
from rwn_core.measures.attacks.red_team import Finding, attack
from tests.attacked_tables import HARMLESS, TABLES
from tests.contracts.test_dominance import along
from tests.lanes import some

ALONG = (0.15, 0.5, 1.0)  # shares of the way along the lever of a method's strength
QUICK = ("rwn", "row_copy")
RECALL, PRECISION = 0.3, 0.9


def reads(found: Finding) -> bool:
    """Whether a finding reads more of the people than it may."""
    if found.kind != "attribute" or found.base >= 1:
        return False
    beyond = (found.right - found.named * found.base) / (found.people * (1 - found.base))
    return found.precision > PRECISION and min(beyond, found.recall) > RECALL


@cache
def table(name: str) -> Microdata:
    return {**TABLES, **HARMLESS}[name](np.random.default_rng(17))


def lightest_kept(data: Microdata, params: list[Method]) -> Comparison | None:
    """The release of the lightest setting that keeps the usual policy; None where none does."""
    policy = Policy()
    first = None
    for each in params:
        release = mask(data, each, seed=2)
        comparison = Comparison(original=data, masked=release.masked, law=release.law)
        if first is not None:
            comparison = first.with_masked(release.masked, release.law)
        first = first or comparison
        if comparison.law is None:
            return None
        measures = (*policy.measures, "red_team")
        if policy.judge({key: read(key, comparison) for key in measures}).kept:
            return comparison
    return None


def unread(method: str, name: str) -> None:
    data = table(name)
    kept = lightest_kept(data, along(METHODS[method], data, ALONG))
    if kept is not None:
        assert not [each for each in attack(kept) if reads(each)], (method, name)


# by day numbers, answers, several units and slices; what is noticed is asked of others below
@pytest.mark.parametrize(
    "name", some(("rare_flag", "coarse_answers", "mixed_units", "one_slicing"), TABLES)
)
@pytest.mark.parametrize(
    # of copied rows the usual policy keeps none by day: test_a_release_that_is_read_is_noticed
    "method",
    ["rwn", pytest.param("row_copy", marks=pytest.mark.nightly)],
)
def test_no_release_that_the_policy_keeps_is_read(method: str, name: str) -> None:
    unread(method, name)


@pytest.mark.nightly  # the test above has RWN, test_a_release_that_is_read_is_noticed row copy
@pytest.mark.parametrize("name", [*TABLES, *HARMLESS])
@pytest.mark.parametrize("method", [method for method in METHODS if method not in QUICK])
def test_no_release_of_any_method_that_the_policy_keeps_is_read(method: str, name: str) -> None:
    unread(method, name)


@pytest.mark.parametrize("name", some(("register",), HARMLESS))
def test_a_harmless_table_has_a_release_that_the_policy_keeps(name: str) -> None:
    params = [RWN(epsilon=0, k=k, q=1) for k in (120, 400)]
    kept = lightest_kept(table(name), params)
    assert kept is not None
    assert not [each for each in attack(kept) if reads(each)]


@pytest.mark.parametrize("name", ["rare_flag", "heavy_tail", "coarse_answers", "whole_rows"])
def test_a_release_that_is_read_is_noticed(name: str) -> None:
    """Else the contract would hold for nothing."""
    data = table(name)
    release = mask(data, RowCopy(epsilon=0, k=3, q=1), seed=2)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    assert any(reads(each) for each in attack(comparison))
    assert lightest_kept(data, [RowCopy(epsilon=0, k=3, q=1)]) is None
