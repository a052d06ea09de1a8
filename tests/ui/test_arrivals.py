"""What a picture waits for is told beside the runs of a page, once it has arrived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.measures.measure import Detail
from rwn_ui.background.measure_worker import DrawnRelease
from rwn_ui.features import limit_queue
from rwn_ui.server.endpoint import _answer
from rwn_ui.state.results import current_release
from tests.ui.following import shown

JUDGED = ("bayes_linkage", "attribute_gain", "true_matches")


def judged() -> rwn.Policy:
    """The usual limits, but one that would be read after all others."""
    usual = rwn.Policy().limits
    return rwn.Policy(limits=tuple(each for each in usual if each.measure in JUDGED))


class Reader:
    """A process that answers what it is told to."""

    running = True

    def __init__(self, data) -> None:
        self.data, self.asked, self.known_by = data, (), {}

    def ask(self, *questions, drawn) -> None:
        self.asked, self.drawn = questions, drawn

    def retarget(self, data) -> bool:
        return False

    def known(self, question) -> rwn.Reading | None:
        return self.known_by.get((question.measure, question.begin, question.of[0]))

    def cancel(self) -> None:
        pass

    def answer(self, measure: str, value: float) -> None:
        for question in self.asked:
            if question.measure == measure:
                reading = rwn.Reading(value=value, detail=Detail())
                self.known_by[measure, question.begin, question.of[0]] = reading


@pytest.fixture
def screen(open_page, monkeypatch: pytest.MonkeyPatch):
    """A page whose table counts as a larger one, asked for what is to come once."""
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    page = open_page("tune")
    page.session.policy = judged()
    page.test.run()
    page.session.user.work.worker = Reader(page.session.data)
    yield page
    page.session.user.work.worker = None


def asked(screen, seq: int | None = None) -> dict[str, Any] | None:
    """The answer to a waiting post; empty until something has arrived."""
    question = {
        "token": screen.endpoint.token,
        "table": str(screen.session.table_version),
        "seq": screen.endpoint.seq if seq is None else seq,
    }
    answer = _answer(orjson.dumps(question))
    return None if answer is None else orjson.loads(answer or b"{}")


def moved(screen, **edit: Any) -> dict[str, Any]:
    """The picture of a move."""
    question = {"table": str(screen.session.table_version), "edits": [edit]}
    return orjson.loads(screen.endpoint.handle(question))


def tile(payload: dict[str, Any]) -> str:
    return payload["verdict"]["nearest"]


def test_nothing_is_told_until_something_has_arrived(screen) -> None:
    reader = screen.session.user.work.worker
    waits = screen.panel["waits"]
    assert waits == ["first bayes_linkage", "first attribute_gain"]  # the page reads what is quick
    assert tile(screen.panel) == ""
    for _ in range(3):
        assert asked(screen) == {}
    assert [question.measure for question in reader.asked] == ["bayes_linkage", "attribute_gain"]
    reader.answer("attribute_gain", 0.01)
    found = asked(screen)
    assert (found["waits"], found["waiting"]) == (waits[:1], True)
    reader.answer("bayes_linkage", 0.25)
    found = asked(screen)
    assert (found["waits"], found["waiting"]) == ([], False)
    assert tile(found) == "worst: Worst-case linkage 25 %, limit 5 %"
    plain = orjson.loads(orjson.dumps(shown(screen.session)))
    plain["cards"] = found["cards"]  # without their tables: test_live_picture compares them
    assert {name: found[name] for name in plain} == plain


def test_a_post_that_waits_for_an_older_picture_gets_none(screen) -> None:
    before = screen.endpoint.seq
    told = moved(screen, levers={"k": 40})
    assert asked(screen, before) is None
    assert asked(screen, told["seq"]) == {}


def test_a_move_has_its_own_numbers_found(screen) -> None:
    reader = screen.session.user.work.worker
    asked(screen)
    moved(screen, levers={"k": 40})
    asked(screen)
    assert {question.of[0].k for question in reader.asked} == {40}
    reader.answer("bayes_linkage", 0.25)
    assert asked(screen)["waits"] == ["first attribute_gain"]


@pytest.mark.parametrize("held", [False, True])
def test_the_process_begins_with_a_move_that_nobody_holds(screen, held: bool) -> None:
    reader = screen.session.user.work.worker
    told = moved(screen, levers={"k": 40}, held=held)
    begun = [(question.measure, question.of[0].k) for question in reader.asked]
    assert begun == ([] if held else [("bayes_linkage", 40), ("attribute_gain", 40)])
    assert tile(told) == ""
    reader.answer("bayes_linkage", 0.25)
    assert (asked(screen) == {}) == held


def test_where_it_takes_long_it_begins_at_rest(screen, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 10)
    told = moved(screen, levers={"k": 40})
    assert screen.session.user.work.worker.asked == ()
    assert told["waits"][2:] == ["first true_matches"]
    asked(screen)
    assert len(screen.session.user.work.worker.asked) == 3


def test_the_process_takes_over_the_release_on_screen_and_no_other(screen, monkeypatch) -> None:
    reader, session = screen.session.user.work.worker, screen.session
    asked(screen)
    current = current_release(session)
    first = reader.asked[0]
    assert reader.drawn(first) is None, "so small a table is searched at once"
    monkeypatch.setattr(type(current.prepared), "known", "sizes")
    assert reader.drawn(first) == DrawnRelease(current.masked.masked, "sizes")
    assert reader.drawn(replace(first, of=(first.of[0], session.seed + 1))) is None
    assert reader.drawn(replace(first, of=(replace(first.of[0], k=41), first.of[1]))) is None


def test_the_process_ends_where_its_user_has_left(screen, monkeypatch) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(Reader, "cancel", lambda self: ended.append(True))
    screen.session.user.work.closed = True
    asked(screen)
    assert ended == [True]
