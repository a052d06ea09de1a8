"""What a picture waits for is told beside the runs of a page, as soon as it has arrived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_ui.background.measure_worker import DrawnRelease
from rwn_ui.features import limit_queue
from rwn_ui.server.endpoint import STATE_KEY, Busy, Endpoint, _answer
from rwn_ui.state.results import current_release
from rwn_ui.state.work import user_work
from rwn_ui.tune import view as tune_view
from tests.ui.following import followed, shown

JUDGED = ("bayes_linkage", "attribute_gain", "true_matches")


class Reader:
    """A process that answers what it is told to."""

    running = True

    def __init__(self, data) -> None:
        self.data, self.asked, self.known_by = data, (), {}

    def ask(self, *questions, begin: bool, drawn) -> bool:
        if not begin and not self.running:
            return False
        self.asked, self.drawn = questions, drawn
        return True

    def retarget(self, data) -> bool:
        return False

    def known(self, question) -> Reading | None:
        return self.known_by.get((question.measure, question.begin, question.params))

    def waited(self, _question) -> float:
        return 40.0

    def cancel(self) -> None:
        pass

    def answer(self, measure: str, value: float) -> None:
        for question in self.asked:
            if question.measure == measure:
                reading = Reading(value=value, detail={})
                self.known_by[measure, question.begin, question.params] = reading


@pytest.fixture
def screen(open_page, monkeypatch: pytest.MonkeyPatch):
    """A page whose table counts as a larger one, asked for what is to come once."""
    monkeypatch.setattr(limit_queue, "LARGEST_LIVE", 10)
    page = open_page("tune")
    usual = rwn.Policy().limits
    page.session.policy = rwn.Policy(limits=tuple(each for each in usual if each.measure in JUDGED))
    page.test.run()
    user_work().worker = Reader(page.session.data)
    yield page
    user_work().worker = None


def asked(screen, waits: list[str]) -> dict[str, Any] | None:
    question = {
        "token": screen.test.session_state[STATE_KEY].token,
        "key": f"tune.{screen.session.table_version}.levers",
        "waits": waits,
    }
    answer = _answer(orjson.dumps(question))
    return None if answer is None else orjson.loads(answer or b"{}")


def moved(screen, move: dict[str, Any]) -> dict[str, Any]:
    key = f"tune.{screen.session.table_version}.levers"
    return orjson.loads(screen.test.session_state[STATE_KEY].handle({"key": key, "move": move}))


def tile(payload: dict[str, Any]) -> str:
    return payload["tiles"][0]["released"]


def test_nothing_is_told_until_something_has_arrived(screen) -> None:
    reader = user_work().worker
    waits = screen.panel["waits"]
    assert waits == ["first bayes_linkage", "first attribute_gain"]  # the page reads what is quick
    assert tile(screen.panel) == "…"
    for _ in range(3):
        assert asked(screen, waits) == {}
    assert [question.measure for question in reader.asked] == ["bayes_linkage", "attribute_gain"]
    reader.answer("attribute_gain", 0.01)
    found = asked(screen, waits)
    assert found["waits"] == waits[:1]
    assert found["again"] == limit_queue.POLL, "it is asked for soon, however long it takes"
    reader.answer("bayes_linkage", 0.25)
    found = asked(screen, found["waits"])
    assert (found["waits"], found["again"]) == ([], None)
    assert tile(found) == "25 %, limit 5 %"
    plain = orjson.loads(orjson.dumps(shown(screen.session)))
    assert {name: found[name] for name in plain} == plain


def test_a_page_that_shows_less_than_is_known_gets_its_picture_at_once(screen) -> None:
    waits = screen.panel["waits"]
    asked(screen, waits)
    user_work().worker.answer("bayes_linkage", 0.25)
    for _ in range(2):
        assert asked(screen, waits)["waits"] == waits[1:]  # a run has overtaken the last answer


def test_a_move_beside_has_its_own_numbers_found(screen) -> None:
    reader = user_work().worker
    asked(screen, screen.panel["waits"])
    move = {"stamp": "1.1", "values": {"k": 40}, "dragging": False}
    told = moved(screen, move)
    asked(screen, told["waits"])
    assert {question.params.k for question in reader.asked} == {40}
    reader.answer("bayes_linkage", 0.25)
    assert asked(screen, told["waits"])["waits"] == ["first attribute_gain"]


@pytest.mark.parametrize("dragging", [False, True])
def test_the_process_begins_with_a_move_that_nobody_holds(screen, dragging: bool) -> None:
    reader = user_work().worker
    told = moved(screen, {"stamp": "1.1", "values": {"k": 40}, "dragging": dragging})
    begun = [(question.measure, question.params.k) for question in reader.asked]
    assert begun == ([] if dragging else [("bayes_linkage", 40), ("attribute_gain", 40)])
    assert tile(told) == "…"
    reader.answer("bayes_linkage", 0.25)
    assert (asked(screen, told["waits"]) == {}) == dragging


def test_where_it_takes_long_it_begins_at_rest(screen, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LARGEST_READ", 10)
    told = moved(screen, {"stamp": "1.1", "values": {"k": 40}, "dragging": False})
    assert user_work().worker.asked == ()
    assert told["waits"][2:] == ["first true_matches"]
    asked(screen, told["waits"])
    assert len(user_work().worker.asked) == 3


def test_the_process_takes_over_the_release_on_screen_and_no_other(screen, monkeypatch) -> None:
    reader, session = user_work().worker, screen.session
    asked(screen, screen.panel["waits"])
    current = current_release(session)
    first = reader.asked[0]
    assert reader.drawn(first) is None, "so small a table is searched at once"
    monkeypatch.setattr(type(current.prepared), "known", "sizes")
    assert reader.drawn(first) == DrawnRelease(current.masked.masked, "sizes")
    assert reader.drawn(replace(first, seed=session.seed + 1)) is None
    assert reader.drawn(replace(first, params=replace(first.params, k=41))) is None


def test_what_a_pin_waits_for_is_told_too(screen) -> None:
    session, reader = screen.session, user_work().worker
    asked(screen, screen.panel["waits"])
    session.pins["A"] = tune_view.pin(session, current_release(session))
    found = asked(screen, screen.panel["waits"])
    assert found["waits"][2:] == ["pin bayes_linkage", "pin attribute_gain"]
    assert asked(screen, found["waits"]) == {}
    reader.answer("bayes_linkage", 0.25)
    found = asked(screen, found["waits"])
    assert found["waits"] == ["first attribute_gain", "pin attribute_gain"]
    assert session.pins["A"].values["bayes_linkage"] == 0.25


@pytest.mark.parametrize("why", ["no reader", "another table", "ended", "not drawn"])
def test_what_only_a_run_can_begin_is_left_to_one(screen, why: str) -> None:
    waits, work = screen.panel["waits"], user_work()
    if why == "no reader":
        work.worker = None
    elif why == "another table":
        work.worker.data = None
    elif why == "ended":
        work.worker.running = False
    else:
        screen.results.memos["releases"].clear()
    assert asked(screen, waits) is None
    assert user_work().worker is None or user_work().worker.asked == ()


def test_the_numbers_are_those_of_runs(open_page, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LARGEST_LIVE", 10)
    by_run, beside = open_page("tune"), open_page("tune")
    expected = followed(by_run.session)
    user_work().worker.cancel()
    limit_queue.follow(beside.session)
    found = beside.panel
    while found["again"]:
        found = asked(beside, found["waits"]) or found
    assert found["tiles"] == orjson.loads(orjson.dumps(expected["tiles"]))
    user_work().worker.cancel()


def test_nothing_is_told_while_the_page_is_drawn(screen, monkeypatch) -> None:
    ends, refused = Endpoint.close, []

    def end(answers: Endpoint) -> None:
        ends(answers)
        with pytest.raises(Busy):
            asked(screen, [])
        refused.append(True)

    monkeypatch.setattr(Endpoint, "close", end)
    screen.test.run()
    assert refused == [True]
