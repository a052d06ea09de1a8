"""Tests that belong together run on one worker, whatever the versions of pytest and xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.workers import BROWSER, WAITING, together, urgency

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tests/rules/test_docs_index.py", "tests/rules/test_thresholds.py")  # quick ones


def test_a_file_stays_together() -> None:
    assert together("tests/ui/test_pages.py::test_one[x::y@z]") == "tests/ui/test_pages.py"
    assert together("tests/browser/test_one.py::test_a") == "tests/browser"
    assert together("tests/browser/test_sweep.py::test_a") == "tests/browser, waiting"


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


def test_workers_take_whole_files() -> None:
    command = [sys.executable, "-m", "pytest", "-v", "-n", "2", "-p", "no:cacheprovider", *FILES]
    free = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=free)
    assert run.returncode == 0, run.stdout + run.stderr
    ran = re.findall(r"\[(gw\d)\].* PASSED (tests/\S+?)::", run.stdout)
    workers = {file: {worker for worker, name in ran if name == file} for file in FILES}
    assert sorted(map(len, workers.values())) == [1, 1]
    assert len(set.union(*workers.values())) == 2


def test_a_test_that_ends_its_worker_fails_once_and_the_others_go_on(tmp_path: Path) -> None:
    names = ("before", "ends_its_worker", "after", "last")
    lines = [f"def test_{name}(): {'os._exit(1)' if 'ends' in name else 'pass'}" for name in names]
    planted = tmp_path / "test_planted.py"
    planted.write_text("\n".join(["import os", *lines]), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "tests.conftest", "-p"]
    command += ["no:cacheprovider", "--rootdir", str(tmp_path), "-c", os.devnull, str(planted)]
    free = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=free)
    assert "1 failed, 3 passed" in run.stdout, run.stdout + run.stderr
    assert run.stdout.count("crashed while running") >= 1
    assert "test_ends_its_worker" in run.stdout
