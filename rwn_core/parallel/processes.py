"""A process that does what it is sent: it never runs the caller's program, and never outlives it.

A program that starts many has them forked from one process that has imported everything
(`fork_workers`, docs/decisions/0068).

Of an error that is no refusal of this program, only the type and the lines it passed leave the
process: its text may hold a value of the data.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing import util
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from rwn_core.errors import ParameterError, RWNError, describe_fault
from rwn_core.parallel.kernel_cache import compiling, on_compiling
from rwn_core.parallel.memory import keep_freed_memory
from rwn_core.parallel.threads import work

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Channel
else:
    from multiprocessing.connection import Connection as Channel


class Report(Protocol):
    """A receiver of the reports of a task while it goes on."""

    def __call__(self, share: float) -> None:
        """Report the share done."""

    def found(self, answer: object) -> None:
        """Report an answer so far; the last one counts."""


Handle = Callable[[Any, Report], Any]
"""Does one task, reports how much is done, and returns what comes of it."""

POLITE = 19  # what a worker adds to its niceness while a person uses the same machine
# Every answer is two messages: its kind, and a content that may be large.
_PROGRESS, _COMPILING, _FOUND = b"progress", b"compiling", b"found"  # while a task goes on
_BYTES, _PICKLED, _REFUSED, _FAILED = b"bytes", b"pickled", b"refused", b"failed"  # its end
_GRACE = 0.4  # seconds between asking a process to end and ending it
_SAFE_PATH = "PYTHONSAFEPATH"
_SPAWN = multiprocessing.get_context("spawn")
TO_FORK = "RWN_PROCESS_TO_FORK"
"""The environment variable of the process to fork: the file that it makes once it is ready, with
its number, and what it imports before."""
_TO_FORK: list[tuple[Path, tuple[str, ...]]] = []  # both, where this program has workers forked
_PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when the one it is a fork of ends
_SENDING = threading.Lock()  # of a worker; its threads report
_STARTING = threading.Lock()  # for the two names below, and what stands for the program's main file
_WORKERS: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker:
    """A process that prepares something once, and then does one task after another.

    Its methods are for one thread at a time, but for `end_workers`, which any thread may call. If
    `plain`, its results are bytes, and nothing that it answers is ever unpickled: for work on files
    that may take the process over, which is never a fork. Raises RWNError if the system has no room
    for another process.
    """

    def __init__(self, *, plain: bool = False) -> None:
        self._plain = plain
        self.channel, theirs = _SPAWN.Pipe()
        try:
            self.process = _begun(theirs, forked=not plain and _can_fork())
        except OSError:
            self.channel.close()
            raise RWNError(
                "No process could be started, perhaps for lack of memory; close other programs."
            ) from None
        finally:
            theirs.close()
        with _STARTING:
            _WORKERS.add(self)

    def send(self, content: bytes) -> None:
        """Send something packed: what makes the handle the first time, then a task each time."""
        self.channel.send_bytes(content)

    def receive(self, report: Report) -> tuple[str, Any]:
        """Wait until the task that was sent ends, and take in its reports meanwhile."""
        while True:
            kind, content = self.channel.recv_bytes(), self.channel.recv_bytes()
            try:
                if kind == _COMPILING:
                    compiling()
                elif kind == _PROGRESS:
                    report(float(content))
                elif kind == _BYTES:
                    return "done", content
                elif kind in (_REFUSED, _FAILED):
                    return kind.decode(), content.decode("utf-8")
                elif self._plain:
                    return "failed", "ValueError at an answer of another kind"
                elif kind == _FOUND:
                    report.found(pickle.loads(content))
                else:
                    return "done", pickle.loads(content)
            except Exception as error:
                return "failed", describe_fault(error)


def end_workers(workers: Iterable[Worker]) -> None:
    """End processes within half a second, whatever they do."""
    processes = [worker.process for worker in workers]
    for process in processes:
        process.terminate()
    end = time.monotonic() + _GRACE
    for process in processes:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def be_polite() -> None:
    """Leave the processors to whatever else wants them, where the system knows such a thing."""
    # where two busy programs have two processors, the usual niceness leaves a hundredth of one
    given = os.environ.get("RWN_NICENESS", str(POLITE))
    if not given.isdecimal() or int(given) > POLITE:
        raise ParameterError(f"RWN_NICENESS must be a whole number from 0 to {POLITE}.")
    if hasattr(os, "nice"):
        os.nice(int(given))


def fork_workers(*imports: str) -> None:
    """Begin a process that later workers are forks of, so that they import nothing anew.

    It imports these modules and reads the compiled kernels. Workers begin as before until it is
    ready, and on systems other than Linux.
    """
    if sys.platform != "linux" or _TO_FORK:
        return
    _TO_FORK.append((Path(util.get_temp_dir(), "ready_to_fork"), imports))
    _begin_process_to_fork()


def _begin_process_to_fork() -> None:
    """Begin it without waiting for it."""
    from multiprocessing import forkserver

    forkserver.set_forkserver_preload(["rwn_core.process_to_fork"])
    with contextlib.suppress(OSError), _as_workers_begin(_of_process_to_fork()):
        forkserver.ensure_running()


def _of_process_to_fork() -> dict[str, str]:
    """Return what the environment says to the process to fork: it imports from the same folders."""
    ready, imports = _TO_FORK[0]
    about = os.pathsep.join([str(ready), *imports])
    return {TO_FORK: about, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _can_fork() -> bool:
    """True if the process to fork is ready; one that has ended is begun anew."""
    if not _TO_FORK or not _TO_FORK[0][0].exists():
        return False
    ready = _TO_FORK[0][0]
    with contextlib.suppress(ChildProcessError):
        looking = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, int(ready.read_text()), looking) is None:
            return True
    ready.unlink(missing_ok=True)
    _begin_process_to_fork()
    return False


def _begun(channel: Channel, *, forked: bool) -> BaseProcess:
    """Begin a process that does tasks, as a fork where one can be had."""
    if forked:
        forks = multiprocessing.get_context("forkserver")
        with contextlib.suppress(OSError, EOFError):  # the process to fork may just have ended
            parent = int(_TO_FORK[0][0].read_text())
            fork = forks.Process(target=_serve_as, args=(channel, dict(os.environ), parent))
            _start(fork, forked=True)
            return fork
    process = _SPAWN.Process(target=_serve, args=(channel,))
    _start(process)
    return process


def _start(process: BaseProcess, *, forked: bool = False) -> None:
    """Start a process that does not run the calling program's main file again."""
    with _as_workers_begin(_of_process_to_fork() if forked else {}):
        process.start()


@contextlib.contextmanager
def _as_workers_begin(more: Mapping[str, str]) -> Iterator[None]:
    """Hide the main file of the program, and change its environment, where a process begins."""
    with _STARTING:
        main = sys.modules["__main__"]
        nothing = ModuleType("__main__")
        sys.modules["__main__"] = nothing
        changed = {_SAFE_PATH: "1", **more}
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        try:
            yield
        finally:
            if sys.modules["__main__"] is nothing:
                sys.modules["__main__"] = main
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


@atexit.register  # after multiprocessing's own, so before it: that would wait for the workers
def _end_all() -> None:
    with _STARTING:
        workers = list(_WORKERS)
    end_workers(workers)


def _serve_as(channel: Channel, environment: dict[str, str], parent: int) -> None:
    """Do the tasks in a fork, with the environment of its caller."""
    # where the process to fork ends, its forks pass for ended and could not be cancelled
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before
        os._exit(1)
    os.environ.clear()
    os.environ.update(environment)
    _serve(channel)


def _serve(channel: Channel) -> None:
    """Do the tasks until the channel closes; errors never go to the terminal."""
    try:
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
        keep_freed_memory()
        warnings.simplefilter("ignore")  # the words of a warning may be those of a cell
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
        with on_compiling(lambda: _send(channel, _COMPILING, b"")):
            made = attempt(lambda: _handle(channel.recv_bytes()))
            while True:
                _send(channel, *_answer(made, channel))
    except BaseException:  # the last wall: a traceback's last line may hold a value
        os._exit(1)


def _send(channel: Channel, kind: bytes, content: bytes | bytearray) -> None:
    with _SENDING:
        channel.send_bytes(kind)
        channel.send_bytes(content)


def _end_with_the_parent() -> None:
    """Wait, in a thread, for the parent's end: data must not outlive its session."""
    parent = multiprocessing.parent_process()
    with contextlib.suppress(BaseException):
        if parent is not None:
            parent.join()
    os._exit(1)


def _handle(how: bytes) -> Handle:
    prepare, arguments = pickle.loads(how)
    handle: Handle = prepare(*arguments)
    return handle


def _answer(prepared: Outcome, channel: Channel) -> tuple[bytes, bytes | bytearray]:
    """Do the next task, by what was prepared for it, and return its answer."""
    task = channel.recv_bytes()

    def done() -> tuple[bytes, bytes | bytearray]:
        content, threads, memory = pickle.loads(task)
        with work(threads=threads, memory=memory):
            result = prepared.result(content, _Sent(channel))
        plain = isinstance(result, (bytes, bytearray))
        return (_BYTES, result) if plain else (_PICKLED, packed(result))

    outcome = attempt(done) if prepared.what == "done" else prepared
    if outcome.what == "done":
        answer: tuple[bytes, bytes | bytearray] = outcome.result
        return answer
    return outcome.what.encode(), str(outcome.result).encode("utf-8", "replace")


class _Sent:
    """A sender of the reports of a task."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __call__(self, share: float) -> None:
        _send(self._channel, _PROGRESS, repr(float(share)).encode())

    def found(self, answer: object) -> None:
        _send(self._channel, _FOUND, packed(answer))


class Outcome(NamedTuple):
    """The result of a call, where `what` is "done", or its error."""

    what: str
    result: Any


def attempt(work: Callable[[], Any]) -> Outcome:
    """Return the result of a call, or its error."""
    try:
        return Outcome("done", work())
    except RWNError as refusal:
        return Outcome("refused", str(refusal))
    except Exception as error:
        return Outcome("failed", describe_fault(error))


def packed(what: object) -> bytes:
    """An object as it is sent to a process, or back from it."""
    return pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL)
