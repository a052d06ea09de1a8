"""The Learn and the Paper page: numbers of the code, links, figures, and a way on to Tune.

What a lesson says is what its own tiles show at the positions that the sentence names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.evaluation.figure_curves import CURVES, PAPER_FIGURES
from rwn_ui.learn import choose, intruder, paper, view
from rwn_ui.learn import lesson as parts
from rwn_ui.learn.lessons import LESSONS
from rwn_ui.state import kept_picture
from rwn_ui.state.change_table import set_setting
from rwn_ui.state.work import Memo
from tests.waiting import HANG_S

MOVED: dict[str, dict[str, Any]] = {
    "disclosure": {"guess": 6, "q": 1.0, "k": 3, "person": "Carl, the tallest", "answer": True},
    "choose": {"epsilon": 7.0, "accepted": 0.1, "slices": "whole rows"},
    "theorem": {"epsilon": 1.2, "n": 150, "density": "ring", "rows": True},
    "intruder": {"known": 5, "k": 12, "row": 3, "round": "to about 0.5 SD", "together": True},
    "neighborhood": {"epsilon": 0.25, "k": 9, "weight": 0.0, "record": "the outlier"},
    "standard_errors": {"q": 0.5, "k": 8, "samples": 20, "rows": True},
    "edges": {"kernel": "hard", "reach": 0.6, "together": True, "shown": "how often each gives"},
    "ties": {
        "way": "by prediction",
        "width": 6.0,
        "cut": choose.CUTS[1],
        "accepted": 0.2,
        "limits": "linkage and true matches",
    },
    "sampling": {"fraction": 0.1, "keys": 7, "change": 0.45},
}
_KEPT: dict[str, Memo] = {}


def kept(name: str, size: int) -> Memo:
    return _KEPT.setdefault(name, Memo(size))


def starts(lesson: parts.Lesson) -> dict[str, Any]:
    return {control.name: control.start for control in lesson.controls}


@pytest.mark.parametrize("key", LESSONS)
def test_the_code_gives_the_numbers_on_screen(key: str) -> None:
    lesson = LESSONS[key]
    start = starts(lesson)
    assert MOVED[key].keys() <= start.keys()
    seen = []
    for values in (start, start | MOVED[key]):
        text = lesson.code(values)
        shown = lesson.show(values, kept)
        found: dict[str, Any] = {}
        exec(text, found)  # what a student would paste
        for name, number in shown.numbers.items():
            assert float(found[name]) == pytest.approx(number, rel=1e-9), name
        body = [line for line in text.splitlines() if line and "import" not in line]
        assert len(body) <= (5 if values is start else 6)
        assert max(map(len, text.splitlines())) <= 100
        seen.append(dict(shown.numbers))
        assert ("rounded" in text) == ("SD" in values.get("round", "not rounded"))
    assert seen[0] != seen[1]


def test_every_lesson_opens_and_only_it_is_computed(open_page, monkeypatch) -> None:
    asked: list[str] = []

    def noted(lesson: parts.Lesson) -> parts.Lesson:
        def show(values: parts.Values, kept: parts.Kept) -> parts.Shown:
            asked.append(lesson.key)
            return lesson.show(values, kept)

        return replace(lesson, show=show)

    watched = {key: noted(each) for key, each in LESSONS.items()}
    monkeypatch.setattr(view, "LESSONS", MappingProxyType(watched))
    screen = open_page("learn")
    for key in LESSONS:
        asked.clear()
        screen.test.radio(key="learn.lesson").set_value(key).run()
        assert (screen.errors, asked) == ([], [key])
        payload = screen.results.pictures[view.PICTURE].payload
        assert len(payload["tiles"]) == 3
        assert json.loads(payload["cards"][0])["key"] == f"lesson_{key}"
        texts = screen.words("markdown")
        written = [each.replace(" %", "\N{NO-BREAK SPACE}%") for each in LESSONS[key].sentences]
        assert all(sentence in texts for sentence in written)
        assert [each.label for each in screen.test.expander][:2] == ["Answer", "The code"]
        assert screen.test.code[0].value == LESSONS[key].code(screen.session.lessons[key])
    # one that fails says so, and shows no other picture

    def broken(*_: object) -> parts.Shown:
        raise ValueError("a value")

    lesson = replace(LESSONS["sampling"], show=broken)
    monkeypatch.setattr(view, "LESSONS", MappingProxyType({**watched, "sampling": lesson}))
    screen.test.radio(key="learn.lesson").set_value("theorem").run()
    drawn: list[object] = []
    monkeypatch.setattr(kept_picture, "panel", lambda *given, **_: drawn.append(given))
    screen.test.radio(key="learn.lesson").set_value("sampling").run()
    assert drawn == []
    (sentence,) = screen.errors
    assert "a value" not in sentence


TO_TUNE = ("choose", "intruder", "neighborhood", "edges")
"""Lessons with slices, rounding, weights and a kernel, which Tune takes over by the day."""


def test_it_goes_on_at_tune_with_the_lesson_s_table_and_setting(open_page) -> None:
    screen = open_page("learn", demo="bodyfat_raw")
    session = screen.session
    for key in TO_TUNE:
        screen.test.radio(key="learn.lesson").set_value(key).run()
        lesson = LESSONS[key]
        for name, value in MOVED[key].items():
            session.lessons[key][name] = screen.test.session_state[f"learn.{key}.{name}"] = value
        wanted = lesson.on_tune(view.control_values(session, lesson))
        screen.test.button(key=f"learn.{key}.tune").click().run()
        assert screen.errors == []
        assert (session.name, session.demo) == (lesson.demo, lesson.demo)
        assert session.params == wanted.params
        assert dict(wanted.weights).items() <= dict(session.setting.weights).items()
        assert session.slices == (wanted.slices or ())
        assert screen.panel is not None  # the Tune page has drawn it
        screen.visit("learn")
    # the lesson on choosing shows the verdict of Tune
    screen.test.radio(key="learn.lesson").set_value("choose").run()
    screen.test.slider(key="learn.choose.epsilon").set_value(3.0).run()
    screen.test.selectbox(key="learn.choose.slices").set_value(choose.SLICES[2]).run()
    policy, *_ = screen.results.pictures[view.PICTURE].payload["tiles"]
    screen.test.button(key="learn.choose.tune").click().run()
    verdict, _, left = screen.panel["verdict"]["text"].partition(". Left: ")
    assert (verdict, bool(left)) == (policy["released"], True)


def test_one_row_alone_is_the_person_s_own() -> None:
    lesson = LESSONS["disclosure"]
    start = starts(lesson) | {"answer": True}
    told = [lesson.show(start | {"guess": row}, kept).tiles[0]["released"] for row in range(1, 25)]
    assert [words.partition(",")[0] for words in told].count("right row") == 1
    assert "right row, income learned" in told


@pytest.mark.parametrize("key", LESSONS)
def test_an_address_gives_every_position_back(key: str) -> None:
    lesson = LESSONS[key]
    start = starts(lesson)
    assert view.write_link(lesson, start) == {}
    asked = view.write_link(lesson, start | MOVED[key])
    assert len(asked) == len(MOVED[key])
    found, refused = view.read_link(lesson, asked)
    assert (found, refused) == (MOVED[key], [])
    assert [type(found[name]) for name in found] == [type(start[name]) for name in found]


@pytest.mark.parametrize("text", ["x", "nan", "inf", "-1", "1e999", "3.2", "<b>"])
def test_a_wrong_position_of_an_address_is_refused_in_one_sentence(text: str) -> None:
    names = ("epsilon", "density", "rows")
    asked = {f"lesson-{name}": text for name in names}
    found, refused = view.read_link(LESSONS["theorem"], asked)
    assert found == {}
    assert [sentence.partition(" ")[0] for sentence in refused] == list(names)
    assert "epsilon of the link must be a number from 0.05 to 3;" in refused[0]
    assert all("<b>" not in sentence for sentence in refused)


def test_a_link_opens_its_lesson_at_its_positions_and_next_leads_on(open_page) -> None:
    assert open_page("learn", lesson="gone").session.lesson == "disclosure"
    screen = open_page("learn", lesson="intruder", **{"lesson-k": "12", "lesson-row": "41"})
    assert screen.session.lessons["intruder"] == {**starts(intruder.LESSON), "k": 12}
    slider = screen.test.slider(key="learn.intruder.k")
    assert slider.value == 12
    assert ["row of the link" in each.value for each in screen.test.toast] == [True]
    before = screen.results.pictures[view.PICTURE].payload
    slider.set_value(15).run()
    after = screen.results.pictures[view.PICTURE].payload
    assert "k = 15" in after["summary"]["text"]
    assert after["tiles"] != before["tiles"]
    assert after["cards"] != before["cards"]
    following = screen.test.button(key="learn.Next")
    assert following.label == f"Next: {LESSONS['neighborhood'].title}"
    following.click().run()
    assert screen.session.lesson == "neighborhood"
    screen.visit("risk").visit("learn")  # positions stay after a visit elsewhere
    screen.test.button(key="learn.Previous").click().run()
    assert screen.test.slider(key="learn.intruder.k").value == 15
    assert screen.results.pictures[view.PICTURE].payload["tiles"] == after["tiles"]


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(kept_picture, "panel", lambda payload, **_: drawn.append(payload))
    monkeypatch.setattr(paper, "LIVE_SECONDS", 0.0)  # one release at each position
    monkeypatch.setattr(paper, "REST_SECONDS", 0.0)
    return drawn


def cards(panels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [json.loads(card) for card in panels[-1]["cards"]]


def holds_caption(screen, number: int, figure) -> None:
    """Hold that the page has the figure's heading, and what is seen here and in the paper."""
    (heading,) = screen.test.subheader
    assert heading.value.startswith(f"Figure {number} · {figure.title}")
    assert heading.value.endswith(" over radius ε" if number in CURVES else figure.title)
    written = [each.value for each in screen.test.markdown]
    assert figure.sees in written
    assert any(figure.paper in each and "In the paper" in each for each in written)


def charts_of(number: int, figure) -> set[str]:
    """Return the keys of the charts that a figure is drawn by."""
    if number not in CURVES:
        return {figure.measure}
    return {"figure_boxes" if number == 8 else "figure_curves"}


def test_each_figure_is_drawn_by_its_number_with_its_caption(open_page, panels) -> None:
    screen = open_page("paper")
    drawn = {}
    for number, figure in PAPER_FIGURES.items():
        panels.clear()
        screen.test.radio(key="paper.figure").set_value(number).run()
        assert screen.errors == []
        holds_caption(screen, number, figure)
        drawn[number] = cards(panels)
        assert {card["key"] for card in drawn[number]} == charts_of(number, figure)
    radii = [card["title"].rpartition(", ")[2] for card in drawn[1]]
    assert radii == ["ε = 1", "ε = 2", "ε = 3", "ε = 4"]
    for number in (4, 5):  # a curve of seven points hides where it bends
        lines = [line for line in drawn[number][0]["data"] if line.get("x")]
        assert all(len(line["x"]) >= 25 for line in lines)


def test_what_is_seen_in_a_figure_is_said_in_fifty_words() -> None:
    assert [figure.sees for figure in PAPER_FIGURES.values() if len(figure.sees.split()) > 50] == []


def test_other_sliders_draw_a_figure_anew_and_the_curve_s_own_lever_does_not(
    open_page, panels
) -> None:
    screen = open_page("paper")
    screen.test.radio(key="paper.figure").set_value(4).run()
    before = panels[-1]["stamp"]
    assert not [each for each in screen.test.slider if each.label.startswith("Radius")]
    screen.session.move(epsilon=5.0)
    screen.test.run()
    assert panels[-1]["stamp"] == before
    screen.test.slider(key="paper.-1.k").set_value(9).run()
    assert panels[-1]["stamp"] != before
    assert "k = 9" in panels[-1]["stamp"]


def test_the_page_opens_on_the_papers_method_whatever_tune_has(open_page, panels) -> None:
    screen = open_page("tune")
    set_setting(screen.session, rwn.Setting(params=rwn.SoftRWN(width=2.0), slices=()))
    before = screen.session.setting
    screen.visit("paper")
    assert "bodyfat · RWN, the 2022 method · ε from 0 to 6" in panels[-1]["stamp"]
    assert "k = 5 · q = 1" in panels[-1]["stamp"]
    screen.test.radio(key="paper.whose").set_value(paper.YOURS).run()
    assert "Soft RWN" in panels[-1]["stamp"]
    assert screen.session.setting == before


def test_a_link_opens_its_figure_and_lever_and_a_wrong_one_says_so(open_page, panels) -> None:
    screen = open_page("paper", figure="4", over="k")
    assert screen.test.subheader[0].value.endswith("over minimum neighbors k")
    assert "k from 1 to 100" in panels[-1]["stamp"]
    screen = open_page("paper", figure="10", method="rank_swapping")
    wrong = "figure of the link must be a number from 1 to 9."
    assert [each.value for each in screen.test.toast] == [wrong]
    assert (screen.errors, screen.session.figure) == ([], 4)
    assert "P from " in panels[-1]["stamp"]
    # a position without a regression is left out with the reason
    screen = open_page("paper", method="nbrs2015")
    said = [each.value for each in screen.test.caption if each.value.startswith("No value at ε")]
    assert said[0].startswith("No value at ε = 0.1: The regression has 0 records")
    assert min(cards(panels)[0]["data"][0]["x"]) > 0.1
    panels.clear()
    screen = open_page("paper", figure="1", method="additive_noise")
    assert (screen.errors, panels) == ([], [])
    assert "neighbor" in screen.words("info")


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
    monkeypatch.setattr(paper, "REST_SECONDS", HANG_S)
    open_page("paper", figure="7")
    counts = [each["stamp"].partition("q = 1 · ")[2].split()[0] for each in panels]
    assert counts == ["1", "20"]
    assert "pale: 9 of 10" in cards(panels)[0]["note"]


class At:
    """A lesson at positions of its controls: its numbers by name, and its tiles by place."""

    def __init__(self, key: str) -> None:
        self.lesson = LESSONS[key]

    def __call__(self, **moved: Any) -> Mapping[str, float]:
        return self.shown(**moved).numbers

    def shown(self, **moved: Any) -> parts.Shown:
        start = starts(self.lesson)
        assert moved.keys() <= start.keys()
        return self.lesson.show(start | moved, kept)

    def tile(self, place: int, **moved: Any) -> float:
        """Return the number that a tile shows, a percentage as a share."""
        text = self.shown(**moved).tiles[place]["released"]
        number = float(re.search(r"[\d.]+", text.replace("−", "-"))[0])
        return number / 100 if "%" in text else number

    def text(self) -> str:
        told = " ".join((*self.lesson.sentences, self.lesson.question, self.lesson.answer))
        return told.replace("**", "").replace("*", "").replace("\n\n", " ")


@dataclass(frozen=True)
class Claim:
    """Words of a lesson, and what its tiles must show for them."""

    lesson: str
    words: str
    holds: Callable[[At], bool]


def between(low: float, value: float, high: float) -> bool:
    return low <= value <= high


def falling(*values: float) -> bool:
    return all(one > two for one, two in pairwise(values))


BARE = {"q": 1.0, "k": 1}
MANY = {"q": 1.0, "samples": 100}
SLICES = dict(zip(("apart", "alone", "whole"), choose.SLICES, strict=True))
TRAP = {"cut": choose.CUTS[1], "way": "by prediction", "width": 6.0}
BOTH = "linkage and true matches"
RADII = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

CLAIMS = [
    Claim("disclosure", "the policy, which allows 5 %", lambda at: (
        "allows 5.0 %: kept" not in at.shown(**BARE).tiles[1]["help"]
        and "allows 5.0 %: broken" in at.shown(**BARE).tiles[1]["help"])),
    Claim("disclosure", "About 1 person in 10 is linked", lambda at:
        between(0.08, at.tile(1, **BARE), 0.12)),
    Claim("disclosure", "shows more than half of the incomes", lambda at:
        at.tile(2, **BARE) > 0.5),
    Claim("disclosure", "A larger k lowers both on average", lambda at: all(
        falling(*(at(q=1.0, k=k)[each] for k in (1, 4, 8, 12))) for each in ("linked", "learned"))),
    Claim("disclosure", "At k = 8 about 7 % are linked, which still breaks the limit", lambda at:
        between(0.06, at.tile(1, q=1.0, k=8), 0.08)
        and "broken" in at.shown(q=1.0, k=8).tiles[1]["help"]),
    Claim("disclosure", "a little more often than from a random row (17 %)", lambda at:
        "so for 17.2 %" in at.shown(q=1.0, k=8).tiles[2]["help"]
        and between(0.17, at.tile(2, q=1.0, k=8), 0.27)),
    Claim("theorem", "their joint distribution comes near that of (X, Y)", lambda at:
        falling(*(at.tile(1, epsilon=radius, n=1000) for radius in (2.0, 0.8, 0.2)))),
    Claim("theorem", "At a large radius whole rows keep the correlation, and independent draws "
        "lose it", lambda at: all(
        at(epsilon=e, rows=True)["after"] > 0.9 * at()["before"] > 1.2 * at(epsilon=e)["after"]
        for e in (1.5, 2.0, 2.5, 3.0))),
    Claim("theorem", "every released row then is a real person’s row", lambda at:
        at.tile(2, rows=True) == 1.0),
    Claim("theorem", "varies more from release to release than with independent draws", lambda at:
        float(at.shown(rows=True).tables[0]["rows"][1][2])
        > float(at.shown().tables[0]["rows"][1][2])),
    Claim("theorem", "at ε = 0.05 about 95 % of the rows", lambda at:
        between(0.93, at.tile(2, epsilon=0.05), 0.97)),
    Claim("theorem", "at a small ε it can rise a little", lambda at:
        between(0.0, at(epsilon=0.3)["after"] - at()["before"], 0.05)),
    Claim("intruder", "One variable leaves a few dozen originals; three together leave a handful",
        lambda at: between(20, _typical(at, 1), 60) and between(2, _typical(at, 3), 8)),
    Claim("intruder", "all fifteen nearly always leave one", lambda at:
        sum(at(known=15, row=row)["candidates"] == 1 for row in range(1, 41)) >= 36),
    Claim("intruder", "even k = 20 hides next to nobody", lambda at:
        at(known=15, k=20)["success"] > 0.9),
    Claim("intruder", "so fewer links are right", lambda at: all(
        at(known=15, k=k, together=True)["success"] < at(known=15, k=k)["success"]
        for k in (5, 20))),
    Claim("neighborhood", "an outlier has k donors", lambda at: all(
        at(record="the outlier", k=k)["donors"] == k for k in (5, 9, 20))),
    Claim("neighborhood", "In a crowd ε decides, and more people give values", lambda at:
        at()["donors"] > 5 and at()["by_k"] < 1 and at(epsilon=1.2)["donors"] > at()["donors"]),
    Claim("neighborhood", "20. Another group is more than four", lambda at:
        abs(at(weight=1.0, k=19)["changed"]) < 1e-9 < 0.004 < at(weight=1.0, k=20)["changed"]),
    Claim("neighborhood", "the column of groups is released unmasked, although q = 1", lambda at:
        all(abs(at(weight=1.0, k=k)["changed"]) < 1e-9 for k in (1, 5, 12))),
    Claim("standard_errors", "The file is unmasked at q = 0", lambda at:
        at.shown().tiles[0]["released"] == at.shown().tiles[0]["original"]),
    Claim("standard_errors", "the reported standard error is smaller than the real one", lambda at:
        all(at(**MANY, k=k)["ratio"] < 0.95 for k in (1, 5, 10))),
    Claim("standard_errors", "they are more than 5 of 100", lambda at:
        at(**MANY)["coverage"] < 0.95),
    Claim("standard_errors", "the reported error at q = 1 and k = 1 is still about a quarter too",
        lambda at: all(between(0.6, ratio, 0.9) for ratio in _ratios(at, k=1))),
    Claim("standard_errors", "the ratio is about 0.7 at k = 5", lambda at:
        all(between(0.55, ratio, 0.85) for ratio in _ratios(at, k=5, rows=True))),
    Claim("standard_errors", "their ratio lies up to 0.15 from that of many", lambda at: all(
        abs(ratio - many) < 0.15 for k, many in ((1, 0.75), (5, 0.70), (40, 0.93))
        for ratio in _ratios(at, k=k))),
    Claim("standard_errors", "A large k brings the ratio nearer to 1, but it moves the slope: to "
        "0.80 to 0.86 at k = 40", lambda at:
        at(**MANY, k=40)["ratio"] > at(**MANY, k=5)["ratio"]
        and all(between(0.80, at(q=1.0, k=40, samples=n)["mean"], 0.86) for n in (50, 100))),
    Claim("standard_errors", "at q = 0.1 nearly 95 of 100 intervals", lambda at:
        between(0.9, at(q=0.1, samples=100)["coverage"], 0.97)),
    Claim("choose", "A larger radius ε lowers the risk of linkage and mostly raises the loss",
        lambda at: at(epsilon=1.0, slices=SLICES["alone"])["share"]
        > at(epsilon=8.0, slices=SLICES["alone"])["share"]
        and at(epsilon=1.0, slices=SLICES["alone"])["loss"]
        < at(epsilon=8.0, slices=SLICES["alone"])["loss"]),
    Claim("choose", "Body fat apart from the rest keeps all limits at ε = 7, with a loss of about "
        "0.16", lambda at: at(epsilon=7.0, slices=SLICES["apart"])["broken"] == 0
        and between(0.145, at(epsilon=7.0, slices=SLICES["apart"])["loss"], 0.175)),
    Claim("choose", "although the loss is small at every radius", lambda at:
        max(at(epsilon=e, slices=SLICES["whole"])["loss"] for e in RADII) < 0.15),
    Claim("choose", "Two limits stay broken", lambda at: all(
        at(epsilon=e, slices=SLICES["whole"])["broken"] >= 2 for e in RADII)),
    Claim("choose", "the loss is above 0.8 before the risk comes near the limits", lambda at: all(
        at(epsilon=e, slices=SLICES["alone"])["share"] > 1.5
        or at(epsilon=e, slices=SLICES["alone"])["loss"] > 0.8 for e in RADII)),
    Claim("sampling", "drawing the key anew lowers the whole curve", lambda at:
        falling(*(at(change=each)["right"] for each in (0.0, 0.2, 0.6, 1.0)))),
    Claim("sampling", "Sampling alone promises none", lambda at: all(
        at.shown(change=0.0, fraction=each).tiles[2]["released"] == "none"
        for each in (0.01, 0.5))),
    Claim("edges", "Without balance, records far out give less often than others", lambda at:
        at(balance=0.0)["least"] < 0.9 < 1.1 < at(balance=0.0)["most"]),
    Claim("edges", "With balance 1 every record gives once on average", lambda at:
        between(1 - 1e-6, at(balance=1.0)["least"], at(balance=1.0)["most"])
        and at(balance=1.0)["most"] < 1 + 1e-6),
    Claim("edges", "extremes survive more often", lambda at:
        falling(at(balance=1.0)["extremes"], at(kernel="hard")["extremes"])
        and at(balance=1.0)["extremes"] > at(balance=0.0)["extremes"]),
    Claim("edges", "appears in about 64 % of the releases", lambda at:
        between(0.6, at.tile(0, balance=1.0), 0.68)),
    Claim("edges", "a look-up of x finds y more often than with the hard edge", lambda at:
        at(together=True)["paired"] > at(together=True, kernel="hard")["paired"]),
    Claim("edges", "A slope across slices is not helped", lambda at:
        abs(at(balance=1.0)["slope"] - _original(at)) > 0.1 * abs(_original(at))),
    Claim("ties", "what related the slices inside a neighborhood is lost: the wider the kernel, "
        "the more", lambda at:
        falling(*(at(width=width)["loss"] for width in (6.0, 5.0, 4.0, 3.0, 2.0, 1.0)))),
    Claim("ties", "at width 3: linkage stays, and less than half of the loss is left", lambda at:
        all(abs(at(way=way)["linked"] - at()["linked"]) < 0.01
            and at(way=way)["loss"] < 0.5 * at()["loss"] for way in ("by prediction", "tied"))),
    Claim("ties", "a prediction at width 6 links about 1 % of the rows and loses about a tenth",
        lambda at: between(0.008, at(**TRAP)["linked"], 0.014)
        and between(0.09, at(**TRAP)["loss"], 0.12)),
    Claim("ties", "The wider the kernel, the nearer linkage comes to chance, 0.4 %, while "
        "nine tenths of the relations stay", lambda at:
        falling(*(at(**{**TRAP, "width": each})["linked"] for each in (1.0, 2.0, 3.0, 6.0)))
        and all(at(**{**TRAP, "width": each})["loss"] < 0.12 for each in (1.0, 2.0, 3.0, 6.0))
        and "0.4 %" in at.shown(**TRAP).tiles[1]["help"]),
    Claim("ties", "a limit on linkage alone is met by nearly anything", lambda at: all(
        at(**{**TRAP, "way": way, "cut": cut})["linked"] < 0.05
        for way in ("apart", "by prediction", "tied") for cut in (TRAP["cut"], choose.CUTS[0]))),
    Claim("ties", "about 60 % of the men who are alone with some values have a row", lambda at:
        all(between(0.55, at(**{**TRAP, "way": way})["matched"], 0.65)
            for way in ("apart", "by prediction", "tied"))),
    Claim("ties", "they use 12 times their limit, and no width fits", lambda at:
        between(0.575, at(**TRAP)["matched"], 0.625)
        and at.shown(**TRAP, limits=BOTH, accepted=1.0).chart["note"].startswith("0 of 6")),
    Claim("ties", "tied slices have true matches of 4.8 %, where slices apart have none",
        lambda at: at.tile(2, way="tied") == 0.048 and at.tile(2) == 0.0),
    Claim("ties", "at width 1 all three link more than a fifth of the rows", lambda at: all(
        at(way=way, width=1.0)["linked"] > 0.2 for way in ("apart", "by prediction", "tied"))),
]  # fmt: skip


def _typical(at: At, known: int) -> float:
    return sorted(at(known=known, row=row)["candidates"] for row in range(1, 41))[20]


def _ratios(at: At, **moved: Any) -> list[float]:
    return [at(q=1.0, samples=count, **moved)["ratio"] for count in (50, 70, 100)]


def _original(at: At) -> float:
    return float(at.shown().tiles[2]["original"].replace("−", "-"))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda each: f"{each.lesson}: {each.words[:50]}")
def test_a_sentence_is_what_the_tiles_show(claim: Claim) -> None:
    at = At(claim.lesson)
    assert claim.words in at.text()
    assert claim.holds(at)


class Stuck(At):
    """A lesson whose sliders do nothing: a planted fault."""

    def shown(self, **moved: Any) -> parts.Shown:
        return super().shown()


def test_sliders_that_do_nothing_are_noticed_in_every_lesson() -> None:
    fooled: dict[str, list[bool]] = {}
    for claim in CLAIMS:
        try:
            held = claim.holds(Stuck(claim.lesson))
        except TypeError:  # a tile that has no number yet
            held = False
        fooled.setdefault(claim.lesson, []).append(held)
    assert fooled.keys() == LESSONS.keys()
    assert {key for key, held in fooled.items() if all(held)} == set()
    assert sum(map(sum, fooled.values())) <= len(CLAIMS) / 4
