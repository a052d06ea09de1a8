"""Guessed roles of variables: by names and values, one household and one weight, never a value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.open_questions import open_questions
from rwn_core.data.role_guesses import guessed_roles, with_roles

R = rwn.Role


def survey(n: int = 400) -> rwn.Microdata:
    draw = np.random.default_rng(5)
    return rwn.Microdata.from_frame(
        pd.DataFrame(
            {
                "hid": np.repeat(np.arange(n // 2), 2) + 1000,
                "design_weight": np.round(draw.uniform(0.4, 3.1, n), 4),
                "Geschlecht": draw.choice(["m", "w"], n),
                "age": draw.integers(18, 90, n),
                "hhIncome": np.round(draw.lognormal(8, 0.6, n)),
                "Krankheit": draw.choice(["a", "b", "c"], n),
                "opinion3": draw.integers(1, 6, n),
            }
        )
    )


def test_names_and_values_say_the_roles() -> None:
    data = survey()
    found = {guess.variable: guess.role for guess in guessed_roles(data.frame, data.schema)}
    assert found == {
        "hid": R.HOUSEHOLD,
        "design_weight": R.SAMPLING_WEIGHT,
        "Geschlecht": R.KEY,
        "age": R.KEY,
        "hhIncome": R.CONFIDENTIAL,
        "Krankheit": R.CONFIDENTIAL,
    }


def test_what_has_a_role_is_not_guessed_and_there_is_one_weight() -> None:
    data = survey()
    schema = data.schema.replace_variable("age", role=R.CONFIDENTIAL)
    schema = schema.replace_variable("opinion3", role=R.SAMPLING_WEIGHT)
    found = {guess.variable: guess.role for guess in guessed_roles(data.frame, schema)}
    assert "age" not in found
    assert R.SAMPLING_WEIGHT not in found.values()


@pytest.mark.parametrize("name", ["x1", "q17", "message", "passage", "sexton", "stageplay", "cage"])
def test_parts_of_words_are_no_words(name: str) -> None:
    data = rwn.Microdata.from_frame(pd.DataFrame({name: [1, 2, 2, 3], "b": [0, 1, 0, 1]}))
    assert guessed_roles(data.frame, data.schema) == []


def test_the_guesses_go_into_a_schema_and_the_weight_is_asked_about() -> None:
    data = survey()
    schema = with_roles(data.schema, guessed_roles(data.frame, data.schema))
    assert schema.name_with_role(R.HOUSEHOLD) == "hid"
    (asked,) = (q for q in open_questions(data.frame, schema) if q.variable == "design_weight")
    assert (asked.kind, asked.changes) == ("masked weight", {"masked": False})
    assert "masked as other variables are" in asked.sentence
    schema = schema.replace_variable("design_weight", **asked.changes)
    kinds = {q.kind for q in open_questions(data.frame, schema)}
    assert "masked weight" not in kinds


@pytest.mark.parametrize(("name", "numbers_people"), [("income", False), ("kod", True)])
def test_what_is_called_confidential_is_no_number_of_people(
    name: str, numbers_people: bool
) -> None:
    order = np.arange(300)  # no two rows agree on both columns
    data = rwn.Microdata.from_frame(pd.DataFrame({"age": order % 31, name: order % 47}))
    found = {guess.variable: guess.role for guess in guessed_roles(data.frame, data.schema)}
    assert found[name] is (R.PERSON if numbers_people else R.CONFIDENTIAL)
