"""The Utility page and what it gives to the others: draws, day pass, curves, large tables."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.evaluation.forecast.statistic import moments_of
from rwn_core.evaluation.repeated_draws import Ensemble, ensemble, releases
from rwn_core.measures.statistics.intervals import prediction_interval
from rwn_core.reporting.scenario import Scenario
from rwn_ui.compare import cards as compare_cards
from rwn_ui.features import (
    analysis_plan,
    analysis_plan_results,
    repeated_draws,
    repeated_draws_results,
)
from rwn_ui.features.repeated_draws_results import setting_of
from rwn_ui.state.session import Session
from rwn_ui.tune import view as tune_view
from rwn_ui.utility import cards as utility_cards
from rwn_ui.utility import results as utility_results
from rwn_ui.utility import view as utility_view
from rwn_ui.utility.results import PENDING, Desk, complete, sight


def a_session(monkeypatch: pytest.MonkeyPatch, demo: str, data: rwn.Microdata) -> Any:
    """A user's session and desk, without a browser."""
    session = Session(name=demo, demo=demo, data=data)
    session.settle()
    released = [variable.name for variable in session.data.schema.released]
    session.variable = released[0]
    mine = Desk(generation=0, other=released[1])
    for module in (utility_results, repeated_draws, analysis_plan_results, tune_view):
        monkeypatch.setattr(module, "desk", lambda session: mine)
    return session, mine


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    return a_session(monkeypatch, "bodyfat", rwn.load_demo("bodyfat"))


def wait_for_the_study(screen: Any) -> None:
    end = time.monotonic() + 90
    job = screen.session.study
    while job is not None and job.running and time.monotonic() < end:
        time.sleep(0.2)
    screen.test.run()


def cards(session: Session, mine: Desk) -> dict[str, Any]:
    found = utility_cards.cards(
        session, mine, sight(session), mine.ensembles.get(setting_of(session))
    )
    return {card["key"]: card for card in found}


@pytest.fixture(scope="module")
def four() -> Ensemble:
    """Four draws of bodyfat's standard setting."""
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    session.settle()
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
    assert screen.session.busy
    assert screen.test.button(key="tune.draws").disabled
    wait_for_the_study(screen)
    assert screen.errors == []
    assert "3 draws" in screen.session.last_payload["summary"]["text"]
    limits = [tile.get("limit", "") for tile in screen.session.last_payload["tiles"]]
    assert sum("draws" in text for text in limits) >= 4
    screen.visit("utility")
    payload = screen.test.session_state["utility.last"]
    assert payload["tiles"][0]["limit"].startswith("9 of 10 draws")
    assert payload["tiles"][3]["limit"].startswith("9 of 10 draws")  # small groups, a part
    table = payload["tables"][0]
    assert table["columns"][-2:] == ["draws that pass", "median of draws"]
    assert [row[-2].endswith(" of 3") for row in table["rows"]] == [True] * 3
    screen.test.slider(key="utility.0.k").set_value(9).run()
    other = screen.test.session_state["utility.last"]
    assert "draws" not in other["summary"]["text"]
    assert "draws" not in str(other["tiles"])


def test_charts_show_where_draws_fall_and_only_those_of_their_setting(
    shown: Any, four: Ensemble
) -> None:
    session, mine = shown
    plain = cards(session, mine)
    assert "9 of 10 draws" not in str([card["data"] for card in plain.values()])
    mine.ensembles[setting_of(session)] = four
    after = cards(session, mine)
    names = {key: {trace.get("name", "") for trace in card["data"]} for key, card in after.items()}
    for key in (
        "regression",
        "principal_components",
        "subgroups",
        "distribution",
        "expected_curve",
    ):
        assert "9 of 10 draws" in names[key], key
    for key in ("correlation", "correlation_change", "regression", "subgroups", "distribution"):
        assert any("9 of 10 draws" in column for column in after[key]["table"]["columns"]), key
    assert "outside" in after["correlation_change"]["note"]
    session.k += 1
    assert "9 of 10 draws" not in str([card["data"] for card in cards(session, mine).values()])


def test_only_the_newest_results_are_kept() -> None:
    kept: dict[tuple[Any, ...], Any] = {}
    for number in range(repeated_draws.KEPT + 3):
        repeated_draws._keep(kept, (number,), number)
    assert list(kept.values()) == list(range(3, repeated_draws.KEPT + 3))


@pytest.mark.parametrize(
    "kind", ["change", "mean", "sd", "correlation", "first_component", "cells"]
)
def test_the_curves_moment_has_its_interval_over_the_draws(
    shown: Any, four: Ensemble, kind: str
) -> None:
    session, _ = shown
    moment = next(one for one in moments_of(session.data, "siri", "bmi") if one.kind == kind)
    low, high = repeated_draws_results.moment_interval(four, moment, session.data)
    comparison = sight(session).comparison
    values = [
        moment.realized(comparison.with_masked(masked))
        for masked, _ in releases(session.data, session.params, 4, session.seed)
    ]
    bounds = {
        "change": (0, 2), "sd": (0, np.inf), "correlation": (-1, 1), "first_component": (0, 1),
        "cells": (0, 1),
    }  # fmt: skip
    expected = prediction_interval(values, bounds=bounds.get(kind, (-np.inf, np.inf)))
    assert (low, high) == pytest.approx(expected, rel=1e-6)


# ---------------------------------------------------------------- expected curves


def test_any_moment_over_any_parameter(open_page) -> None:
    screen = open_page("utility", demo="pima")
    mine: Desk = screen.test.session_state["utility.desk"]
    choose = next(box for box in screen.test.selectbox if box.label == "Expected curve of")
    over = screen.test.selectbox(key="utility.0.axis")
    assert len(choose.options) >= 5
    for axis in ("neighbors k", "probability q", "radius ε"):
        over.set_value(axis).run()
        over = screen.test.selectbox(key="utility.0.axis")
        assert screen.errors == []
    choose = next(box for box in screen.test.selectbox if box.label == "Expected curve of")
    choose.select_index(2).run()
    assert screen.errors == []
    assert mine.moment.kind != "change"
    shown = screen.test.session_state["utility.last"]["cards"]
    assert any(f"Expected {mine.moment.short} over ε" in card for card in shown)


# ---------------------------------------------------------------- large tables


def test_a_large_table_is_drawn_at_once_and_completed_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = rwn.load_demo("cps1988").take(np.arange(2400))
    session, mine = a_session(monkeypatch, "cps1988", data)
    monkeypatch.setattr(utility_results.st, "session_state", {repeated_draws_results.PLACE: mine})
    first = sight(session)
    assert first.pending
    assert first.readings["pmse"] is PENDING
    assert first.expected is PENDING
    keys = [card["key"] for card in utility_cards.cards(session, mine, first, None)]
    assert "expected_curve" in keys
    payload = utility_view.payload(session, mine, first, ())
    complete(session)
    done = sight(session)
    assert not done.pending
    assert done.readings["pmse"].value > 0
    assert done.expected.value > 0
    assert utility_view.payload(session, mine, done, ())["stamp"] != payload["stamp"]
    session.seed += 1  # another draw: the setting's expectation is known, the rest is not
    again = sight(session)
    assert again.pending
    assert again.expected.value == done.expected.value


# ---------------------------------------------------------------- degenerate tables


def odd_tables() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["y", "a", "b"])
    return {
        "constant": frame.assign(y=1.0, a=2.0),
        "collinear": frame.assign(b=lambda f: 2 * f["a"]),
        "one class": frame.assign(y="same"),
        "n < p": pd.DataFrame(rng.normal(size=(4, 6)), columns=["y", "a", "b", "c", "d", "e"]),
        "one variable": frame[["y"]],
        "categories": pd.DataFrame(
            {"y": ["p", "q"] * 20, "a": ["r"] * 39 + ["s"], "b": ["t"] * 40}
        ),
    }


@pytest.mark.parametrize("name", odd_tables())
def test_the_page_has_words_and_pictures_for_odd_tables(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    data = rwn.Microdata.from_frame(odd_tables()[name])
    names = [variable.name for variable in data.schema.released]
    session = Session(name=name, demo=None, data=data)
    session.settle()
    mine = Desk(generation=0, other=names[-1])
    for module in (utility_results, tune_view):
        monkeypatch.setattr(module, "desk", lambda session: mine)
    for variable in names:
        session.variable = variable
        for moment in moments_of(data, variable, mine.other):
            mine.moment = moment
            payload = utility_view.payload(session, mine, sight(session), ())
            assert len(payload["cards"]) == 9
            assert b"NaN" not in orjson.dumps(payload)


# ---------------------------------------------------------------- day pass


def test_a_registered_day_pass_is_on_tune_and_in_the_scenario(open_page) -> None:
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    assert screen.errors == []
    registered = screen.session.day_pass
    assert len(registered.analyses) == 3
    screen.visit("tune")
    tile = screen.session.last_payload["tiles"][-1]
    assert tile["label"] == "Day pass"
    assert tile["state"] in {"ok", "over"}
    assert "Correlations" in tile["help"]
    text = analysis_plan._scenario(screen.session).to_toml()
    assert Scenario.from_toml(text).day_pass == registered
    assert analysis_plan.read(text.encode()) == registered
    assert analysis_plan.read(registered.to_toml().encode()) == registered
    screen.visit("utility")
    area = screen.test.text_area(key="utility.0.pass")
    assert "[[analysis]]" in area.value
    area.set_value("[[analysis").run()
    assert "not valid TOML" in screen.errors[0]
    assert screen.session.day_pass.analyses == ()


def test_a_scenario_brings_its_day_pass_along_and_is_judged(open_page) -> None:
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    registered = screen.session.day_pass
    screen.visit("compare")
    for name in ("one", "two"):
        next(box for box in screen.test.text_input if box.label == "Name").set_value(name)
        next(each for each in screen.test.button if each.label == "Save scenario").click().run()
        screen.session.k += 4
    assert screen.errors == []
    session = screen.session
    assert session.scenarios["one"].day_pass == registered
    mine = screen.test.session_state["utility.desk"]
    kept = [key for key in mine.memo._kept if key[0] == "standings"]
    assert len(kept) == 2
    session.day_pass = type(registered)()
    next(each for each in screen.test.button if each.label == "To Tune").click().run()
    assert session.day_pass == registered
    assert screen.visit("utility").test.text_area(key="utility.0.pass").value


def test_standings_in_words(shown: Any) -> None:
    session, mine = shown
    analysis_plan.register(session, mine, analysis_plan.suggested(session.data).to_toml())
    scenario = Scenario(name="a", setting=session.setting, table=session.data.fingerprint, seed=2)
    found = analysis_plan_results.standings(session, scenario)
    assert found is not None
    words = [analysis_plan_results.standing_words(one) for one in found]
    assert all(text[0] in "✓▲" for text in words)
    rows = compare_cards._day_pass_rows(session, [scenario])
    assert [row[1] for row in rows] == words
    other = Scenario(name="b", setting=session.setting, table="0" * 64)
    assert analysis_plan_results.standings(session, other) is None
    assert compare_cards._day_pass_rows(session, [scenario, other])[0][2] == "–"


def test_draws_are_points_only_where_each_has_both_measures(monkeypatch) -> None:
    """Three of four draws have a correlation: pairs in order would be of different draws."""
    values = {"correlation": np.array([0.1, 0.2, 0.3]), "distance_linkage": np.full(4, 0.5)}
    made = SimpleNamespace(values=values)
    monkeypatch.setattr(repeated_draws_results, "drawn", lambda session: made)
    assert repeated_draws_results.spots(None) == []
    values["correlation"] = np.array([0.1, 0.2, 0.3, 0.4])
    shown = [spot["utility"] for spot in repeated_draws_results.spots(None)]
    assert shown == pytest.approx([0.9, 0.8, 0.7, 0.6])
