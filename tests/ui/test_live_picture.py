"""Moves are answered beside the runs of the page."""

from __future__ import annotations

import gc
import threading
import time
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from rwn_ui.background.measure_worker import Question
from rwn_ui.features import limit_queue
from rwn_ui.server import endpoint
from rwn_ui.server.endpoint import _ALL, LONGEST, Endpoint, _answer
from rwn_ui.state import change_table
from rwn_ui.tune import view

SECRET = "SENTINEL7731"


def asked(
    screen, values: dict[str, float], *, what: str = "levers", held: bool = False
) -> dict[str, Any] | None:
    """The picture that the browser gets of a move."""
    return edited(screen, {what: values, "held": held})


def edited(screen, *edits: dict[str, Any]) -> dict[str, Any] | None:
    """The picture that the browser gets of edits."""
    question = {
        "token": screen.endpoint.token,
        "table": str(screen.session.table_version),
        "edits": edits,
    }
    answer = _answer(orjson.dumps(question))
    return None if answer is None else orjson.loads(answer)


def plain(payload: Any) -> Any:
    return orjson.loads(orjson.dumps(payload))


def same(picture: dict[str, Any] | None, payload: dict[str, Any]) -> bool:
    """True if a picture shows what a run has drawn, but for the tables behind its cards."""
    bare = [orjson.loads(card) | {"table": "null"} for card in payload["cards"]]
    drawn = {**plain(payload), "cards": bare}
    if picture is not None:
        picture = {**picture, "cards": [*map(orjson.loads, picture["cards"])]}
    return picture is not None and {name: picture[name] for name in payload} == drawn


@pytest.mark.parametrize("method", ["rwn", "noise"])
def test_the_picture_is_that_of_a_run(open_page, method: str) -> None:
    by_run, beside = open_page("tune", method=method), open_page("tune", method=method)
    lever = by_run.session.params.levers[0].name
    for slider in by_run.live_sliders():
        if slider.name == lever:
            values = {lever: round((slider.min + 2 * slider.max) / 3, 1)}
    picture = asked(beside, values)
    assert same(picture, by_run.move("levers", values).panel)
    assert beside.session.levers == by_run.session.levers
    told = {each["name"]: each["value"] for each in picture["controls"]["levers"]["sliders"]}
    assert told == {each.name: each.value for each in by_run.live_sliders()}
    assert not picture["page"]


def test_the_worst_case_is_asked_for_before_the_picture_is_drawn(open_page, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    screen, questions, before = open_page("tune"), list[Question](), list[int]()
    screen.session.user.work.worker = SimpleNamespace(
        data=screen.session.data,
        known=lambda question: None,
        ask=lambda *more, **_: questions.extend(more),
    )
    draw = view.render
    monkeypatch.setattr(
        view, "render", lambda *given: before.append(len(questions)) or draw(*given)
    )
    assert asked(screen, {"k": 40.0})["waiting"]
    assert before == [len(questions)]
    assert (questions[0].measure, {each.of[0].k for each in questions}) == ("bayes_linkage", {40})
    questions.clear()
    assert asked(screen, {"k": 41.0}, held=True)["waiting"]
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 10)  # it would end what it has begun first
    assert asked(screen, {"k": 42.0})["waiting"]
    assert questions == []
    screen.session.user.work.worker = None


def test_a_weight_is_answered_too(open_page) -> None:
    by_run, beside = open_page("tune"), open_page("tune")
    expected = by_run.move("weights", {"age": 3.0, "weight": 0.5}).panel
    assert same(asked(beside, {"age": 3.0, "weight": 0.5}, what="weights"), expected)
    assert beside.session.data.schema == by_run.session.data.schema
    assert beside.session.levers == by_run.session.levers
    assert len(beside.session.history.settings) == 2


def test_weights_that_are_refused_are_left_to_a_run_which_says_why(open_page, capsys) -> None:
    screen = open_page("tune")
    none = {variable.name: 0.0 for variable in screen.session.data.schema.released}
    assert asked(screen, none, what="weights") is None
    assert "A fault" not in "".join(capsys.readouterr())  # a refusal is none
    assert "give at least one a positive weight" in screen.move("weights", none).errors[0]
    assert all(variable.weight == 1 for variable in screen.session.data.schema.released)


def test_edits_are_taken_in_order_and_each_move_is_one_to_undo(open_page) -> None:
    screen = open_page("tune")
    for k in (6, 7, 8):
        assert asked(screen, {"k": k}, held=k == 7)
    assert [each.params.k for each in screen.session.history.settings] == [5, 6, 8]
    picture = edited(screen, {"undo": True})
    assert "k = 6" in picture["summary"]["text"]
    assert [each["disabled"] for each in picture["controls"]["levers"]["steps"]] == [False, False]
    picture = edited(screen, {"undo": True}, {"undo": True}, {"undo": True})
    assert [each["disabled"] for each in picture["controls"]["levers"]["steps"]] == [True, False]
    assert screen.session.history.settings[0].params.k == screen.session.levers["k"] == 5
    # edits are taken in their order, and numbered
    first = edited(screen, {"preset": "Strong"}, {"levers": {"k": 9}})
    second = edited(screen, {"levers": {"k": 9}}, {"preset": "Strong"})
    assert screen.session.levers["k"] != 9
    assert "k = 9" in first["summary"]["text"]
    assert first["seq"] < second["seq"] == screen.endpoint.seq
    # a move of another table or of no lever changes nothing
    before = dict(screen.session.levers)
    assert screen.endpoint.handle({"table": "1", "edits": [{"levers": {"k": 6}}]}) is None
    assert asked(screen, {"no lever": 1})
    assert screen.session.levers == before


def test_a_choice_outside_of_the_picture_has_the_page_follow(open_page) -> None:
    screen = open_page("tune")
    screen.test.selectbox(key="tune.0.method.rwn.0").set_value("nbrs2015").run()
    assert edited(screen, {"undo": True})["page"]
    screen.edit()  # as the browser does then
    assert screen.test.selectbox(key="tune.0.method.rwn.0").value == "rwn"
    assert not asked(screen, {"k": 9})["page"]


def test_where_a_run_has_to_answer_it_does(open_page, monkeypatch) -> None:
    screen = open_page("tune")
    monkeypatch.setattr(view.prepared(screen.session).__class__, "is_quick", lambda *_: 0)
    monkeypatch.setattr(view, "LIVE_RECORDS", 10)
    assert asked(screen, {"k": 6}) is None
    assert "k = 6" in screen.move("levers", {"k": 6}).panel["summary"]["text"]


def test_nothing_is_answered_while_a_widget_changes_the_choice(open_page, monkeypatch) -> None:
    screen, answers = open_page("tune"), list[Any]()
    monkeypatch.setattr(endpoint, "PATIENCE_S", 0.01)
    switch = change_table.switch_table

    def switched(*given: object) -> None:
        other = threading.Thread(target=lambda: answers.append(asked(screen, {"k": 9})))
        other.start()
        other.join()
        switch(*given)

    monkeypatch.setattr(change_table, "switch_table", switched)
    screen.test.selectbox(key="tune.0.method.rwn.0").set_value("nbrs2015").run()
    assert answers == [None]
    assert screen.session.method == "nbrs2015"
    assert "k" not in screen.session.levers


def test_nobody_is_answered_with_the_token_of_another(open_page) -> None:
    mine, other = open_page("tune"), open_page("tune")
    tokens = [each.endpoint.token for each in (mine, other)]
    assert tokens[0] != tokens[1]
    assert min(map(len, tokens)) >= 43  # 256 bits
    asked(mine, {"k": 9})
    assert (mine.session.levers["k"], other.session.levers["k"]) == (9, 5)
    guess = {"token": "x" * 43, "table": "0", "edits": [{"levers": {"k": 2}}]}
    assert _answer(orjson.dumps(guess)) is None
    for screen in (mine, other):
        assert all(token not in screen.everything() for token in tokens)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"token": 3}', b'{"token": []}'])
def test_what_is_no_question_has_no_answer_and_no_line_in_the_log(text: bytes, capsys) -> None:
    assert len(text) < LONGEST
    assert _answer(text) is None
    assert "".join(capsys.readouterr()) == ""


def test_a_fault_is_logged_without_its_text_and_a_run_answers(open_page, capsys, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError(SECRET)

    screen = open_page("tune")
    with monkeypatch.context() as patch:
        patch.setattr(view, "payload", broken)
        assert asked(screen, {"k": 6}) is None
    assert SECRET not in "".join(capsys.readouterr())
    assert "k = 6" in screen.move("levers", {"k": 6}).panel["summary"]["text"]


def test_a_page_that_is_drawn_waits_for_what_is_being_answered(monkeypatch) -> None:
    answers, begun, order = Endpoint(), threading.Event(), []

    def slow(_: object) -> bytes:
        begun.set()
        time.sleep(0.2)
        order.append("answered")
        return b"answer"

    answers.open(slow)
    asking = threading.Thread(target=answers.handle, args=({},))
    asking.start()
    begun.wait(10)
    monkeypatch.setattr(endpoint, "PATIENCE_S", 0.01)
    assert answers.handle({}) is None
    answers.close()
    order.append("ended")
    asking.join(10)
    assert order == ["answered", "ended"]
    assert answers.handle({}) is None


def test_answers_go_with_their_user() -> None:
    answers = Endpoint()
    token = answers.token
    assert token in _ALL
    del answers
    gc.collect()
    assert token not in _ALL
