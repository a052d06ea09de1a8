"""The day lane's processor seconds are held, in times of a yardstick of the same machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import cpu_seconds, yardstick
from tests.rules.import_law import ROOT

PLUGIN = """
from tests import cpu_seconds, yardstick
from pathlib import Path

yardstick.yardstick = lambda: 0.01
yardstick.FILE = Path(__file__).with_name("held.toml")

def pytest_configure(config):
    config.pluginmanager.register(cpu_seconds.Clock(config))
"""
BUSY = """
import time

def test_busy():
    begun = time.process_time()
    while time.process_time() < begun + 0.5:
        pass
"""


@pytest.fixture
def lane(tmp_path: Path) -> Path:
    """A project whose one test takes half a second: fifty times its yardstick."""
    (tmp_path / "conftest.py").write_text(PLUGIN)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_busy.py").write_text(BUSY)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = tests\naddopts = -m 'not nightly'\n"
    )
    return tmp_path


def run(
    lane: Path, held: float, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    (lane / "held.toml").write_text(f'"day lane" = {held}\n')
    # the whole check sets the variable for its own lane: here a test says when it is set
    own = {name: value for name, value in os.environ.items() if name != cpu_seconds.HOLD}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=lane,
        env={**own, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_lane_that_costs_more_fails_where_it_is_held(lane: Path) -> None:
    beyond = run(lane, 1, "-n", "1", **{cpu_seconds.HOLD: "1"})
    assert "1 passed" in beyond.stdout
    assert "times the yardstick of 0.01 s, at most 1 are held" in beyond.stdout
    assert beyond.returncode == 1


@pytest.mark.parametrize(
    ("held", "words", "hold", "told"),
    [(1e6, (), True, True), (1, (), False, True), (1, ("tests/test_busy.py",), True, False)],
    ids=["within", "not held here", "a part"],
)
def test_any_other_passes(lane: Path, held: float, words: tuple[str, ...], hold, told) -> None:
    ended = run(lane, held, "-n", "0", *words, **({cpu_seconds.HOLD: "1"} if hold else {}))
    assert (ended.returncode, "times the yardstick" in ended.stdout) == (0, told)


def test_a_tenth_more_is_held_and_a_third_more_is_not(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(yardstick, "FILE", tmp_path / "held.toml")
    (tmp_path / "held.toml").write_text('"day lane" = 800\n')
    for unit in (0.5, 1.0, 3.0):  # however fast the machine is
        assert yardstick.verdict(880 * unit, unit)[1]
        assert not yardstick.verdict(1_070 * unit, unit)[1]


def test_seconds_are_those_of_folders() -> None:
    folders = {
        "tests/core/io/test_reading.py::test_a[x/y]": "core/io",
        "tests/core/test_randomness.py::test_a": "core",
        "tests/ui/test_job.py::test_a": "ui",
        "collecting": "collecting",
    }
    assert {test: cpu_seconds.folder_of(test) for test in folders} == folders


def test_a_process_may_end_while_its_seconds_are_read() -> None:
    def ended(path: object) -> None:
        raise FileNotFoundError(path)

    with pytest.MonkeyPatch.context() as patch:  # before this test's own seconds are read
        patch.setattr(os, "listdir", ended)
        patch.setattr(os, "scandir", ended)
        assert cpu_seconds.spent() > 0
