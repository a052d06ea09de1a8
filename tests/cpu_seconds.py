"""What the tests cost in processor seconds, children included: by test, by folder, in all."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SLOWEST = 20
COLLECTING = "collecting"
EVERY = "RWN_TEST_SECONDS"
"""The environment variable with a file to write: every test and its seconds, the slowest first."""


def _children(process: int) -> Iterator[int]:
    """Yield the living children of a process; none where the system does not list them."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            yield from map(int, task.read_text().split())
        except OSError:
            continue  # it has ended


def _of_tree(process: int) -> float:
    """Return the seconds of a living process, of its ended children and of its living ones."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    user, system, user_of_ended, system_of_ended = map(int, fields[11:15])
    own = (user + system + user_of_ended + system_of_ended) / TICKS
    return own + sum(map(_of_tree, _children(process)))


def spent() -> float:
    """Return the processor seconds that this process and all it has started have used."""
    return sum(os.times()[:4]) + sum(map(_of_tree, _children(os.getpid())))


class Clock:
    """Counts what each test of this process costs, and what collecting cost before them."""

    def __init__(self) -> None:
        self.before = 0.0
        self.collecting = 0.0
        self.by_test: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        """Note what importing and collecting took in this process."""
        self.before = self.collecting = spent()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """Write into a report the seconds since the one before; into the first, of collecting."""
        report = yield
        now = spent()
        # what a browser's processes have used is lost where their parent is killed before them
        report.cpu_seconds = max(0.0, now - self.before)
        report.cpu_collecting = self.collecting
        self.before = now
        self.collecting = 0.0
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a report says; where workers run the tests, only here it is all known."""
        self.by_test[report.nodeid] += report.cpu_seconds
        self.by_test[COLLECTING] += report.cpu_collecting

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sum, the sums of folders and the slowest tests."""
        self.by_test[COLLECTING] += self.collecting  # the controller's own
        by_folder = Counter()
        for test, seconds in self.by_test.items():
            by_folder[folder_of(test)] += seconds
        sums = ", ".join(f"{name} {seconds:.0f}" for name, seconds in by_folder.most_common())
        terminalreporter.section("processor seconds")
        terminalreporter.write_line(f"{sum(by_folder.values()):.0f} in all: {sums}")
        for test, seconds in self.by_test.most_common(SLOWEST):
            terminalreporter.write_line(f"{seconds:8.1f}  {test}")
        if EVERY in os.environ:
            every = [f"{seconds:.2f}\t{test}\n" for test, seconds in self.by_test.most_common()]
            Path(os.environ[EVERY]).write_text("".join(every), "utf-8")


def folder_of(test: str) -> str:
    """Return ``core/io`` for ``tests/core/io/test_reading.py::test_a``, ``core`` for a file."""
    file = test.split("::")[0].removeprefix("tests/")
    *folders, _ = file.split("/")
    if folders[:1] == ["core"]:
        return "/".join(folders[:2])
    return folders[0] if folders else file
