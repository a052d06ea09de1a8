"""The command line says that code is compiled, where it is: in this process or in a worker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rwn_core.parallel.compiling import compiling, on_compiling

NOTE = "note: part of the search is compiled for this machine, once; this takes half a minute."


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing has been compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    return tmp_path


def rwn(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-c", "from rwn_cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr


def test_it_is_said_once_where_it_is_true(fresh: Path) -> None:
    masked = ("mask", "demo:bodyfat", "m.csv", "--k", "5", "--order", "original", "--seed", "1")
    assert rwn(fresh, *masked).count(NOTE) == 1
    (fresh / "m.csv").unlink()
    assert NOTE not in rwn(fresh, *masked)  # the code lies on the disk


@pytest.mark.nightly  # the day hears of the search; an attack is compiled by the same decorator
def test_it_is_said_of_other_code_once_more(fresh: Path) -> None:
    masked = ("mask", "demo:bodyfat", "m.csv", "--k", "5", "--order", "original", "--seed", "1")
    rwn(fresh, *masked)
    audit = ("audit", "demo:bodyfat", "m.csv", "--set", "k=5", "--measure", "bayes_linkage")
    assert rwn(fresh, *audit).count(NOTE) == 1  # other code
    assert NOTE not in rwn(fresh, *audit)


@pytest.mark.nightly  # test_processes hears of a worker that says so without compiling
def test_a_worker_that_compiles_is_heard_of(fresh: Path) -> None:
    swept = ("sweep", "demo:bodyfat", "-o", "s.csv", "--k", "3,5", "--releases", "2")
    measured = ("--measure", "bayes_linkage", "--workers", "2")
    assert rwn(fresh, *swept, *measured).count(NOTE) == 1


def test_nobody_is_told_twice_or_without_asking() -> None:
    told: list[int] = []
    with on_compiling(lambda: told.append(1)):
        compiling()
        compiling()
    compiling()
    assert told == [1]
