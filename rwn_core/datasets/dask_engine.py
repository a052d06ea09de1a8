"""Has the tasks of a dataset done by Dask: by processes of this machine, or by a cluster."""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rwn_core.datasets.remote_task import LOST, PackedRun, check_answer, forget
from rwn_core.datasets.run import Execute, Finished, Run, Task
from rwn_core.errors import ParameterError
from rwn_core.parallel.pool import Stopped

if TYPE_CHECKING:
    from distributed import Client

_LOOK_EVERY = 0.05  # seconds between two looks at what was finished
_RETRIES = 3  # of a task that lost its worker
_PATIENCE = "20s"  # for a scheduler to answer


@contextlib.contextmanager
def dask(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Have tasks done by the workers of Dask; a lost one's task is given to another."""
    packed = PackedRun(run)
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(_client(stack, workers, address))
        stack.callback(_forget, client)
        yield lambda tasks, finished: _execute(client, packed, tasks, finished)


def _client(stack: contextlib.ExitStack, workers: int, address: str | None) -> Client:
    """Connect to the scheduler at the address, or start one."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ParameterError("The engine dask needs: pip install 'rwn[dask]'.") from None
    if address is None:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            # no pages, and whatever port is free for the server of pages that starts all the same
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
        return Client(stack.enter_context(cluster), set_as_default=False)
    try:
        return Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError):
        raise ParameterError(
            "No Dask scheduler answers at the address; give one such as tcp://node1:8786."
        ) from None


def _execute(client: Client, run: PackedRun, tasks: Sequence[Task], finished: Finished) -> None:
    from distributed import as_completed

    name = secrets.token_hex(8)
    futures = [
        client.submit(run, task, key=f"rwn-{name}-{number}", retries=_RETRIES, pure=False)
        for number, task in enumerate(tasks)
    ]
    try:
        waiting, left = as_completed(futures, loop=client.loop), len(futures)
        while left:
            batch = waiting.next_batch(block=False)
            for future in batch:
                # a task's answer; a lost worker becomes an error of the task
                if future.status != "finished":
                    raise Stopped(LOST)
                answer: dict[str, Any] = future.result()
                check_answer(answer)
            left -= len(batch)
            finished(len(batch))
            time.sleep(0.0 if batch else _LOOK_EVERY)
    finally:
        client.cancel(futures, force=True)


def _forget(client: Client) -> None:
    with contextlib.suppress(Exception):  # workers that are no longer there remember nothing
        client.run(forget)
