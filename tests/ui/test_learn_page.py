"""The Learn and the Paper page: numbers of the code, links, figures, and a way on to Tune."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from rwn_core.evaluation.figure_curves import CURVES, PAPER_FIGURES
from rwn_ui.learn import choose, intruder, paper, view
from rwn_ui.learn import lesson as parts
from rwn_ui.learn.lessons import LESSONS
from rwn_ui.state.work import Memo

MOVED: dict[str, dict[str, Any]] = {
    "disclosure": {"guess": 6, "q": 1.0, "k": 3, "person": "Carl, the tallest", "answer": True},
    "choose": {"epsilon": 7.0, "accepted": 0.1, "slices": "whole rows"},
    "theorem": {"epsilon": 1.2, "n": 150, "density": "ring", "rows": True},
    "intruder": {"known": 5, "k": 12, "row": 3, "round": "to about 0.5 SD", "together": True},
    "neighborhood": {"epsilon": 0.25, "k": 9, "weight": 0.0, "record": "the outlier"},
    "standard_errors": {"q": 0.5, "k": 8, "samples": 20, "rows": True, "claims": "of the model"},
    "edges": {"kernel": "hard", "reach": 0.6, "together": True, "shown": "how often each gives"},
    "ties": {
        "way": "chained",
        "width": 6.0,
        "cut": choose.CUTS[1],
        "accepted": 0.2,
        "limits": "linkage and true matches",
    },
    "sampling": {"fraction": 0.1, "keys": 7, "change": 0.45},
}


_KEPT: dict[str, Memo] = {}


def kept(name: str, size: int) -> Memo:
    """What the lessons of a user have computed."""
    return _KEPT.setdefault(name, Memo(size))


def numbers_of_the_code(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)  # what a student would paste
    return names


@pytest.mark.parametrize("key", LESSONS)
def test_the_code_gives_the_numbers_on_screen(key: str) -> None:
    lesson = LESSONS[key]
    start = {control.name: control.start for control in lesson.controls}
    assert MOVED[key].keys() <= start.keys()
    seen = []
    for values in (start, start | MOVED[key]):
        text, shown = lesson.code(values), lesson.show(values, kept)
        found = numbers_of_the_code(text)
        for name, number in shown.numbers.items():
            assert float(found[name]) == pytest.approx(number, rel=1e-9), name
        body = [line for line in text.splitlines() if line and "import" not in line]
        assert len(body) <= (5 if values is start else 6)
        assert max(map(len, text.splitlines())) <= 100
        seen.append(dict(shown.numbers))
        assert ("rounded" in text) == ("SD" in values.get("round", "as they are"))
    assert seen[0] != seen[1]


def test_every_lesson_opens_and_only_it_is_computed(open_page, monkeypatch) -> None:
    asked: list[str] = []

    def noted(lesson: parts.Lesson) -> parts.Lesson:
        def show(values: parts.Values, kept: parts.Kept) -> parts.Shown:
            asked.append(lesson.key)
            return lesson.show(values, kept)

        return replace(lesson, show=show)

    monkeypatch.setattr(
        view, "LESSONS", MappingProxyType({k: noted(each) for k, each in LESSONS.items()})
    )
    screen = open_page("learn")
    for key in LESSONS:
        asked.clear()
        screen.test.radio(key="learn.lesson").set_value(key).run()
        assert (screen.errors, asked) == ([], [key])
        payload = screen.results.last[view.PICTURE]
        assert len(payload["tiles"]) == 3
        assert json.loads(payload["cards"][0])["key"] == f"lesson_{key}"
        texts = " ".join(each.value for each in screen.test.markdown)
        assert all(sentence in texts for sentence in LESSONS[key].sentences)
        assert [each.label for each in screen.test.expander][:2] == ["Answer", "The code"]
        assert screen.test.code[0].value == LESSONS[key].code(screen.session.lessons[key])


def test_sliders_move_the_numbers_and_stay_after_a_visit_elsewhere(open_page) -> None:
    screen = open_page("learn", lesson="theorem")
    before = screen.results.last[view.PICTURE]
    screen.test.slider(key="learn.theorem.epsilon").set_value(2.0).run()
    after = screen.results.last[view.PICTURE]
    assert after["summary"]["text"] == "normal · n = 300 · ε = 2"
    assert after["tiles"] != before["tiles"]
    assert after["cards"] != before["cards"]
    screen.visit("risk").visit("learn")
    assert screen.test.slider(key="learn.theorem.epsilon").value == 2.0
    assert screen.results.last[view.PICTURE]["tiles"] == after["tiles"]


TO_TUNE = ("choose", "intruder", "neighborhood", "edges")
"""Lessons with slices, rounding, weights and a kernel, which Tune takes over by the day."""


@pytest.mark.parametrize("key", TO_TUNE)
def test_it_goes_on_at_tune_with_the_lesson_s_table_and_setting(open_page, key: str) -> None:
    screen = open_page("learn", demo="bodyfat_raw")
    screen.test.radio(key="learn.lesson").set_value(key).run()
    lesson = LESSONS[key]
    for name, value in MOVED[key].items():
        screen.session.lessons[key][name] = screen.test.session_state[f"learn.{key}.{name}"] = value
    wanted = lesson.on_tune(view.control_values(screen.session, lesson))
    screen.test.button(key=f"learn.{key}.tune").click().run()
    assert screen.errors == []
    session = screen.session
    assert (session.name, session.demo) == (lesson.demo, lesson.demo)
    assert session.params == wanted.params
    assert dict(wanted.weights).items() <= dict(session.setting.weights).items()
    assert session.slices == (wanted.slices or ())
    assert screen.panel is not None  # the Tune page has drawn it


def test_a_lesson_that_fails_says_so_and_shows_no_other_picture(open_page, monkeypatch) -> None:
    def broken(values: parts.Values) -> parts.Shown:
        raise ValueError("a value")

    lesson = replace(LESSONS["sampling"], show=broken)
    monkeypatch.setattr(view, "LESSONS", MappingProxyType({**LESSONS, "sampling": lesson}))
    drawn: list[str] = []
    monkeypatch.setattr(view, "panel", lambda payload, **_: drawn.append(payload["lesson"]))
    screen = open_page("learn")
    assert drawn == ["disclosure"]
    screen.test.radio(key="learn.lesson").set_value("sampling").run()
    assert drawn == ["disclosure"]
    (sentence,) = screen.errors
    assert "a value" not in sentence


def test_one_row_alone_is_the_person_s_own() -> None:
    lesson = LESSONS["disclosure"]
    start = {control.name: control.start for control in lesson.controls} | {"answer": True}
    told = [lesson.show(start | {"guess": row}, kept).tiles[0]["released"] for row in range(1, 25)]
    assert [words.partition(",")[0] for words in told].count("right row") == 1
    assert "right row, income learned" in told


def test_an_address_gives_every_position_back() -> None:
    for key, lesson in LESSONS.items():
        start = {control.name: control.start for control in lesson.controls}
        assert view.write_link(lesson, start) == {}
        asked = view.write_link(lesson, start | MOVED[key])
        assert len(asked) == len(MOVED[key])
        found, refused = view.read_link(lesson, asked)
        assert (found, refused) == (MOVED[key], [])
        assert [type(found[name]) for name in found] == [type(start[name]) for name in found]


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-1", "1e999", "2.5", "<b>"])
def test_a_wrong_position_of_an_address_is_refused_in_one_sentence(text: str) -> None:
    names = ("epsilon", "density", "rows")
    asked = {f"lesson-{name}": text for name in names} | {"lesson-epsilon": text or "x"}
    if text == "2.5":
        asked["lesson-epsilon"] = "3.2"
    found, refused = view.read_link(LESSONS["theorem"], asked)
    assert found == {}
    assert [sentence.partition(" ")[0] for sentence in refused] == list(names)
    assert "epsilon of the link must be a number from 0.05 to 3;" in refused[0]
    assert all("<b>" not in sentence for sentence in refused)


def test_a_link_opens_its_lesson_at_its_positions_and_next_leads_on(open_page) -> None:
    assert open_page("learn", lesson="gone").session.lesson == "disclosure"
    screen = open_page("learn", lesson="intruder", **{"lesson-k": "12", "lesson-row": "41"})
    start = {control.name: control.start for control in intruder.LESSON.controls}
    assert screen.session.lessons["intruder"] == {**start, "k": 12}
    assert screen.test.slider(key="learn.intruder.k").value == 12
    assert ["row of the link" in each.value for each in screen.test.toast] == [True]
    following = screen.test.button(key="learn.Next")
    assert following.label == f"Next: {LESSONS['neighborhood'].title}"
    following.click().run()
    assert screen.session.lesson == "neighborhood"
    screen.test.button(key="learn.Previous").click().run()
    assert screen.test.slider(key="learn.intruder.k").value == 12


def test_the_lesson_on_choosing_shows_the_verdict_of_tune(open_page) -> None:
    screen = open_page("learn", lesson="choose", **{"lesson-epsilon": "3.0"})
    screen.test.selectbox(key="learn.choose.slices").set_value(choose.SLICES[2]).run()
    policy, *_ = screen.results.last[view.PICTURE]["tiles"]
    screen.test.button(key="learn.choose.tune").click().run()
    assert screen.panel["verdict"]["text"] == policy["released"]


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the page gave its panel, the last one at the end."""
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(paper, "panel", lambda payload, **_: drawn.append(payload))
    monkeypatch.setattr(paper, "LIVE_SECONDS", 0.0)  # one release at each position
    monkeypatch.setattr(paper, "REST_SECONDS", 0.0)
    return drawn


def cards(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [json.loads(card) for card in panels[-1]["cards"]]


def test_each_figure_is_drawn_by_its_number_with_its_caption(open_page, panels) -> None:
    screen = open_page("paper")
    for number, figure in PAPER_FIGURES.items():
        panels.clear()
        screen.test.radio(key="paper.figure").set_value(number).run()
        assert screen.errors == []
        (heading,) = screen.test.subheader
        assert heading.value.startswith(f"Figure {number} · {figure.title}")
        assert heading.value.endswith(" over radius ε" if number in CURVES else figure.title)
        written = [each.value for each in screen.test.markdown]
        assert figure.sees in written
        assert any(figure.paper in each and "In the paper" in each for each in written)
        keys = {card["key"] for card in cards(panels)}
        wanted = {"figure_boxes" if number == 8 else "figure_curves"}
        assert keys == (wanted if number in CURVES else {figure.measure})
        if number in (4, 5):  # a curve of seven points hides where it bends
            assert all(len(line["x"]) >= 25 for line in cards(panels)[0]["data"] if line.get("x"))
    assert [figure.sees for figure in PAPER_FIGURES.values() if len(figure.sees.split()) > 50] == []


def test_figure_1_is_drawn_at_the_paper_s_radii_and_says_why_it_is_not(open_page, panels) -> None:
    open_page("paper", figure="1")
    assert [card["title"].rpartition(", ")[2] for card in cards(panels)] == [
        f"ε = {radius}" for radius in (1, 2, 3, 4)
    ]
    panels.clear()
    screen = open_page("paper", figure="1", method="additive_noise")
    assert (screen.errors, panels) == ([], [])
    assert "neighbor" in screen.words("info")


def test_a_link_opens_its_figure_and_lever_and_a_wrong_one_says_so(open_page, panels) -> None:
    screen = open_page("paper", figure="4", over="k")
    assert screen.test.subheader[0].value.endswith("over minimum neighbors k")
    assert "k from 1 to 100" in panels[-1]["stamp"]
    screen = open_page("paper", figure="10")
    wrong = "figure of the link must be a number from 1 to 9."
    assert [each.value for each in screen.test.toast] == [wrong]
    assert screen.session.figure == 4
    assert open_page("paper", method="rank_swapping").errors == []
    assert "P from " in panels[-1]["stamp"]
    # a position without a regression is left out with the reason
    screen = open_page("paper", method="nbrs2015")
    said = [each.value for each in screen.test.caption if each.value.startswith("No value at ε")]
    assert said[0].startswith("No value at ε = 0.1: The regression has 0 records")
    assert min(cards(panels)[0]["data"][0]["x"]) > 0.1


def test_other_sliders_draw_anew_and_the_curves_own_lever_does_not(open_page, panels) -> None:
    screen = open_page("paper")
    before = panels[-1]["stamp"]
    assert not [each for each in screen.test.slider if each.label.startswith("Radius")]
    screen.session.move(epsilon=5.0)
    screen.test.run()
    assert panels[-1]["stamp"] == before
    screen.test.slider(key="paper.0.k").set_value(9).run()
    assert panels[-1]["stamp"] != before
    assert "k = 9" in panels[-1]["stamp"]


def test_many_releases_are_drawn_in_the_background_and_stay(
    open_page, panels, at_once, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "Job", at_once)
    screen = open_page("paper", figure="9")
    screen.test.number_input(key="paper.releases").set_value(25)
    screen.test.button(key="paper.draw").click().run()
    assert screen.errors == []
    assert "25 releases at each position" in panels[-1]["stamp"]
    assert "pale: 9 of 10" in panels[-1]["stamp"]
    screen.test.radio(key="paper.figure").set_value(7).run()
    assert "1 release at each position" in panels[-1]["stamp"]
    screen.test.radio(key="paper.figure").set_value(9).run()
    assert "25 releases at each position" in panels[-1]["stamp"]


def test_a_first_picture_in_a_moment_is_followed_by_the_band(open_page, panels, monkeypatch):
    monkeypatch.setattr(paper, "REST_SECONDS", 60.0)
    open_page("paper", figure="7")
    counts = [each["stamp"].partition("q = 1 · ")[2].split()[0] for each in panels]
    assert counts == ["1", "20"]
    assert "pale: 9 of 10" in cards(panels)[0]["note"]
