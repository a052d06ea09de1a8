"""What processes are given to do in tests of jobs: they import this, and nothing of the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import until

if TYPE_CHECKING:
    import rwn_core as rwn
    from rwn_core.parallel.processes import Report
    from rwn_ui.background.measure_worker import Answer, Question

SECRET = "SENTINEL7731"


def add(a: int, b: int, progress: Callable[[float], None]) -> int:
    progress(0.5)
    return a + b


def once_allowed(
    allowed: Path, work: Callable[..., object], progress: Callable[[float], None], **of: object
) -> object:
    """Do some work as soon as a file stands, so that it is under way as long as a test wants."""
    until(allowed.exists)
    return work(**of, progress=progress)


def linger(progress: Callable[[float], None]) -> None:
    progress(0.25)
    time.sleep(600)


def halves(progress: Report) -> None:
    for number in range(1, 50):
        progress(number / 100)
        progress.found(f"answer {number}")
        time.sleep(0.02)
    time.sleep(600)


def compile_for_ever(levels: bool, progress: Callable[[float], None]) -> None:
    while True:
        pass


def by_seed(question: Question, unmasked: rwn.Comparison) -> Answer:
    """Seed 0 never ends, seed 1 ends the process, seed 2 is another's error; others answer."""
    if question.of[1] == 0:
        time.sleep(600)
    if question.of[1] == 1:
        os._exit(3)
    if question.of[1] == 2:
        raise KeyError(SECRET)
    from rwn_core.measures.measure import Detail, Reading

    return Reading(value=float(question.of[1]), detail=Detail())
