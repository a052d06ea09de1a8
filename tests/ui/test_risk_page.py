"""The Risk page: its choices reach the numbers, and what it says of single people is marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest

import rwn_core as rwn
from rwn_ui.risk import view as risk_view

Payloads = list[dict[str, Any]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Payloads:
    """What the page gave its panel to draw, run by run."""
    payloads: Payloads = []
    monkeypatch.setattr(risk_view, "panel", lambda payload, key: payloads.append(payload))
    return payloads


@pytest.fixture
def page(drawn, open_page) -> Any:
    """The page with a third of the demo's records, which are attacked in a moment."""
    screen = open_page("compare")
    screen.session.data = screen.session.data.take(np.arange(80))
    screen.visit("risk")
    assert screen.errors == []
    return screen.test


def charts(payload: dict[str, Any]) -> dict[str, Any]:
    return {chart["key"]: chart for chart in map(orjson.loads, payload["cards"])}


def test_tiles_cards_and_tables(page, drawn):
    payload = drawn[-1]
    assert [tile["label"] for tile in payload["tiles"]][:4] == [
        "Worst case, all",
        "Worst case, by keys",
        "Linked over one half",
        "Ordinary, by distance",
    ]
    assert all(tile["help"] for tile in payload["tiles"])
    assert list(charts(payload)) == [
        "linkage_attacks",
        "record_risk",
        "precision_recall",
        "true_matches",
        "repeated_releases",
        "rounding_effect",
        "key_classes",
        "guessing_attacks",
        "extreme_values",
        "queries",
        "neighborhood_size",
    ]
    orjson.dumps(payload["tables"])

    sentences = [row[-1] for table in drawn[-1]["tables"][:3] for row in table["rows"]]
    assert any("\N{NO-BREAK SPACE}%" in sentence for sentence in sentences)
    assert not any(" %" in sentence for sentence in sentences)

    questions = drawn[-1]["tables"][:3]
    assert [table["title"] for table in questions] == [
        "Whose row is it?",
        "What is learned about a person?",
        "Who stands out, and what has masking changed?",
    ]
    named = [row[0] for table in questions for row in table["rows"]]
    risks = [measure for measure in rwn.MEASURES.values() if measure.side == "risk"]
    assert len(named) == len(risks), "each stands in one of them"
    assert min(len(table["rows"]) for table in questions) > 8

    files = [table["file"] for table in drawn[-1]["tables"]]
    assert len(set(files)) == len(files)
    assert all(name.endswith("-internal.csv") for name in files)

    title = "What simple attacks achieve on this release"
    (table,) = [each for each in drawn[-1]["tables"] if each["title"] == title]
    assert table["columns"] == ["attack", "is after", "right", "of answers", "of all", "score"]
    assert any("the nearest" in row[0] for row in table["rows"])
    assert all(row[1] == "the row's person" or "siri" in row[1] for row in table["rows"])

    titles = [table["title"] for table in drawn[-1]["tables"]]
    assert "Unique on the keys, and linked by them one row at a time" in titles
    assert "Interval disclosure" in titles
    assert any(title.startswith("Log-linear risk on age") for title in titles)
    assert "The ten records at highest risk (internal)" in titles
    assert charts(drawn[-1])["queries"]["title"].endswith("(internal)")


def test_key_variables_reach_the_numbers(page, drawn):
    before = drawn[-1]["tiles"][1]["released"]
    page.multiselect[0].set_value(["age"]).run()
    assert not page.exception
    after = drawn[-1]
    assert after["tiles"][1]["released"] != before
    assert "keys: age" in after["summary"]["text"]
    assert after["tiles"][0]["released"] == drawn[0]["tiles"][0]["released"]
    page.multiselect[0].set_value([]).run()
    assert not page.exception
    assert "Choose at least one variable" in page.error[0].value


def shown_values(payload: dict[str, Any]) -> list[list[str]]:
    tables = {table["title"]: table["rows"] for table in payload["tables"]}
    assert {
        "Links of the surest rows",
        "How a confidential value is found out",
    } <= set(tables)
    return tables["Whose values does a row show?"]


def test_further_sets_are_stated_and_taken_back(page, drawn):
    assert shown_values(drawn[-1])[0][0] == "age, weight, height"
    labels = [widget.label for widget in page.multiselect]
    page.multiselect[labels.index("A further set of variables")].set_value(["neck", "age"]).run()
    buttons = {button.label: button for button in page.button}
    buttons["Add this set"].click().run()
    assert not page.exception
    assert [row[0] for row in shown_values(drawn[-1])[:2]] == ["age, weight, height", "neck, age"]
    next(button for button in page.button if button.label == "Clear the sets").click().run()
    assert "neck, age" not in [row[0] for row in shown_values(drawn[-1])]


def test_halves_of_linkability_are_chosen(page, drawn):
    def said() -> str:
        rows = [row for table in drawn[-1]["tables"][:3] for row in table["rows"]]
        return str(next(row[-1] for row in rows if row[0] == "Linkability"))

    def choose(label: str, names: list[str]) -> None:
        labels = [widget.label for widget in page.multiselect]
        page.multiselect[labels.index(f"Linkability: {label}")].set_value(names).run()
        assert not page.exception

    assert "Halves as stated" not in said()
    choose("one half of the variables", ["age", "weight"])
    assert "Halves as stated: age, weight | " in said()
    choose("the other half", ["height", "neck"])
    assert "Halves as stated: age, weight | height, neck." in said()
    choose("the other half", ["height", "age"])
    assert "must not overlap" in page.error[0].value
    choose("one half of the variables", [])
    assert "Halves as stated" not in said()


def test_sliders_and_rounding_are_live_and_a_small_population_is_refused(page, drawn):
    before = drawn[-1]
    page.slider[1].set_value(25).run()
    assert not page.exception
    assert "k = 25" in drawn[-1]["summary"]["text"]
    # all variables link everybody at either k, the keys do not
    assert drawn[-1]["tiles"][1]["released"] != before["tiles"][1]["released"]
    page.slider[1].set_value(5).run()
    page.select_slider[0].set_value("1 SD").run()
    assert not page.exception
    exact, rounded = (float(p["tiles"][0]["released"].split()[0]) for p in (before, drawn[-1]))
    assert rounded < exact - 10
    numbers = [entry.label for entry in page.number_input]
    place = numbers.index("People in the population (0: the file is all)")
    page.number_input[place].set_value(5).run()
    assert "at least the file" in page.error[0].value


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, drawn, at_once) -> list[dict[str, Any]]:
    """Small tables count as large, and a job is done as soon as it is begun."""
    begun: list[dict[str, Any]] = []

    def start(*what: Any, **arguments: Any) -> Any:
        begun.append(arguments)
        return at_once(*what, **arguments)

    monkeypatch.setattr(risk_view, "QUICK_RECORDS", 10)
    monkeypatch.setattr(risk_view, "Job", start)
    return begun


def test_a_large_table_is_attacked_by_a_job(large, drawn, open_page):
    screen = open_page("risk")
    assert screen.errors == []
    assert drawn == []
    assert "random sample" in screen.test.caption[0].value
    start = next(b for b in screen.test.button if b.label == "Find the risk of this setting")
    start.click().run()
    assert screen.errors == []
    assert len(large) == 1
    shown = drawn[-1]["summary"]["text"]
    assert screen.session.words in shown
    # the numbers stay those of their own setting, and the page says so
    screen.test.slider[1].set_value(20).run()
    assert drawn[-1]["summary"]["text"] == shown
    assert any("These numbers are of" in info.value for info in screen.test.info)
    screen.test.slider[1].set_value(5).run()
    assert not screen.test.info
    screen.session.seed += 1  # other numbers, though the words of the setting are the same
    screen.test.run()
    assert any("These numbers are of" in info.value for info in screen.test.info)
