"""A table that is prepared in a thread: its neighbors are ranked while the pages stay in use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import rwn_core as rwn
from rwn_core.compile_ahead import has_many_levels, warm, warm_for_levels
from rwn_core.parallel.job import Job
from rwn_core.parallel.kernel_cache import LEVELS, is_ready
from rwn_core.parallel.threads import Progress, be_polite
from rwn_ui.background.task import Task

Prepare = Callable[[rwn.Microdata, Progress, threading.Event], Any]
_COMPILING = threading.Lock()  # for all users
_GLANCE = 0.2  # seconds between two looks at whether to stop


@dataclass(slots=True, eq=False)
class Preparation:
    """A table in preparation."""

    data: rwn.Microdata = field(repr=False)
    name: str
    task: Task = field(repr=False)
    # called with the prepared table, in a run of a page
    then: Callable[[Any], None] = field(repr=False)

    @classmethod
    def start(
        cls, data: rwn.Microdata, name: str, prepare: Prepare, then: Callable[[Any], None]
    ) -> Preparation:
        """Start compiling, if needed, and then `prepare`."""
        words = f"Ranking the neighbors of {data.n:,} records of {name}"

        def work(task: Task) -> Any:
            _compile(task, has_many_levels(data))
            task.words = words
            be_polite()
            return prepare(data, task.progress, task.stop)

        return cls(data=data, name=name, task=Task(work, words=words), then=then)


def compile_ahead(levels: bool, progress: Progress | None = None) -> None:
    """Compile the search for this machine."""
    warm()
    if levels:
        warm_for_levels()


def _compile(task: Task, levels: bool) -> None:
    """Compile in another process, which can be stopped; here if it cannot write its cache."""
    if is_ready() and (is_ready(LEVELS) or not levels):
        return
    task.words = "Compiling the search for this machine, once: half a minute"
    while not _COMPILING.acquire(timeout=_GLANCE):
        task.check()
    try:
        elsewhere = Job(compile_ahead, levels=levels)
        try:
            while elsewhere.running:
                task.check(_GLANCE)
        finally:
            elsewhere.cancel()
        compile_ahead(levels)  # at once if the other process has written its cache
    finally:
        _COMPILING.release()
