"""The analysis plan on screen: registered on Utility, judged on Tune and in a scenario."""

from __future__ import annotations

from rwn_core.reporting.scenario import Scenario
from rwn_ui.features import (
    analysis_plan,
)


def test_a_registered_analysis_plan_is_on_tune_and_in_the_scenario(open_page) -> None:
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    assert screen.errors == []
    registered = screen.session.analysis_plan
    assert len(registered.analyses) == 3
    screen.visit("tune")
    tile = screen.panel["tiles"][-1]
    assert tile["label"] == "Analysis plan"
    assert tile["state"] in {"ok", "over"}
    assert "Correlations" in tile["help"]
    text = analysis_plan._scenario(screen.session).to_toml()
    assert Scenario.from_toml(text).analysis_plan == registered
    assert analysis_plan.read(text.encode()) == registered
    assert analysis_plan.read(registered.to_toml().encode()) == registered
    screen.visit("utility")
    area = screen.test.text_area(key="utility.0.pass")
    assert "[[analysis]]" in area.value
    area.set_value("[[analysis").run()
    assert "not valid TOML" in screen.errors[0]
    assert screen.session.analysis_plan.analyses == ()


def test_a_scenario_brings_its_analysis_plan_along_and_is_judged(open_page) -> None:
    screen = open_page("utility")
    screen.test.button(key="utility.0.pass.suggest").click().run()
    registered = screen.session.analysis_plan
    screen.visit("compare")
    for name in ("one", "two"):
        next(box for box in screen.test.text_input if box.label == "Name").set_value(name)
        next(each for each in screen.test.button if each.label == "Save scenario").click().run()
        screen.session.levers["k"] += 4
    assert screen.errors == []
    session = screen.session
    assert session.scenarios["one"].analysis_plan == registered
    assert len(screen.results.memos["standings of scenarios"]._kept) == 2
    session.analysis_plan = type(registered)()
    next(each for each in screen.test.button if each.label == "To Tune").click().run()
    assert session.analysis_plan == registered
    assert screen.visit("utility").test.text_area(key="utility.0.pass").value
