"""Runs the tasks of a dataset in processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from typing import Any

from rwn_core.datasets.run import Execute, Finished, Run, Task
from rwn_core.datasets.steps import perform
from rwn_core.errors import ParameterError
from rwn_core.parallel.pool import Pool, Stopped
from rwn_core.parallel.processes import Handle
from rwn_core.parallel.threads import Progress

_LOOK_EVERY = 0.2  # seconds between two looks at whether to go on


@contextmanager
def local(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Have tasks done by worker processes; one worker is this process itself."""
    if address is not None:
        raise ParameterError("The engine local takes no address; choose the engine dask or spark.")
    if workers == 1:
        yield lambda tasks, finished: _run_in_process(run, tasks, finished)
        return
    pool = Pool(_prepare, run, workers=workers)
    try:
        yield lambda tasks, finished: _in(pool, tasks, finished)
    finally:
        pool.cancel()


def _run_in_process(run: Run, tasks: Sequence[Task], finished: Finished) -> None:
    for task in tasks:
        perform(run, task)
        finished(1)


def _in(pool: Pool, tasks: Sequence[Task], finished: Finished) -> None:
    waiting: set[Any] = {pool.submit(task) for task in tasks}
    while waiting:
        done, waiting = wait(waiting, timeout=_LOOK_EVERY, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                future.result()
            except Stopped as end:
                raise Stopped(
                    "A worker process stopped before its task was done, perhaps for lack of "
                    "memory; run the same again to go on from there.",
                    end.fault,
                ) from None
        finished(len(done))


def _prepare(run: Run) -> Handle:
    def handle(task: Task, progress: Progress) -> dict[str, Any]:
        return perform(run, task)

    return handle
