"""The worst case comes first on Tune: at once on a small table, after the picture on a larger."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import rwn_core as rwn
from rwn_core.measures.attacks.worst_case import WorstLinkage
from rwn_core.measures.measure import Detail, Measure
from rwn_ui.features import limit_queue
from rwn_ui.risk.form import Attack, usual_keys
from rwn_ui.state import results
from rwn_ui.state.change_table import load, set_setting
from rwn_ui.state.results import current_release, prepared, release_key
from rwn_ui.state.session import Session
from tests.ui.following import followed, match_map, shown

SELECT = "tune.0.risk"


@pytest.fixture
def session(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose table counts as a larger one."""
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 10)
    screen = open_page("tune")
    assert screen.errors == []
    assert "follow when the sliders stop" in screen.test.selectbox(key=SELECT).help
    return screen.session


def test_on_a_larger_one_it_follows_the_picture(session: Session) -> None:
    before = session.user.results.last["tune"]
    assert before["waits"]
    drawn = match_map(before)
    assert "now: risk follows" in [note["text"] for note in drawn["layout"]["annotations"]]
    assert not [trace for trace in drawn["data"] if trace["name"] == "now"]
    tile = before["verdict"]
    assert (tile["label"], tile["text"]) == ("Policy", "Not judged yet: 4 limits to follow")
    assert tile["detail"].startswith("An ordinary intruder links ")
    assert "when the sliders stop" in tile["help"]
    assert multiprocessing.active_children() == []  # nobody is asked before the sliders rest
    after = followed(session)
    drawn = match_map(after)
    assert "now: risk follows" not in [note["text"] for note in drawn["layout"]["annotations"]]
    assert [trace for trace in drawn["data"] if trace["name"] == "now"]
    assert after["verdict"]["nearest"].endswith("%")
    assert after["stamp"] != before["stamp"]
    assert after["waits"] == []
    live = limit_queue.readings(session, current_release(session))["bayes_linkage"]
    at_once = prepared(session).release(session.masking, session.seed).comparison
    assert live.value == limit_queue.rwn.MEASURES["bayes_linkage"].read(at_once).value
    session.user.work.worker.cancel()


def test_a_small_table_does_not_wait_for_the_compiler_either(open_page, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "_READY", set())
    monkeypatch.setattr(limit_queue, "is_ready", lambda kernels: False)
    session = open_page("tune").session
    assert shown(session)["verdict"]["text"].startswith("Not judged yet: ")
    after = followed(session)  # the worker compiles, and answers
    assert after["verdict"]["nearest"].endswith("%")
    assert after["waits"] == []
    monkeypatch.setattr(limit_queue, "is_ready", lambda kernels: True)
    session.move(k=7)
    at_once = shown(session)  # from then on with each move
    assert at_once["waits"] == []
    tile = at_once["verdict"]
    assert (tile["label"], tile["nearest"][-1]) == ("Linked over one half", "%")
    session.user.work.worker.cancel()


def test_a_move_is_a_new_question_and_an_earlier_answer_is_kept(session: Session) -> None:
    first = followed(session)["verdict"]["nearest"]
    k = session.levers["k"]
    session.move(k=40)
    assert shown(session)["verdict"]["text"].startswith("Not judged yet: ")
    assert followed(session)["verdict"]["nearest"] != first
    session.move(k=k)
    assert shown(session)["verdict"]["nearest"] == first
    session.user.work.worker.cancel()


def test_other_weights_are_other_numbers_of_the_same_process(session: Session) -> None:
    followed(session)
    reader = session.user.work.worker
    process, before = reader._pool.pids, read_here(session)
    set_setting(session, replace(session.setting, weights=(("age", 3.0),)))
    assert shown(session)["verdict"]["text"].startswith("Not judged yet: ")
    followed(session)
    assert session.user.work.worker is reader
    assert reader._pool.pids == process
    current = current_release(session)
    found = limit_queue.readings(session, current)["attribute_gain"]
    assert isinstance(found, rwn.Reading)
    assert found.value == rwn.MEASURES["attribute_gain"].read(current.comparison).value != before
    reader.cancel()


def read_here(session: Session) -> float:
    reading = rwn.MEASURES["attribute_gain"].read(current_release(session).comparison)
    assert isinstance(reading, rwn.Reading)
    return reading.value


def first_pending(session: Session, readings: Any) -> str | None:
    """The first limit that is not read in full."""
    keys = limit_queue.wanted(session)
    return next((key for key in keys if limit_queue.is_partial(readings[key])), None)


def test_a_lower_bound_is_there_before_the_upper_one(session: Session, monkeypatch) -> None:
    """Of a large table, where both are needed for a verdict that keeps the limit."""
    least = rwn.MEASURES["bayes_linkage"].at_least  # as if the table were large
    monkeypatch.setattr(
        Measure, "title_for", lambda self, _: least if self.key == "bayes_linkage" else self.title
    )
    session.user.work.worker = SomeAnswers(session.data)
    limit_queue.follow(session)
    first = [(question.measure, question.begin) for question in session.user.work.worker.asked]
    assert first[:2] == [("true_matches", False), ("bayes_linkage", True)]
    assert first[-1] == ("bayes_linkage", False)
    begun = limit_queue.readings(session, current_release(session))
    assert begun["bayes_linkage"].value == 0.02
    assert first_pending(session, begun) == "bayes_linkage"
    tile = shown(session)["verdict"]
    assert (tile["nearest"], tile["state"]) == ("", None), "no verdict before the end"
    assert tile["text"].startswith("Not judged yet: ")
    limit_queue.follow(session)  # what is begun is not asked for again
    assert ("bayes_linkage", True) not in [
        (q.measure, q.begin) for q in session.user.work.worker.asked
    ]
    session.user.work.worker.ended = True
    known = limit_queue.readings(session, current_release(session))
    assert known["bayes_linkage"].detail.at_most == 0.04
    assert first_pending(session, known) is None
    session.user.work.worker = None


def test_a_quick_limit_is_there_with_every_move(session: Session, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 5_000)
    for k in (5, 40):
        session.move(k=k)
        payload = shown(session)
        current = current_release(session)
        shares = limit_queue.readings(session, current)
        now = rwn.MEASURES["true_matches"].read(current.comparison).value
        assert shares["true_matches"].value == now > 0
        slower = ["bayes_linkage", "attribute_gain", "linked_over_half"]
        assert limit_queue.pending_keys(session, shares) == [f"first {key}" for key in slower]
        assert payload["waits"]
    assert multiprocessing.active_children() == []  # a move begins no process


class SomeAnswers:
    """A process that has read a lower bound, and all of the others once it has `ended`."""

    def __init__(self, data) -> None:
        self.data, self.begun, self.ended, self.asked = data, False, False, ()
        self.first: rwn.Reading | None = None

    def ask(self, *questions, drawn=None) -> None:
        self.asked, self.begun = questions, True

    def known(self, question) -> rwn.Reading | None:
        if not self.begun:
            return None
        if question.measure != "bayes_linkage":
            return rwn.Reading(value=0.0, detail=Detail())
        detail = WorstLinkage(standing="at least", attack="rows", row_by_row=0.02, top5=0.1)
        if question.begin:
            return self.first or rwn.Reading(value=0.02, detail=detail)
        told = replace(detail, at_most=0.04, parts=9, linked_by_parts=0.03)
        return rwn.Reading(value=0.02, detail=told) if self.ended else None


def test_another_table_ends_the_process(session: Session) -> None:
    followed(session)
    assert len(multiprocessing.active_children()) == 1
    load(session, session.data, name="again", demo=None)
    assert session.user.work.worker is None
    assert multiprocessing.active_children() == []


@pytest.fixture
def some(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose table counts as so large that some of its records are shown."""
    monkeypatch.setattr(results, "LIVE_RECORDS", 100)
    screen = open_page("tune")
    assert screen.errors == []
    assert any("Policy limits use all records" in note.value for note in screen.test.caption)
    return screen.session


def test_where_some_records_are_shown_all_are_judged(some: Session) -> None:
    tile = some.user.results.last["tune"]["verdict"]
    assert (tile["nearest"], tile["state"]) == ("", None), "no verdict without the worst case"
    tile = followed(some)["verdict"]
    read = limit_queue.readings(some, current_release(some))["bayes_linkage"]
    release = limit_queue.rwn.mask(some.data, some.masking, seed=some.seed)
    full = limit_queue.rwn.audit(some.data, release, measures=["bayes_linkage"])["bayes_linkage"]
    assert (read.value, read.baseline) == (full.value, full.baseline)
    assert tile["state"] == "over"
    some.user.work.worker.cancel()


def test_what_the_risk_page_found_is_taken_over(some: Session, finished) -> None:
    usual = Attack(keys=tuple(usual_keys(some.data)))
    found = rwn.Reading(value=0.03125, baseline=0.1, detail=Detail(standing="worst"))
    result = SimpleNamespace(readings={"bayes_linkage": found})

    def read() -> object:
        return limit_queue.readings(some, current_release(some))["bayes_linkage"]

    jobs = some.user.work.jobs
    jobs["disclosure"] = finished(label="", result=result, about=(usual, release_key(some)))
    assert read() is found
    other = Attack(keys=("age",))
    jobs["disclosure"] = finished(label="", result=result, about=(other, release_key(some)))
    assert read() is limit_queue.PENDING, "other keys were assumed there"
    jobs["disclosure"] = finished(label="", result=result, about=(usual, ("another",)))
    assert read() is limit_queue.PENDING, "it is of another setting"


def test_an_answer_that_arrives_while_the_page_is_drawn_is_asked_for_once_more(
    session: Session, monkeypatch
) -> None:
    limit_queue.follow(session)
    known, late = type(session.user.work.worker).known, []

    def first_none(self, question):
        late.append(question)
        return None if len(late) == 1 else known(self, question)

    while key := first_pending(session, limit_queue.readings(session, current_release(session))):
        limit_queue.follow(session)
        time.sleep(0.05)
    assert key is None
    monkeypatch.setattr(type(session.user.work.worker), "known", first_none)
    payload = shown(session)
    assert payload["verdict"]["state"] == "over", "one broken limit is enough to know"
    assert payload["verdict"]["text"].endswith("broken, 1 limit to follow")
    assert payload["waits"]
    assert shown(session)["verdict"]["nearest"].endswith("%")
    session.user.work.worker.cancel()
