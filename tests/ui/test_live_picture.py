"""Moves are answered beside the runs of the page, and what a picture waits for is told later."""

from __future__ import annotations

import gc
import sys
import threading
from dataclasses import replace
from types import FrameType
from typing import Any

import orjson
import pytest

import rwn_core as rwn
from rwn_core.measures.measure import Detail
from rwn_core.parallel.threads import thread_count
from rwn_ui.background.measure_worker import DrawnRelease, Question
from rwn_ui.features import limit_queue, repeated_draws
from rwn_ui.server import endpoint
from rwn_ui.server.endpoint import _ALL, LONGEST, Endpoint, _answer
from rwn_ui.state import change_table
from rwn_ui.state.results import current_release
from rwn_ui.tune import view
from tests.rules import import_law
from tests.ui.following import shown
from tests.ui.work_here import WorkHere
from tests.waiting import HANG_S

SECRET = "SENTINEL7731"
METHOD = "tune.0.method.rwn.0"
"""The list of methods in the sidebar."""


def posted(screen: Any, **question: Any) -> Any:
    """What the browser gets for a post; empty where nothing has arrived."""
    about = {"token": screen.endpoint.token, "table": str(screen.session.table_version)}
    answer = _answer(orjson.dumps(about | question))
    return None if answer is None else orjson.loads(answer or b"{}")


def edited(screen: Any, *edits: dict[str, Any]) -> Any:
    return posted(screen, edits=edits)


def asked(screen: Any, values: dict[str, float], *, what: str = "levers", held: bool = False):
    return edited(screen, {what: values, "held": held})


def same(picture: dict[str, Any], payload: dict[str, Any]) -> bool:
    """True if a picture shows what a run has drawn, but for the tables behind its cards."""
    bare = [orjson.loads(card) | {"table": "null"} for card in payload["cards"]]
    drawn = {**orjson.loads(orjson.dumps(payload)), "cards": bare}
    picture = {**picture, "cards": [*map(orjson.loads, picture["cards"])]}
    return {name: picture[name] for name in payload} == drawn


@pytest.mark.parametrize("method", ["rwn", "noise"])
def test_the_picture_is_that_of_a_run(open_page, method: str) -> None:
    by_run, beside = open_page("tune", method=method), open_page("tune", method=method)
    first = next(iter(by_run.sliders.values()))
    values = {first["name"]: round((first["low"] + 2 * first["high"]) / 3, 1)}
    picture = asked(beside, values)
    assert same(picture, by_run.move(**values).panel)
    assert beside.session.levers == by_run.session.levers
    assert picture["controls"]["levers"]["sliders"] == [*by_run.sliders.values()]
    assert not picture["page"]
    if method == "rwn":  # and of weights
        weights = {"age": 3.0, "weight": 0.5}
        picture = asked(beside, weights, what="weights")
        assert same(picture, by_run.weigh(**weights).panel)
        assert beside.session.data.schema == by_run.session.data.schema
        assert len(beside.session.history.settings) == 3


def disabled_steps(picture: dict[str, Any]) -> list[bool]:
    """Return if nothing is to undo, and if nothing is to do again."""
    return [each["disabled"] for each in picture["controls"]["levers"]["steps"]]


def test_each_move_is_one_to_undo(open_page) -> None:
    screen = open_page("tune")
    session = screen.session
    for k in (6, 7, 8):
        assert asked(screen, {"k": k}, held=k == 7)
    assert [each.params.k for each in session.history.settings] == [5, 6, 8]
    picture = edited(screen, {"undo": True})
    assert "k = 6" in picture["summary"]["text"]
    assert disabled_steps(picture) == [False, False]
    picture = edited(screen, {"undo": True}, {"undo": True}, {"undo": True})
    assert disabled_steps(picture) == [True, False]
    assert session.history.settings[0].params.k == session.levers["k"] == 5


def test_edits_are_taken_in_their_order_and_numbered(open_page) -> None:
    screen = open_page("tune")
    first = edited(screen, {"levers": {"k": 4}}, {"levers": {"k": 9}})
    second = edited(screen, {"levers": {"k": 9}}, {"levers": {"k": 4}})
    assert screen.session.levers["k"] != 9
    assert "k = 9" in first["summary"]["text"]
    assert first["seq"] < second["seq"] == screen.endpoint.seq


def test_a_move_of_another_table_or_of_no_lever_changes_nothing(open_page) -> None:
    screen = open_page("tune")
    before = dict(screen.session.levers)
    assert screen.endpoint.handle({"table": "1", "edits": [{"levers": {"k": 6}}]}) is None
    assert asked(screen, {"no lever": 1})
    assert screen.session.levers == before


def test_a_choice_outside_of_the_picture_has_the_page_follow(open_page) -> None:
    screen = open_page("tune")
    screen.test.selectbox(key=METHOD).set_value("nbrs2015").run()
    assert edited(screen, {"undo": True})["page"]
    screen.edit()  # as the browser does then
    assert screen.test.selectbox(key=METHOD).value == "rwn"
    assert not asked(screen, {"k": 9})["page"]


def test_where_a_run_has_to_answer_it_does_and_says_why(open_page, capsys, monkeypatch) -> None:
    screen = open_page("tune")
    none = {variable.name: 0.0 for variable in screen.session.data.schema.released}
    assert asked(screen, none, what="weights") is None
    said = "".join(capsys.readouterr())
    assert "A fault" not in said  # a refusal is none
    assert all(variable.weight == 1 for variable in screen.session.data.schema.released)

    def broken(*_: object) -> None:
        raise ValueError(SECRET)

    def slow(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(view.prepared(screen.session).__class__, "is_quick", lambda *_: 0)
        patch.setattr(view, "LIVE_RECORDS", 10)

    for k, plant in enumerate((lambda patch: patch.setattr(view, "payload", broken), slow), 6):
        with monkeypatch.context() as patch:
            plant(patch)
            assert asked(screen, {"k": k}) is None
        assert SECRET not in "".join(capsys.readouterr())
        assert f"k = {k}" in screen.move(k=k).panel["summary"]["text"]


def test_nothing_is_answered_while_a_widget_changes_the_choice(open_page, monkeypatch) -> None:
    screen = open_page("tune")
    answers = list[Any]()
    monkeypatch.setattr(endpoint, "PATIENCE_S", 0.01)
    switch = change_table.switch_table

    def switched(*given: object) -> None:
        other = threading.Thread(target=lambda: answers.append(asked(screen, {"k": 9})))
        other.start()
        other.join()
        switch(*given)

    monkeypatch.setattr(change_table, "switch_table", switched)
    screen.test.selectbox(key=METHOD).set_value("nbrs2015").run()
    assert answers == [None]
    assert screen.session.method == "nbrs2015"
    assert "k" not in screen.session.levers


def test_what_is_no_question_has_no_answer_nor_has_the_token_of_another(capsys, open_page) -> None:
    for text in (b"", b"{", b"[]", b"{}", b'{"token": 3}', b'{"token": []}'):
        assert len(text) < LONGEST
        assert _answer(text) is None
    assert "".join(capsys.readouterr()) == ""
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


def test_a_page_that_is_drawn_waits_for_what_is_being_answered(monkeypatch) -> None:
    answers = Endpoint()
    begun = threading.Event()
    may_end = threading.Event()
    order = list[str]()

    def slow(_: object) -> bytes:
        begun.set()
        may_end.wait(HANG_S)
        order.append("answered")
        return b"answer"

    def close(endpoint: Endpoint) -> None:
        endpoint.close()
        order.append("ended")

    answers.open(slow)
    asking = threading.Thread(target=answers.handle, args=({},))
    asking.start()
    assert begun.wait(HANG_S)
    monkeypatch.setattr(endpoint, "PATIENCE_S", 0.01)
    assert answers.handle({}) is None
    closing = threading.Thread(target=close, args=(answers,))
    closing.start()
    closing.join(0.2)  # in which an end that waits for nothing would come
    may_end.set()
    for thread in (asking, closing):
        thread.join(HANG_S)
    assert order == ["answered", "ended"]
    assert answers.handle({}) is None
    # answers go with their user
    token = answers.token
    assert token in _ALL
    del answers, asking, closing, thread
    gc.collect()
    assert token not in _ALL


PROGRAM = frozenset(map(str, import_law.sources()))
"""What is counted: a checkout may hold a virtual environment as well."""
MOST_FILES = 86
MOST_CALLS = 4_000
MOST_SPARSE = 22
"""What a move of a slider may cost; all may only fall."""
MADE_SPARSE = frozenset(f"{kind}.__init__" for kind in ("_cs_matrix", "_coo_base", "_dia_base"))
"""What makes sparse arrays of SciPy, those that it makes for itself among them."""


def test_a_move_on_bodyfat_enters_few_files(open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    # with helpers the ranges that this thread takes depend on the machine's load
    monkeypatch.setenv("RWN_THREADS", "1")
    screen = open_page("tune")
    for k in (6.0, 7.0):  # imports and first results
        assert asked(screen, {"k": k}) is not None
    files = set[str]()
    calls = sparse = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls, sparse
        name = frame.f_code.co_filename
        if event == "call" and name in PROGRAM:
            files.add(name)
            calls += 1
        if event == "call" and frame.f_code.co_qualname in MADE_SPARSE:
            sparse += 1

    sys.setprofile(count)
    try:
        asked(screen, {"k": 8.0})
    finally:
        sys.setprofile(None)
    said = f"{len(files)} files, {calls} calls, {sparse} sparse arrays\n"
    sys.stdout.write(said)  # python -m pytest -s
    assert len(files) <= MOST_FILES
    assert calls <= MOST_CALLS
    assert 0 < sparse <= MOST_SPARSE


JUDGED = ("bayes_linkage", "attribute_gain", "true_matches")


class Reader:
    """A process that answers what it is told to."""

    running = True

    def __init__(self, data: rwn.Microdata) -> None:
        self.data = data
        self.asked = ()
        self.known_by = {}
        self.cancelled = False

    def ask(self, *questions: Question, drawn: Any) -> None:
        self.asked, self.drawn = questions, drawn

    def retarget(self, data: rwn.Microdata) -> bool:
        return False

    def known(self, question: Question) -> rwn.Reading | None:
        return self.known_by.get((question.measure, question.begin, question.of[0]))

    def cancel(self) -> None:
        self.cancelled = True

    def answer(self, measure: str, value: float) -> None:
        for question in self.asked:
            if question.measure == measure:
                reading = rwn.Reading(value=value, detail=Detail())
                self.known_by[measure, question.begin, question.of[0]] = reading

    @property
    def strengths(self) -> list[tuple[str, int]]:
        """Which measures it was asked for, and at which k."""
        return [(question.measure, question.of[0].k) for question in self.asked]


@pytest.fixture
def screen(open_page, monkeypatch: pytest.MonkeyPatch):
    """A page whose table counts as a larger one, with limits that are read one after another."""
    monkeypatch.setattr(limit_queue, "QUICK_RECORDS", 10)
    monkeypatch.setattr(repeated_draws, "LARGEST_DENSE", 10)
    page = open_page("tune")
    usual = rwn.Policy().limits
    page.session.policy = rwn.Policy(limits=tuple(x for x in usual if x.measure in JUDGED))
    page.test.run()
    page.work.worker = Reader(page.session.data)
    yield page
    page.work.worker = None


def waited(screen: Any, seq: int | None = None) -> Any:
    """The answer to a waiting post; empty until something has arrived."""
    return posted(screen, seq=screen.endpoint.seq if seq is None else seq)


def test_nothing_is_told_until_something_has_arrived_of_the_release_on_screen(screen):
    reader = screen.work.worker
    waits = screen.panel["waits"]
    assert waits == ["first bayes_linkage", "first attribute_gain"]  # the page reads what is quick
    assert screen.panel["verdict"]["nearest"] == ""
    for _ in range(3):
        assert waited(screen) == {}
    assert [measure for measure, _ in reader.strengths] == ["bayes_linkage", "attribute_gain"]
    reader.answer("attribute_gain", 0.01)
    found = waited(screen)
    assert (found["waits"], found["waiting"]) == (waits[:1], True)
    reader.answer("bayes_linkage", 0.25)
    found = waited(screen)
    assert (found["waits"], found["waiting"]) == ([], False)
    assert (
        found["verdict"]["nearest"]
        == "worst: Worst-case linkage 25 %, limit 5 % (61 of 241 records, limit 12)"
    )
    assert same(found, shown(screen.session))


@pytest.fixture
def told(screen):
    """The page when everything is told of its first picture."""
    waited(screen)
    screen.work.worker.answer("attribute_gain", 0.01)
    screen.work.worker.answer("bayes_linkage", 0.25)
    assert waited(screen)["waits"] == []
    return screen


@pytest.fixture
def moved(told):
    """The page after a move of k."""
    asked(told, {"k": 40})
    waited(told)
    return told


def test_a_post_that_waits_for_an_older_picture_gets_none(told):
    before = told.endpoint.seq
    picture = asked(told, {"k": 40})
    assert waited(told, before) is None
    assert waited(told, picture["seq"]) == {}


def test_a_move_has_its_own_numbers_found(moved):
    reader = moved.work.worker
    assert {k for _, k in reader.strengths} == {40}
    reader.answer("bayes_linkage", 0.25)
    assert waited(moved)["waits"] == ["first attribute_gain"]


def test_a_reader_draws_the_release_on_screen_and_no_other(moved, monkeypatch):
    reader = moved.work.worker
    session = moved.session
    current = current_release(session)
    first = reader.asked[0]
    assert reader.drawn(first) is None, "so small a table is searched at once"
    monkeypatch.setattr(type(current.prepared), "known", "sizes")
    assert reader.drawn(first) == DrawnRelease(current.masked.masked, "sizes")
    assert reader.drawn(replace(first, of=(first.of[0], session.seed + 1))) is None
    assert reader.drawn(replace(first, of=(replace(first.of[0], k=41), first.of[1]))) is None


def test_a_reader_ends_where_its_user_has_left(moved):
    reader = moved.work.worker
    moved.work.closed = True
    waited(moved)
    assert reader.cancelled


def test_the_process_begins_before_the_picture_of_a_move_that_nobody_holds(screen, monkeypatch):
    reader = screen.work.worker
    before = list[Any]()
    draw = view.render
    monkeypatch.setattr(view, "render", lambda *of: before.append(reader.strengths) or draw(*of))
    assert asked(screen, {"k": 39}, held=True)["waiting"]
    told = asked(screen, {"k": 40})
    assert before == [[], [("bayes_linkage", 40), ("attribute_gain", 40)]]
    assert told["verdict"]["nearest"] == ""
    reader.answer("bayes_linkage", 0.25)
    assert waited(screen) != {}
    # where it takes long it begins at rest: it would end what it has begun first
    monkeypatch.setattr(limit_queue, "LIVE_RECORDS", 10)
    reader.asked = ()
    told = asked(screen, {"k": 41})
    assert reader.asked == ()
    assert told["waits"][2:] == ["first true_matches"]
    waited(screen)
    assert len(reader.asked) == 3


def unread(picture: dict[str, Any]) -> list[str]:
    """The limits that a picture waits for."""
    return [each for each in picture["waits"] if each.startswith("first")]


def test_where_no_processor_is_left_the_picture_comes_first_and_its_limits_follow(
    open_page, monkeypatch
) -> None:
    """In a class many move at once: nobody waits for the limits of others, or has a process."""
    screen = open_page("tune")
    assert not unread(asked(screen, {"epsilon": 2.5}))
    room = limit_queue.Room()
    monkeypatch.setattr(limit_queue, "_ROOM", room)
    room.taken = thread_count()
    crowded = asked(screen, {"epsilon": 3.0})
    assert crowded["cards"]
    limits = unread(crowded)
    assert {"first bayes_linkage", "first attribute_gain"} <= set(limits)
    assert crowded["verdict"]["text"].startswith(f"Not judged yet: {len(limits)} limits to follow")
    assert waited(screen) == {}
    assert screen.work.worker is None
    room.give_back()
    found = waited(screen)
    assert not unread(found)
    assert room.taken == thread_count() - 1, "the place of the picture was given back"
    monkeypatch.undo()
    asked(screen, {"epsilon": 2.5})
    assert asked(screen, {"epsilon": 3.0})["verdict"] == found["verdict"]


def test_a_limit_that_fails_gives_its_place_back(open_page, monkeypatch) -> None:
    screen = open_page("tune")
    room = limit_queue.Room()
    monkeypatch.setattr(limit_queue, "_ROOM", room)

    current = current_release(screen.session)
    with pytest.raises(rwn.ParameterError):
        limit_queue._read_where_there_is_room(current, ["no such measure"])
    assert room.taken == 0


@pytest.fixture
def rested(open_page, monkeypatch: pytest.MonkeyPatch):
    """A page whose further draws are read in this process, when a test waits for their end."""
    monkeypatch.setattr(repeated_draws, "Job", WorkHere)
    return open_page("tune")


def test_further_draws_are_read_when_the_sliders_rest_and_dropped_by_a_move(rested) -> None:
    told = asked(rested, {"epsilon": 6.5, "k": 90})
    assert told["waits"] == ["further draws"]
    assert told["verdict"]["state"] != "kept"
    waited(rested)
    assert rested.work.further is None, "the first question comes between two moves of a drag"
    waited(rested)
    first = rested.work.further
    assert first.running
    # a move drops them
    asked(rested, {"k": 100})
    assert (first.refusal, rested.work.further) == ("Cancelled.", None)


def test_further_draws_give_the_verdict_of_a_setting_whatever_is_drawn(rested) -> None:
    asked(rested, {"epsilon": 6.5, "k": 100})
    for _ in range(2):
        assert waited(rested) == {}
    rested.work.further.end()
    found = waited(rested)
    assert (found["waits"], found["waiting"]) == ([], False)
    session = rested.session
    own = rwn.judge_setting(session.data, session.setting, session.policy)
    assert found["verdict"]["text"].startswith(f"{own.headline}. Left: ")
    assert "in one more release" in found["verdict"]["nearest"]
    # another draw of the setting has the same verdict, and a position seen before has its own
    session.seed = 5
    assert asked(rested, {"k": 100})["verdict"]["text"].startswith(f"{own.headline}")
    asked(rested, {"k": 90})
    assert asked(rested, {"k": 100})["waits"] == []


def test_where_further_draws_cannot_be_read_the_picture_says_what_is_known(rested) -> None:
    asked(rested, {"k": 100})
    waited(rested)
    waited(rested)
    rested.work.further.cancel()
    found = waited(rested)
    assert found["waits"] == []
    assert found["verdict"]["text"].startswith("This draw ")
    assert "being read" not in found["verdict"]["text"]
    assert found["verdict"]["state"] != "kept"
