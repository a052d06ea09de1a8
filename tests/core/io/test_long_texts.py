"""A long text from outside is parsed in a process with limits, a short one at once."""

from __future__ import annotations

import os

import pytest

from rwn_core.data.schema import Schema
from rwn_core.data.text_budget import LETTERS_AT_ONCE, LONGEST_DOCUMENT
from rwn_core.errors import InputError, RWNError
from rwn_core.evaluation.analysis_plan import AnalysisPlan
from rwn_core.io.reading import parse_text
from rwn_core.reporting.decision import scenario_or_decision
from rwn_core.reporting.scenario import Scenario

LONG = " " * (LETTERS_AT_ONCE + 1)


def process(text: str) -> int:
    return os.getpid()


def endless(text: str) -> None:
    while True:
        pass


def greedy(text: str) -> int:
    return len(bytearray(10_000_000_000))


def fatal(text: str) -> None:
    os._exit(1)


def test_only_a_long_text_has_a_process_of_its_own() -> None:
    assert parse_text(process, LONG[1:], "text") == os.getpid()
    assert parse_text(process, LONG, "text") != os.getpid()


@pytest.mark.parametrize("parse", [endless, greedy, fatal])
def test_what_takes_too_much_is_refused_in_a_sentence_and_nothing_else_ends(parse: object) -> None:
    with pytest.raises(RWNError) as caught:
        parse_text(parse, LONG, "scenario file", seconds=2.0)  # type: ignore[arg-type]
    assert str(caught.value).endswith("shorten it.")
    assert parse_text(process, LONG, "text") != os.getpid()


def test_a_text_beyond_all_bounds_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InputError, match="5,000,000"):
        parse_text(process, " " * (LONGEST_DOCUMENT + 1), "project file")


def test_what_comes_back_is_what_would_be_read_here() -> None:
    plan = '[[analysis]]\nname = "a"\nkind = "linear"\ntolerance = 1\nformula = "y ~ a*b"\n'
    scenario = f'format = "rwn scenario 1"\nname = "s"\nnote = """{LONG}"""\n'
    schema = '[[variable]]\nname = "a"\nkind = "count"\n'
    assert parse_text(AnalysisPlan.from_toml, plan + LONG, "plan") == AnalysisPlan.from_toml(plan)
    assert parse_text(scenario_or_decision, scenario, "file") == Scenario.from_toml(scenario)
    assert parse_text(Schema.from_toml, schema + LONG, "file") == Schema.from_toml(schema)


@pytest.mark.parametrize(
    "text", ["a = [" + "1," * 510_000 + "]", "a = " + "[" * 60_000, "x" * 60_000, f"a{LONG}"]
)
def test_a_refusal_over_there_is_one_here(text: str) -> None:
    with pytest.raises(RWNError) as caught:
        parse_text(Scenario.from_toml, text, "scenario file")
    assert "scenario file" in str(caught.value)
    assert "\n" not in str(caught.value)
