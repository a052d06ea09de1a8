"""Each tool runs: what the documents state was measured by programs that still work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import kills

ROOT = Path(__file__).resolve().parents[2]
SHORTEST = {
    "fuzz": ("20", "--state", "fuzz.json"),
    "sessions": ("--users", "2", "--actions", "2", "--gone", "0"),
    "where": ("ledger",),
}
"""Tools with the arguments of their shortest run; `tests/nightly` has the longer ones."""


@pytest.mark.parametrize("tool", SHORTEST)
def test_the_shortest_run_ends_well(tool: str, tmp_path: Path) -> None:
    given = [str(tmp_path / word) if word.endswith(".json") else word for word in SHORTEST[tool]]
    command = [sys.executable, "-m", f"tools.{tool}", *given]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    if tool == "sessions":
        assert "actions: 4" in ran.stdout
        assert "messages with a foreign word: 0, errors on pages: 0" in ran.stdout


def test_a_killed_release_is_not_torn(tmp_path: Path) -> None:
    made = kills.work(tmp_path / "house", 300)
    made.root.mkdir()
    made.begin()
    found = kills.random_kills(made, 3)
    assert (found["kills"], found["torn"], found["stuck"]) == (3, 0, 0)
