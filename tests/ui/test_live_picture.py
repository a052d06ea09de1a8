"""A move is answered beside the runs of a page: by the same picture, to its own user alone."""

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
from rwn_ui.server.endpoint import _ALL, LONGEST, STATE_KEY, Busy, Endpoint, _answer
from rwn_ui.state import change_table
from rwn_ui.state.work import user_work
from rwn_ui.tune import live_picture
from rwn_ui.widgets import live_sliders

SECRET = "SENTINEL7731"


def asked(
    screen, values: dict[str, float], *, what: str = "levers", **how: Any
) -> dict[str, Any] | None:
    """What the browser is told of a move, but for its number."""
    question = {
        "token": screen.test.session_state[STATE_KEY].token,
        "key": f"tune.{screen.session.table_version}.{what}",
        "move": {"stamp": "1.1", "values": values, "dragging": False, **how},
    }
    answer = _answer(orjson.dumps(question))
    if answer is None:
        return None
    told = orjson.loads(answer)
    del told["server"], told["turn"]
    return told


def plain(payload: Any) -> Any:
    return orjson.loads(orjson.dumps(payload))


@pytest.mark.parametrize("method", ["rwn", "nbrs2015", "noise"])
def test_the_picture_is_that_of_a_run(open_page, method: str) -> None:
    by_run, beside = open_page("tune", method=method), open_page("tune", method=method)
    lever = by_run.session.params.levers[0].name
    for slider in by_run.live_sliders():
        if slider.name == lever:
            values = {lever: round((slider.min + 2 * slider.max) / 3, 1)}
    assert asked(beside, values) == plain(by_run.move("levers", values).panel)
    assert beside.session.levers == by_run.session.levers
    at_rest = beside.move("levers", {}, idle=True).panel
    assert plain(at_rest) == plain(by_run.panel)
    assert beside.slider(lever).value == by_run.slider(lever).value


def test_the_worst_case_is_asked_for_before_the_picture_is_drawn(open_page, monkeypatch) -> None:
    monkeypatch.setattr(limit_queue, "LARGEST_LIVE", 10)
    monkeypatch.setattr(limit_queue, "POLL", 7)
    screen, questions, before = open_page("tune"), list[Question](), list[int]()
    user_work().worker = SimpleNamespace(
        data=screen.session.data,
        known=lambda question: None,
        waited=lambda question: None,
        ask=lambda *more, **_: questions.extend(more) or True,
    )
    draw = live_picture.render
    monkeypatch.setattr(
        live_picture, "render", lambda session: before.append(len(questions)) or draw(session)
    )
    told = asked(screen, {"k": 40.0})
    assert told["again"] == 7
    assert before == [len(questions)]
    assert (questions[0].measure, {each.params.k for each in questions}) == ("bayes_linkage", {40})
    questions.clear()
    assert asked(screen, {"k": 41.0}, dragging=True)["again"] != 7
    monkeypatch.setattr(limit_queue, "LARGEST_READ", 10)  # it would end what it has begun first
    assert asked(screen, {"k": 42.0})["again"] != 7
    assert questions == []
    user_work().worker = None


def test_a_weight_of_a_small_table_is_answered_too(open_page, monkeypatch) -> None:
    by_run, beside = open_page("tune"), open_page("tune")
    expected = plain(by_run.move("weights", {"age": 3.0, "weight": 0.5}).panel)
    assert asked(beside, {"age": 3.0, "weight": 0.5}, what="weights") == expected
    assert beside.session.data.schema == by_run.session.data.schema
    assert beside.session.levers == by_run.session.levers
    assert len(beside.session.history.choices) == 2
    monkeypatch.setattr(live_sliders, "LARGEST_DENSE", 240)
    assert asked(beside, {"age": 2.0}, what="weights") is None
    assert asked(beside, {"k": 6}) is not None


def test_weights_that_are_refused_are_left_to_a_run_which_says_why(open_page, capsys) -> None:
    screen = open_page("tune")
    none = {variable.name: 0.0 for variable in screen.session.data.schema.released}
    assert asked(screen, none, what="weights") is None
    assert "A fault" not in "".join(capsys.readouterr())  # a refusal is none
    assert "give at least one a positive weight" in screen.move("weights", none).errors[0]
    assert all(variable.weight == 1 for variable in screen.session.data.schema.released)


def test_a_starting_point_is_left_to_a_run_which_moves_all_sliders(open_page) -> None:
    screen = open_page("tune")
    before = dict(screen.session.levers)
    assert asked(screen, {}, preset="Strong") is None
    assert screen.session.levers == before


def test_each_move_is_one_to_undo_and_what_is_dragged_over_is_none(open_page) -> None:
    screen = open_page("tune")
    for k in (6, 7, 8):
        assert asked(screen, {"k": k}, dragging=k == 7)
    assert [dict(each.levers)["k"] for each in screen.session.history.choices] == [5, 6, 8]
    screen.test.run()  # the page follows
    screen.test.button(key="tune.0.undo").click().run()
    assert screen.session.levers["k"] == screen.slider("k").value == 6
    assert "k = 6" in screen.panel["summary"]["text"]


def test_an_older_move_that_a_run_tells_again_is_not_taken_twice(open_page) -> None:
    screen = open_page("tune").move("levers", {"k": 6})
    asked(screen, {"k": 9})
    screen.test.run()  # the browser tells of the last move that a run was told of
    assert screen.session.levers["k"] == screen.slider("k").value == 9


@pytest.mark.parametrize(
    ("key", "values"), [("tune.1.levers", {"k": 6}), ("tune.0.levers", {"k": 6, "no lever": 1})]
)
def test_a_move_of_other_sliders_changes_nothing(open_page, key, values) -> None:
    screen = open_page("tune")
    own, before = screen.test.session_state[STATE_KEY], dict(screen.session.levers)
    move = {"stamp": "1.1", "values": values, "dragging": False}
    assert own.handle({"key": key, "move": move}) is None
    assert screen.session.levers == before


def test_where_a_run_has_to_answer_it_does(open_page, monkeypatch) -> None:
    screen = open_page("tune")
    monkeypatch.setattr(live_picture.prepared(screen.session).__class__, "is_quick", lambda *_: 0)
    assert asked(screen, {"k": 6}) is None
    assert "k = 6" in screen.move("levers", {"k": 6}).panel["summary"]["text"]


def test_nothing_is_answered_while_a_button_changes_the_choice(open_page, monkeypatch) -> None:
    screen, refused = open_page("tune").move("levers", {"k": 6}), list[bool]()
    switch = change_table.switch_table

    def switched(*given: object) -> None:
        other = threading.Thread(target=lambda: refused.append(is_busy(screen)))
        other.start()
        other.join()
        switch(*given)

    monkeypatch.setattr(change_table, "switch_table", switched)
    screen.test.button(key="tune.0.undo").click().run()
    assert refused == [True]
    screen.test.selectbox(key="tune.0.method.rwn.0").set_value("nbrs2015").run()
    assert refused == [True, True]
    assert screen.session.method == "nbrs2015"
    assert "k" not in screen.session.levers


def is_busy(screen: Any) -> bool:
    try:
        asked(screen, {"k": 9})
    except Busy:
        return True
    return False


def test_a_page_that_is_being_drawn_answers_nothing(open_page, monkeypatch) -> None:
    screen = open_page("tune")
    ends, refused = Endpoint.close, list[bool]()

    def end(answers: Endpoint) -> None:
        ends(answers)
        with pytest.raises(Busy):
            asked(screen, {"k": 6})
        refused.append(True)

    monkeypatch.setattr(Endpoint, "close", end)
    screen.test.run()
    assert refused == [True]
    assert screen.session.levers["k"] == 5
    assert asked(screen, {"k": 6}) is not None


def test_nobody_is_answered_with_the_token_of_another(open_page) -> None:
    mine, other = open_page("tune"), open_page("tune")
    tokens = [each.test.session_state[STATE_KEY].token for each in (mine, other)]
    assert tokens[0] != tokens[1]
    assert min(map(len, tokens)) >= 43  # 256 bits
    asked(mine, {"k": 9})
    assert (mine.session.levers["k"], other.session.levers["k"]) == (9, 5)
    move = {"stamp": "1.1", "values": {"k": 2}, "dragging": False}
    guess = {"token": "x" * 43, "key": "tune.0.levers", "move": move}
    assert _answer(orjson.dumps(guess)) is None
    for screen in (mine, other):
        assert all(token not in screen.everything() for token in tokens)


def test_a_move_of_nothing_is_answered_by_a_run_and_rest_is_no_answer(open_page) -> None:
    screen = open_page("tune")
    screen.move("levers", {})  # let go where it was told before
    first = screen._told("levers")["answered"]
    assert first
    screen.move("levers", {}, idle=True)
    assert screen._told("levers")["answered"] == first


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
        patch.setattr(live_picture.view, "payload", broken)
        assert asked(screen, {"k": 6}) is None
    assert SECRET not in "".join(capsys.readouterr())
    assert "k = 6" in screen.move("levers", {"k": 6}).panel["summary"]["text"]


def test_a_page_that_is_drawn_waits_for_what_is_being_answered() -> None:
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
    with pytest.raises(Busy):  # and no thread waits for its turn
        answers.handle({})
    answers.close()
    order.append("ended")
    asking.join(10)
    assert order == ["answered", "ended"]
    with pytest.raises(Busy):
        answers.handle({})


def test_answers_go_with_their_user() -> None:
    answers = Endpoint()
    token = answers.token
    assert token in _ALL
    del answers
    gc.collect()
    assert token not in _ALL
