"""Try many faults in one process of pytest (a plugin): each in a fork, in place of its function."""

from __future__ import annotations

import ast
import gc
import json
import os
import resource
import signal
import time
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

FAULTS = "RWN_MUTANTS_FAULTS"
"""The environment variable with the file of faults; ends are appended to the file next to it."""

WAITED = 6.0
"""How many times its processor seconds a fault may take by the clock."""


def function_of(source: str, line: int) -> str | None:
    """Return the qualified name of the outermost function that holds a line; None outside."""
    found: list[str] = []

    def search(body: list[ast.stmt], names: tuple[str, ...]) -> None:
        for node in body:
            last = node.end_lineno or node.lineno
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= last:
                search(node.body, (*names, node.name))
            elif isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= last:
                found.append(".".join((*names, node.name)))

    search(ast.parse(source).body, ())
    return found[0] if found else None


def replace(path: str, source: str, name: str) -> bool:
    """Give the loaded functions of a name the code of another source; False if there is none."""
    code = _code(compile(source, path, "exec"), name)
    known = [
        each
        for each in gc.get_objects()
        if isinstance(each, FunctionType)
        and each.__code__.co_filename == path
        and each.__code__.co_qualname == name
    ]
    for function in known:
        if code is None or len(code.co_freevars) != len(function.__code__.co_freevars):
            return False
        function.__code__ = code
    return bool(known)


def _code(module: CodeType, name: str) -> CodeType | None:
    inner = (each for each in module.co_consts if isinstance(each, CodeType))
    for each in inner:
        if each.co_qualname == name:
            return each
        if name.startswith(f"{each.co_qualname}."):
            return _code(each, name)
    return None


class Forks:
    """Run the tests of each fault in a fork of the process that has collected them."""

    def __init__(self, faults: Path) -> None:
        self.faults = faults
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each fault; a kill counts if its test passes in a fork without the fault."""
        items = {item.nodeid: item for item in session.items}
        ends = self.faults.with_suffix(".forks")
        for line in self.faults.read_text(encoding="utf-8").splitlines():
            fault = json.loads(line)
            tests = [items[name] for name in fault["tests"] if name in items]
            failed = self._fork(session, tests, fault)
            if failed and not fault["every"]:
                failed = None if self._fork(session, [items[failed[0]]], {}) else failed
            noted = {"key": fault["key"], "failed": failed}
            with ends.open("a", encoding="utf-8") as file:
                file.write(json.dumps(noted) + "\n")
        return True

    def _fork(
        self, session: pytest.Session, tests: list[pytest.Item], fault: dict[str, Any]
    ) -> list[str] | None:
        """Return the tests that fail with a fault; None if it was not tried to the end."""
        told, says = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(told)
            # processor seconds: a busy machine makes no fault too slow
            limit = int(fault.get("seconds", 60.0))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            try:
                failed = self._try(session, tests, fault)
                os.write(says, json.dumps(failed).encode())
            finally:
                os._exit(0)
        os.close(says)
        until = time.monotonic() + WAITED * fault.get("seconds", 60.0)
        parts = list[bytes]()
        os.set_blocking(told, False)
        while time.monotonic() < until:
            try:
                parts.append(os.read(told, 1 << 16))
            except BlockingIOError:
                time.sleep(0.02)
                continue
            if not parts[-1]:
                break
        for kill in (os.killpg, os.kill):
            try:
                kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        os.waitpid(child, 0)
        os.close(told)
        return json.loads(b"".join(parts)) if b"".join(parts) else None

    def _try(
        self, session: pytest.Session, tests: list[pytest.Item], fault: dict[str, Any]
    ) -> list[str] | None:
        if fault and not replace(fault["path"], fault["source"], fault["name"]):
            return None
        for place, item in enumerate(tests):
            following = tests[place + 1] if place + 1 < len(tests) else None
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed and not fault.get("every"):
                break
        return self.failed


def pytest_configure(config: pytest.Config) -> None:
    """Begin, if faults are given."""
    if FAULTS in os.environ:
        config.pluginmanager.register(Forks(Path(os.environ[FAULTS])))
