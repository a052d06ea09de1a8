"""Release precision on the Sweep page: tried by the form, differing in words, drawn in slices."""

from __future__ import annotations

from typing import Any

import pytest

from rwn_core.data.rounding import given_steps
from rwn_core.errors import ParameterError
from rwn_core.measures.measure import Reading
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Grid, Setting
from rwn_ui.features.setting_sentences import differences
from rwn_ui.state.results import current_release
from rwn_ui.sweep import cards as sweep_cards
from rwn_ui.sweep import form as sweep_form

pytestmark = pytest.mark.usefixtures("sweeps_folder")


def test_differences_of_precision_are_told_in_words() -> None:
    def rounded_to(**steps: float) -> Scenario:
        return Scenario(setting=Setting.of("rwn", {"k": 5}, precision=steps))

    assert differences(rounded_to(), rounded_to(age=5)) == [
        "age is released in steps of 5 instead of as it is."
    ]
    assert differences(rounded_to(age=5, hip=1), rounded_to(age=10)) == [
        "age is released in steps of 10 instead of in steps of 5.",
        "hip is released as it is instead of in steps of 1.",
    ]
    assert differences(rounded_to(age=5), rounded_to(age=5)) == ["Both have the same setting."]
    many = differences(rounded_to(), rounded_to(**dict.fromkeys("abcdef", 1.0)))
    assert many[-1] == "3 more variables are released in other steps."
    assert len(many) == 4


def test_the_sweep_form_tries_precisions(open_page) -> None:
    screen = open_page("sweep")
    page, session = screen.test, screen.session
    data = session.data
    coarse = given_steps(data, 0.5)
    assert sweep_form.first_search(session).grid.precision == ({}, coarse)

    def field(kind: str, label: str) -> Any:
        return next(each for each in getattr(page, kind) if each.label == label)

    assert field("multiselect", "Release precision of all numbers").value == ["as is", "0.5 SD"]
    field("multiselect", "Variables that travel together").set_value([()])
    field("text_input", "Radius ε (standard deviations)").set_value("2")
    field("text_input", "Minimum neighbors k").set_value("3")
    field("text_input", "Modification probability q").set_value("1")
    field("multiselect", "Release precision of all numbers").set_value(["as is", "0.5 SD"])
    field("text_area", "Own steps to try").set_value("age=5 weight=10\n\n")
    field("multiselect", "Measures").set_value(["bayes_linkage", "correlation"])
    field("number_input", "Releases").set_value(2)
    field("button", "Start sweep").click().run()
    assert screen.errors == []
    screen.work.sweep.join(60)
    page.run()
    points = screen.work.sweep.sweep().points
    expected = [{}, given_steps(data, 0.5), {"age": 5.0, "weight": 10.0}]
    assert [dict(point.setting.precision) for point in points] == expected
    linked = [point.median("bayes_linkage") for point in points]
    assert linked[1] < linked[2] <= linked[0]
    # the form shows the same search again, and a point brings its precision to Tune
    screen.visit("data").visit("sweep")
    assert field("multiselect", "Release precision of all numbers").value == ["as is", "0.5 SD"]
    assert field("text_area", "Own steps to try").value == "age=5 weight=10"
    chosen = next(s for s in page.selectbox if s.label.startswith("Setting"))
    chosen.set_value(points[2].setting.key).run()
    field("button", "Load into Tune").click().run()
    assert screen.errors == []
    assert session.precision == (("age", 5.0), ("weight", 10.0))
    assert sweep_form.first_search(session).grid.precision == (expected[2],)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("age", "A line of steps must be"),
        ("age=five", "A line of steps must be"),
        ("age=0", "precision of age must be a number above 0"),
        ("agee=5", "agee is no numeric variable"),
    ],
)
def test_nonsense_in_the_steps_of_the_form_is_a_sentence(open_page, text: str, word: str) -> None:
    screen = open_page("sweep")
    area = next(a for a in screen.test.text_area if a.label == "Own steps to try")
    area.set_value(text)
    next(b for b in screen.test.button if b.label == "Start sweep").click().run()
    assert [word in error for error in screen.errors] == [True]
    assert screen.work.sweep is None


def test_slices_of_a_sweep_differ_by_precision() -> None:
    grid = Grid(axes={"epsilon": (1.0, 2.0), "k": (3, 5)}, precision=({}, {"age": 5}))
    result = sweep_cards.slices(grid.settings(), "epsilon", "k")
    assert result == ["q = 1", "q = 1 · age in steps of 5"]


def test_a_session_refuses_what_its_table_cannot_round(open_page) -> None:
    session = open_page("tune").session
    session.precision = (("nowhere", 1.0),)
    with pytest.raises(ParameterError, match="nowhere is no numeric variable"):
        current_release(session)
    session.precision = (("age", 1e9),)
    readings = current_release(session).readings
    assert isinstance(readings["correlation"], Reading)
