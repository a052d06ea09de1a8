"""The worst case comes first on Tune: at once on a small table, after the picture on a larger."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.measures.attacks.worst_case import WorstLinkage
from rwn_core.measures.measure import Detail, Measure
from rwn_ui.features import limit_queue, repeated_draws
from rwn_ui.risk.form import Attack, usual_keys
from rwn_ui.state import results
from rwn_ui.state.change_table import load, set_setting
from rwn_ui.state.results import current_release, prepared, release_key
from rwn_ui.state.session import Session
from tests.ui.following import followed, match_map, shown
from tests.ui.work_here import AnswersHere
from tests.waiting import until

UNJUDGED = "Not judged yet: "


@pytest.fixture
def larger(session: Session, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 10)
    monkeypatch.setattr(repeated_draws, "LARGEST_DENSE", 10)
    return session


@pytest.fixture(autouse=True)
def _no_process_is_left(session: Session):
    yield
    session.user.work.end()
    until(lambda: not multiprocessing.active_children())


@pytest.fixture(params=["here", pytest.param("in a process", marks=pytest.mark.nightly)])
def questions_are_answered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are answered in this process by day: the first test below asks another one."""
    if request.param == "here":
        start = SimpleNamespace(start=AnswersHere)
        monkeypatch.setattr(limit_queue, "MeasureWorker", start)


def readings(session: Session) -> Any:
    return limit_queue.readings(session, current_release(session))


def now_in(payload: dict[str, Any]) -> tuple[bool, bool]:
    """Say if the map of a picture has the point of now, and if it says that the risk follows."""
    drawn = match_map(payload)
    notes = [note["text"] for note in drawn["layout"]["annotations"]]
    names = [trace["name"] for trace in drawn["data"]]
    return "now" in names, "now: risk follows" in notes


def test_on_a_larger_one_it_follows_the_picture(larger: Session) -> None:
    before = shown(larger)
    assert before["waits"]
    assert now_in(before) == (False, True)
    tile = before["verdict"]
    assert tile["label"] == "Policy"
    assert tile["text"].startswith(f"{UNJUDGED}4 limits to follow")
    assert tile["detail"].startswith("An ordinary intruder links ")
    assert "when the sliders stop" in tile["help"]
    assert multiprocessing.active_children() == []  # nobody is asked before the sliders rest
    after = followed(larger)
    assert now_in(after) == (True, False)
    assert (after["stamp"] != before["stamp"], after["waits"]) == (True, [])
    at_once = prepared(larger).release(larger.masking, larger.seed).comparison
    own = rwn.MEASURES["bayes_linkage"].read(at_once)
    assert readings(larger)["bayes_linkage"].value == own.value
    asks_anew_of_a_move_and_keeps_an_earlier_answer(larger, after["verdict"]["nearest"])
    asks_the_same_process_under_other_weights(larger)
    ends_the_process_with_another_table(larger)


def asks_anew_of_a_move_and_keeps_an_earlier_answer(larger: Session, first: str) -> None:
    assert first.endswith(")")
    k = larger.levers["k"]
    larger.move(k=40)
    assert shown(larger)["verdict"]["text"].startswith(UNJUDGED)
    assert followed(larger)["verdict"]["nearest"] != first
    larger.move(k=k)
    assert shown(larger)["verdict"]["nearest"] == first


def asks_the_same_process_under_other_weights(larger: Session) -> None:
    worker = larger.user.work.worker
    gain = readings(larger)["attribute_gain"].value
    process = worker._pool.pids
    set_setting(larger, replace(larger.setting, weights=(("age", 3.0),)))
    assert shown(larger)["verdict"]["text"].startswith(UNJUDGED)
    followed(larger)
    assert larger.user.work.worker is worker
    assert worker._pool.pids == process
    own = rwn.MEASURES["attribute_gain"].read(current_release(larger).comparison)
    assert readings(larger)["attribute_gain"].value == own.value != gain


def ends_the_process_with_another_table(larger: Session) -> None:
    assert len(multiprocessing.active_children()) == 1
    load(larger, larger.data, name="again", demo=None)
    assert larger.user.work.worker is None
    assert multiprocessing.active_children() == []


def test_charts_of_thousands_of_records_stand_before_any_limit_is_read(
    session: Session, questions_are_answered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)  # all records are on screen
    monkeypatch.setattr(repeated_draws, "LARGEST_DENSE", 10)
    first = shown(session)
    assert first["verdict"]["text"].startswith(f"{UNJUDGED}4 limits to follow")
    assert first["verdict"]["help"].startswith("Being measured")
    assert (first["verdict"]["state"], first["verdict"]["nearest"]) == (None, "")
    drawn = {orjson.loads(card)["title"] for card in first["cards"][1:]}
    assert {"Correlations", "Principal components", "Distribution of siri"} <= drawn
    session.user.results.note(picture=first)
    assert followed(session)["waits"] == []
    session.move(k=41)
    after = shown(session)  # from then on what compares values comes with each picture
    assert "first true_matches" in first["waits"]
    assert "first true_matches" not in after["waits"]


def test_a_small_table_does_not_wait_for_the_compiler_either(
    session: Session, questions_are_answered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_draws, "LARGEST_DENSE", 10)
    monkeypatch.setattr(limit_queue, "_READY", set())
    monkeypatch.setattr(limit_queue, "is_ready", lambda kernels: False)
    assert shown(session)["verdict"]["text"].startswith(UNJUDGED)
    after = followed(session)  # the worker compiles, and answers
    assert after["verdict"]["nearest"].endswith(")")
    assert after["waits"] == []
    monkeypatch.setattr(limit_queue, "is_ready", lambda kernels: True)
    session.move(k=7)
    at_once = shown(session)  # from then on with each move
    assert at_once["waits"] == []
    tile = at_once["verdict"]
    assert (tile["label"], tile["nearest"][-1]) == ("Linked over one half", ")")


def first_pending(session: Session) -> str | None:
    """The first limit that is not read in full."""
    known = readings(session)
    keys = limit_queue.wanted(session)
    return next((key for key in keys if limit_queue.is_partial(known[key])), None)


class SomeAnswers:
    """A process that has read a lower bound, and all of the others once it has `ended`."""

    def __init__(self, data) -> None:
        self.data = data
        self.begun = False
        self.ended = False
        self.asked = ()

    def ask(self, *questions, drawn=None) -> None:
        self.asked = questions
        self.begun = True

    def cancel(self) -> None: ...

    def known(self, question) -> rwn.Reading | None:
        if not self.begun:
            return None
        if question.measure != "bayes_linkage":
            return rwn.Reading(value=0.0, detail=Detail())
        detail = WorstLinkage(standing="at least", attack="rows", row_by_row=0.02, top5=0.1)
        if question.begin:
            return rwn.Reading(value=0.02, detail=detail)
        told = replace(detail, at_most=0.04, parts=9, linked_by_parts=0.03)
        return rwn.Reading(value=0.02, detail=told) if self.ended else None


def test_a_lower_bound_is_there_before_the_upper_one(larger: Session, monkeypatch) -> None:
    """Of a large table, where both are needed for a verdict that keeps the limit."""
    least = rwn.MEASURES["bayes_linkage"].at_least  # as if the table were large
    monkeypatch.setattr(
        Measure, "title_for", lambda self, _: least if self.key == "bayes_linkage" else self.title
    )
    shown(larger)
    worker = larger.user.work.worker = SomeAnswers(larger.data)

    def asked() -> list[tuple[str, bool]]:
        limit_queue.follow(larger)
        return [(question.measure, question.begin) for question in worker.asked]

    first = asked()
    assert first[:2] == [("true_matches", False), ("bayes_linkage", True)]
    assert first[-1] == ("bayes_linkage", False)
    assert readings(larger)["bayes_linkage"].value == 0.02
    assert first_pending(larger) == "bayes_linkage"
    tile = shown(larger)["verdict"]
    assert (tile["nearest"], tile["state"]) == ("", None), "no verdict before the end"
    assert tile["text"].startswith(UNJUDGED)
    assert ("bayes_linkage", True) not in asked(), "what is begun is not asked for again"
    worker.ended = True
    assert readings(larger)["bayes_linkage"].detail.at_most == 0.04
    assert first_pending(larger) is None


def test_a_quick_limit_is_there_with_every_move(larger: Session, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 5_000)
    larger.user.results.note(picture=shown(larger))  # a first picture stands before any limit
    for k in (5, 40):
        larger.move(k=k)
        payload = shown(larger)
        shares = readings(larger)
        now = rwn.MEASURES["true_matches"].read(current_release(larger).comparison).value
        assert shares["true_matches"].value == now > 0
        slower = ["bayes_linkage", "attribute_gain", "linked_over_half"]
        assert limit_queue.pending_keys(larger, shares) == [f"first {key}" for key in slower]
        assert payload["waits"]
    assert multiprocessing.active_children() == []  # a move begins no process


def test_an_answer_that_arrives_while_the_page_is_drawn_is_asked_for_once_more(
    larger: Session, questions_are_answered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed(larger)
    worker = type(larger.user.work.worker)
    known = worker.known
    late = []

    def first_none(self, question):
        late.append(question)
        return None if len(late) == 1 else known(self, question)

    monkeypatch.setattr(worker, "known", first_none)
    payload = shown(larger)
    assert payload["verdict"]["state"] == "over", "one broken limit is enough to know"
    assert "; 1 limit to follow." in payload["verdict"]["text"]
    assert payload["waits"]
    assert shown(larger)["verdict"]["nearest"].endswith(")")


@pytest.fixture
def some(open_page, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session whose table counts as so large that some of its records are shown."""
    monkeypatch.setattr(results, "LIVE_RECORDS", 100)
    screen = open_page("tune")
    assert screen.errors == []
    assert "Policy limits use all records" in screen.words("caption")
    return screen.session


def test_where_some_records_are_shown_all_are_judged(
    some: Session, questions_are_answered: None, finished
) -> None:
    tile = some.user.results.tune.picture["verdict"]
    assert (tile["nearest"], tile["state"]) == ("", None), "no verdict without the worst case"
    # what the Risk page found is taken over
    usual, other = Attack(keys=tuple(usual_keys(some.data))), Attack(keys=("age",))
    found = rwn.Reading(value=0.03125, baseline=0.1, detail=Detail(standing="worst"))
    result = SimpleNamespace(readings={"bayes_linkage": found})
    key = release_key(some)
    for about, read in (
        ((usual, key), found),
        ((other, key), limit_queue.PENDING),  # other keys were assumed there
        ((usual, ("another",)), limit_queue.PENDING),  # it is of another setting
    ):
        some.user.work.jobs["disclosure"] = finished(label="", result=result, about=about)
        assert readings(some)["bayes_linkage"] is read
    some.user.work.jobs.clear()
    assert followed(some)["verdict"]["state"] == "over"
    read = readings(some)["bayes_linkage"]
    release = rwn.mask(some.data, some.masking, seed=some.seed)
    full = rwn.audit(some.data, release, measures=["bayes_linkage"])["bayes_linkage"]
    assert (read.value, read.baseline) == (full.value, full.baseline)
    some.user.work.end()
