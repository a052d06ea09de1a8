"""What a recommendation says of its best setting and of another, and what a search leaves out."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

import rwn_core as rwn
from rwn_core.tuning import FoundSetting, Setting, Space
from rwn_core.tuning.point import Point
from rwn_core.tuning.search import _Lines
from rwn_core.tuning.verdict import Verdict

recommending = import_module("rwn_core.tuning.recommend")  # the function has the same name
WHERE = "all 241 records"


def found(
    params: rwn.RWN | rwn.CorrelatedNoise, share: float, loss: float, *, none_allowed: bool = False
) -> FoundSetting:
    """A setting as it was read on six releases of one limit."""
    limits = ("true_matches",)
    return FoundSetting(
        point=Point(setting=Setting(params=params), spreads={}),
        verdict=Verdict(
            shares={"true_matches": share},
            unread={},
            none_allowed=limits if none_allowed else (),
        ),
        share=share,
        loss=loss,
        releases=6,
    )


def words(
    best: FoundSetting | None, other: FoundSetting | None = None, *, late: bool = False
) -> str:
    return str(recommending._reason(best, other, late, WHERE, 60.0))


def test_the_best_setting_is_said_to_keep_the_limits_or_how_near_it_comes() -> None:
    kept = words(found(rwn.RWN(epsilon=1.0, k=5), 0.5, 0.3))
    assert kept.startswith(
        "this one keeps 1 limit on all 241 records, 6 releases, and leaves most."
    )
    near = words(found(rwn.RWN(epsilon=1.0, k=5), 1.7, 0.3))
    assert (
        "This one comes nearest: on all 241 records, 6 releases, True matches uses 1.7 times"
        in near
    )
    nothing = words(found(rwn.RWN(epsilon=1.0, k=5), 1.7, 0.3, none_allowed=True))
    assert "True matches uses more than its limit" in nothing
    near = found(rwn.RWN(epsilon=1.0, k=5), 1.7, 0.3)
    silent = replace(near, verdict=replace(near.verdict, unread={"attribute_gain": "No secret."}))
    assert "6 releases, Attribute gain has no answer" in words(silent)
    assert words(None) == "none leaves 10 % of the use: there may be little to keep."
    assert words(None, late=True).endswith("none was tried on all 241 records within 60 seconds.")


def test_another_method_is_said_to_leave_more_or_to_be_what_keeps_the_limits() -> None:
    noise = found(rwn.CorrelatedNoise(), 0.5, 0.1)
    beside = words(found(rwn.RWN(epsilon=1.0, k=5), 0.5, 0.3), noise)
    title = noise.setting.params.title
    assert f"{title} would leave 90 % of each part." in beside
    alone = words(found(rwn.RWN(epsilon=1.0, k=5), 1.7, 0.3), noise)
    assert f"{title} keeps 1 limit on all records." in alone
    assert "would leave" not in alone


@pytest.mark.parametrize("lose_at_most", [None, 0.2])
def test_a_refused_method_is_read_first_or_where_a_loss_is_what_is_equal(
    few, lose_at_most: float | None
) -> None:
    """It is no answer under a policy, but can be compared at the same loss."""
    space = Space(methods=True, lose_at_most=lose_at_most)
    policy = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.5),))
    lines = _Lines(few, policy, space, 1e9, recommending.Part(None))
    lines.unfit = dict.fromkeys((each.method for each in lines.starts), "It is refused.")
    first, *others = lines.starts
    assert not lines._is_closed(first)
    assert [lines._is_closed(each) for each in others] == [lose_at_most is None] * len(others)
