"""What the tests of processes run in them, and how they wait for it."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from rwn_core.errors import NotApplicable, RWNError
from rwn_core.parallel.kernel_cache import compiling
from rwn_core.parallel.pool import Job, Pool
from rwn_core.parallel.processes import Handle, Report
from rwn_core.parallel.threads import Progress, current_work
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]


SECRET = "SENTINEL7731"


LARGE = 3_000_000  # bytes; a pipe holds 65,536, a pair of sockets some 200,000


def add(a: int, b: int, progress: Progress) -> int:
    progress(0.5)
    return a + b


def compiles(progress: Progress) -> None:
    """As the compiler does before each of two kernels."""
    compiling()
    compiling()


def refuse(progress: Progress) -> None:
    raise NotApplicable("There is nothing to predict.")


def fail(progress: Progress) -> None:
    raise ValueError(f"could not convert {SECRET}")


def warn(progress: Progress) -> None:
    warnings.warn(f"mixed types in {SECRET}", stacklevel=1)


def pages_taken_anew(progress: Progress) -> int:
    """How often the system gave memory to two threads that took and freed arrays before."""
    from resource import RUSAGE_SELF, getrusage

    import numpy as np

    def take(size: int) -> None:
        held = [np.ones(size) for _ in range(3)]
        held.clear()

    def take_twice() -> None:
        for size in (1_000_000, 1_500_000, 500_000):
            threads = [threading.Thread(target=take, args=(size,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    for _ in range(4):
        before = getrusage(RUSAGE_SELF).ru_minflt
        take_twice()
    return getrusage(RUSAGE_SELF).ru_minflt - before


class Unreadable:
    """What cannot be made again from what was sent."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return fail, (None,)


def unreadable(progress: Progress) -> object:
    return Unreadable()


def unpicklable(progress: Progress) -> object:
    return lambda: SECRET


def crash(progress: Progress) -> None:
    os._exit(3)


def leave(progress: Progress) -> None:
    sys.exit(SECRET)


def linger(progress: Progress) -> None:
    progress(0.25)
    time.sleep(600)


def heedless(progress: Progress) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    linger(progress)


def large(progress: Progress, content: bytes) -> bytes:
    return content + b"!"


def talk(progress: Progress) -> int:
    for number in range(20_000):
        progress(number / 20_000)
    return 1


def main_of_the_worker(progress: Progress) -> tuple[object, ...]:
    mains = (sys.modules["__main__"], sys.modules["__mp_main__"])
    return (*(getattr(main, "__file__", None) for main in mains), os.environ.get("RWN_MAIN_RAN"))


def surroundings(progress: Progress) -> dict[str, str]:
    return dict(os.environ)


def _is_new() -> bool:
    """True in a process that has not imported what the one to fork has."""
    return "rwn_core.process_to_fork" not in sys.modules


def source_of_the_program(progress: Progress) -> tuple[str, bool]:
    """The file of a module that the caller has imported, too, and whether this process is new."""
    return str(sys.modules["rwn_core.parallel.processes"].__file__), _is_new()


def source_of_the_program_alone() -> Handle:
    return lambda task, progress: b"new" if _is_new() else b"forked"


def nested(progress: Report) -> None:
    """A job with workers of its own; their numbers are its answer so far."""
    pool = Pool(counter, 0, workers=2)
    progress(0.5)
    progress.found(pool.pids)
    time.sleep(600)


def counter(start: int) -> Handle:
    """Tasks that are added to what was prepared; None ends the process, "fail" is an error."""
    total = [start]

    def handle(task: object, progress: Progress) -> tuple[int, int]:
        if task is None:
            os._exit(3)
        if task == "fail":
            raise ValueError(SECRET)
        if task == "linger":
            progress(0.5)
            time.sleep(600)
        assert isinstance(task, int)
        total[0] += task
        progress(1.0)
        return total[0], os.getpid()

    return handle


def unprepared(text: str) -> Handle:
    raise ValueError(text)


def refused(text: str) -> Handle:
    raise RWNError(text)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def finished(work: Callable[..., object], **arguments: object) -> Job:
    job = Job(work, **arguments)
    until(lambda: not job.running)
    assert multiprocessing.active_children() == []
    return job


def begun(work: Callable[..., object]) -> tuple[Job, int]:
    """A job that has reported its first share, and its process."""
    job = Job(work)
    until(lambda: job.share)
    (pid,) = job._pool.pids
    return job, pid


def wanted_inside() -> Handle:
    """Tasks that answer with the threads and the memory that they may take."""
    return lambda task, progress: (current_work().threads, current_work().memory)
