"""Searches and advice: what they say so far, and the setting that keeps the policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.read_so_far import ReadSoFar
from rwn_core.tuning import FoundSetting, Point, SearchAnswer, Spread
from rwn_ui.features import advice, keep_policy, partial_answer
from rwn_ui.state.change_table import redescribe
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.sweep import goal_seek
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders

SO_FAR = rwn.Setting(params=rwn.RWN(epsilon=4.0, k=5), slices=(("age", "weight"),))


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
        policy = arguments["policy"]
        read = {  # within each limit; one of them allows nobody
            each.measure: Spread(measure=each.measure, values=(min(0.01, each.at_most),))
            for each in policy.limits
        }
        point = Point(setting=SO_FAR, spreads=read)
        answer = SearchAnswer.of_point(policy, point, so_far=True)
        begun.append(
            Searching(label=label, words=f"{words}: about 2 min left", about=about, so_far=answer)
        )
        return begun[-1]

    for module in (keep_policy, goal_seek):
        monkeypatch.setattr(module, "Job", job)
    return begun


def buttons(screen: Any) -> dict[str, Any]:
    return {button.key: button for button in screen.test.button}


def begun_on_tune(open_page: Any) -> Any:
    screen = open_page("tune")
    screen.test.button(key="tune.0.keep.seek").click().run()
    assert screen.errors == []
    return screen


def test_a_search_says_its_answer_so_far_which_may_be_used_before_and_after_cancel(
    open_page, searches
) -> None:
    screen, use = begun_on_tune(open_page), "tune.0.keep.search.use"
    found, searches[0].so_far = searches[0].so_far, None
    screen.test.run()
    assert "so far" not in screen.words("info", "caption")
    assert use not in buttons(screen), "without an answer there is nothing to use"
    searches[0].so_far = found
    screen.test.run()
    said = screen.words("info", "caption")
    assert "Best so far: ε\N{NO-BREAK SPACE}4 · k\N{NO-BREAK SPACE}5" in said
    assert "keeps all 4 limits" in said
    screen.test.button(key=use).click().run()
    assert screen.errors == []
    assert not searches[0].running
    assert screen.session.levers["epsilon"] == 4.0
    assert screen.session.slices == (("age", "weight"),)
    assert "so far" not in screen.words("info", "caption"), "the search is over"
    screen.slider("epsilon").set_value(2.0).run()
    buttons(screen)["tune.0.keep.seek"].click().run()
    screen.test.button(key="tune.0.keep.search.cancel").click().run()
    said = screen.words("info", "caption")
    assert "Search: Cancelled." in said
    assert "Best so far" in said
    screen.test.button(key=use).click().run()
    assert screen.session.levers["epsilon"] == 4.0


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
    assert "Best so far" in screen.words("info", "caption")
    screen.visit("tune")
    assert "Search: Cancelled." in screen.words("info", "caption"), "the first keeps its own answer"


def test_nothing_of_a_search_is_left_on_another_table(open_page, searches) -> None:
    screen = begun_on_tune(open_page)
    screen.visit("data")
    screen.test.selectbox(key="data.demo").set_value("pima").run()
    assert screen.session.name == "pima"
    assert not searches[0].running
    screen.visit("tune")
    assert screen.errors == []
    assert "so far" not in screen.words("info", "caption")
    assert "Cancelled" not in screen.words("info", "caption")
    assert "siri" not in screen.words("info", "caption")


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


searched: list[rwn.SliceRanges] = []


@pytest.fixture
def press(open_page, at_once, monkeypatch: pytest.MonkeyPatch):
    """A function that opens Tune and presses the button, which gets a made-up answer."""
    searched.clear()

    def pressed(*, reached: bool) -> Any:
        def answered(**asked: Any) -> SearchAnswer:
            assert asked["policy"] == screen.session.policy
            assert asked["setting"] == screen.session.setting
            searched.append(asked["ranges"])
            point = Point(setting=SO_FAR, spreads={}, seconds=0.0)
            return SearchAnswer.of_point(asked["policy"], point, reached=reached, tried=7)

        monkeypatch.setattr(keep_policy, "seek_slices", answered)
        monkeypatch.setattr(keep_policy, "Job", at_once)
        screen = open_page("tune")
        screen.test.button(key="tune.0.keep.seek").click().run()
        assert screen.errors == []
        return screen

    return pressed


def test_the_sliders_go_to_a_setting_that_keeps_the_policy_once(press) -> None:
    screen = press(reached=True)
    assert screen.session.setting == SO_FAR.resolved(screen.session.data)
    assert screen.slider("epsilon").value == 4.0
    assert screen.test.success[0].value.startswith("This keeps the policy: ")
    screen.slider("epsilon").set_value(2.0).run()  # the user's move stays
    assert screen.session.levers["epsilon"] == 2.0
    screen.visit("risk").visit("tune")
    assert screen.session.levers["epsilon"] == 2.0


def test_where_none_keeps_it_the_nearest_is_offered_and_a_further_search_once(press) -> None:
    screen = press(reached=False)
    assert screen.session.levers["epsilon"] != 4.0
    assert "None of 7 keeps all limits" in screen.test.warning[0].value
    screen.test.button(key="tune.0.keep.further").click().run()
    assert screen.errors == []
    kinds = [(each.weights, each.kernels) for each in searched]
    assert kinds == [(False, False), (True, True)]
    keys = buttons(screen).keys()
    assert "tune.0.keep.further" not in keys, "nothing further is left to search"
    assert {"tune.0.keep.seek", "tune.0.keep.nearest"} <= keys
    screen.test.button(key="tune.0.keep.nearest").click().run()
    assert screen.session.levers["epsilon"] == 4.0


START = rwn.Setting(params=rwn.RWN(epsilon=1.5, k=9))
LATER = rwn.Setting(params=rwn.RWN(epsilon=1.0, k=6))
OTHER = rwn.Setting(params=rwn.CorrelatedNoise(size=0.5))


def table() -> rwn.Microdata:
    random = np.random.default_rng(1)
    values = random.normal(size=(60, 3)).round(2)
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abc")))


def found(setting: rwn.Setting, **more: Any) -> FoundSetting:
    return FoundSetting(point=Point(setting=setting, spreads={}), **more)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, at_once: Any) -> list[rwn.Setting]:
    """Which settings were asked about; the answers are planted."""
    asked: list[rwn.Setting] = []

    def find(*, microdata: rwn.Microdata, setting: rwn.Setting, **_: Any) -> Any:
        asked.append(setting)
        schema = microdata.schema
        fewer = tuple(
            replace(v, role=rwn.Role.IDENTIFIER) if v.name == "b" else v for v in schema.variables
        )
        steps = (
            found(OTHER, title="Try noise"),
            found(
                setting, title="Leave b out", schema=replace(schema, variables=fewer),
                ends=(1.2, 1.3), share=1.25, loss=0.4,
            ),
        )  # fmt: skip
        keyed = any(v.role is rwn.Role.KEY for v in schema.variables)
        recommended = SearchAnswer(
            goal=rwn.Policy(), settings=(found(LATER if keyed else START), found(OTHER)),
            reason="3 numbers.", unfit={"pram": "None."}, reached=microdata.n != 50,
        )  # fmt: skip
        verdict = SearchAnswer(
            goal=rwn.Policy(), refused=True, reason="No strength keeps this policy.",
            next_steps=steps, caution="None of these keeps the policy.",
        )  # fmt: skip
        return recommended, verdict, {"Strong": {"epsilon": 2.5, "k": 8, "q": 1.0}}

    monkeypatch.setattr(advice, "find_advice", find)
    monkeypatch.setattr(advice, "Job", at_once)
    return asked


@pytest.fixture
def own(open_page: Any, begun: list[rwn.Setting]) -> Any:
    """A page with a table of one's own."""
    screen = open_page("data")
    screen.upload("own.csv", table().frame.to_csv(index=False).encode())
    screen.visit("tune")
    assert screen.session.demo is None
    assert screen.errors == []
    return screen


def followed(screen: Any) -> dict[str, Any]:
    """The picture after the browser has waited."""
    session: Session = screen.session
    for _ in range(2):  # it is begun, and its result is taken
        advice.follow(session)
    view.render(session, current_release(session))
    screen.test.run()
    assert screen.errors == []
    shown: dict[str, Any] = screen.panel
    return shown


def captions(screen: Any) -> str:
    return " ".join(each.value for each in screen.test.sidebar.caption)


def test_a_demo_begins_as_in_its_lessons_and_is_advised_on_request(open_page, begun) -> None:
    screen = open_page("tune")
    assert screen.panel["verdict"]["quick"] is None
    advice.follow(screen.session)
    assert begun == []
    levers = dict(screen.session.levers)
    screen.test.button(key="tune.0.advice.ask").click().run()
    assert screen.panel["waiting"]
    shown = followed(screen)
    assert shown["verdict"]["quick"]["text"] == "No strength keeps this policy."
    assert screen.session.levers == levers, "it is offered, not taken"
    assert "Recommended start" in captions(screen)


def test_a_table_of_ones_own_begins_at_the_recommendation_and_undo_goes_back(own) -> None:
    before = dict(own.session.levers)
    assert own.panel["verdict"]["quick"]["text"].endswith("The answer follows.")
    assert "advice" in own.panel["waits"]
    shown = followed(own)
    assert own.session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert "Recommended start**: ε" in captions(own).replace("\N{NO-BREAK SPACE}", " ")
    assert "advice" not in shown["waits"]
    own.edit({"undo": True})
    assert own.session.levers == before
    followed(own)
    assert own.session.levers == before, "taken once"


def test_the_verdict_is_shown_before_the_start(own, begun, monkeypatch, finished) -> None:
    """A start is tried on all records, which takes longer than a verdict."""
    whole = advice.find_advice(microdata=own.session.data, setting=START)
    begin = own.session.setting

    def begins(*_: Any, about: Any, **others: Any) -> Any:
        assert others["known"] is None
        return finished(label="", about=about, running=True, so_far=(None, *whole[1:]))

    monkeypatch.setattr(advice, "Job", begins)
    advice.user_work().advice = None
    shown = followed(own)
    assert shown["verdict"]["quick"]["text"] == "No strength keeps this policy."
    assert shown["waits"] == ["start"]
    assert "A recommended start follows." in captions(own)
    assert own.session.setting == begin
    advice.user_work().advice.result = whole
    shown = followed(own)
    assert "start" not in shown["waits"]
    assert own.session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}


def as_key(screen: Any) -> None:
    data = screen.session.data
    schema = data.schema.replace_variable("a", role=rwn.Role.KEY)
    redescribe(screen.session, data.with_schema(schema), by_grid=False)


def test_another_answer_on_the_data_page_gives_another_start_until_something_is_moved(own) -> None:
    followed(own)
    as_key(own)
    followed(own)
    assert own.session.levers == {"epsilon": 1.0, "k": 6, "q": 1.0}


def test_a_preset_is_a_distance_from_the_policy_where_one_is_known(own) -> None:
    def helps() -> dict[str, str]:
        parts = live_sliders.controls(own.session, prepared(own.session))["levers"]["presets"]
        return {each["name"]: each["help"] for each in parts}

    assert all("fixed start" in text for text in helps().values())
    followed(own)
    assert "60 %" in helps()["Strong"]
    assert "fixed start" in helps()["Light"]
    own.edit({"preset": "Strong"})
    assert own.session.levers == {"epsilon": 2.5, "k": 8, "q": 1.0}


def test_a_setting_that_was_moved_meanwhile_stays(own) -> None:
    own.move("levers", {"k": 7.0})
    followed(own)
    assert own.session.levers["k"] == 7


def test_a_start_that_keeps_no_policy_is_offered_only(open_page, begun) -> None:
    screen = open_page("data")
    screen.upload("own.csv", table().frame[:50].to_csv(index=False).encode())
    screen.visit("tune")
    before = dict(screen.session.levers)
    followed(screen)
    assert screen.session.levers == before
    assert "Nearest start, not all limits kept" in captions(screen)
    assert "Recommended" not in captions(screen)


def test_a_next_step_is_a_setting_or_another_description(own) -> None:
    followed(own)
    quick = own.panel["verdict"]["quick"]
    titles = [step["title"] for step in quick["steps"]]
    assert quick["caution"]
    assert [title.replace("\N{NO-BREAK SPACE}", " ") for title in titles] == [
        "Try noise",
        "Leave b out: 1.3 times a limit, 40 % of the relations lost",
    ]
    for nothing in ("advice:9", "advice:", "advice:x", "regression:{}"):
        advice.take(own.session, nothing)
    assert own.session.method == "rwn"
    advice.take(own.session, "advice:1")
    assert [v.name for v in own.session.data.schema.released] == ["a", "c"]


def test_another_kind_of_setting_is_another_question_and_a_strength_is_none(own, begun) -> None:
    followed(own)
    assert len(begun) == 1
    own.move("levers", {"k": 12.0})
    followed(own)
    assert len(begun) == 1
    advice.take(own.session, "advice:0")
    assert own.session.method == "correlated_noise"
    followed(own)
    assert [each.method for each in begun] == ["rwn", "correlated_noise"]
