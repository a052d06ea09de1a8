"""The Risk page: its choices reach the numbers, its warnings are true, single people are marked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.disclosure import follow, odds_words
from rwn_core.measures.comparison import Sampling
from rwn_core.measures.measure import Sides, with_parts
from rwn_core.measures.risk import population_risk
from rwn_core.measures.statistics.population import PopulationRisk
from rwn_ui.compare import view as compare_view
from rwn_ui.features import watch_list
from rwn_ui.features.scenario_trial import scenario_draft
from rwn_ui.risk import sentences as risk_sentences
from rwn_ui.risk import view
from rwn_ui.risk import view as risk_view
from rwn_ui.risk.form import Attack
from rwn_ui.risk.warnings import warnings
from rwn_ui.state.change_table import load
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.tune import tiles as tune_tiles
from rwn_ui.tune import view as tune_view

Payloads = list[dict[str, Any]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Payloads:
    """What the page gave its panel to draw, run by run."""
    payloads: Payloads = []
    monkeypatch.setattr(risk_view, "panel", lambda payload, key: payloads.append(payload))
    return payloads


@pytest.fixture
def small(drawn, open_page) -> Any:
    """The app with a third of the demo's records, which are attacked in a moment, at Risk."""
    screen = open_page("compare")
    screen.session.data = screen.session.data.take(np.arange(80))
    screen.visit("risk")
    assert screen.errors == []
    return screen


def charts(payload: dict[str, Any]) -> dict[str, Any]:
    return {chart["key"]: chart for chart in map(orjson.loads, payload["cards"])}


def test_tiles_cards_and_tables(small, drawn):
    payload = drawn[-1]
    assert payload["verdict"]["price"].endswith(" of the relations are left")
    labels = [tile["label"] for tile in payload["tiles"]]
    assert labels[:2] == ["Worst case, all", "Worst case, by keys"]
    assert labels[2:4] == ["Linked over one half", "Ordinary, by distance"]
    assert all(tile["help"] for tile in payload["tiles"])
    assert list(charts(payload)) == [
        *("linkage_attacks", "record_risk", "precision_recall", "true_matches"),
        *("repeated_releases", "key_classes", "guessing_attacks"),
        *("extreme_values", "queries", "neighborhood_size"),
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

    title = "What simple attacks achieve on this release, at least"
    (table,) = [each for each in drawn[-1]["tables"] if each["title"] == title]
    assert table["columns"] == ["attack", "is after", "right", "of answers", "of all", "score"]
    assert any("the nearest" in row[0] for row in table["rows"])
    assert all(row[1] == "the row's person" or "siri" in row[1] for row in table["rows"])

    titles = [table["title"] for table in drawn[-1]["tables"]]
    assert any(title.startswith("Log-linear risk on age") for title in titles)
    assert "The ten records at highest risk (internal)" in titles
    assert charts(drawn[-1])["queries"]["title"].endswith("(internal)")


def test_key_variables_reach_the_numbers_and_outlive_a_visit_to_another_page(small, drawn):
    page, before = small.test, drawn[-1]["tiles"][1]["released"]
    page.multiselect[0].set_value(["age"]).run()
    assert small.errors == []
    after = drawn[-1]
    assert after["tiles"][1]["released"] != before
    assert "keys: age" in after["summary"]["text"]
    assert after["tiles"][0]["released"] == drawn[0]["tiles"][0]["released"]
    small.find("multiselect", "Linkability: one").set_value(["neck"]).run()
    small.visit("tune").visit("risk")
    assert drawn[-1]["summary"]["text"].endswith("keys: age")
    assert "neck" in str(drawn[-1]["tables"][:3])
    page.multiselect[0].set_value([]).run()
    assert "Choose at least one variable" in small.errors[0]


def test_the_population_model_names_its_interactions_or_says_that_there_are_none() -> None:
    both = {name: Sides(1, 1) for name in ("uniques", "alone", "expected")}
    whole = PopulationRisk(names=["age"], population=100.0, **both, check=1.5, z=0.5)
    for model, said in (("age × sex", "counts: age × sex;"), ("", "counts: main effects only;")):
        part = replace(whole, population=900.0, model=model)
        caption = population_risk.model_table(rwn.Reading(value=0.1, detail=part), 100)["caption"]
        assert said in caption
        assert "check B of τ2 1.5, 0.5 standard deviations" in caption
    caption = population_risk.model_table(rwn.Reading(value=0.1, detail=whole), 100)["caption"]
    assert "taken for the whole population" in caption


def shown_values(payload: dict[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = orjson.loads(charts(payload)["true_matches"]["table"])["rows"]
    return rows


def test_further_sets_and_halves_are_stated_and_taken_back(small, drawn):
    assert shown_values(drawn[-1])[0][0] == "age, weight, height"
    small.find("multiselect", "A further set of variables").set_value(["neck", "age"]).run()
    assert small.press("Add this set").errors == []
    assert [row[0] for row in shown_values(drawn[-1])[:2]] == ["age, weight, height", "neck, age"]
    small.press("Clear the sets")
    # the pair is tried anyway, but no longer stands beside the keys
    assert shown_values(drawn[-1])[1][0] != "neck, age"

    # halves of linkability
    def said() -> str:
        rows = [row for table in drawn[-1]["tables"][:3] for row in table["rows"]]
        return str(next(row[-1] for row in rows if row[0] == "Linkability"))

    def choose(label: str, names: list[str]) -> list[str]:
        small.find("multiselect", f"Linkability: {label}").set_value(names).run()
        return small.errors

    assert "Halves as stated" not in said()
    choose("one half of the variables", ["age", "weight"])
    assert "Halves as stated: age, weight | " in said()
    choose("the other half", ["height", "neck"])
    assert "Halves as stated: age, weight | height, neck." in said()
    assert "must not overlap" in choose("the other half", ["height", "age"])[0]
    choose("one half of the variables", [])
    assert "Halves as stated" not in said()


def test_sliders_and_rounding_are_live_and_a_small_population_is_refused(small, drawn):
    before, page = drawn[-1], small.test
    page.slider[1].set_value(25).run()
    assert small.errors == []
    assert "k = 25" in drawn[-1]["summary"]["text"]
    # all variables link everybody at either k, the keys do not
    assert drawn[-1]["tiles"][1]["released"] != before["tiles"][1]["released"]
    page.slider[1].set_value(5).run()
    page.select_slider[0].set_value("1 SD").run()
    assert small.errors == []
    exact, rounded = (float(p["tiles"][0]["released"].split()[0]) for p in (before, drawn[-1]))
    assert rounded < exact - 10
    small.find("number_input", "People in the population").set_value(5).run()
    assert "at least the file" in small.errors[0]


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
    start = screen.find("button", "Find the risk of this setting")
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


READ = (
    *("bayes_linkage", "distance_linkage", "extremes", "homogeneity", "cells_changed"),
    *("differential_privacy", "neighborhood_size"),
)


@pytest.fixture(scope="module")
def data() -> rwn.Microdata:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(60, 4)).round(3)
    return rwn.Microdata.from_frame(pd.DataFrame(values, columns=list("abcd")))


def read(data: rwn.Microdata, params: Any) -> Any:
    made = params.prepare(data).release(rwn.SecretKey.from_seed(5))
    comparison = rwn.Comparison(original=data, masked=made.masked, law=made.law)
    return {key: rwn.MEASURES[key].read(comparison) for key in READ}


def said(data: rwn.Microdata, params: Any, *, digits: bool = True, separate: int = 4) -> str:
    return " ".join(warnings(params, read(data, params), digits=digits, separate=separate))


def test_few_originals_are_said_of_a_row_where_they_are_few(data) -> None:
    """Exact values and small neighborhoods: the row alone tells."""
    params = rwn.RWN(epsilon=0.1, k=3)
    found = read(data, params)
    assert found["bayes_linkage"].detail.row_by_row > 0.8
    assert np.median(found["bayes_linkage"].detail.candidates) == 1
    assert "leave few originals" in said(data, params)


def test_where_all_rows_at_once_tell_a_row_alone_is_not_said_to(data) -> None:
    """Planted: rows of which each leaves ten originals, and which are all found together."""
    params = rwn.RWN(epsilon=0.1, k=30)
    found = read(data, params)
    linked = found["bayes_linkage"]
    assert linked.detail.row_by_row < 0.2
    assert np.median(linked.detail.candidates) > 10
    planted = replace(linked, value=0.75)
    (text, *_) = warnings(params, found | {"bayes_linkage": planted}, digits=True, separate=4)
    assert "75 %" in text
    assert "leave few originals" not in text
    assert "source of only one row" in text
    assert "Ordinary linkage finds" not in said(data, rwn.RWN(epsilon=4.0, k=5))


def test_extremes_that_are_gone_are_not_called_a_real_persons(data) -> None:
    found = read(data, rwn.RWN(epsilon=0.1, k=3))
    copies = found["extremes"].detail.released
    there = sum(count > 0 for count in copies)
    assert there
    text = " ".join(warnings(rwn.RWN(k=3), found, digits=True, separate=4))
    assert f"Of the {len(copies)} largest and smallest values {there} stand" in text
    planted = with_parts(found["extremes"], released=[0] * len(copies))
    gone = found | {"extremes": planted}
    text = " ".join(warnings(rwn.RWN(k=3), gone, digits=True, separate=4))
    assert f"None of the {len(copies)} largest and smallest values" in text
    assert "real person's" not in text


def test_digits_are_warned_of_where_some_are_released(open_page) -> None:
    """Planted: a table of categories alone, and one whose numbers are all rounded."""
    screen = open_page("risk")
    assert "all their digits" in _shown(screen)
    session = screen.session
    names = [v.name for v in session.data.schema.released if v.kind is rwn.Kind.CONTINUOUS]
    assert "all their digits" in _shown(screen, tuple((name, 1.0) for name in names[1:]))
    assert "all their digits" not in _shown(screen, tuple((name, 1.0) for name in names))


def test_whole_rows_have_no_donors_of_their_own(data) -> None:
    """Planted: variables that all travel together, by slices or by the method."""
    apart = said(data, rwn.RWN(epsilon=1.0, k=5))
    assert "4 variables take their values from donors of their own" in apart
    assert "donors of their own" not in said(data, rwn.RWN(epsilon=1.0, k=5), separate=0)
    rows = said(data, rwn.METHODS["row_copy"](epsilon=1.0, k=5))
    assert "donors of their own" not in rows
    assert "Small groups shrink" in rows


def test_who_may_give_a_value_is_not_said_to_be_nearly_anybody(data) -> None:
    """A neighborhood of 51 % leaves 49 % out."""
    wide = rwn.RWN(epsilon=3.2, k=31)
    size = read(data, wide)["neighborhood_size"].value
    assert 0.5 < size / data.n < 0.95
    text = said(data, wide)
    assert "may come from most of the other people" in text
    assert "nearly anybody" not in text
    assert "more than half the file" not in said(data, rwn.RWN(epsilon=0.1, k=5))


def _shown(screen: Any, precision: tuple[tuple[str, float], ...] = ()) -> str:
    session = screen.session
    current = current_release(session)
    found = type("Found", (), {"readings": {key: rwn.MEASURES[key].read(current.comparison)
                                            for key in READ}})  # fmt: skip
    table = view._warnings(session, Attack(keys=(), precision=precision), found)
    return " ".join(row[1] for row in table["rows"])


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the pages gave their panels to draw."""
    payloads: list[dict[str, Any]] = []
    for each in (risk_view, compare_view):
        monkeypatch.setattr(each, "panel", lambda payload, **more: payloads.append(payload))
    return payloads


def table(panels: list[dict[str, Any]]) -> dict[str, Any]:
    tables = [t for payload in panels for t in payload.get("tables", [])]
    return [t for t in tables if t["title"] == "Watch list (internal)"][-1]


def test_the_list_is_kept_over_pages_and_emptied_with_the_table(small, panels):
    screen = small
    assert screen.press("Watch this record").errors == []
    screen.visit("tune").visit("risk")
    assert screen.session.watched == (0,)
    assert [row[0] for row in table(panels)["rows"]] == ["record 1"]
    load(screen.session, screen.session.data, name="again", demo=None)
    assert screen.session.watched == ()


def test_a_meeting_sees_the_list_beside_every_scenario(panels, open_page):
    screen = open_page("compare")
    session = screen.session
    session.watched = (38,)
    for name, preset in (("One", "Light"), ("Two", "Strong")):
        session.set(session.setting, prepared(session).prepared, preset)
        screen.find("text_input", "Name").set_value(name)
        assert screen.press("Save scenario").errors == []
    tables = [t["title"] for payload in panels for t in payload.get("tables", [])]
    assert "Watch list (internal)" not in tables  # only in a meeting
    screen.find("toggle", "Meeting").set_value(True).run()
    assert screen.errors == []
    result = table(panels)
    assert result["columns"] == ["", "One", "Two"]
    assert [row[0] for row in result["rows"]] == ["record 39"]
    light, strong = result["rows"][0][1:]
    assert light.startswith(
        "correctly named in 100 of 100 releases like this, in 0 if not in the file"
    )
    times = float(strong.split()[3])
    assert 0 <= times <= 100
    assert strong.endswith(f"a guess is correct in {100 / session.data.n:.2g}")
    areas = {area.label: area.value for area in screen.test.text_area}
    assert areas["Watch list, a line each"] == "record 39"


def test_a_record_is_watched_once_and_the_list_has_an_end(panels, open_page):
    screen = open_page("risk")
    screen.session.watched = tuple(range(watch_list.LONGEST - 1))
    screen.press("Watch this record")
    assert len(screen.session.watched) == watch_list.LONGEST - 1
    record = screen.find("number_input", "Record")
    record.set_value(100).run()
    assert screen.press("Watch this record").errors == []
    assert screen.session.watched[-1] == 99
    chance = table(panels)["rows"][-1]
    now = screen.session
    odds = follow(now.data, now.params, (99,), seed=now.seed, precision=now.precision)
    assert chance == ["record 100", odds_words(odds[99], now.data.n)]
    screen.find("number_input", "Record").set_value(101).run()
    screen.press("Watch this record")
    assert len(screen.session.watched) == watch_list.LONGEST
    assert "at most 20 records" in screen.errors[0]
    text = scenario_draft(screen.session, "One").to_toml()
    screen.session.watched = ()
    assert scenario_draft(screen.session, "One").to_toml() == text  # no record leaves the table


def test_a_detail_without_a_sample_says_nothing_of_one_and_names_no_attack() -> None:
    both = {name: Sides(1, 1) for name in ("uniques", "alone", "expected")}
    detail = PopulationRisk(names=["age"], population=100.0, **both)
    reading = rwn.Reading(value=0.1, interval=(0.0, 0.2), detail=detail)
    own = rwn.MEASURES["loglinear_risk"].sentence
    assert risk_sentences.said("loglinear_risk", reading, 100) == own(reading, 100)
    assert tune_tiles._which_attack("loglinear_risk", reading, 100) == ""


@pytest.mark.parametrize(
    ("params", "limited"),
    [
        (rwn.SoftRWN(chain=True), "bayes_linkage"),  # not judged by linkage alone
        (rwn.RWN(epsilon=2.0, k=5), "association_loss"),  # a limit on what Tune reads
    ],
)
def test_every_part_of_the_page_says_the_one_verdict(params, limited) -> None:
    data = rwn.load_demo("bodyfat").take(range(60))
    session = Session(name="men", demo=None, data=data.with_slices([["age", "weight", "height"]]))
    session.clamp(prepared(session).prepared)
    session.set(replace(session.setting, params=params))
    session.policy = rwn.Policy(limits=(rwn.Limit(measure=limited, at_most=0.3),))
    attack = Attack(keys=("age", "weight"), sampling=Sampling.of_schema(data))
    found = risk_view.live(session, attack)
    now = risk_view.snapshot(session, found)
    payload = risk_view.payload(session, attack, found, now)
    tables = {each["title"]: each for each in payload["tables"]}
    ((*_, state),) = tables["Limits of the policy"]["rows"]
    assert {"kept": "kept", "broken": "broken"}.get(state, "not judged") == now.verdict.state
    on_tune = tune_view.payload(session, current_release(session))["verdict"]
    if limited == "association_loss":
        assert payload["verdict"]["text"] == on_tune["text"]
        assert now.verdict.state != "not judged"
    else:
        assert now.verdict.state == "not judged"
