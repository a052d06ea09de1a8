"""The analysis plan on screen: registered on Utility, judged on Tune and in a scenario."""

from __future__ import annotations

from rwn_core.reporting.scenario import Scenario, plan_in
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
    assert tile["state"] in {"kept", "over"}
    assert "Relations" in tile["help"]
    text = analysis_plan._scenario(screen.session).to_toml()
    assert Scenario.from_toml(text).analysis_plan == registered
    assert plan_in(text) == registered
    assert plan_in(registered.to_toml()) == registered
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
