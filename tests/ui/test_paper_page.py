"""The Paper page: each figure by its number, its address, and many releases in the background."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rwn_core.evaluation.paper_figures import CURVES, PAPER_FIGURES
from rwn_ui.learn import paper


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


def infos(screen: Any) -> str:
    return " ".join(each.value for each in screen.test.info)


def test_each_figure_is_drawn_by_its_number_with_its_caption(open_page, panels) -> None:
    screen = open_page("paper")
    for number, figure in PAPER_FIGURES.items():
        panels.clear()
        screen.test.radio(key="paper.figure").set_value(number).run()
        assert screen.errors == []
        (heading,) = screen.test.subheader
        assert heading.value.startswith(f"Figure {number} · {figure.title}")
        assert heading.value.endswith(" over radius ε" if number in CURVES else figure.title)
        assert figure.sees in [each.value for each in screen.test.markdown]
        keys = {card["key"] for card in cards(panels)}
        wanted = {"figure_boxes" if number == 8 else "figure_curves"}
        assert keys == (wanted if number in CURVES else {figure.measure})
    assert [figure.sees for figure in PAPER_FIGURES.values() if len(figure.sees.split()) > 50] == []


def test_figure_1_is_drawn_at_the_paper_s_radii_and_says_why_it_is_not(open_page, panels) -> None:
    screen = open_page("paper", figure="1")
    assert [card["title"].rpartition(", ")[2] for card in cards(panels)] == [
        f"ε = {radius}" for radius in (1, 2, 3, 4)
    ]
    panels.clear()
    screen = open_page("paper", figure="1", method="additive_noise")
    assert (screen.errors, panels) == ([], [])
    assert "neighbor" in infos(screen)


def test_a_link_opens_its_figure_and_lever_and_a_wrong_one_says_so(open_page, panels) -> None:
    screen = open_page("paper", figure="4", over="k")
    assert screen.test.subheader[0].value.endswith("over minimum neighbors k")
    assert "k from 1 to 100" in panels[-1]["stamp"]
    screen = open_page("paper", figure="10")
    assert [each.value for each in screen.test.toast] == [
        "figure of the link must be a number from 1 to 9."
    ]
    assert screen.session.figure == 4


def test_another_method_has_its_own_lever_along_the_axis(open_page, panels) -> None:
    screen = open_page("paper", method="rank_swapping")
    assert screen.errors == []
    assert "P from " in panels[-1]["stamp"]


def test_a_position_without_a_regression_is_left_out_with_the_reason(open_page, panels) -> None:
    screen = open_page("paper", method="nbrs2015")
    said = [each.value for each in screen.test.caption if each.value.startswith("No value at ε")]
    assert said[0].startswith("No value at ε = 0.1: The regression has 0 records")
    assert min(cards(panels)[0]["data"][0]["x"]) > 0.1


def test_other_sliders_draw_anew_and_the_curves_own_lever_does_not(open_page, panels) -> None:
    screen = open_page("paper")
    before = panels[-1]["stamp"]
    assert not [each for each in screen.test.slider if each.label.startswith("Radius")]
    screen.session.levers["epsilon"] = 5.0
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


def test_a_first_picture_in_a_moment_is_followed_by_the_band(
    open_page, panels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "REST_SECONDS", 60.0)
    open_page("paper", figure="7")
    counts = [each["stamp"].partition("q = 1 · ")[2].split()[0] for each in panels]
    assert counts == ["1", "20"]
    assert "pale: 9 of 10" in cards(panels)[0]["note"]
