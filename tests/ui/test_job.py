"""Work of a session in processes: done, cancelled, left behind; readings that follow."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import rwn_core as rwn
from rwn_core.masking import Rounded, unrounded
from rwn_core.measures.measure import plain
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning import SliceRanges, seek_slices
from rwn_ui.background import job as background_job
from rwn_ui.background import measure_worker, progress, task
from rwn_ui.background.job import Job, Slots
from rwn_ui.background.measure_worker import Answer, DrawnRelease, MeasureWorker, Question
from rwn_ui.background.task import Task
from rwn_ui.state.results import PreparedTable
from rwn_ui.state.work import Work
from tests.ui.work_of_processes import SECRET, add, by_seed, compile_for_ever, halves, linger
from tests.waiting import HANG_S, until


def test_work_that_is_done_or_left_frees_its_user() -> None:
    work = Work()
    job = work.jobs["draws"] = Job("ε = 2", add, words="Adding at ε = 2", a=2, b=3)
    assert work.busy
    until(lambda: not work.busy)  # though no page follows it
    assert multiprocessing.active_children() == []
    assert (job.result, job.refusal, job.share, job.label) == (5, "", 0.5, "ε = 2")
    assert job.words == "Adding at ε = 2"
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")
    # the work of a user who has left ends
    job = work.jobs["draws"] = Job("ε = 2", linger, words="Lingering")
    assert job.running
    work.close()
    assert not job.running
    assert multiprocessing.active_children() == []


def test_the_answer_so_far_is_seen_and_outlives_cancel() -> None:
    job = Job("Search", halves, words="Looking")
    assert job.so_far is None
    assert job.words == "Looking: time unknown yet"
    until(lambda: job.so_far == "answer 49")
    job.cancel()  # it would go on for ever
    assert (job.so_far, job.refusal, job.words) == ("answer 49", "Cancelled.", "Looking")
    assert multiprocessing.active_children() == []


def test_work_waits_for_a_place_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_job, "JOB_SLOTS", Slots(1))
    first = Job("ε = 2", linger, words="Lingering")
    given_up, second = (Job("ε = 3", add, words="Adding", a=2, b=3) for _ in range(2))
    assert (given_up.running, given_up.share, given_up.result) == (True, 0.0, None)
    assert given_up.words == second.words == "Adding: waiting until the work of another user ends"
    given_up.cancel()
    assert (given_up.running, given_up.refusal) == (False, "Cancelled.")
    assert len(multiprocessing.active_children()) == 1, "nothing else was begun"
    first.cancel()
    until(lambda: not second.running)
    assert (second.result, second.words) == (5, "Adding")
    assert given_up.result is None


@pytest.fixture(autouse=True)
def _count_what_a_test_begins() -> Iterator[None]:
    """A browser and its server, begun by other tests, stay until the session ends."""
    OTHERS.update(cpu_seconds().keys() - {os.getpid()})
    yield
    OTHERS.clear()


OTHERS = set[int]()
"""Processes that were there before the test."""


def cpu_seconds(also: Collection[int] = ()) -> dict[int, float]:
    """Of this process, of all that the test began and of some that may be orphans, by number."""
    own: dict[int, tuple[int, float]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if b"resource_tracker" not in (process / "cmdline").read_bytes():
                ticks = int(fields[11]) + int(fields[12])
                own[int(process.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    found = {os.getpid(), *also}
    for _ in range(4):  # a job, its workers
        found |= {pid for pid, (parent, _) in own.items() if parent in found} - OTHERS
    return {pid: own[pid][1] for pid in found & own.keys()}


def computes_after(cancel: Callable[[], None]) -> float:
    """CPU-seconds of other processes after something is cancelled, until none of them is left."""
    alive = cpu_seconds()
    cancel()
    before = cpu_seconds(alive)
    last = dict(before)

    def all_have_ended() -> bool:
        now = cpu_seconds(alive)
        last.update(now)
        return list(now) == [os.getpid()]

    until(all_have_ended)
    del last[os.getpid()]  # it looks meanwhile
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in last.items())


@pytest.mark.nightly  # the test below gives work up that has processes, too
def test_a_cancelled_search_of_free_text_stops_computing() -> None:
    """Also where it was begun by a page: its process has workers of its own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1500, 4)), columns=list("abcd"))
    frame["text"] = [f"remark {number}" for number in rng.integers(0, 1250, 1500)]
    about: dict[str, Any] = {"microdata": rwn.Microdata.from_frame(frame)}
    about["policy"] = rwn.Policy(limits=(rwn.Limit(measure="distance_linkage", at_most=0.01),))
    # workers serve the check of its answer
    about["ranges"] = SliceRanges(tries=1, only_starts=True)
    job = Job("at most 1 %", seek_slices, words="Searching", **about)
    until(lambda: len(cpu_seconds()) >= 2 + thread_count(), pause=0.2)
    assert len(cpu_seconds()) == 2 + thread_count()
    # workers that are being started see the end of their parent within half a second each; on
    # their own they would compute for longer than a second
    assert computes_after(job.cancel) < thread_count()


def test_a_table_that_is_given_up_while_the_search_is_compiled_stops_computing(monkeypatch) -> None:
    monkeypatch.setattr(task, "is_ready", lambda *which: False)
    monkeypatch.setattr(task, "compile_ahead", compile_for_ever)
    data = rwn.load_demo("bodyfat")
    work = Task(data, "large", lambda *_: None, lambda result: None)
    until(lambda: multiprocessing.active_children())
    assert work.words.startswith("Compiling")
    assert computes_after(work.cancel) < 1  # it may go on for half a second
    assert (work.running, work.refusal) == (False, "Cancelled.")


PLAIN = rwn.RWN(epsilon=0.3, k=4, q=0.8)


def about(measure: str = "bayes_linkage", seed: int = 7) -> Question:
    return Question(measure=measure, of=(PLAIN, seed))


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
    until(lambda: not made.takes_questions)


def answered(made: MeasureWorker, question: Question) -> Answer:

    def known() -> Answer | None:
        reading = made.known(question)
        if reading is None:
            made.ask(question)
        return reading

    until(known)
    reading = made.known(question)
    assert reading is not None
    return reading


def as_said(reading: Answer) -> Answer:
    """The reading with its detail as plain data, to be compared."""
    assert isinstance(reading, rwn.Reading)
    return replace(reading, detail=plain(reading.detail))


def numbers(n: int = 2400) -> rwn.Microdata:
    """A table too large for plain arrays, so that the kernels are asked."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=n)
    columns = {"x": x, "y": x + rng.normal(size=n), "z": rng.integers(0, 9, n)}
    return rwn.Microdata.from_frame(pd.DataFrame(columns))


@pytest.mark.parametrize("measure", ["bayes_linkage", "distance_linkage"])
def test_the_answer_is_what_the_page_would_read_itself(measure: str) -> None:
    for data in (rwn.load_demo("bodyfat"), numbers()):
        name = data.schema.released[0].name
        params = Rounded(params=PLAIN, precision=((name, 0.5),))
        current = PreparedTable.prepare(data).release(params, 7)
        own = rwn.MEASURES[measure].read(current.comparison)
        question = Question(measure=measure, of=(params, 7))
        reading = question.answer(rwn.Comparison(original=data, masked=data))
        assert isinstance(reading, rwn.Reading)
        for part in ("value", "baseline", "interval"):
            assert getattr(reading, part) == getattr(own, part)
        parts = {name: part for name, part in plain(reading.detail).items() if part is not None}
        # nothing of single records comes back
        assert not any(isinstance(part, np.ndarray) for part in parts.values())
        assert bool(parts.get("standing")) == (measure == "bayes_linkage")


@pytest.mark.parametrize(
    "params",
    [rwn.NBRS2015(epsilon=0.8), Rounded(params=PLAIN, precision=(("x", 0.5),))],
    ids=["the 2015 method", "rounded"],
)
def test_a_release_that_is_taken_over_is_read_as_one_that_is_drawn(params, monkeypatch) -> None:
    data = numbers()
    unmasked = rwn.Comparison(original=data, masked=data)
    current = PreparedTable.prepare(data, params=unrounded(params)[0]).release(params, 7)
    drawn = DrawnRelease(current.masked.masked, current.prepared.known)
    assert drawn.known is not None
    question = Question(measure="bayes_linkage", of=(params, 7))
    expected = question.answer(unmasked)
    measure_worker._hold(unmasked, question, pickle.loads(pickle.dumps(drawn)))
    monkeypatch.setattr(measure_worker, "_prepared", lambda *_: pytest.fail("it is drawn anew"))
    assert as_said(question.answer(unmasked)) == as_said(expected)
    other = Question(measure="bayes_linkage", of=(params, 8))
    with pytest.raises(pytest.fail.Exception):
        other.answer(unmasked)


def test_a_release_is_sent_once_and_questions_are_answered_until_a_process_dies() -> None:
    sent: list[int] = []

    def drawn(question: Question) -> DrawnRelease | None:
        sent.append(question.of[1])
        return None

    with started() as made:
        made.ask(about("a", 3), about("b", 3), about("a", 4), drawn=drawn)
        made.ask(about("a", 3), about("c", 4), about("a", 5), drawn=drawn)
        assert sent == [3, 4, 5]
        made.ask(about(seed=3), about(seed=1), about(seed=4))
        until(lambda: made.known(about(seed=1)))
        assert made.known(about(seed=3)).value == 3.0
        lost = made.known(about(seed=1))
        assert isinstance(lost, rwn.NotApplicable)
        assert "could not be read" in str(lost)
        assert made.known(about(seed=4)) is None, "the process ended before it"
        assert answered(made, about(seed=4)).value == 4.0, "another one answers it"


@pytest.mark.nightly  # the test above has a process replaced that ended by itself
def test_questions_are_answered_after_a_process_was_killed_at_rest() -> None:
    with started() as made:
        assert answered(made, about(seed=4)).value == 4.0
        kill(made)
        assert answered(made, about(seed=5)).value == 5.0


def test_other_weights_are_read_by_the_same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    data = numbers()
    other = data.with_weights({"x": 3.0})
    made = MeasureWorker.start(data)
    try:
        process = made._pool.pids
        before = answered(made, about())
        made.ask(about(seed=9))  # which nobody waits for any more
        until(lambda: about(seed=9) not in made._asked or begun(made, about(seed=9)))
        if not made.retarget(other):
            answered(made, about(seed=9))
            assert made.retarget(other)
        assert made.data is other
        assert made.known(about()) is None, "it was of the weights before"
        after = answered(made, about())
        own = about().answer(rwn.Comparison(original=other, masked=other))
        assert as_said(after) == as_said(own)
        assert as_said(after) != as_said(before)
        assert made.retarget(data)
        assert as_said(answered(made, about())) == as_said(before)
        assert made._pool.pids == process
        assert not made.retarget(rwn.load_demo("bodyfat"))
        assert made.data is data
    finally:
        made.cancel()
    assert not made.retarget(other), "it has ended"


def test_an_earlier_question_may_end_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rwn.load_demo("bodyfat")
    monkeypatch.setattr(measure_worker, "PATIENCE", HANG_S)
    with started() as made:
        made.interrupt()
        assert made.takes_questions, "a process that rests stays"
        made.ask(about(seed=0))
        made.interrupt()
        assert not made.takes_questions
        assert about(seed=0) not in made._asked
        made.ask(about(seed=0), about(seed=4))
        until(lambda: about(seed=0) not in made._asked or begun(made, about(seed=0)))
        assert not made.retarget(data.with_weights({"age": 2.0})), "a question is under way"
        assert made.data.schema == data.schema
        made.ask(about(seed=5))
        assert about(seed=0) in made._asked
        assert about(seed=4) not in made._asked, "nobody had begun with it"
        monkeypatch.setattr(measure_worker, "PATIENCE", 0.0)
        assert answered(made, about(seed=5)).value == 5.0
        assert made.known(about(seed=0)) is None


def begun(made: MeasureWorker, question: Question) -> bool:
    return made._asked[question].task.running()


def test_old_answers_go_first_and_a_foreign_error_leaves_the_process_as_its_type_only(monkeypatch):
    monkeypatch.setattr(measure_worker, "CACHE_SIZE", 2)
    with started() as made:
        answer = str(answered(made, about(seed=2)))
        assert "KeyError" in answer
        assert SECRET not in answer
        for seed in (3, 4, 5):
            answered(made, about(seed=seed))
        assert made.known(about(seed=3)) is None
        assert made.known(about(seed=5)).value == 5.0


ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Counting:
    words: str = "Counting"
    share: float = 0.25
    running: bool = True
    cancelled: int = 0

    def cancel(self) -> None:
        self.running = False
        self.cancelled += 1


def page() -> None:
    import streamlit as st

    from rwn_ui.background.progress import bar, wait_for

    work = st.session_state["work"]
    if not work.running:
        st.info("It has ended.")
    elif st.session_state.get("wide"):
        bar(work, "stop", wide=True, cancel=lambda: st.session_state.update(wide=False))
    else:
        wait_for(work, "stop")


def opened(work: Counting, **state: object) -> AppTest:
    test = AppTest.from_function(page)
    for name, value in {"work": work, **state}.items():
        test.session_state[name] = value
    test.run()
    assert not test.exception
    return test


def test_a_bar_shows_how_far_work_is_and_cancel_is_heard_before_anything_is_drawn() -> None:
    words = "k = 3 of **my** [table](http://x.y)"
    work = Counting(words=words, share=1.2)  # a share may be off by what it was rounded
    test = opened(work)
    (shown,) = test.get("progress")
    plain = "k = 3 of \\*\\*my\\*\\* \\[table\\](http:\u2060//x.y)"
    assert (shown.proto.value, shown.proto.text) == (100, plain)
    test.button(key="stop").click().run()
    assert work.cancelled == 1
    assert [info.value for info in test.info] == ["It has ended."]
    assert not test.get("progress")
    work = Counting()
    test = opened(work, wide=True)
    assert test.get("progress")[0].proto.value == 25
    test.button(key="stop").click().run()  # it may mean something else
    assert (work.cancelled, test.session_state["wide"]) == (0, False)


def test_the_page_is_drawn_anew_when_the_work_ends() -> None:
    class Ending(Counting):
        looks = 0

        @property
        def running(self) -> bool:
            self.looks += 1
            return self.looks < 2

        @running.setter
        def running(self, value: bool) -> None:
            pass

    assert [info.value for info in opened(Ending()).info] == ["It has ended."]
    # one place alone looks again and again
    places = [*ROOT.glob("rwn_ui/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    assert [at.name for at in places if "run_every" in at.read_text("utf-8")] == ["progress.py"]


def test_a_search_is_told_of_once_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[object] = []
    slot: Any = SimpleNamespace(
        progress=lambda share, text: shares.append(share), empty=lambda: shares.append("empty")
    )
    monkeypatch.setattr(progress, "PATIENCE", HANG_S)
    with progress.searching(slot) as report:
        report(0.5)
    assert shares == []
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.searching(slot) as report:
        report(0.5)
        report(1.5)
    assert shares == [0.5, 1.0, "empty"]
    with progress.searching(None) as report:
        assert report is None


def test_later_workers_are_forked_once_work_was_done_and_the_kernels_are_compiled(
    monkeypatch,
) -> None:
    asked: list[tuple[str, ...]] = []
    ready = [False]
    monkeypatch.setattr(background_job, "fork_workers", lambda *imports: asked.append(imports))
    monkeypatch.setattr(background_job, "is_ready", lambda kernels: ready[0])
    done: Future[object] = Future()
    failed: Future[object] = Future()
    done.set_result("done")
    failed.set_exception(rwn.RWNError("There is nothing to predict."))
    background_job.fork_later_workers(done)
    assert asked == []  # a later one reads what is compiled by then
    ready[0] = True
    background_job.fork_later_workers(failed)
    assert asked == []  # as at the end of a program, which stops its work
    background_job.fork_later_workers(done)
    (imports,) = asked
    assert all(map(import_module, imports))
