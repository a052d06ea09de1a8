"""A long text from outside is parsed in a process with limits, a short one at once."""

from __future__ import annotations

import os

import pytest

from rwn_core.data.text_budget import LETTERS_AT_ONCE, LONGEST_DOCUMENT
from rwn_core.errors import InputError, RWNError
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


def test_what_takes_too_much_is_refused_in_a_sentence_and_nothing_else_ends() -> None:
    for parse in (endless, greedy, fatal):
        with pytest.raises(RWNError, match=r"shorten it\.$"):
            parse_text(parse, LONG, "scenario file", seconds=2.0)
    assert parse_text(process, LONG, "text") != os.getpid()


def test_a_text_beyond_all_bounds_is_refused_before_it_is_sent() -> None:
    with pytest.raises(InputError, match="5,000,000"):
        parse_text(process, " " * (LONGEST_DOCUMENT + 1), "project file")


def test_what_comes_back_is_what_would_be_read_here() -> None:
    scenario = f'format = "rwn scenario 1"\nname = "s"\nnote = """{LONG}"""\n'
    assert parse_text(scenario_or_decision, scenario, "file") == Scenario.from_toml(scenario)


def test_a_refusal_over_there_is_one_here() -> None:
    with pytest.raises(RWNError) as caught:
        parse_text(Scenario.from_toml, "a = " + "[" * 60_000, "scenario file")
    assert "scenario file" in str(caught.value)
    assert "\n" not in str(caught.value)
