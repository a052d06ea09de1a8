"""Has the tasks of a dataset done by Spark, as a collection of small descriptions."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rwn_core.datasets.remote_task import LOST, PackedRun, check_answer
from rwn_core.datasets.run import Execute, Finished, Run, Task
from rwn_core.errors import ParameterError
from rwn_core.parallel.pool import Stopped

if TYPE_CHECKING:
    from pyspark import SparkContext

_LOOK_EVERY = 0.2  # seconds between two looks at what was finished
_FAILURES = 4  # of a task that lost its worker; Spark on one machine gives up after one
_SETTINGS = {
    "spark.ui.enabled": "false",  # a page that any user of this machine could open
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",  # what Spark writes to its own folders holds the key
    "spark.task.maxFailures": str(_FAILURES),
    "spark.log.level": "OFF",
}


@contextmanager
def spark(run: Run, workers: int, address: str | None) -> Iterator[Execute]:
    """Have tasks done by the workers of Spark; a lost one's task is given to another."""
    packed, context = PackedRun(run), _context(address or f"local[{workers},{_FAILURES}]")
    if address is None and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    try:
        yield lambda tasks, finished: _execute(context, packed, tasks, finished)
    finally:
        context.stop()


def _context(master: str) -> SparkContext:
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError:
        raise ParameterError("The engine spark needs: pip install 'rwn[spark]'.") from None
    settings = SparkConf().setMaster(master).setAppName("rwn").setAll(list(_SETTINGS.items()))
    try:
        return SparkContext(conf=settings)
    except Exception:  # of many kinds, and with pages of text
        raise ParameterError(
            "Spark could not be started: it needs Java 17 or later, an address such as "
            "spark://node1:7077 that answers, and a program that uses no Spark yet."
        ) from None


def _execute(
    context: SparkContext, run: PackedRun, tasks: Sequence[Task], finished: Finished
) -> None:
    """Do tasks as one job, each as a part of its own."""
    if not tasks:
        return
    with ThreadPoolExecutor(max_workers=1) as thread:
        job = thread.submit(lambda: context.parallelize(tasks, len(tasks)).map(run).collect())
        try:
            reported = 0
            while not job.done():
                time.sleep(_LOOK_EVERY)
                # Count the ended tasks of the only job.
                status, count = context.statusTracker(), 0
                for number in status.getActiveJobsIds():
                    active = status.getJobInfo(number)
                    stages = [
                        status.getStageInfo(stage) for stage in (active.stageIds if active else ())
                    ]
                    count += sum(stage.numCompletedTasks for stage in stages if stage)
                done = max(reported, count)
                finished(done - reported)
                reported = done
        except BaseException:
            context.cancelAllJobs()
            raise
    try:
        answers = job.result()
    except Exception:  # the text of Spark's own may show what a task was given
        raise Stopped(LOST) from None
    for answer in answers:
        check_answer(answer)
    finished(len(tasks) - reported)
