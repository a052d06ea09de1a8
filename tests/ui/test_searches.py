"""Searches on the pages: what they say so far, and the setting that keeps the policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.evaluation.read_so_far import ReadSoFar
from rwn_core.tuning import Point, Setting, SliceAnswer, SliceRanges, Spread
from rwn_core.tuning.partial_answer import PartialAnswer
from rwn_ui.features import keep_policy, partial_answer
from rwn_ui.sweep import goal_seek

SO_FAR = Setting(params=rwn.RWN(epsilon=4.0, k=5), slices=(("age", "weight"),))


@dataclass(kw_only=True)
class Searching:
    """What a page sees of a search that goes on until it is cancelled."""

    label: str
    words: str
    about: Any
    so_far: Any = None
    share: float = 0.2
    result: Any = None
    refusal: str = ""
    running: bool = True

    def cancel(self) -> None:
        """End it, as the user's Cancel does."""
        if self.running:
            self.running, self.refusal = False, "Cancelled."


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Searching]:
    """The searches that were begun; none ends by itself."""
    begun: list[Searching] = []

    def job(label: str, work: Any, *, words: str, about: Any = None, **arguments: Any) -> Searching:
        policy, data = arguments["policy"], arguments["microdata"]
        read = {key: Spread(measure=key, values=(0.01,)) for key in policy.measures}
        point = Point(setting=SO_FAR, spreads=read)
        answer = PartialAnswer(point=point, goal=policy, records=data.n, of=data.n)
        begun.append(
            Searching(label=label, words=f"{words}: about 2 min left", about=about, so_far=answer)
        )
        return begun[-1]

    for module in (keep_policy, goal_seek):
        monkeypatch.setattr(module, "Job", job)
    return begun


def infos(screen: Any) -> str:
    return " ".join(each.value for each in (*screen.test.info, *screen.test.caption))


def buttons(screen: Any) -> dict[str, Any]:
    return {button.key: button for button in screen.test.button}


def begun_on_tune(open_page: Any) -> Any:
    screen = open_page("tune")
    screen.test.button(key="tune.0.keep.seek").click().run()
    assert screen.errors == []
    return screen


def test_a_search_says_its_answer_so_far_and_use_this_takes_it(open_page, searches) -> None:
    screen = begun_on_tune(open_page)
    assert "Best so far: ε\N{NO-BREAK SPACE}4 · k\N{NO-BREAK SPACE}5" in infos(screen)
    assert "keeps all 4 limits" in infos(screen)
    screen.test.button(key="tune.0.keep.search.use").click().run()
    assert screen.errors == []
    (search,) = searches
    assert not search.running
    assert screen.session.levers["epsilon"] == 4.0
    assert screen.session.slices == (("age", "weight"),)
    assert "so far" not in infos(screen), "the search is over, and its words are gone"
    assert not buttons(screen)["tune.0.keep.seek"].disabled


def test_cancel_leaves_the_answer_so_far_to_be_used(open_page, searches) -> None:
    screen = begun_on_tune(open_page)
    screen.test.button(key="tune.0.keep.search.cancel").click().run()
    assert "Search: Cancelled." in infos(screen)
    assert "Best so far" in infos(screen)
    screen.test.button(key="tune.0.keep.search.use").click().run()
    assert screen.session.levers["epsilon"] == 4.0


def test_a_search_without_an_answer_yet_has_nothing_to_use(open_page, searches) -> None:
    screen = begun_on_tune(open_page)
    searches[0].so_far = None
    screen.test.run()
    assert "so far" not in infos(screen)
    assert "tune.0.keep.search.use" not in buttons(screen)
    screen.test.button(key="tune.0.keep.search.cancel").click().run()
    assert "tune.0.keep.search.use" not in buttons(screen)


def test_a_second_search_waits_until_the_first_has_ended(
    open_page, searches, sweeps_folder
) -> None:
    screen = begun_on_tune(open_page)
    screen.visit("sweep")
    assert screen.errors == []
    assert buttons(screen)["sweep.0.slices.seek"].disabled
    screen.visit("tune")
    screen.test.button(key="tune.0.keep.search.cancel").click().run()
    screen.visit("sweep")
    screen.test.button(key="sweep.0.slices.seek").click().run()
    assert [each.running for each in searches] == [False, True]
    assert "Best so far" in infos(screen)
    screen.visit("tune")
    assert "Search: Cancelled." in infos(screen), "the first keeps its own answer"


def test_nothing_of_a_search_is_left_on_another_table(open_page, searches) -> None:
    screen = begun_on_tune(open_page)
    screen.visit("data")
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    assert screen.session.name == "pima"
    assert not searches[0].running
    screen.visit("tune")
    assert screen.errors == []
    assert "so far" not in infos(screen)
    assert "Cancelled" not in infos(screen)
    assert "siri" not in infos(screen)


@pytest.mark.parametrize(
    ("values", "running", "words"),
    [
        ({}, True, "Reading now: Attribute gain. No limit is read yet."),
        (
            {"bayes_linkage": (0.123, "at least"), "suda": (3.0, "")},
            True,
            "Reading now: Attribute gain. So far: Linkage, at least 12.3 % (limit 5 %). "
            "1 of 2 limits are open.",
        ),
        (
            {"bayes_linkage": (0.04, ""), "true_matches": (0.02, "")},
            False,
            "So far: Worst-case linkage 4 % (limit 5 %); True matches 2 % (limit 5 %).",
        ),
    ],
)
def test_a_release_that_is_judged_says_what_is_known(values, running, words) -> None:
    limits = (rwn.Limit(measure=key, at_most=0.05) for key in ("bayes_linkage", "true_matches"))
    read = ReadSoFar(values=values, now="attribute_gain")
    assert (
        partial_answer.read_words(rwn.Policy(limits=tuple(limits)), read, running=running) == words
    )


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
