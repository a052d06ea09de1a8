"""Searches and advice: what they say so far, and the setting that keeps the policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.audit import ReadSoFar
from rwn_core.tuning import FoundSetting, Point, SearchAnswer
from rwn_ui.features import advice, limit_queue
from rwn_ui.state.change_table import redescribe
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import view
from rwn_ui.widgets import live_sliders


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
    assert limit_queue.read_words(rwn.Policy(limits=tuple(limits)), read, running=running) == words


START = rwn.Setting(params=rwn.RWN(epsilon=1.5, k=9))
STRONG = rwn.Setting(params=rwn.RWN(epsilon=2.5, k=8), slices=(("a", "c"),))
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
                interval=(1.2, 1.3), share=1.25, loss=0.4,
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
        return recommended, verdict, {"Strong": STRONG}

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
    assert "Suggested" in captions(screen)


def test_a_table_of_ones_own_begins_at_the_recommendation_and_undo_goes_back(own) -> None:
    before = dict(own.session.levers)
    assert own.panel["verdict"]["quick"]["text"].endswith("The answer follows.")
    assert "advice" in own.panel["waits"]
    shown = followed(own)
    assert own.session.levers == {"epsilon": 1.5, "k": 9, "q": 1.0}
    assert "Suggested**: ε" in captions(own).replace("\N{NO-BREAK SPACE}", " ")
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
    own.session.user.work.advice = None
    shown = followed(own)
    assert shown["verdict"]["quick"]["text"] == "No strength keeps this policy."
    assert shown["waits"] == ["start"]
    assert "A suggestion is looked for on all" in captions(own)
    assert own.session.setting == begin
    own.session.user.work.advice.result = whole
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
    assert [(name, "60 %" in text) for name, text in helps().items()] == [("Strong", True)]
    own.edit({"preset": "Strong"})
    assert own.session.setting == STRONG.resolved(own.session.data), "its slices, too"
    assert own.preset == "Strong"
    followed(own)
    assert own.preset == "Strong", "another kind of setting is suggested the same"
    own.move("levers", {"k": 9.0})
    assert own.preset is None


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
    assert "Nearest, not all limits kept" in captions(screen)
    assert "Suggested" not in captions(screen)


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


def test_the_strengths_of_a_suggestion_are_waited_for(own, begun, monkeypatch, finished) -> None:
    whole = advice.find_advice(microdata=own.session.data, setting=START)

    def begins(*_: Any, about: Any, **others: Any) -> Any:
        return finished(label="", about=about, running=True, so_far=(*whole[:2], {}))

    monkeypatch.setattr(advice, "Job", begins)
    own.session.user.work.advice = None
    shown = followed(own)
    assert shown["waits"] == ["presets"]
    assert shown["waiting"]
    own.session.user.work.advice.result, own.session.user.work.advice.running = whole, False
    shown = followed(own)
    assert shown["waits"] == []
    own.edit({"preset": "Strong"})
    assert own.preset == "Strong"
    # a table of which no strength is known waits for none
    monkeypatch.setattr(advice, "Job", lambda *_, about, **others: finished(
        label="", about=about, result=(*whole[:2], {})))  # fmt: skip
    redescribe(own.session, own.session.data.with_schema(own.session.data.schema.replace_variable(
        "a", role=rwn.Role.KEY)), by_grid=False)  # fmt: skip
    assert followed(own)["waits"] == []
