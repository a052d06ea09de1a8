"""Worker processes that do tasks one after another, and keep from one to the next what they need.

Each process has a thread here that hands it tasks and learns how far it is, so that the work goes
on whether or not any caller looks.

A job is one function call in a process of its own.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, NamedTuple

from rwn_core.errors import RWNError, log_fault
from rwn_core.parallel.pace import Pace
from rwn_core.parallel.processes import Handle, Report, Worker, end_workers, packed
from rwn_core.parallel.threads import current_work

STOPPED = "The work stopped before it was done, perhaps for lack of memory; try it again."
CANCELLED = "Cancelled."
_LONGEST = 5.0  # seconds that a cancelled worker's thread may take to notice


class Stopped(RWNError):
    """A task ended without a result, and without a refusal.

    `fault` is the type of the error behind it, and the number under which it was logged; empty
    where the process died or was cancelled.
    """

    def __init__(self, text: str, fault: str = "") -> None:
        super().__init__(f"{text} ({fault})" if fault else text)
        self.fault = fault


def error_of(what: str, value: str, stopped: str = STOPPED) -> RWNError:
    """Return the error of a task that was "refused" or "failed" elsewhere."""
    if what == "refused":
        return RWNError(value)
    return Stopped(stopped, f"{value.partition(' ')[0]}, error {log_fault(value)}")


class Task(Future[Any]):
    """A task of a pool, with its result or refusal."""

    def __init__(self, content: object) -> None:
        super().__init__()
        self.share = 0.0
        self.pace = Pace()
        self.so_far: Any = None  # stays where the task is stopped
        now = current_work()  # it goes along
        self._content = packed((content, now.threads, now.memory))

    def taken(self) -> bytes:
        """Hand out the content once and drop it: it may be large."""
        content, self._content = self._content, b""
        return content

    def __call__(self, share: float) -> None:
        """Take in how much is done."""
        self.share = share
        self.pace.report(share)

    def found(self, answer: object) -> None:
        """Take in an answer so far."""
        self.so_far = answer

    def end(self, what: str, value: object) -> None:
        """Take in what a worker answered."""
        if what == "done":
            self.set_result(value)
        else:
            self.set_exception(error_of(what, str(value)))

    def stop(self, text: str) -> None:
        """End without an answer, unless the task was cancelled."""
        with suppress(InvalidStateError):
            self.set_exception(Stopped(text))


class Pool:
    """The processes that do what they are sent; without `workers` they do nothing.

    They end with `cancel`, after `close` and the last task, when no reference to the pool is left,
    and when this process ends, however it does. `prepare` must be importable by name: it is called
    once in each worker, with the arguments, and returns the function that does a task, given the
    task and a function that takes the share done. If `plain`, results are bytes, and nothing that a
    worker answers is unpickled. Raises RWNError if the system has no room for so many processes.
    """

    def __init__(
        self, prepare: Callable[..., Handle], *arguments: object, workers: int, plain: bool = False
    ) -> None:
        how = packed((prepare, arguments))
        self._line = _Line(workers)
        self._workers = list[Worker]()
        # not at exit, when every worker is ended in time
        weakref.finalize(self, _abandon, self._line, self._workers).atexit = False
        for _ in range(workers):
            self._workers.append(Worker(plain=plain))
        self._threads = [
            threading.Thread(target=_attend, args=(worker, [how], self._line), daemon=True)
            for worker in self._workers
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, content: object) -> Task:
        """Run a task as soon as a worker is free."""
        return self.add(Task(content))

    def add(self, task: Task) -> Task:
        """Run this task as soon as a worker is free."""
        self._line.add(task)
        return task

    def close(self) -> None:
        """Promise that no further task will come; each worker ends when there is none for it."""
        self._line.close()

    def cancel(self) -> None:
        """End every process within half a second; what was not done is `Stopped`."""
        _abandon(self._line, self._workers)
        self.join(_LONGEST)

    def join(self, seconds: float) -> None:
        """Wait until the workers have ended, or so long."""
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that are alive."""
        processes = [worker.process for worker in self._workers]
        return [process.pid for process in processes if process.is_alive() and process.pid]


class _Line:
    """The tasks that no worker has taken yet, and how many workers there are to take them."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._open = True
        self.why = STOPPED
        self._tasks: deque[Task] = deque()
        self._changed = threading.Condition()

    def add(self, task: Task) -> None:
        with self._changed:
            if self._workers and self._open:
                self._tasks.append(task)
                self._changed.notify()
                return
        task.stop(self.why)

    def take(self) -> Task | None:
        """The next task, once there is one; nothing where none will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._tasks or not self._open)
            return self._tasks.popleft() if self._tasks else None

    def close(self) -> None:
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def cancel(self) -> None:
        with self._changed:
            self.why = CANCELLED
        self.close()
        self._stop_all()

    def leave(self) -> None:
        """Note that a worker ended; after the last one, stop all tasks."""
        with self._changed:
            self._workers -= 1
            left = self._workers
        if not left:
            self._stop_all()

    def _stop_all(self) -> None:
        with self._changed:
            tasks: Sequence[Task] = list(self._tasks)
            self._tasks.clear()
        for task in tasks:
            task.stop(self.why)


def _abandon(line: _Line, workers: Sequence[Worker]) -> None:
    line.cancel()
    end_workers(workers)


def _attend(worker: Worker, how: list[bytes], line: _Line) -> None:
    """Hand tasks to one worker for as long as both last; then see to its end."""
    try:
        with suppress(OSError):  # it has ended, which its first task will learn
            worker.send(how.pop())
        while (task := line.take()) is not None:
            if task.set_running_or_notify_cancel():
                try:
                    worker.send(task.taken())
                    answer = worker.receive(task)
                except Exception:  # nearly always an OSError or an EOFError: the process has ended
                    end_workers([worker])
                    task.stop(line.why)
                    break
                task.end(*answer)
                del answer
            del task  # its result may be large, and its reader has it
    finally:
        end_workers([worker])
        worker.channel.close()
        line.leave()


class Call(NamedTuple):
    """A function, and what it is called with."""

    work: Callable[..., Any]
    arguments: dict[str, Any]


class Job:
    """A piece of work under way, finished or cancelled; its process ends before it does.

    `work` must be importable by name; it is called with the arguments and `progress`, a `Report` to
    call with the share done. Raises RWNError if the system has no room for another process.
    """

    _pool: Pool | None = None  # none before it begins

    def __init__(self, work: Callable[..., Any], **arguments: object) -> None:
        self._task = Task(Call(work, arguments))
        self._begin_in(Pool(_prepare, workers=1))

    def _begin_in(self, pool: Pool) -> None:
        """Begin the task, the only one of this pool."""
        self._pool = pool
        pool.add(self._task)
        pool.close()

    @property
    def running(self) -> bool:
        """True if the work has not ended."""
        return not self._task.done() or bool(self._pool and self._pool.pids)

    @property
    def share(self) -> float:
        """Return the share done, from 0 to 1."""
        return self._task.share

    @property
    def left(self) -> str:
        """Return the time left, in words."""
        return self._task.pace.words

    @property
    def so_far(self) -> Any:
        """Return the answer so far; it stays after `cancel`. None while there is none."""
        return self._task.so_far

    @property
    def result(self) -> Any:
        """Return the result of the work; None before its end or after a failure."""
        return None if self._outcome is not None or self.running else self._task.result()

    @property
    def refusal(self) -> str:
        """Why there is no result, in one sentence; empty where there is one, or will be."""
        return "" if self.running or self._outcome is None else str(self._outcome)

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left."""
        if self._pool is not None:
            self._pool.cancel()
        self._task.stop(CANCELLED)

    @property
    def _outcome(self) -> BaseException | None:
        return self._task.exception() if self._task.done() else None


def _prepare() -> Handle:
    return call


def call(call: Call, report: Report) -> Any:
    """Call the function of a job."""
    return call.work(**call.arguments, progress=report)
