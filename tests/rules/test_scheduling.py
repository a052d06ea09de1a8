"""Workers share the tests; a test that fails now and again is found out."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.workers import BROWSER, WAITING, names_tests, together, urgency
from tools.retried import remember

ROOT = Path(__file__).resolve().parents[2]

SOURCE = pytest.Config.ArgsSource

ALL = "not nightly and not engines"

"""The markers of the README's command."""


@pytest.mark.parametrize(
    ("source", "word", "markers", "named"),
    [
        (SOURCE.TESTPATHS, "", ALL, False),
        (SOURCE.ARGS, "", ALL, True),
        (SOURCE.TESTPATHS, "epsilon", ALL, True),
        (SOURCE.TESTPATHS, "", "nightly", True),
    ],
)
def test_workers_share_all_tests_and_none_that_are_named(
    source: Any, word: str, markers: str, named: bool
) -> None:
    config: Any = SimpleNamespace(
        args_source=source, option=SimpleNamespace(keyword=word, markexpr=markers)
    )
    assert names_tests(config) is named


def test_a_file_stays_together() -> None:
    assert together("tests/ui/test_pages.py::test_one[x::y@z]") == "tests/ui/test_pages.py"
    assert together("tests/browser/test_one.py::test_a") == "tests/browser"
    assert together("tests/browser/test_find.py::test_a") == "tests/browser, waiting"


def test_every_file_that_waits_is_there() -> None:
    assert all((ROOT / f"{BROWSER}/test_{name}.py").is_file() for name in WAITING)


def test_the_browser_is_begun_first() -> None:
    nodeids = [
        "tests/cli/test_a.py::test",
        "tests/ui/test_b.py::test",
        "tests/journeys/test_d.py::test",
        "tests/browser/test_c.py::t",
    ]
    assert sorted(nodeids, key=urgency) == nodeids[::-1]


def run_planted(folder: Path, **tests: list[str]) -> str:
    """The output of two workers that are given these files of tests."""
    for name, lines in tests.items():
        (folder / f"test_{name}.py").write_text("\n".join(["import os", *lines]), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-n", "2", "-p", "tests.conftest", "-p"]
    command += ["no:cacheprovider", "--rootdir", str(folder), "-c", os.devnull, str(folder)]
    free = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=free)
    return run.stdout + run.stderr


def test_workers_take_whole_files_and_go_on_after_a_test_that_ends_one(tmp_path: Path) -> None:
    names = ("before", "ends_its_worker", "after", "last")
    ends = [f"def test_{name}(): {'os._exit(1)' if 'ends' in name else 'pass'}" for name in names]
    lines = [f"def test_{number}(): pass" for number in range(8)]
    output = run_planted(tmp_path, one=lines, two=lines, with_an_end=ends)
    assert "1 failed, 19 passed" in output, output
    assert output.count("crashed while running") >= 1
    assert "test_ends_its_worker" in output
    ran = re.findall(r"\[(gw\d)\].* PASSED (\S*test_(?:one|two)\.py)::", output)
    workers = {file: {worker for worker, name in ran if name == file} for _, file in ran}
    assert sorted(map(len, workers.values())) == [1, 1]
    assert len(set.union(*workers.values())) == 2


LOG = "x\nFAILED tests/ui/test_a.py::test_b - AssertionError: late\n= 1 failed =\n"

DAY = datetime.date(2026, 3, 10)


def test_the_third_time_in_a_week_fails(tmp_path: Path) -> None:
    file = tmp_path / "retried.json"
    days = (DAY, DAY + datetime.timedelta(days=2), DAY + datetime.timedelta(days=6))
    results = [remember(LOG, day, file) for day in days]
    assert results == [[], [], ["tests/ui/test_a.py::test_b"]]


def test_an_older_failure_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "retried.json"
    days = (DAY, DAY + datetime.timedelta(days=7), DAY + datetime.timedelta(days=8))
    assert [remember(LOG, day, file) for day in days] == [[], [], []]
    assert remember("all passed", DAY + datetime.timedelta(days=9), file) == []
