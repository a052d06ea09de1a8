"""What processes are given to do in tests of jobs: they import this, and nothing of the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rwn_core as rwn
    from rwn_core.parallel.processes import Report
    from rwn_ui.background.measure_worker import Answer, Question

SECRET = "SENTINEL7731"


def add(a: int, b: int, progress: Callable[[float], None]) -> int:
    progress(0.5)
    return a + b


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
