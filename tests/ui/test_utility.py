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
from rwn_core import Ensemble, ensemble, standard_error_validity
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
from tests.tables import table
from tests.ui.following import shown
from tests.ui.work_here import WorkHere
from tests.waiting import until


def a_session(name: str, data: rwn.Microdata) -> Session:
    session = Session(name=name, demo=None, data=data)
    session.clamp(prepared(session).prepared)
    return session


def payload_of(session: Session) -> dict[str, Any]:
    return dict(utility_view.payload(read(session)))


def cards(session: Session) -> dict[str, Any]:
    return {card["key"]: card for card in utility_view.cards(read(session))}


@pytest.fixture(scope="module")
def four() -> Ensemble:
    """Four draws of bodyfat's standard setting."""
    session = a_session("bodyfat", rwn.load_demo("bodyfat"))
    keys = [key for key, one in rwn.MEASURES.items() if one.side == "utility"]
    keys = [*(key for key in keys if key not in {"prediction", "pmse"}), "cells_changed"]
    keys += [key for key in (*tiles.TILES, *session.policy.measures) if key not in keys]
    return ensemble(session.data, session.params, repeats=4, seed=session.seed, measures=keys)


@pytest.mark.parametrize(
    "beside", [WorkHere, pytest.param(repeated_draws.Job, marks=pytest.mark.nightly)]
)
def test_draws_begun_on_tune_are_there_on_utility_and_only_for_their_setting(
    open_page, monkeypatch: pytest.MonkeyPatch, beside: type
) -> None:
    monkeypatch.setattr(repeated_draws, "Job", beside)
    monkeypatch.setattr(repeated_draws, "DRAWS", 3)
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    screen.visit("tune")
    screen.test.button(key="tune.draws").click().run()
    assert screen.work.busy
    assert screen.test.button(key="tune.draws").disabled
    job = screen.job(repeated_draws.JOB)
    if isinstance(job, WorkHere):
        job.end()
    until(lambda: not job.running)
    screen.test.run()
    assert screen.errors == []
    assert "3 draws" in screen.panel["summary"]["text"]
    limits = [tile.get("limit", "") for tile in screen.panel["tiles"]]
    assert ["draws" in text for text in limits[:2]] == [True, True]
    plan = screen.panel["tiles"][-1]
    assert (plan["label"], plan["state"]) == ("Analysis plan", "over")
    screen.visit("utility")
    payload = screen.results.pictures["utility"].payload
    assert payload["tiles"][0]["limit"].startswith("9 of 10 draws")
    assert payload["tiles"][3]["limit"].startswith("9 of 10 draws")  # small groups, a part
    table = payload["tables"][0]
    assert table["columns"][-2:] == ["draws that pass", "median of draws"]
    assert [row[-2].endswith(" of 3") for row in table["rows"]] == [True] * 3
    screen.test.slider(key="utility.0.k").set_value(9).run()
    other = screen.results.pictures["utility"].payload
    assert "draws" not in other["summary"]["text"]
    assert "draws" not in str(other["tiles"])


@pytest.mark.parametrize("neighbors", ["exact", "sample"])
def test_draws_read_all_that_a_tile_or_a_chart_of_tune_shows(session, monkeypatch, neighbors):
    begun: dict[str, Any] = {}
    params = rwn.RWN(epsilon=2.0, k=5, neighbors=neighbors, m=80 if neighbors == "sample" else None)
    monkeypatch.setattr(Session, "params", property(lambda _: params))
    monkeypatch.setattr(repeated_draws, "Job", lambda *what, **more: begun.update(more))
    repeated_draws.begin_draws(session)
    wanted = set(tiles.TILES) | set(SHOWN)
    same = {"neighborhood_size"} if neighbors == "exact" else set()  # in every draw
    assert wanted - set(begun["measures"]) == same
    assert "prediction" not in begun["measures"]


DRAWN = "9 of 10 draws"


def keep_draws(session: Session, four: Ensemble) -> None:
    """Keep draws and a check of standard errors of the session's setting."""
    validity = standard_error_validity(session.data, session.params, repeats=10, seed=1)
    keep(session, setting_key(session), (four, ()))
    keep(session, setting_key(session), validity)


def test_draws_join_the_tiles_and_tables_of_their_setting(session, four) -> None:
    before = payload_of(session)
    keep_draws(session, four)
    after = payload_of(session)
    assert after["stamp"] != before["stamp"]
    assert after["tiles"][0]["limit"].startswith(DRAWN)
    assert DRAWN in after["tables"][0]["columns"]


def test_checked_standard_errors_and_intervals_have_tables(session, four) -> None:
    keep_draws(session, four)
    errors, intervals = payload_of(session)["tables"][-2:]
    assert errors["title"].startswith("Are the standard errors")
    assert intervals["title"] == "What an analyst may do with this file"
    assert intervals["rows"] == [["none"]]
    assert "not drawn equally often" in intervals["caption"]


def test_draws_join_the_charts_of_their_setting(session, four) -> None:
    plain = cards(session)
    assert DRAWN not in str([card["data"] for card in plain.values()])
    keep_draws(session, four)
    drawn = cards(session)
    for key in ("regression", "principal_components", "subgroups", "distribution"):
        assert DRAWN in {trace.get("name", "") for trace in drawn[key]["data"]}, key
    for key in ("correlation", "correlation_change", "regression", "subgroups", "distribution"):
        assert any(DRAWN in column for column in drawn[key]["table"]["columns"]), key
    assert "outside" in drawn["correlation_change"]["note"]


def test_draws_join_the_tiles_and_the_map_of_tune(session, four) -> None:
    on_tune = tune_view.payload(session, current_release(session))
    keep_draws(session, four)
    payload = shown(session)
    words = [tile.get("limit", "") for tile in payload["tiles"]]
    assert [text.startswith("draws") for text in words] == [True, True]
    traces = [
        {trace["name"] for trace in json.loads(each["cards"][0])["data"]}
        for each in (on_tune, payload)
    ]
    assert ["draws" in names for names in traces] == [False, True]


def test_another_setting_has_no_draws_yet(session, four) -> None:
    keep_draws(session, four)
    session.move(k=session.levers["k"] + 1)
    assert DRAWN not in str([card["data"] for card in cards(session).values()])
    assert DRAWN not in payload_of(session)["tables"][0]["columns"]


def test_draws_are_points_only_where_each_has_both_measures() -> None:
    """Three of four draws have a loss: pairs in order would be of different draws."""
    values = {"association_loss": np.array([0.1, 0.2, 0.3]), "distance_linkage": np.full(4, 0.5)}
    made: Any = SimpleNamespace(values=values)
    assert repeated_draws.map_points(rwn.Policy(), made, "distance_linkage") == []
    values["association_loss"] = np.array([0.1, 0.2, 0.3, 0.4])
    found = repeated_draws.map_points(rwn.Policy(), made, "distance_linkage")
    assert [spot["loss"] for spot in found] == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_a_large_table_is_drawn_at_once_and_completed_after(open_page) -> None:
    data = rwn.load_demo("cps1988").take(np.arange(2400))
    session = a_session("cps1988", data)
    first = read(session)
    assert first.pending
    assert first.readings["pmse"] is PENDING
    stamp = payload_of(session)["stamp"]
    complete(session)
    done = read(session)
    assert not done.pending
    assert done.readings["pmse"].value > 0
    assert payload_of(session)["stamp"] != stamp
    session.seed += 1  # another draw
    assert read(session).pending
    # the page completes itself
    screen = open_page("data").upload("l.csv", table_bytes(data.frame, "csv", data.schema))
    screen.wait().visit("utility")
    assert screen.errors == []
    payload = screen.results.pictures["utility"].payload
    assert payload["tables"]
    assert "…" not in str((payload["tables"], payload["tiles"]))


def odd_tables() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["y", "a", "b"])
    return {
        "constant": frame.assign(y=1.0, a=2.0),
        "n < p": pd.DataFrame(rng.normal(size=(4, 6)), columns=["y", "a", "b", "c", "d", "e"]),
        "one variable": frame[["y"]],
        "categories": pd.DataFrame({"y": [*"pq"] * 20, "a": [*"r" * 39, "s"], "b": [*"t" * 40]}),
    }


@pytest.mark.parametrize("name", odd_tables())
def test_the_page_has_words_and_pictures_for_odd_tables(name: str) -> None:
    session = a_session(name, rwn.Microdata.from_frame(odd_tables()[name]))
    names = [variable.name for variable in session.data.schema.released]
    session.second_variable = names[-1]
    for variable in names:
        session.variable = variable
        payload = payload_of(session)
        assert len(payload["cards"]) == 8
        assert b"NaN" not in orjson.dumps(payload)


@pytest.fixture(scope="module")
def pima() -> Session:
    """A session with a table of numbers and a category."""
    return a_session("pima", table("pima"))


@pytest.fixture(scope="module")
def tables_of_pima(pima: Session) -> list[dict[str, Any]]:
    return list(payload_of(pima)["tables"])


def titled(tables: list[dict[str, Any]], start: str) -> dict[str, Any]:
    """Return the one table whose title begins so."""
    (table,) = (each for each in tables if each["title"].startswith(start))
    return table


def test_the_payload_is_plain_and_has_every_picture(pima: Session) -> None:
    payload = payload_of(pima)
    assert b"NaN" not in orjson.dumps(payload)
    assert len(payload["tiles"]) == 5
    drawn = list(map(json.loads, payload["cards"]))
    assert [card["key"] for card in drawn] == [
        "association",
        "correlation_change",
        "regression",
        "principal_components",
        "subgroups",
        "distribution",
        "two_way",
        "quantiles",
    ]
    assert not [card for card in drawn if card.get("reason")]


def test_every_measure_of_utility_has_its_row_and_every_row_its_cells(tables_of_pima) -> None:
    measures = [m for m in rwn.MEASURES.values() if m.side == "utility" and m.key != "prediction"]
    assert [row[0] for row in tables_of_pima[0]["rows"]] == [each.title for each in measures]
    for each in tables_of_pima:
        assert all(len(row) == len(each["columns"]) for row in each["rows"])


def test_the_propensity_score_has_a_row_without_and_with_pairs(pima, tables_of_pima) -> None:
    rows = titled(tables_of_pima, "Propensity")["rows"]
    assert [row[0] for row in rows] == ["main effects", "all pairs"]
    pmse = read(pima).readings["pmse"]
    assert rows[1][3:6] == [pmse.value, pmse.detail.standardized, pmse.detail.specks]


def test_the_overlap_of_intervals_is_shown_from_nothing_to_all(pima, tables_of_pima) -> None:
    response = pima.data.schema.question.response
    overlap = titled(
        tables_of_pima, f"Overlap of the 95 % intervals: linear regression of {response}"
    )
    assert all(row[2] == min(max(row[1], 0.0), 1.0) for row in overlap["rows"])


FORM = "utility.0.pass.form"


def register(screen, kind: str, field: str = "", names: tuple[str, ...] = ()) -> None:
    """Register an analysis by the form."""
    test = screen.test
    test.selectbox(key=f"{FORM}.kind").set_value(kind).run()
    if field:
        test.multiselect(key=f"{FORM}.{kind}.{field}").set_value(list(names)).run()
    test.button(key=f"{FORM}.add").click().run()
    assert screen.errors == []


@pytest.fixture
def registered(open_page) -> Any:
    """The Utility page with a regression and a table of counts registered by its form."""
    screen = open_page("utility")
    assert screen.test.button(key=f"{FORM}.add").disabled, "a regression needs predictors"
    screen.test.selectbox(key=f"{FORM}.linear.one").set_value("siri").run()
    register(screen, "linear", "others.siri", ("age", "weight"))
    return screen


def test_analyses_are_registered_and_removed_by_a_form(registered) -> None:
    session = registered.session
    register(registered, "means", "others.siri", ("age",))
    register(registered, "table", "counted", ("age",))
    register(registered, "measure")
    plan = session.analysis_plan.analyses
    assert [each.kind for each in plan] == ["linear", "means", "table", "measure"]
    assert (plan[0].formula, plan[0].tolerance) == ("siri ~ age + weight", 1.96)
    assert plan[0].name == "Linear regression of siri"
    assert plan[1].variables == ("siri", "age")
    assert registered.test.button(key=f"{FORM}.add").disabled, "the name is taken"
    registered.test.button(key=f"{FORM}.remove.1").click().run()
    kinds = [each.kind for each in session.analysis_plan.analyses]
    assert kinds == ["linear", "table", "measure"]


def test_registered_analyses_travel_in_a_scenario(registered) -> None:
    register(registered, "table", "counted", ("age",))
    register(registered, "measure")
    plan = registered.session.analysis_plan
    text = scenario_draft(registered.session, "Analysis plan").to_toml()
    assert Scenario.from_toml(text).analysis_plan == plan
    assert plan_in(text) == plan_in(plan.to_toml()) == plan


def test_registered_analyses_are_judged_by_a_tile_of_tune(registered) -> None:
    register(registered, "table", "counted", ("age",))
    register(registered, "measure")
    registered.visit("tune")
    tile = registered.panel["tiles"][-1]
    assert (tile["label"], tile["limit"]) == ("Analysis plan", "all within tolerance")
    assert "✓ Linear regression of siri" in tile["help"]


def test_a_text_of_analyses_that_cannot_be_read_is_refused(registered) -> None:
    registered.visit("tune").visit("utility")
    area = registered.test.text_area(key="utility.0.pass")
    assert "[[analysis]]" in area.value
    area.set_value("[[analysis").run()
    assert "not valid TOML" in registered.errors[0]
    assert registered.session.analysis_plan.analyses == ()


def test_rules_and_sampling_weights_of_the_data_page_count_on_utility_and_risk(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = open_page("data")

    def titles() -> dict[str, Any]:
        assert screen.visit("utility").errors == []
        return {
            each["title"]: each for each in screen.results.pictures["utility"].payload["tables"]
        }

    def rules(text: str) -> list[str]:
        screen.find("text_area", "Edit rules").set_value(text).run()
        return screen.errors

    (sentence,) = rules("age >= 15\nage >")
    assert "cannot be read at place" in sentence
    assert screen.session.data.schema.edit_rules == ()
    assert rules("age >= 15\n\nabdomen > neck") == []
    stated = [each.text for each in screen.session.data.schema.edit_rules]
    assert stated == ["age >= 15", "abdomen > neck"]
    broken = titles()["Edit rules: records that break them"]
    assert [row[:2] for row in broken["rows"]] == [[rule, 0] for rule in stated]
    editor = st.data_editor

    def edited(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
        shown = editor(frame, **options)
        if "role" not in shown:
            return shown
        weights = shown["variable"] == "weight"
        return shown.assign(role=shown["role"].mask(weights, str(rwn.Role.SAMPLING_WEIGHT)))

    monkeypatch.setattr(st, "data_editor", edited)
    screen.visit("data")
    assert rwn.Sampling.of_schema(screen.session.data) == rwn.Sampling(weights="weight")
    assert "Survey estimates, weighted by weight" in titles()
    screen.visit("risk")
    assert screen.find("selectbox", "Sampling weights").value == "weight"
