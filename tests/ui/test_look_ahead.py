"""What a first move far out would wait for is looked up while the user rests."""

from __future__ import annotations

import threading
import time

import numpy as np
import orjson
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.neighbors import far_donors, preview
from rwn_ui.background import look_ahead
from rwn_ui.background.look_ahead import LookAhead
from rwn_ui.server.answers import KEPT
from rwn_ui.state import prepared_table
from rwn_ui.state.prepared_table import PreparedTable
from rwn_ui.state.results import preparation_key
from rwn_ui.tune.view import LOOK
from tests.ui.large_table import csv, table

SECRET = "SENTINEL7731"


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> PreparedTable:
    """A table of which little is stored."""
    monkeypatch.setattr(preview, "LARGEST_PAIRS", 60_000)
    return PreparedTable.of(table())


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The thread of each search for the donors beyond the stored neighbors."""
    find, threads = far_donors.find_far_donors, list[str]()

    def noted(*given: object) -> object:
        threads.append(threading.current_thread().name)
        time.sleep(0.3)
        return find(*given)

    monkeypatch.setattr(far_donors, "find_far_donors", noted)
    return threads


def ended(ahead: LookAhead) -> None:
    end = time.monotonic() + 60
    while ahead.running and time.monotonic() < end:
        time.sleep(0.01)
    assert not ahead.running


def far_out(prepared: PreparedTable) -> rwn.RWN:
    ends = prepared.prepared.state.about
    epsilon = next(float(each) for each in ends.positions if each > ends.stored)
    return rwn.RWN(epsilon=epsilon, k=5)


def test_the_first_move_far_out_finds_what_was_looked_up(
    prepared: PreparedTable, searches: list[str]
) -> None:
    params = far_out(prepared)
    expected = PreparedTable.of(prepared.data).release(params, 3)
    ended(LookAhead.start(lambda go_on: prepared.look_ahead(rwn.RWN(k=5), 3, go_on)))
    shown = prepared.release(params, 3)
    assert len(searches) == 2
    assert searches[1] == "rwn.look_ahead"
    np.testing.assert_array_equal(shown.masked.donors, expected.masked.donors)
    pd.testing.assert_frame_equal(shown.masked.masked.frame, expected.masked.masked.frame)


def test_a_move_meanwhile_waits_for_it_and_does_not_search_too(
    prepared: PreparedTable, searches: list[str]
) -> None:
    ahead = LookAhead.start(lambda go_on: prepared.look_ahead(rwn.RWN(k=5), 3, go_on))
    while not searches:
        time.sleep(0.01)
    waited: list[float] = []
    prepared.release(far_out(prepared), 3, waited.append)
    assert searches == ["rwn.look_ahead"]
    assert waited  # the page hears of it
    ended(ahead)


def beside(screen, epsilon: float) -> bytes | None:
    """What a move is answered beside the runs of the page."""
    move = {"stamp": "1.1", "values": {"epsilon": epsilon}, "dragging": False}
    key = f"tune.{screen.session.generation}.levers"
    answer: bytes | None = screen.test.session_state[KEPT].ask({"key": key, "move": move})
    return answer


def test_far_out_some_records_stand_for_all_until_it_is_looked_up(
    open_page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "LARGEST_PAIRS", 60_000)
    find, looked = far_donors.find_far_donors, threading.Event()

    def held(*given: object) -> object:
        assert threading.current_thread().name == "rwn.look_ahead", "a page would wait for it"
        assert looked.wait(60)
        return find(*given)

    monkeypatch.setattr(far_donors, "find_far_donors", held)
    screen = open_page("data").upload("large.csv", csv()).wait().visit("tune")
    ends = screen.results.tables.get(preparation_key(screen.session.data, "rwn", ()))
    far = next(float(each) for each in ends.prepared.state.about.positions
               if each > ends.prepared.state.about.stored)  # fmt: skip
    try:
        screen.move("levers", {"epsilon": far})
        assert "2,000 of 2,600 records" in screen.panel["summary"]["text"]
        assert screen.panel["again"] <= LOOK
        assert beside(screen, far) is None, "a run draws it"
        screen.move("levers", {"epsilon": 0.1})  # which is stored
        assert "of 2,600 records" not in screen.panel["summary"]["text"]
        screen.move("levers", {"epsilon": far})
        assert screen.visit("risk").errors == []
        assert screen.visit("tune").errors == []
    finally:
        looked.set()
    ended(screen.work.ahead)
    assert screen.work.ahead.meanwhile is not None  # a page that is being drawn shows one table
    screen.test.run()  # the panel asks again
    assert "of 2,600 records" not in screen.panel["summary"]["text"]
    assert screen.panel["again"] != LOOK
    assert screen.work.ahead is None
    told = orjson.loads(beside(screen, far))["summary"]
    assert told == screen.move("levers", {"epsilon": far}).panel["summary"]
    screen.session.seed += 1
    assert beside(screen, far) is None, "another key draws others, which takes a search"


def test_it_is_stopped(prepared: PreparedTable, searches: list[str]) -> None:
    ahead = LookAhead.start(lambda go_on: prepared.look_ahead(rwn.RWN(k=5), 3, go_on))
    while not searches:
        time.sleep(0.01)
    ahead.cancel()
    ended(ahead)
    assert prepared.prepared.state.source._far == []
    prepared.release(far_out(prepared), 3)  # which holds nothing up
    assert len(searches) == 2


def test_nothing_is_looked_up_where_each_move_is_a_search(
    prepared: PreparedTable, searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared_table, "LARGEST_CELLS", 100)
    prepared.look_ahead(rwn.RWN(k=5), 3, lambda share: None)
    assert searches == []


def test_nothing_is_looked_up_for_a_method_without_a_radius(searches: list[str]) -> None:
    noise = PreparedTable.of(table(), method="additive_noise")
    noise.look_ahead(rwn.AdditiveNoise(), 3, lambda share: None)
    assert searches == []


def test_a_fault_is_logged_without_its_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logged: list[BaseException] = []
    monkeypatch.setattr(look_ahead, "log_fault", logged.append)

    def fail(go_on: object) -> None:
        raise ValueError(SECRET)

    ended(LookAhead.start(fail))
    assert [type(each) for each in logged] == [ValueError]
    assert SECRET not in capsys.readouterr().err


def test_a_refusal_is_left_to_who_moves_there(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[BaseException] = []
    monkeypatch.setattr(look_ahead, "log_fault", logged.append)

    def refuse(go_on: object) -> None:
        raise rwn.ParameterError("no")

    ended(LookAhead.start(refuse))
    assert logged == []
