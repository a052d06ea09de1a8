"""What the tests cost in processor seconds, children included: by test, by folder, in all.

The sum of the day lane is held in times of a yardstick, which each process that runs tests
measures before its first test and after its last one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import yardstick

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SLOWEST = 20
COLLECTING = "collecting"
WHOLE = "the whole day lane"
HOLD = "RWN_HOLD_SECONDS"
"""The environment variable of a run that fails where the day lane costs more than is held."""
EVERY = "RWN_TEST_SECONDS"
"""The environment variable with a file to write: every test and its seconds, the slowest first."""


def _children(process: int) -> Iterator[int]:
    """Yield the living children of a process; none where the system does not list them."""
    tasks = Path(f"/proc/{process}/task")
    try:
        threads = os.listdir(tasks)
    except OSError:
        return  # it has ended
    for thread in threads:
        try:
            yield from map(int, (tasks / thread / "children").read_text().split())
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

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.before = 0.0
        self.collecting = 0.0
        self.by_test: Counter[str] = Counter()
        self.yardsticks: list[float] = []
        self.said = ""

    def pytest_collection_finish(self) -> None:
        """Note what importing and collecting took in this process."""
        self.before = self.collecting = spent()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Measure the yardstick before the first test of a lane, when kernels are compiled."""
        whole = getattr(self.config, "workerinput", {}).get(WHOLE, is_day_lane(self.config))
        if whole and not self.yardsticks:
            begun = spent()
            self.yardsticks.append(yardstick.yardstick())
            self.before += spent() - begun

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

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Measure it again, or judge the lane by what all workers have measured."""
        if not self.yardsticks:
            return
        worker = getattr(self.config, "workeroutput", None)
        if worker is not None or not self.config.pluginmanager.has_plugin("dsession"):
            self.yardsticks.append(yardstick.yardstick())
        if worker is not None:
            worker["yardsticks"] = self.yardsticks
            return
        mean = sum(self.yardsticks) / len(self.yardsticks)
        self.said, held = yardstick.verdict(self.by_test.total(), mean)
        if not held and HOLD in os.environ:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        """Tell a worker, which is given all files by name, whether the whole lane is run."""
        node.workerinput[WHOLE] = is_day_lane(self.config)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        """Take what a worker has measured."""
        self.yardsticks += getattr(node, "workeroutput", {}).get("yardsticks", [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sum, the sums of folders and the slowest tests."""
        self.by_test[COLLECTING] += self.collecting  # the controller's own
        by_folder = Counter()
        for test, seconds in self.by_test.items():
            by_folder[folder_of(test)] += seconds
        sums = ", ".join(f"{name} {seconds:.0f}" for name, seconds in by_folder.most_common())
        terminalreporter.section("processor seconds")
        terminalreporter.write_line(f"{sum(by_folder.values()):.0f} in all: {sums}")
        if self.said:
            terminalreporter.write_line(self.said)
        for test, seconds in self.by_test.most_common(SLOWEST):
            terminalreporter.write_line(f"{seconds:8.1f}  {test}")
        if EVERY in os.environ:
            every = [f"{seconds:.2f}\t{test}\n" for test, seconds in self.by_test.most_common()]
            Path(os.environ[EVERY]).write_text("".join(every), "utf-8")


def is_day_lane(config: pytest.Config) -> bool:
    """True where the whole day lane is run, and not a folder, a word or a marker."""
    option = config.option
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    some = option.keyword or getattr(option, "lf", False)
    return whole and not some and option.markexpr.startswith("not")


def folder_of(test: str) -> str:
    """Return ``core/io`` for ``tests/core/io/test_reading.py::test_a``, ``core`` for a file."""
    file = test.split("::")[0].removeprefix("tests/")
    *folders, _ = file.split("/")
    if folders[:1] == ["core"]:
        return "/".join(folders[:2])
    return folders[0] if folders else file
