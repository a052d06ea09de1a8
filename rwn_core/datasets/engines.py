"""List the engines that schedule the tasks of a dataset; data never pass through one.

Schedulers log what their tasks raise and were given. So a task raises nothing in a process that
another program started, and what it is given shows nothing when it is printed.

The tasks of a run are each done once; STRATEGIES are the steps that mask a dataset. The first step
is the survey: it checks the values, sums up the columns and samples the records.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import secrets
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from math import sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import LEVELS
from rwn_core.datasets import donors, spatial_parts
from rwn_core.datasets.dataset import check_rows, to_frame
from rwn_core.datasets.dataset_statistics import block_sums, counted, level_counts
from rwn_core.datasets.run import SURVEY, Engine, Execute, Finished, Run, Task
from rwn_core.datasets.spatial_parts import INDEX
from rwn_core.datasets.stage import atomic_file
from rwn_core.datasets.staged_arrays import DEAL, give_back, load, save, write_batches
from rwn_core.errors import InputError, ParameterError
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.parallel.pool import Pool, Stopped, error_of
from rwn_core.parallel.processes import Handle, attempt, packed
from rwn_core.parallel.threads import work
from rwn_core.randomness import SAMPLE_STREAM

_SURE = 12  # standard deviations by which more candidates are kept than the sample needs


def survey_rows(run: Run, task: Task) -> dict[str, Any]:
    """Check, sum up and sample one range of records; see `Run.survey_result`."""
    start, number = task["start"], task["number"]
    table = run.dataset.read(start, task["stop"], run.names)
    frame = to_frame(table)
    schema = Schema(variables=run.schema.released)
    check_rows(frame, schema, start)
    microdata = Microdata(frame, with_levels(frame, schema))
    numbers = [v.name for v in schema.variables if v.kind not in LEVELS]
    save(run, SURVEY, f"{number:06d}-sums", block_sums(microdata.matrix(numbers)))
    coded = [v.name for v in schema.variables if v.kind in LEVELS]
    for position, name in enumerate(coded):
        counts = level_counts(microdata, name)
        table_of = {"level": pa.array(list(counts)), "records": pa.array(list(counts.values()))}
        with atomic_file(run.path(SURVEY, number, f"levels-{position}.parquet")) as unfinished:
            pq.write_table(pa.table(table_of), unfinished)
    records = np.arange(start, task["stop"], dtype=np.int64)
    # Which of some records may belong to the sample, and what it is ordered by.
    # records: shape (r,); rows: (c,); draws: (2, c)
    # The sample is the m records that come first in the keyed order of `random_order`: the same as
    # that of a table in memory.
    draws = two_uniforms(run.key, records, SAMPLE_STREAM)
    # fewer than the sample's records are below once in 10^30 runs
    most = (run.sample + _SURE * sqrt(run.sample) + 50) / run.dataset.n
    rows = np.flatnonzero(draws[0] <= most)
    draws = draws[:, rows]
    chosen = table.take(pa.array(rows))
    for values in (*draws, records[rows]):
        chosen = chosen.append_column("", pa.array(values))
    write_batches(run.path(SURVEY, number, "sample.arrow"), chosen, [len(chosen)])
    return {}


STEPS: Mapping[str, Callable[[Run, Task], dict[str, Any]]] = {
    SURVEY: survey_rows,
    donors.SAMPLE: donors.mask_rows,
    DEAL: spatial_parts.deal_records,
    spatial_parts.INDEX: spatial_parts.index_leaf,
    spatial_parts.STEP: spatial_parts.join_leaves,
    donors.EXACT: donors.mask_leaf,
    donors.LIST: donors.list_leaf,
    donors.STATE: donors.weigh_all,
    donors.TIE: donors.tie_slices,
    donors.SOFT: donors.mask_soft_leaf,
    donors.ORDER_STEP: donors.order_file,
}


def perform(run: Run, task: Task) -> dict[str, Any]:
    """Do a task, unless it is done."""
    step, number = task["step"], task["number"]
    answer = run.stage.answer(step, number)
    if answer is None:
        # tasks go side by side, each in one thread; what it mapped is given back as it goes on
        with work(threads=1, progress=lambda share: give_back()):
            answer = STEPS[step](run, task)
        run.stage.finish(step, number, answer)
    return answer


Follow = Callable[[float], Callable[[int], None]]
"""Takes the weight of a task of a step; returns a progress callback for finished tasks."""


def follow_progress(total: float) -> Follow:
    """Add up what was done of the whole."""
    advance = counted(total)
    return lambda weight: lambda count: advance(weight * count)


def _exact(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """All records are candidates: leaf by leaf."""
    ranges = len(run.ranges(DEAL))
    execute(run.ranges(DEAL), follow(1))
    # Add up the records of each leaf, and put corners together; how many leaves there are.
    corners = [load(run, DEAL, f"{number:06d}-corners") for number in range(ranges)]
    low = np.min(corners, axis=(0, 1))
    high = np.max(corners, axis=(0, 1))
    save(run, INDEX, "corners", np.stack([low, high]))
    ends = [load(run, DEAL, f"{number:06d}-ends") for number in range(ranges)]
    counts = np.sum([np.diff(each) for each in ends], axis=0)
    save(run, INDEX, "counts", counts)
    leaves = np.flatnonzero(counts).tolist()
    share = ranges / len(leaves)  # leaves are about as many as ranges
    indexing = run.numbered(spatial_parts.INDEX, leaves)
    execute([{**task, "ranges": ranges} for task in indexing], follow(1 * share))
    execute(run.numbered(spatial_parts.STEP, [0]), follow(0))
    even = run.params.ball.kernel.has_edge
    if not even:
        execute(run.numbered(donors.LIST, leaves), follow(4 * share))
        execute(run.numbered(donors.STATE, [0]), follow(0))
        if run.params.tie:
            execute(run.numbered(donors.TIE, [0]), follow(0))
    masking = run.numbered(donors.EXACT if even else donors.SOFT, leaves)
    execute(masking, follow((5 if even else 1) * share))
    return masking


def _sample(run: Run, execute: Execute, follow: Follow) -> list[Task]:
    """Method 1: range by range."""
    masking = run.ranges(donors.SAMPLE)
    execute(masking, follow(4))
    return masking


STRATEGIES: Mapping[str, tuple[int, int, Callable[[Run, Execute, Follow], list[Task]]]] = (
    MappingProxyType({"exact": (7, 4, _exact), "sample": (4, 2, _sample)})
)
"""The work on a range of records, where the survey of one is 1; its tasks; what does the steps.

That returns the tasks of the last step, which answer how many records have empty neighborhoods,
and how many fall back to k.
"""


if TYPE_CHECKING:
    from distributed import Client
    from pyspark.status import StatusTracker

LOST = (
    "A worker stopped before its task was done, perhaps for lack of memory; run the same again to "
    "go on from there."
)
_LOOK_EVERY = 0.2  # seconds between two looks at what was finished
_DASK_LOOKS_EVERY = 0.05
_RETRIES = 3  # of a task that lost its worker, by Dask
_PATIENCE = "20s"  # for a scheduler to answer
_FAILURES = 4  # of a task that lost its worker; Spark on one machine gives up after one
_SETTINGS = {
    "spark.ui.enabled": "false",  # a page that any user of this machine could open
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",  # what Spark writes to its own folders holds the key
    "spark.task.maxFailures": str(_FAILURES),
    "spark.log.level": "OFF",
}


@contextmanager
def local(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Run tasks in worker processes; one worker is this process itself."""
    if address is not None:
        raise ParameterError("The engine local takes no address; choose the engine dask or spark.")
    pool = Pool(_prepare, run, workers=workers) if workers > 1 else None

    def execute(tasks: Sequence[Task], finished: Finished) -> None:
        for task in tasks if pool is None else ():
            perform(run, task)
            finished(1)
        waiting: set[Any] = set() if pool is None else {pool.submit(task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, timeout=_LOOK_EVERY, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    future.result()
                except Stopped as end:
                    raise Stopped(LOST, end.fault) from None
            finished(len(done))

    try:
        yield execute
    finally:
        if pool is not None:
            pool.cancel()


def _prepare(run: Run) -> Handle:
    return lambda task, progress: perform(run, task)


class PackedRun:
    """A run as it travels to a worker; it holds the key."""

    def __init__(self, run: Run) -> None:
        self.content = zlib.compress(packed(run))

    def __repr__(self) -> str:
        """Show nothing of the run."""
        return "<a run>"

    def __call__(self, task: Task) -> tuple[str, Any]:
        """Do a task."""
        return attempt(lambda: self._do(task))

    def _do(self, task: Task) -> None:
        run = _unpacked(self.content)
        if not run.stage.is_visible:
            raise InputError(
                "A worker does not see the folder of unfinished work; put input, output and stage "
                "on a disk that all machines share."
            )
        perform(run, task)


@lru_cache(maxsize=1)
def _unpacked(content: bytes) -> Run:
    """The run, which remembers what the survey has found from one task to the next."""
    run: Run = pickle.loads(zlib.decompress(content))
    return run


@contextmanager
def dask(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Run tasks on the workers of Dask; the task of a lost worker goes to another."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise ParameterError("The engine dask needs the packages dask and distributed.") from None
    packed_run = PackedRun(run)
    with contextlib.ExitStack() as stack:
        # connect to the scheduler at the address, or start one
        if address is None:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                # no pages, and any free port for the server of pages that starts all the same
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                memory_limit=None,
                silence_logs=logging.CRITICAL,
            )
            connected = Client(stack.enter_context(cluster), set_as_default=False)
        else:
            try:
                connected = Client(address, timeout=_PATIENCE, set_as_default=False)
            except (OSError, ValueError):
                raise ParameterError(
                    "No Dask scheduler answers at the address; give one such as tcp://node1:8786."
                ) from None
        client: Client = stack.enter_context(connected)

        def execute(tasks: Sequence[Task], finished: Finished) -> None:
            name = secrets.token_hex(8)
            futures = [
                client.submit(packed_run, task, key=f"rwn-{name}-{n}", retries=_RETRIES, pure=False)
                for n, task in enumerate(tasks)
            ]
            try:
                waiting = as_completed(futures, loop=client.loop)
                left = len(futures)
                while left:
                    batch = waiting.next_batch(block=False)
                    for future in batch:
                        # a task's answer; a lost worker becomes an error of the task
                        if future.status != "finished":
                            raise Stopped(LOST)
                        what, why = future.result()
                        if what != "done":
                            raise error_of(what, why, LOST)
                    left -= len(batch)
                    finished(len(batch))
                    time.sleep(0.0 if batch else _DASK_LOOKS_EVERY)
            finally:
                client.cancel(futures, force=True)

        try:
            yield execute
        finally:
            with contextlib.suppress(Exception):  # workers that are gone remember nothing
                client.run(_unpacked.cache_clear)


def _ended_tasks(status: StatusTracker) -> int:
    """Return how many tasks of the only job have ended, by Spark's tracker."""
    count = 0
    for number in status.getActiveJobsIds():
        active = status.getJobInfo(number)
        stages = map(status.getStageInfo, active.stageIds if active else ())
        count += sum(stage.numCompletedTasks for stage in stages if stage)
    return count


@contextmanager
def spark(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Run tasks on the workers of Spark, as a collection of small descriptions."""
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError:
        raise ParameterError("The engine spark needs the package pyspark.") from None
    packed_run = PackedRun(run)
    master = address or f"local[{workers},{_FAILURES}]"
    settings = SparkConf().setMaster(master).setAppName("rwn").setAll(list(_SETTINGS.items()))
    try:
        context = SparkContext(conf=settings)
    except Exception:  # of many kinds, and with pages of text
        raise ParameterError(
            "Spark could not be started: it needs Java 17 or later, an address such as "
            "spark://node1:7077 that answers, and a program that uses no Spark yet."
        ) from None
    if address is None and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable

    def execute(tasks: Sequence[Task], finished: Finished) -> None:
        """Run tasks as one job, each as a separate part."""
        if not tasks:
            return
        with ThreadPoolExecutor(max_workers=1) as thread:
            job = thread.submit(
                lambda: context.parallelize(tasks, len(tasks)).map(packed_run).collect()
            )
            try:
                reported = 0
                while not job.done():
                    time.sleep(_LOOK_EVERY)
                    done = max(reported, _ended_tasks(context.statusTracker()))
                    finished(done - reported)
                    reported = done
            except BaseException:
                context.cancelAllJobs()
                raise
        try:
            answers = job.result()
        except Exception:  # the text of Spark's own may show what a task was given
            raise Stopped(LOST) from None
        for what, why in answers:
            if what != "done":
                raise error_of(what, why, LOST)
        finished(len(tasks) - reported)

    try:
        yield execute
    finally:
        context.stop()


ENGINES: Mapping[str, Engine] = MappingProxyType({"local": local, "dask": dask, "spark": spark})
