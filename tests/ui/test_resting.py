"""Users who rest give back what is made again, and see the same when they come back."""

from __future__ import annotations

import time
from types import SimpleNamespace

from rwn_core.parallel.memory import resident_bytes
from rwn_ui.state.resting import LARGEST_GROWTH, REST, Resting
from rwn_ui.state.results import RESULTS, Results
from rwn_ui.state.work import WORK, Work
from tests.ui.large_table import csv


def user(rested: float, **work) -> dict[str, object]:
    results = Results(used=time.monotonic() - rested)
    results.tables.keep("table", "prepared")
    results.memos["releases"] = results.memos["draws"] = results.tables
    return {RESULTS: results, WORK: Work(**work)}


def holders(users) -> list[bool]:
    return [each[RESULTS].holds_tables for each in users]


def test_who_rests_longest_gives_back_first_and_only_while_memory_is_short() -> None:
    taken = [0.0]
    rule = Resting(lambda: taken[0])
    stopped: list[str] = []
    reader = SimpleNamespace(cancel=lambda: stopped.append("reader"))
    users = [
        user(REST + 1),
        user(REST + 9, worker=reader),
        user(REST - 5),
        user(REST + 99, preparation="under way"),
    ]
    newcomer: dict[str, object] = {}
    assert not rule.give_back([*users, newcomer])
    taken[0] = LARGEST_GROWTH + 1
    assert not rule.give_back(users[:1]), "a user alone keeps everything"
    assert rule.give_back([*users, newcomer])
    assert holders(users) == [True, False, True, True]
    assert stopped == ["reader"]
    assert rule.give_back(users)
    assert not rule.give_back(users), "one is here, and one has work under way"
    assert holders(users) == [False, False, True, True]


def test_the_server_says_how_much_memory_it_takes() -> None:
    before = resident_bytes()
    block = b"x" * 50_000_000
    assert resident_bytes() - before > 0.9 * len(block)


def test_a_table_that_was_given_back_is_shown_again_to_the_bit(open_page) -> None:
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    screen.slider("k").set_value(9).run()
    before, work = screen.panel, screen.work
    results = screen.test.session_state[RESULTS]
    results.give_back()
    assert not results.holds_tables
    screen.visit("tune").wait()
    assert results.holds_tables
    assert work.preparation is None
    assert not work.first
    assert screen.panel == before
    assert screen.errors == []
