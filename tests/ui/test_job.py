"""Background work of a session: done, cancelled, or left behind; never a process left."""

from __future__ import annotations

import multiprocessing
import os
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.tuning import Plan, Setting
from rwn_core.tuning.search_processes import Crew
from rwn_ui.background import end_with_session
from rwn_ui.background.job import Job
from rwn_ui.state.work import Work


def add(a: int, b: int, progress: Callable[[float], None]) -> int:
    progress(0.5)
    return a + b


def linger(progress: Callable[[float], None]) -> None:
    progress(0.25)
    time.sleep(600)


def finished(work: Callable[..., object], **arguments: object) -> Job:
    """A job, once it has ended."""
    job = Job("ε = 2", work, words="Adding at ε = 2", **arguments)
    end = time.monotonic() + 60
    while job.running and time.monotonic() < end:
        time.sleep(0.02)
    assert not job.running
    assert multiprocessing.active_children() == []
    return job


def test_work_that_is_done_gives_its_result() -> None:
    job = finished(add, a=2, b=3)
    assert (job.result, job.refusal, job.share, job.label) == (5, "", 0.5, "ε = 2")
    assert job.words == "Adding at ε = 2"
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")


def test_a_user_is_free_again_though_no_page_follows_the_work() -> None:
    work = Work()
    job = work.jobs["draws"] = Job("ε = 2", add, words="Adding", a=2, b=3)
    assert work.busy
    end = time.monotonic() + 60
    while work.busy and time.monotonic() < end:
        time.sleep(0.02)
    assert job.result == 5


def test_cancel_leaves_no_process() -> None:
    job = Job("ε = 2", linger, words="Lingering")
    end = time.monotonic() + 60
    while job.share == 0 and time.monotonic() < end:
        time.sleep(0.02)
    assert job.share == 0.25
    (process,) = multiprocessing.active_children()
    job.cancel()
    assert not job.running
    assert job.refusal == "Cancelled."
    assert multiprocessing.active_children() == []
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_work_of_a_user_who_has_left_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nobody:
        def is_active_session(self, session_id: str) -> bool:
            return False

    monkeypatch.setattr(end_with_session, "GRACE", 0.0)
    monkeypatch.setattr(end_with_session, "_EVERY", 0.01)
    job = Job("ε = 2", linger, words="Lingering")
    assert job.running
    end_with_session._watch(weakref.ref(job), Nobody(), "gone")
    assert not job.running
    assert multiprocessing.active_children() == []


def search(progress: Callable[[float], None]) -> None:
    """A search with workers of its own; it tells their numbers as its shares."""
    data = rwn.load_demo("bodyfat")
    setting, plan = Setting.of("rwn", {"k": 5}), Plan(measures=("correlation",), releases=10_000)
    with Crew(data, [setting], plan, workers=2) as crew:
        progress(float(crew._pool.pids[1]))
        crew.points([setting], plan, lambda share: None)


def test_a_cancelled_search_leaves_none_of_its_workers() -> None:
    job = Job("at most 5 %", search, words="Searching")
    end = time.monotonic() + 60
    while job.share == 0 and time.monotonic() < end:
        time.sleep(0.02)
    worker = int(job.share)
    os.kill(worker, 0)
    job.cancel()
    end = time.monotonic() + 10  # a guard against hanging; a second is what is asked
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()
