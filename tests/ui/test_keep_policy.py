"""Tune looks for a setting that keeps the policy, goes there, or says that there is none."""

from __future__ import annotations

from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.tuning import Point, Setting, SliceAnswer, SliceRanges
from rwn_ui.features import keep_policy

FOUND = Setting(params=rwn.RWN(epsilon=4.0, k=5), slices=(("age", "weight"),))


searched: list[SliceRanges] = []


@pytest.fixture
def press(open_page, at_once, monkeypatch: pytest.MonkeyPatch):
    """A function that opens Tune and presses the button, which gets a made-up answer."""
    searched.clear()

    def pressed(*, reached: bool) -> Any:
        def answered(**asked: Any) -> SliceAnswer:
            assert asked["policy"] == screen.session.policy
            assert asked["setting"] == screen.session.setting
            searched.append(asked["ranges"])
            point = Point(setting=FOUND, spreads={}, seconds=0.0)
            return SliceAnswer(
                policy=asked["policy"], point=point, reached=reached, tried=7, records=241, of=241
            )

        monkeypatch.setattr(keep_policy, "seek_slices", answered)
        monkeypatch.setattr(keep_policy, "Job", at_once)
        screen = open_page("tune")
        screen.test.button(key="tune.0.keep.seek").click().run()
        assert screen.errors == []
        return screen

    return pressed


def test_the_sliders_go_to_a_setting_that_keeps_the_policy_once(press) -> None:
    screen = press(reached=True)
    assert screen.session.setting == FOUND.resolved(screen.session.data)
    assert screen.slider("epsilon").value == 4.0
    assert screen.test.success[0].value.startswith("This keeps the policy: ")
    screen.slider("epsilon").set_value(2.0).run()  # the user's move stays
    assert screen.session.levers["epsilon"] == 2.0
    screen.visit("risk").visit("tune")
    assert screen.session.levers["epsilon"] == 2.0


def test_where_none_keeps_it_the_page_says_so_and_offers_the_nearest(press) -> None:
    screen = press(reached=False)
    assert screen.session.levers["epsilon"] != 4.0
    assert "None of 7 keeps all limits" in screen.test.warning[0].value
    screen.test.button(key="tune.0.keep.nearest").click().run()
    assert screen.session.levers["epsilon"] == 4.0


def test_where_none_keeps_it_a_further_search_is_offered_once(press) -> None:
    screen = press(reached=False)
    screen.test.button(key="tune.0.keep.further").click().run()
    assert screen.errors == []
    first, second = searched
    assert (first.weights, first.kernels) == (False, False)
    assert (second.weights, second.kernels) == (True, True)
    keys = {button.key for button in screen.test.button}
    assert "tune.0.keep.further" not in keys, "nothing further is left to search"
    assert {"tune.0.keep.seek", "tune.0.keep.nearest"} <= keys
