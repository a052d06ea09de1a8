"""Linkability with halves that somebody chose: which variables each of two files has."""

from __future__ import annotations

import pytest

from rwn_core.errors import ParameterError
from rwn_core.evaluation.audit import compare, read_all
from rwn_core.evaluation.control_group import control_group
from rwn_core.io.demo import load_demo
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES

PIMA = load_demo("pima")
SETTING = RWN(k=5)
PLAIN = compare(PIMA, mask(PIMA, SETTING, seed=1))
LINKABILITY = MEASURES["linkability"]


def test_variables_are_taken_in_turn_by_default():
    names = [variable.name for variable in PIMA.schema.released]
    reading = LINKABILITY.compute(PLAIN)
    assert reading.detail.parts == (names[::2], names[1::2])
    again = PLAIN.with_halves([names[::2], names[1::2]])
    assert LINKABILITY.compute(again).value == reading.value
    assert "Halves as stated" not in LINKABILITY.sentence(reading, PIMA.n)


def test_chosen_halves_are_what_is_linked():
    chosen = PLAIN.with_halves([["glucose", "age"], ["bmi", "pregnant"]])
    reading = read_all(chosen, ["linkability"])["linkability"]
    assert reading.detail.parts == (["glucose", "age"], ["bmi", "pregnant"])
    assert reading.detail.attack != LINKABILITY.compute(PLAIN).detail.attack
    said = LINKABILITY.sentence(reading, PIMA.n)
    assert said.endswith("Halves as stated: glucose, age | bmi, pregnant.")


def test_the_other_half_of_one_is_all_other_variables():
    names = [variable.name for variable in PIMA.schema.released]
    detail = LINKABILITY.compute(PLAIN.with_halves([["age"]])).detail
    assert detail.parts == (["age"], [name for name in names if name != "age"])


@pytest.mark.parametrize(
    "wrong",
    [
        [["age"], ["age", "bmi"]],
        [["age"], ["nobody"]],
        [["age"], []],
        [["age"], ["bmi"], ["glucose"]],
        [["age", "age"], ["bmi"]],
        [[variable.name for variable in PIMA.schema.released]],
    ],
)
def test_halves_that_are_none_are_refused(wrong):
    with pytest.raises(ParameterError, match="halves must be one or two sets of released"):
        PLAIN.with_halves(wrong)


def test_halves_reach_another_release_and_the_control_group():
    chosen = PLAIN.with_halves([["age"], ["bmi"]])
    assert chosen.with_masked(PIMA).halves == (("age",), ("bmi",))
    assert chosen.with_key_sets([["age"]]).halves == (("age",), ("bmi",))
    control = control_group(chosen, SETTING, seed=1)
    assert control is not None
    assert LINKABILITY.compute(control).detail.parts == (["age"], ["bmi"])
