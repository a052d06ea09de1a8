"""A plugin of pytest that runs tests on many faults, each in a fork of what has been collected.

Nothing is imported again: the fork takes the changed code of a function in the place of the old. A
fault outside of functions is run by a new pytest. The file is changed, too, for processes that
tests start; what runs is a copy of the repository.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

TASKS = "RWN_MUTANTS_TASKS"
"""Names the variable of the environment that holds a file of faults, one JSON object a line."""

ENDS = "RWN_MUTANTS_ENDS"
"""Names the one that holds the file to which their ends are added."""

TAKEN = "RWN_MUTANTS_TAKEN"
"""Names the one that holds a folder, in which a process marks the faults that it takes."""

_GRACE = 60.0  # seconds more than the tests take without a fault, and four times as long
_KILLED, _BROKEN = 1, 70  # exit codes: a test failed; the fault could not be run
_REFUSED = (1, 2, 4)  # exit codes of pytest: a test failed, or a file could not be imported
Task = dict[str, Any]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run each fault instead of the tests."""
    file = Path(os.environ[TASKS])
    items = {item.nodeid: item for item in session.items}
    tasks = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for task in tasks:  # also what is imported late
        name = task["path"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        importlib.import_module(name)
    functions = _functions(str(Path.cwd()))
    noticing: dict[str, list[Task]] = {}
    with Path(os.environ[ENDS]).open("a", encoding="utf-8") as ends:
        for number, task in enumerate(tasks):
            if not _is_mine(f"{file.stem}-{number}"):
                continue
            begun = time.monotonic()
            end, by = _end(task, items, functions)
            told = {**task["told"], "end": end, "by": by}
            noticing.setdefault(by, []).append(told)
            ends.write(json.dumps({**told, "seconds": round(time.monotonic() - begun)}) + "\n")
            ends.flush()
        for name in _failing([items[name] for name in noticing if name in items]):
            for told in noticing[name]:
                ends.write(json.dumps({**told, "end": "doubtful"}) + "\n")
    return True


def _is_mine(name: str) -> bool:
    """Whether no other process has taken it."""
    try:
        (Path(os.environ[TAKEN]) / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _failing(items: list[pytest.Item]) -> Iterator[str]:
    """The tests that noticed a fault and fail without one, too: they say nothing."""
    while items:
        child = os.fork()
        if not child:
            os.setsid()
            os._exit(_first_failed(items))
        if _waited(child, 600.0) == 0:
            return
        failed = Path("noticed").read_text(encoding="utf-8")
        yield failed
        items = [item for item in items if item.nodeid != failed]


def _functions(root: str) -> dict[tuple[str, str, int], list[FunctionType]]:
    """Every function that lives, by its file, name and line."""
    result: dict[tuple[str, str, int], list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(root):
            result.setdefault(_name(each.__code__), []).append(each)
    return result


def _name(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _end(
    task: Task,
    items: dict[str, pytest.Item],
    functions: dict[tuple[str, str, int], list[FunctionType]],
) -> tuple[str, str]:
    """How a fault ends, and the test that noticed it."""
    tests = [name for name in task["tests"] if name in items]
    if not tests:
        return "not run", ""
    target, noted = Path.cwd() / task["path"], Path("noticed").absolute()
    whole = target.read_text(encoding="utf-8")
    noted.write_text("", encoding="utf-8")
    _write(target, task["source"])
    child = os.fork()
    if not child:
        _in_fork(whole, task, [items[name] for name in tests], functions)
    try:
        code = _waited(child, _GRACE + 4 * task["seconds"])
    finally:
        _write(target, whole)
    said = noted.read_text(encoding="utf-8")
    if code is None:
        return "too long", ""
    if code == 0:
        return "survived", ""
    return "killed" if code in _REFUSED or code < 0 else "broken", said


def _write(target: Path, source: str) -> None:
    target.write_text(source, encoding="utf-8")
    later = time.time_ns() // 10**9 + time.time_ns() % 10**6  # or the compiled one would be taken
    os.utime(target, (later, later))


def _waited(child: int, seconds: float) -> int | None:
    """The exit code of a process, and None if it takes longer; what it started ends with it."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() > until:
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
        return None
    return os.waitstatus_to_exitcode(status)


def _in_fork(
    whole: str,
    task: Task,
    items: list[pytest.Item],
    functions: dict[tuple[str, str, int], list[FunctionType]],
) -> None:
    """Take the fault in, run the tests until one fails, and end."""
    code = _BROKEN
    try:
        os.setsid()
        file = str(Path.cwd() / task["path"])
        old, new = (compile(text, file, "exec") for text in (whole, task["source"]))
        if _taken(old, new, functions):
            code = _first_failed(items)
        else:
            _run_anew([item.nodeid for item in items])
    except BaseException:
        Path("noticed").write_text(traceback.format_exc()[-600:], encoding="utf-8")
    finally:
        os._exit(code)


def _taken(
    old: CodeType, new: CodeType, functions: dict[tuple[str, str, int], list[FunctionType]]
) -> bool:
    """Put the changed code into the functions that live; whether that was possible."""
    pairs = list(_outermost(old, new))
    living = [functions.get(_name(before), []) for before, _ in pairs]
    if not pairs or not all(living) or _outside(old, new):
        return False
    for (before, after), every in zip(pairs, living, strict=True):
        if before.co_freevars != after.co_freevars:
            return False
        for function in every:
            function.__code__ = after
    return True


def _codes(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _is_class(code: CodeType) -> bool:
    return "__module__" in code.co_names and "__qualname__" in code.co_names


def _outermost(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions of a module or class whose code differs."""
    for before, after in zip(_codes(old), _codes(new), strict=False):
        if _is_class(before):
            yield from _outermost(before, after)
        elif before != after:
            yield before, after


def _outside(old: CodeType, new: CodeType) -> bool:
    """Whether a module or class differs beside its functions: in a constant or a default."""
    if len(_codes(old)) != len(_codes(new)) or old.co_code != new.co_code:
        return True
    plain = [
        [(type(each), each) for each in code.co_consts if not isinstance(each, CodeType)]
        for code in (old, new)
    ]
    inner = [pair for pair in zip(_codes(old), _codes(new), strict=True) if _is_class(pair[0])]
    return plain[0] != plain[1] or any(_outside(*pair) for pair in inner)


class _Watch:
    """Ends the run at the first failure."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            Path("noticed").write_text(report.nodeid, encoding="utf-8")
            os._exit(_KILLED)


def _first_failed(items: list[pytest.Item]) -> int:
    items[0].config.pluginmanager.register(_Watch())
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return 0


def _run_anew(names: list[str]) -> None:
    """Run the tests in a new pytest, which imports the changed file."""
    options = ["-x", "-q", "-p", "no:cacheprovider", "--basetemp", "files"]
    command = [sys.executable, "-m", "pytest", *options, *names]
    os.execv(sys.executable, command)
