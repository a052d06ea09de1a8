"""Readings that follow the picture: the same numbers, one process, nothing left, never a value."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.masking import Rounded, unrounded
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_ui.background import measure_worker
from rwn_ui.background.measure_worker import Answer, DrawnRelease, MeasureWorker, Question
from rwn_ui.state.results import PreparedTable

SECRET = "SENTINEL7731"
PLAIN = rwn.RWN(epsilon=0.3, k=4, q=0.8)


def about(measure: str = "bayes_linkage", seed: int = 7) -> Question:
    return Question(measure=measure, params=PLAIN, seed=seed)


def by_seed(question: Question, unmasked: Comparison) -> Answer:
    """Seed 0 never ends, seed 1 ends the process, seed 2 is another's error; others answer."""
    if question.seed == 0:
        time.sleep(600)
    if question.seed == 1:
        os._exit(3)
    if question.seed == 2:
        return Question(measure=SECRET, params=PLAIN, seed=2).answer(unmasked)
    return Reading(value=float(question.seed), detail={})


@contextmanager
def started(answer=by_seed) -> Iterator[MeasureWorker]:
    made = MeasureWorker.start(rwn.load_demo("bodyfat"), answer)
    try:
        yield made
    finally:
        made.cancel()
        assert multiprocessing.active_children() == []


def kill(made: MeasureWorker) -> None:
    (pid,) = made._pool.pids
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while made.running and time.monotonic() < end:
        time.sleep(0.01)
    assert not made.running


def answered(made: MeasureWorker, question: Question) -> Answer:
    end = time.monotonic() + 180
    while made.known(question) is None:
        assert time.monotonic() < end
        made.ask(question)
        time.sleep(0.02)
    reading = made.known(question)
    assert reading is not None
    return reading


def numbers(n: int = 2400) -> rwn.Microdata:
    """A table too large for plain arrays, so that the kernels are asked."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=n)
    columns = {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n)}
    return rwn.Microdata.from_frame(pd.DataFrame(columns))


@pytest.mark.parametrize("data", [rwn.load_demo("bodyfat"), numbers()], ids=["bodyfat", "numbers"])
@pytest.mark.parametrize("measure", ["bayes_linkage", "distance_linkage"])
def test_the_answer_is_what_the_page_would_read_itself(data, measure: str) -> None:
    name = data.schema.released[0].name
    for params in (PLAIN, Rounded(params=PLAIN, precision=((name, 0.5),))):
        current = PreparedTable.prepare(data).release(params, 7)
        own = rwn.MEASURES[measure].read(current.comparison)
        question = Question(measure=measure, params=params, seed=7)
        reading = question.answer(Comparison(original=data, masked=data))
        assert isinstance(reading, Reading)
        assert (reading.value, reading.baseline, reading.interval) == (
            own.value,
            own.baseline,
            own.interval,
        )
        assert set(reading.detail) <= measure_worker._SAID  # nothing of single records comes back
        assert not any(isinstance(part, np.ndarray) for part in reading.detail.values())
        assert ("standing" in reading.detail) == (measure == "bayes_linkage")


SETTINGS = {
    "plain": PLAIN,
    "the 2015 method": rwn.NBRS2015(epsilon=0.8),
    "rounded": Rounded(params=PLAIN, precision=(("x", 0.5),)),
}


@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_a_release_that_is_taken_over_is_read_as_one_that_is_drawn(params, monkeypatch) -> None:
    data = numbers()
    unmasked = Comparison(original=data, masked=data)
    current = PreparedTable.prepare(data, method=unrounded(params)[0].method).release(params, 7)
    drawn = DrawnRelease(current.masked.masked, current.prepared.known)
    assert drawn.known is not None
    question = Question(measure="bayes_linkage", params=params, seed=7)
    expected = question.answer(unmasked)
    measure_worker._hold(unmasked, question, pickle.loads(pickle.dumps(drawn)))
    monkeypatch.setattr(measure_worker, "_prepared", lambda *_: pytest.fail("it is drawn anew"))
    answer = question.answer(unmasked)
    assert isinstance(answer, Reading)
    assert answer == expected
    other = Question(measure="bayes_linkage", params=params, seed=8)
    with pytest.raises(pytest.fail.Exception):
        other.answer(unmasked)


def test_a_release_is_sent_once() -> None:
    sent: list[int] = []

    def drawn(question: Question) -> DrawnRelease | None:
        sent.append(question.seed)
        return None

    with started() as made:
        made.ask(about("a", 3), about("b", 3), about("a", 4), drawn=drawn)
        made.ask(about("a", 3), about("c", 4), about("a", 5), drawn=drawn)
    assert sent == [3, 4, 5]


def test_other_weights_are_read_by_the_same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    data = numbers()
    other = data.with_weights({"x": 3.0})
    made = MeasureWorker.start(data)
    try:
        process, before = made._pool.pids, answered(made, about())
        made.ask(about(seed=9))  # which nobody waits for any more
        while made.waited(about(seed=9)) is not None and not begun(made, about(seed=9)):
            time.sleep(0.01)
        if not made.retarget(other):
            answered(made, about(seed=9))
            assert made.retarget(other)
        assert made.data is other
        assert made.known(about()) is None, "it was of the weights before"
        after = answered(made, about())
        assert after == about().answer(Comparison(original=other, masked=other))
        assert after != before
        assert made.retarget(data)
        assert answered(made, about()) == before
        assert made._pool.pids == process
        assert not made.retarget(rwn.load_demo("bodyfat"))
        assert made.data is data
    finally:
        made.cancel()
    assert not made.retarget(other), "it has ended"


def test_what_is_under_way_is_interrupted_and_a_process_that_rests_stays() -> None:
    with started() as made:
        made.interrupt()
        assert made.running
        made.ask(about(seed=0))
        made.interrupt()
        assert not made.running
        assert made.waited(about(seed=0)) is None
        made.ask(about(seed=5))  # by another one
        assert made.running


def test_an_earlier_question_may_end_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rwn.load_demo("bodyfat")
    with started() as made:
        made.ask(about(seed=0), about(seed=4))
        while made.waited(about(seed=0)) is not None and not begun(made, about(seed=0)):
            time.sleep(0.01)
        assert not made.retarget(data.with_weights({"age": 2.0})), "a question is under way"
        assert made.data.schema == data.schema
        made.ask(about(seed=5))
        assert made.waited(about(seed=0)) is not None
        assert made.waited(about(seed=4)) is None, "nobody had begun with it"
        monkeypatch.setattr(measure_worker, "PATIENCE", 0.0)
        assert answered(made, about(seed=5)).value == 5.0
        assert made.known(about(seed=0)) is None


def begun(made: MeasureWorker, question: Question) -> bool:
    return made._asked[question].task.running()


def test_questions_asked_together_are_answered_until_a_process_dies() -> None:
    with started() as made:
        made.ask(about(seed=3), about(seed=1), about(seed=4))
        end = time.monotonic() + 60
        while made.known(about(seed=1)) is None and time.monotonic() < end:
            time.sleep(0.01)
        assert made.known(about(seed=3)).value == 3.0
        lost = made.known(about(seed=1))
        assert isinstance(lost, rwn.NotApplicable)
        assert "could not be read" in str(lost)
        assert made.known(about(seed=4)) is None, "the process ended before it"
        assert answered(made, about(seed=4)).value == 4.0, "another one answers it"
        kill(made)
        assert answered(made, about(seed=5)).value == 5.0


def test_old_answers_go_first_and_a_foreign_error_leaves_the_process_as_its_type_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure_worker, "CACHE_SIZE", 2)
    with started() as made:
        answer = str(answered(made, about(seed=2)))
        assert "KeyError" in answer
        assert SECRET not in answer
        for seed in (3, 4, 5):
            answered(made, about(seed=seed))
        assert made.known(about(seed=3)) is None
        assert made.known(about(seed=5)).value == 5.0
