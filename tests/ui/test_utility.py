"""The Utility page and what it gives to the others: draws, plans, rules, large tables."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest
import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.draws import Ensemble, ensemble
from rwn_core.evaluation.validity import standard_error_validity
from rwn_core.io.write import table_bytes
from rwn_core.reporting.scenario import Scenario, plan_in
from rwn_ui.features import repeated_draws
from rwn_ui.features.repeated_draws import keep
from rwn_ui.features.scenario_trial import scenario_draft
from rwn_ui.state.results import SHOWN, current_release, prepared, setting_key
from rwn_ui.state.session import Session
from rwn_ui.tune import tiles
from rwn_ui.tune import view as tune_view
from rwn_ui.utility import view as utility_view
from rwn_ui.utility.results import PENDING, complete, read
from rwn_ui.utility.view import tables
from tests.ui.following import until


def a_session(demo: str, data: rwn.Microdata) -> Session:
    """A user's session, without a browser."""
    session = Session(name=demo, demo=demo, data=data)
    session.clamp(prepared(session).prepared)
    released = [variable.name for variable in session.data.schema.released]
    session.variable = released[0]
    session.second_variable = released[1]
    return session


@pytest.fixture
def session() -> Session:
    return a_session("bodyfat", rwn.load_demo("bodyfat"))


def wait_for_the_study(screen: Any) -> None:
    job = screen.job(repeated_draws.JOB)
    until(lambda: job is None or not job.running, 90)
    screen.test.run()


def cards(session: Session) -> dict[str, Any]:
    result = utility_view.cards(read(session))
    return {card["key"]: card for card in result}


@pytest.fixture(scope="module")
def four() -> Ensemble:
    """Four draws of bodyfat's standard setting."""
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    session.clamp(prepared(session).prepared)
    keys = [key for key, one in rwn.MEASURES.items() if one.side == "utility"]
    keys = [*(key for key in keys if key not in {"prediction", "pmse"}), "cells_changed"]
    return ensemble(session.data, session.params, repeats=4, seed=session.seed, measures=keys)


# ---------------------------------------------------------------- draws


def test_draws_begun_on_tune_are_there_on_utility_and_only_for_their_setting(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_draws, "DRAWS", 3)
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    screen.visit("tune")
    screen.test.button(key="tune.draws").click().run()
    assert screen.work.busy
    assert screen.test.button(key="tune.draws").disabled
    wait_for_the_study(screen)
    assert screen.errors == []
    assert "3 draws" in screen.panel["summary"]["text"]
    limits = [tile.get("limit", "") for tile in screen.panel["tiles"]]
    assert ["draws" in text for text in limits[:2]] == [True, True]
    screen.visit("utility")
    payload = screen.results.last["utility"]
    assert payload["tiles"][0]["limit"].startswith("9 of 10 draws")
    assert payload["tiles"][3]["limit"].startswith("9 of 10 draws")  # small groups, a part
    table = payload["tables"][0]
    assert table["columns"][-2:] == ["draws that pass", "median of draws"]
    assert [row[-2].endswith(" of 3") for row in table["rows"]] == [True] * 3
    screen.test.slider(key="utility.0.k").set_value(9).run()
    other = screen.results.last["utility"]
    assert "draws" not in other["summary"]["text"]
    assert "draws" not in str(other["tiles"])


@pytest.mark.parametrize("neighbors", ["exact", "sample"])
def test_draws_read_all_that_a_tile_or_a_chart_of_tune_shows(monkeypatch, neighbors) -> None:
    begun: dict[str, Any] = {}
    session = a_session("bodyfat", rwn.load_demo("bodyfat"))
    params = rwn.RWN(epsilon=2.0, k=5, neighbors=neighbors, m=80 if neighbors == "sample" else None)
    monkeypatch.setattr(Session, "params", property(lambda _: params))
    monkeypatch.setattr(repeated_draws, "Job", lambda *what, **more: begun.update(more))
    repeated_draws.begin_draws(session)
    wanted = set(tiles.TILES) | set(SHOWN)
    same = {"neighborhood_size"} if neighbors == "exact" else set()  # in every draw
    assert wanted - set(begun["measures"]) == same
    assert "prediction" not in begun["measures"]


def test_charts_show_where_draws_fall_and_only_those_of_their_setting(session, four) -> None:
    plain = cards(session)
    assert "9 of 10 draws" not in str([card["data"] for card in plain.values()])
    keep(session, setting_key(session), (four, ()))
    after = cards(session)
    names = {key: {trace.get("name", "") for trace in card["data"]} for key, card in after.items()}
    for key in ("regression", "principal_components", "subgroups", "distribution"):
        assert "9 of 10 draws" in names[key], key
    for key in ("correlation", "correlation_change", "regression", "subgroups", "distribution"):
        assert any("9 of 10 draws" in column for column in after[key]["table"]["columns"]), key
    assert "outside" in after["correlation_change"]["note"]
    session.move(k=session.levers["k"] + 1)
    assert "9 of 10 draws" not in str([card["data"] for card in cards(session).values()])


# ---------------------------------------------------------------- large tables


def test_a_large_table_is_drawn_at_once_and_completed_after() -> None:
    data = rwn.load_demo("cps1988").take(np.arange(2400))
    session = a_session("cps1988", data)
    first = read(session)
    assert first.pending
    assert first.readings["pmse"] is PENDING
    assert first.expected is None
    drawn = {card["key"]: card for card in utility_view.cards(first)}
    payload = utility_view.payload(first)
    complete(session)
    done = read(session)
    assert not done.pending
    assert done.readings["pmse"].value > 0
    assert done.expected is not None
    after = {card["key"]: card for card in utility_view.cards(done)}
    tables = [each["correlation_change"]["table"]["columns"] for each in (drawn, after)]
    assert tables[0] == tables[1], "what is expected has its place before it is known"
    assert utility_view.payload(done)["stamp"] != payload["stamp"]
    session.seed += 1  # another draw: the setting's expectation is known, the rest is not
    again = read(session)
    assert again.pending
    assert again.expected is done.expected


def test_the_page_of_a_large_table_completes_itself(open_page) -> None:
    data = rwn.load_demo("cps1988").take(np.arange(2400))
    screen = open_page("data").upload("l.csv", table_bytes(data.frame, "csv", data.schema))
    screen.wait().visit("utility")
    assert screen.errors == []
    payload = screen.results.last["utility"]
    assert payload["tables"]
    assert "…" not in str((payload["tables"], payload["tiles"]))


# ---------------------------------------------------------------- degenerate tables


def odd_tables() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["y", "a", "b"])
    return {
        "constant": frame.assign(y=1.0, a=2.0),
        "n < p": pd.DataFrame(rng.normal(size=(4, 6)), columns=["y", "a", "b", "c", "d", "e"]),
        "one variable": frame[["y"]],
        "categories": pd.DataFrame(
            {"y": ["p", "q"] * 20, "a": ["r"] * 39 + ["s"], "b": ["t"] * 40}
        ),
    }


@pytest.mark.parametrize("name", odd_tables())
def test_the_page_has_words_and_pictures_for_odd_tables(name: str) -> None:
    data = rwn.Microdata.from_frame(odd_tables()[name])
    names = [variable.name for variable in data.schema.released]
    session = Session(name=name, demo=None, data=data)
    session.clamp(prepared(session).prepared)
    session.second_variable = names[-1]
    for variable in names:
        session.variable = variable
        payload = utility_view.payload(read(session))
        assert len(payload["cards"]) == 8
        assert b"NaN" not in orjson.dumps(payload)


def test_draws_are_points_only_where_each_has_both_measures() -> None:
    """Three of four draws have a loss: pairs in order would be of different draws."""
    values = {"association_loss": np.array([0.1, 0.2, 0.3]), "distance_linkage": np.full(4, 0.5)}
    made: Any = SimpleNamespace(values=values)
    assert repeated_draws.map_points(rwn.Policy(), made, "distance_linkage") == []
    values["association_loss"] = np.array([0.1, 0.2, 0.3, 0.4])
    found = repeated_draws.map_points(rwn.Policy(), made, "distance_linkage")
    shown = [spot["loss"] for spot in found]
    assert shown == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_a_registered_analysis_plan_is_on_tune_and_in_the_scenario(open_page) -> None:
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    assert screen.errors == []
    registered = screen.session.analysis_plan
    assert len(registered.analyses) == 3
    screen.visit("tune")
    tile = screen.panel["tiles"][-1]
    assert tile["label"] == "Analysis plan"
    assert tile["state"] in {"kept", "over"}
    assert "Relations" in tile["help"]
    text = scenario_draft(screen.session, "Analysis plan").to_toml()
    assert Scenario.from_toml(text).analysis_plan == registered
    assert plan_in(text) == registered
    assert plan_in(registered.to_toml()) == registered
    screen.visit("utility")
    area = screen.test.text_area(key="utility.0.pass")
    assert "[[analysis]]" in area.value
    area.set_value("[[analysis").run()
    assert "not valid TOML" in screen.errors[0]
    assert screen.session.analysis_plan.analyses == ()


def test_analyses_are_registered_by_a_form(open_page) -> None:
    screen = open_page("utility")
    test, key = screen.test, "utility.0.pass.form"

    def register() -> None:
        test.button(key=f"{key}.add").click().run()
        assert screen.errors == []

    assert test.button(key=f"{key}.add").disabled, "a regression needs predictors"
    test.selectbox(key=f"{key}.linear.one").set_value("siri").run()
    test.multiselect(key=f"{key}.linear.others.siri").set_value(["age", "weight"]).run()
    register()
    for kind, fill in (
        (
            "means",
            lambda: test.multiselect(key=f"{key}.means.others.siri").set_value(["age"]).run(),
        ),
        ("table", lambda: test.multiselect(key=f"{key}.table.counted").set_value(["age"]).run()),
        ("measure", lambda: None),
    ):
        test.selectbox(key=f"{key}.kind").set_value(kind).run()
        fill()
        register()
    plan = screen.session.analysis_plan.analyses
    assert [each.kind for each in plan] == ["linear", "means", "table", "measure"]
    assert (plan[0].formula, plan[0].tolerance) == ("siri ~ age + weight", 1.96)
    assert plan[0].name == "Linear regression of siri"
    assert plan[1].variables == ("siri", "age")
    assert "[[analysis]]" in test.text_area(key="utility.0.pass").value
    assert test.button(key=f"{key}.add").disabled, "the name is taken"
    test.button(key=f"{key}.remove.1").click().run()
    assert [each.kind for each in screen.session.analysis_plan.analyses] == [
        "linear",
        "table",
        "measure",
    ]


def rules(screen, text: str) -> list[str]:
    """Write the edit rules on the Data page; what it refuses."""
    area = screen.find("text_area", "Edit rules")
    area.set_value(text).run()
    return screen.errors


def shown_tables(screen) -> dict[str, dict[str, Any]]:
    """The tables of the Utility page, by title."""
    session = screen.session
    session.clamp(prepared(session).prepared)
    return {each["title"]: each for each in tables(read(session))}


def test_rules_count_at_once_and_a_bad_one_is_a_sentence(open_page) -> None:
    screen = open_page("data", demo="bodyfat")
    (sentence,) = rules(screen, "age >= 15\nage >")
    assert "cannot be read at place" in sentence
    assert screen.session.data.schema.edit_rules == ()
    assert rules(screen, "age >= 15\n\nabdomen > neck") == []
    assert [each.text for each in screen.session.data.schema.edit_rules] == [
        "age >= 15",
        "abdomen > neck",
    ]
    assert screen.visit("utility").errors == []
    shown = shown_tables(screen)["Edit rules: records that break them"]
    assert [row[:2] for row in shown["rows"]] == [["age >= 15", 0], ["abdomen > neck", 0]]


def test_a_sampling_weight_is_read_by_utility_and_risk(open_page, monkeypatch) -> None:
    editor = st.data_editor

    def edited(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
        shown = editor(frame, **options)
        if "role" not in shown:
            return shown
        weights = shown["variable"] == "weight"
        return shown.assign(role=shown["role"].mask(weights, str(rwn.Role.SAMPLING_WEIGHT)))

    monkeypatch.setattr(st, "data_editor", edited)
    screen = open_page("data", demo="bodyfat")
    assert rwn.Sampling.of_schema(screen.session.data) == rwn.Sampling(weights="weight")
    assert screen.visit("utility").errors == []
    assert "Survey estimates, weighted by weight" in shown_tables(screen)
    screen.visit("risk")
    chosen = {each.label: each.value for each in screen.test.selectbox}
    assert chosen["Sampling weights"] == "weight"


def test_the_payload_is_plain_and_complete() -> None:
    viewed = a_session("pima", rwn.load_demo("pima"))  # numbers and a category
    payload = utility_view.payload(read(viewed))
    text = orjson.dumps(payload)
    assert b"NaN" not in text
    assert len(payload["tiles"]) == 5
    keys = [json.loads(card)["key"] for card in payload["cards"]]
    assert keys == [
        "association", "correlation_change",
        "regression", "principal_components", "subgroups", "distribution", "two_way", "quantiles",
    ]  # fmt: skip
    assert not [card for card in payload["cards"] if json.loads(card).get("reason")]
    overview = payload["tables"][0]
    titles = [row[0] for row in overview["rows"]]
    measures = [m for m in rwn.MEASURES.values() if m.side == "utility" and m.key != "prediction"]
    assert titles == [measure.title for measure in measures]
    for table in payload["tables"]:
        for row in table["rows"]:
            assert len(row) == len(table["columns"])
    by_title = {table["title"]: table for table in payload["tables"]}
    (score,) = (table for title, table in by_title.items() if title.startswith("Propensity"))
    assert [row[0] for row in score["rows"]] == ["main effects", "all pairs"]
    pmse = read(viewed).readings["pmse"]
    assert score["rows"][1][3:6] == [
        pmse.value, pmse.detail.standardized, pmse.detail.specks,
    ]  # fmt: skip
    response = viewed.data.schema.question.response
    overlap = by_title[f"Overlap of the 95 % intervals: linear regression of {response}"]
    assert all(row[2] == min(max(row[1], 0.0), 1.0) for row in overlap["rows"])


def test_draws_and_standard_errors_join_the_picture(session: Session, four: Ensemble) -> None:
    before = utility_view.payload(read(session))
    validity = standard_error_validity(session.data, session.params, repeats=10, seed=1)
    keep(session, setting_key(session), (four, ()))
    keep(session, setting_key(session), validity)
    after = utility_view.payload(read(session))
    assert after["stamp"] != before["stamp"]
    assert after["tiles"][0]["limit"].startswith("9 of 10 draws")
    assert "9 of 10 draws" in after["tables"][0]["columns"]
    errors, intervals = after["tables"][-2:]
    assert errors["title"].startswith("Are the standard errors")
    assert intervals["title"] == "What an analyst may do with this file"
    assert intervals["rows"] == [["none"]]
    assert "not drawn equally often" in intervals["caption"]
    session.move(k=session.levers["k"] + 1)  # another setting has no draws yet
    other = utility_view.payload(read(session))
    assert "9 of 10 draws" not in other["tables"][0]["columns"]


def test_the_tune_page_shows_the_draws_too(session: Session) -> None:
    current = current_release(session)
    plain = tune_view.payload(session, current)
    keys = [*tiles.TILES, *session.policy.measures]
    draws = ensemble(session.data, session.params, repeats=4, seed=1, measures=keys)
    keep(session, setting_key(session), (draws, ()))
    payload = tune_view.payload(session, current)
    words = [tile.get("limit", "") for tile in payload["tiles"]]
    assert [text.startswith("draws") for text in words] == [True, True]
    names = [trace["name"] for trace in json.loads(payload["cards"][0])["data"]]
    assert "draws" in names
    assert "draws" not in [trace["name"] for trace in json.loads(plain["cards"][0])["data"]]
