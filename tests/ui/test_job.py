"""Background work of a session: done, cancelled, or left behind; never a process left."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.parallel.processes import Report
from rwn_core.parallel.threads import thread_count
from rwn_core.tuning import Plan, seek_slices
from rwn_ui.background import job as background_job
from rwn_ui.background import preparation
from rwn_ui.background.job import Job, Slots
from rwn_ui.background.preparation import Preparation
from rwn_ui.state.work import Work
from rwn_ui.sweep import run


def add(a: int, b: int, progress: Callable[[float], None]) -> int:
    progress(0.5)
    return a + b


def linger(progress: Callable[[float], None]) -> None:
    progress(0.25)
    time.sleep(600)


def test_work_that_is_done_gives_its_result_and_frees_its_user() -> None:
    work = Work()
    job = work.jobs["draws"] = Job("ε = 2", add, words="Adding at ε = 2", a=2, b=3)
    assert work.busy
    end = time.monotonic() + 60
    while work.busy and time.monotonic() < end:  # though no page follows it
        time.sleep(0.02)
    assert multiprocessing.active_children() == []
    assert (job.result, job.refusal, job.share, job.label) == (5, "", 0.5, "ε = 2")
    assert job.words == "Adding at ε = 2"
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")


def halves(progress: Report) -> None:
    for number in range(1, 50):
        progress(number / 100)
        progress.found(f"answer {number}")
        time.sleep(0.02)
    time.sleep(600)


def test_the_answer_so_far_is_seen_and_outlives_cancel() -> None:
    job = Job("Search", halves, words="Looking")
    assert job.so_far is None
    assert job.words == "Looking: time unknown yet"
    end = time.monotonic() + 60
    while job.so_far != "answer 49" and time.monotonic() < end:
        time.sleep(0.02)
    begun = time.monotonic()
    job.cancel()
    assert time.monotonic() - begun < 1.5
    assert (job.so_far, job.refusal, job.words) == ("answer 49", "Cancelled.", "Looking")
    assert multiprocessing.active_children() == []


def test_work_waits_for_a_place_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_job, "JOB_SLOTS", Slots(1))
    monkeypatch.setattr(run, "JOB_SLOTS", background_job.JOB_SLOTS)
    first = Job("ε = 2", linger, words="Lingering")
    given_up, second = (Job("ε = 3", add, words="Adding", a=2, b=3) for _ in range(2))
    assert (given_up.running, given_up.share, given_up.result) == (True, 0.0, None)
    assert given_up.words == second.words == "Adding: waiting until the work of another user ends"
    with pytest.raises(rwn.RWNError, match="start the sweep again when one of them is done"):
        run.begin(rwn.load_demo("bodyfat"), [], Plan(measures=("correlation",), releases=1))
    given_up.cancel()
    assert (given_up.running, given_up.refusal) == (False, "Cancelled.")
    assert len(multiprocessing.active_children()) == 1, "nothing else was begun"
    first.cancel()
    end = time.monotonic() + 60
    while second.running and time.monotonic() < end:
        time.sleep(0.02)
    assert (second.result, second.words) == (5, "Adding")
    assert given_up.result is None


def test_work_of_a_user_who_has_left_ends() -> None:
    work = Work()
    job = work.jobs["draws"] = Job("ε = 2", linger, words="Lingering")
    assert job.running
    work.close()
    assert not job.running
    assert multiprocessing.active_children() == []


def cpu_seconds(also: Collection[int] = ()) -> dict[int, float]:
    """Of this process, of all below it and of some others that may be orphans, by number."""
    own: dict[int, tuple[int, float]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if b"resource_tracker" not in (process / "cmdline").read_bytes():
                ticks = int(fields[11]) + int(fields[12])
                own[int(process.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    found = {os.getpid(), *also}
    for _ in range(4):  # a job, its workers
        found |= {pid for pid, (parent, _) in own.items() if parent in found}
    return {pid: own[pid][1] for pid in found & own.keys()}


def computes_after(cancel: Callable[[], None]) -> float:
    """CPU-seconds in the second after something is cancelled; nothing of it may be left."""
    alive = cpu_seconds()
    cancel()
    before = cpu_seconds(alive)
    time.sleep(1)
    after = cpu_seconds(alive)
    end = time.monotonic() + 10  # a guard against hanging beside other work
    while len(cpu_seconds(alive)) > 1 and time.monotonic() < end:
        time.sleep(0.02)
    assert list(cpu_seconds(alive)) == [os.getpid()]
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def test_a_cancelled_search_of_free_text_stops_computing() -> None:
    """Also where it was begun by a page: its process has workers of its own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 4)), columns=list("abcd"))
    frame["text"] = [f"remark {number}" for number in rng.integers(0, 2500, 3000)]
    limits = (rwn.Limit(measure="distance_linkage", at_most=0.01),)
    job = Job(
        "at most 1 %",
        seek_slices,
        words="Searching",
        microdata=rwn.Microdata.from_frame(frame),
        policy=rwn.Policy(limits=limits),
    )
    end = time.monotonic() + 60
    while len(cpu_seconds()) < 2 + thread_count() and time.monotonic() < end:
        time.sleep(0.05)
    assert len(cpu_seconds()) == 2 + thread_count()
    assert computes_after(job.cancel) < 0.3


def compile_for_ever(levels: bool, progress: Callable[[float], None]) -> None:
    while True:
        pass


def test_a_table_that_is_given_up_while_the_search_is_compiled_stops_computing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preparation, "is_ready", lambda *which: False)
    monkeypatch.setattr(preparation, "compile_ahead", compile_for_ever)
    data = rwn.load_demo("bodyfat")
    work = Preparation.start(data, "large", lambda *_: None, lambda result: None).task
    end = time.monotonic() + 60
    while not multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.02)
    assert work.words.startswith("Compiling")
    assert computes_after(work.cancel) < 0.7  # it may go on for half a second
    assert (work.running, work.refusal) == (False, "Cancelled.")
