"""A plugin of pytest that notes which lines each test runs, and how long it takes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

OUT = "RWN_MUTANTS_LINES"
"""Names the variable of the environment that holds the file to write."""

_COVERAGE = coverage.Coverage(data_file=None, source=["rwn_core"], config_file=False)
_COVERAGE.start()
_STACK: list[str] = []
_FIXTURES: dict[str, list[str]] = {}
_SECONDS: dict[str, float] = {}
_FAILED: set[str] = set()


def _within(context: str) -> None:
    _STACK.append(context)
    _COVERAGE.switch_context(context)


def _left() -> None:
    _STACK.pop()
    _COVERAGE.switch_context(_STACK[-1] if _STACK else "")


def _shared(fixture: pytest.FixtureDef[object]) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test runs, and the fixtures that it shares with others."""
    known = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
    _FIXTURES[item.nodeid] = [_shared(each[-1]) for each in known if each[-1].scope != "function"]
    _within(item.nodeid)
    begun = time.perf_counter()
    result = yield
    _SECONDS[item.nodeid] = time.perf_counter() - begun
    _left()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
    """Count what a shared fixture runs for each test that asks for it."""
    shared = fixturedef.scope != "function"
    if shared:
        _within(_shared(fixturedef))
    try:
        return (yield)
    finally:
        if shared:
            _left()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what fails without a fault: it would find every fault."""
    if report.failed:
        _FAILED.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was noted."""
    _COVERAGE.stop()
    data = _COVERAGE.get_data()
    root = Path.cwd()
    lines = {
        str(Path(file).relative_to(root)): data.contexts_by_lineno(file)
        for file in data.measured_files()
    }
    noted = {"lines": lines, "fixtures": _FIXTURES, "seconds": _SECONDS, "failed": sorted(_FAILED)}
    Path(os.environ[OUT]).write_text(json.dumps(noted), encoding="utf-8")
