"""Background work: done, refused, crashed, cancelled; never a value, never a process left."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import rwn_core as rwn
from rwn_core.errors import NotApplicable
from rwn_core.tuning import Plan, Setting
from rwn_core.tuning.search_processes import Crew
from rwn_ui.background.job import Job
from rwn_ui.state.session import Session

SECRET = "SENTINEL7731"


def add(a: int, b: int, progress: Callable[[float], None]) -> int:
    progress(0.5)
    return a + b


def refuse(progress: Callable[[float], None]) -> None:
    raise NotApplicable("There is nothing to predict.")


def fail(progress: Callable[[float], None]) -> None:
    raise ValueError(f"could not convert {SECRET}")


def crash(progress: Callable[[float], None]) -> None:
    os._exit(3)


def linger(progress: Callable[[float], None]) -> None:
    progress(0.25)
    time.sleep(600)


def unpicklable(progress: Callable[[float], None]) -> object:
    return lambda: None


def finished(work: Callable[..., object], **arguments: object) -> Job:
    """A job, polled until it ends."""
    job = Job.start("ε = 2", work, **arguments)
    end = time.monotonic() + 30
    while job.running and time.monotonic() < end:
        job.poll()
        time.sleep(0.02)
    assert not job.running
    assert multiprocessing.active_children() == []
    return job


def test_work_that_is_done_gives_its_result() -> None:
    job = finished(add, a=2, b=3)
    assert (job.result, job.refusal, job.share, job.label) == (5, "", 0.5, "ε = 2")
    job.poll()  # nothing more to hear
    job.cancel()  # nothing more to stop
    assert (job.result, job.refusal) == (5, "")


def test_a_user_is_free_again_though_no_page_follows_the_work() -> None:
    session = Session(name="bodyfat", demo="bodyfat", data=rwn.load_demo("bodyfat"))
    session.study = Job.start("ε = 2", add, a=2, b=3)
    assert session.busy
    end = time.monotonic() + 30
    while session.busy and time.monotonic() < end:
        time.sleep(0.02)
    assert session.study.result == 5


def test_a_refusal_reaches_the_user_as_it_is() -> None:
    job = finished(refuse)
    assert (job.result, job.refusal) == (None, "There is nothing to predict.")


@pytest.mark.parametrize("work", [fail, crash, unpicklable])
def test_a_failure_is_a_sentence_without_a_value(
    work: Callable[..., object], capfd: pytest.CaptureFixture[str]
) -> None:
    job = finished(work)
    assert job.result is None
    assert job.refusal.startswith("The work stopped before it was done")
    assert SECRET not in job.refusal + repr(job) + "".join(capfd.readouterr())


def test_cancel_leaves_no_process() -> None:
    job = Job.start("ε = 2", linger)
    end = time.monotonic() + 30
    while job.share == 0 and time.monotonic() < end:
        job.poll()
        time.sleep(0.02)
    assert job.share == 0.25
    (process,) = multiprocessing.active_children()
    job.cancel()
    assert not job.running
    assert job.refusal == "Cancelled."
    assert multiprocessing.active_children() == []
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def search(progress: Callable[[float], None]) -> None:
    """A search with workers of its own; it tells their numbers as its shares."""
    data = rwn.load_demo("bodyfat")
    setting, plan = Setting.of("rwn", {"k": 5}), Plan(measures=("correlation",), releases=10_000)
    with Crew(data, [setting], plan, workers=2) as crew:
        progress(float(crew._processes[1].pid))
        crew.points([setting], plan, lambda share: None)


def test_a_cancelled_search_leaves_none_of_its_workers() -> None:
    job = Job.start("at most 5 %", search)
    end = time.monotonic() + 60
    while job.share == 0 and time.monotonic() < end:
        job.poll()
        time.sleep(0.02)
    worker = int(job.share)
    os.kill(worker, 0)
    job.cancel()
    end = time.monotonic() + 10  # a guard against hanging; a second is what is asked
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()
