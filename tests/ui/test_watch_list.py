"""The watch list: pinned on the Risk page, kept over pages, followed in meetings, in scenarios."""

from __future__ import annotations

from typing import Any

import pytest

from rwn_core.measures.attacks.predicate import Condition, Predicate
from rwn_core.measures.attacks.watch_list import WatchList
from rwn_core.reporting.scenario import Scenario
from rwn_ui.compare import view as compare_view
from rwn_ui.features import watch_list
from rwn_ui.features.scenario_trial import as_scenario
from rwn_ui.risk import view as risk_view
from rwn_ui.state.change_table import load
from rwn_ui.state.results import prepared

TALL = Predicate(conditions=(Condition(name="height", sign="at least", value=77.0),))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the pages gave their panels to draw."""
    payloads: list[dict[str, Any]] = []
    for view in (risk_view, compare_view):
        monkeypatch.setattr(view, "panel", lambda payload, **more: payloads.append(payload))
    return payloads


def press(screen: Any, label: str) -> None:
    next(b for b in screen.test.button if b.label == label).click().run()
    assert screen.errors == []


def table(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    tables = [t for payload in drawn for t in payload.get("tables", [])]
    return [t for t in tables if t["title"] == "Watch list (internal)"][-1]


def test_a_question_of_ones_own(drawn, open_page):
    screen = open_page("risk")
    own = next(m for m in screen.test.multiselect if m.label == "A question of your own about")
    own.set_value(["height", "age"]).run()
    limits = [n for n in screen.test.number_input if n.label == "limit"]
    limits[0].set_value(77.0)
    limits[1].set_value(30.0)
    press(screen, "Watch my question")
    (predicate,) = screen.session.watched.predicates
    assert predicate.words == "height ≥ 77 and age ≥ 30"
    assert table(drawn)["rows"][0][0] == predicate.words


def test_the_list_is_kept_over_pages_and_emptied_with_the_table(drawn, open_page):
    screen = open_page("risk")
    press(screen, "Watch this record")
    screen.visit("tune").visit("risk")
    assert screen.session.watched.records == (0,)
    assert [row[0] for row in table(drawn)["rows"]] == ["record 1"]
    load(screen.session, screen.session.data, name="again", demo=None)
    assert screen.session.watched.empty


def test_a_meeting_sees_the_list_beside_every_scenario(drawn, open_page):
    screen = open_page("compare")
    session = screen.session
    session.watched = WatchList(records=(38,), predicates=(TALL,))
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.use_preset(preset, prepared(session).prepared)
        screen.test.text_input[0].set_value(name)
        press(screen, "Save scenario")
    assert any("the watched question:" in caption.value for caption in screen.test.caption)
    tables = [t["title"] for payload in drawn for t in payload.get("tables", [])]
    assert "Watch list (internal)" not in tables  # only in a meeting
    next(t for t in screen.test.toggle if t.label == "Meeting").set_value(True).run()
    assert screen.errors == []
    result = table(drawn)
    assert result["columns"] == ["", "One", "Two"]
    assert [row[0] for row in result["rows"]] == ["record 39", "height ≥ 77"]
    light, strong = (float(chance) for chance in result["rows"][0][1:])
    assert light == pytest.approx(1.0, abs=0.05)
    assert 0 <= strong <= 1
    areas = {area.label: area.value for area in screen.test.text_area}
    assert areas["Watch list, a line each"] == "record 39\nheight ≥ 77"


def test_a_scenario_brings_its_questions_but_no_records(drawn, open_page):
    screen = open_page("compare")
    session = screen.session
    session.watched = WatchList(records=(38,), predicates=(TALL,))
    kept = as_scenario(session, "One", "")
    text = kept.to_toml()
    assert "height" in text
    assert "38" not in text.replace(kept.table, "").split("[[watch")[1]
    session.watched = WatchList(records=(4,))
    other = Predicate(conditions=(Condition(name="wage", sign="at least", value=3.0),))
    again = Scenario.from_toml(text)
    watch_list.take(session, again)
    assert session.watched == WatchList(records=(4,), predicates=(TALL,))
    watch_list.take(session, Scenario(watch=(other,)))
    assert session.watched.predicates == (TALL,)
