"""The use of a file: what may be stated, and how it travels."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError, SchemaError
from rwn_core.laws.donors import released_schema
from rwn_core.reporting.project import Project

STATED = rwn.Use(
    confidential=("siri",),
    regressions=(
        rwn.StatedRegression(formula="siri ~ age + square(age) + bmi:abdomen"),
        rwn.StatedRegression(formula="weight ~ height"),
    ),
)


def _bodyfat(use: rwn.Use | None = STATED) -> rwn.Schema:
    return rwn.load_demo("bodyfat").schema.used_for(use)


def test_its_names_and_responses() -> None:
    assert STATED.responses == ("siri", "weight")
    assert STATED.names == ("siri", "age", "bmi", "abdomen", "weight", "height")


def test_a_name_that_is_no_word_stands_in_backticks() -> None:
    question = rwn.Question(response="body fat", predictors=("age", "2nd visit"))
    stated = rwn.StatedRegression.of_question(question)
    assert stated.formula == "`body fat` ~ age + `2nd visit`"
    assert stated.names == ("body fat", "age", "2nd visit")


def test_it_travels_in_a_schema() -> None:
    schema = _bodyfat()
    assert rwn.Schema.from_toml(schema.to_toml()).use == STATED
    assert "[use]" not in _bodyfat(None).to_toml()


def test_it_travels_in_a_scenario_and_a_project() -> None:
    scenario = rwn.Scenario(name="one", use=STATED)
    assert rwn.Scenario.from_toml(scenario.to_toml()).use == STATED
    table = rwn.load_demo("bodyfat")
    described = table.with_schema(_bodyfat())
    project = Project.from_toml(Project.from_table(described, scenario, "2026-01-01").to_toml())
    assert project.describe(table).use == STATED
    assert project.present.use == STATED


def test_a_release_without_a_variable_keeps_what_it_can_answer() -> None:
    schema = _bodyfat().replace_variable("weight", role=rwn.Role.IDENTIFIER)
    left = released_schema(schema).use
    assert left == replace(STATED, regressions=STATED.regressions[:1])
    assert _bodyfat().releasing(["neck", "chest"]).use is None


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("needs at least one predictor", lambda: rwn.StatedRegression(formula="siri ~ siri")),
        ("kind of a regression", lambda: rwn.StatedRegression(formula="a ~ b", kind="probit")),
        ("no ~ between", lambda: rwn.StatedRegression(formula="siri")),
        ("confidential variable of the use", lambda: rwn.Use(confidential=("siri", "siri"))),
        ("names the variable fat", lambda: _bodyfat(rwn.Use(confidential=("fat",)))),
    ],
)
def test_what_cannot_be_is_refused(words: str, refused: object) -> None:
    with pytest.raises((ParameterError, SchemaError), match=words):
        refused()  # type: ignore[operator]


def test_a_schema_file_with_another_use_table_is_refused() -> None:
    text = _bodyfat().to_toml().replace("confidential = [", "secret = [")
    with pytest.raises(SchemaError, match="unknown field secret"):
        rwn.Schema.from_toml(text)
