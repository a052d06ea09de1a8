"""Hostile scenarios on the command line, and what `rwn mask` says of the second reading."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from tests.cli.conftest import Run

CASES = {
    "26 factors": "y ~ " + "*".join("abcdefghijklmnopqrstuvwxyz"),
    "one factor often": "y ~ " + "*".join(["weight"] * 40_000),
    "a power": "y ~ (a+b)^9",
    "long names": "y ~ " + "*".join(letter * 900 for letter in "abcdef"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_scenario_is_refused_at_once(rwn_command: Run, tmp_path: Path, name: str) -> None:
    """Finding T1."""
    (tmp_path / "s.toml").write_text(
        'format = "rwn scenario 1"\n[setting]\nmethod = "rwn"\n[setting.parameters]\nk = 5\n'
        '[[analysis_plan]]\nname = "n"\nkind = "linear"\ntolerance = 1.0\n'
        f'formula = "{CASES[name]}"\n'
    )
    tracemalloc.start()
    begun = time.perf_counter()
    code, _, said = rwn_command("mask", "demo:pima", "out.csv", "--scenario", "s.toml")
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert time.perf_counter() - begun < 20
    assert code != 0
    assert "formula" in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_the_second_reading_is_said_and_stands_in_the_record(
    rwn_command: Run, tmp_path: Path
) -> None:
    code, _, said = rwn_command("mask", "demo:pima", "out.csv", "--k", 50, "--record", "r.toml")
    assert code == 0
    words = (
        "Every copied and unrounded value occurs in its original column: "
        "release read by pandas, original by pandas."
    )
    assert words in said
    assert words in (tmp_path / "r.toml").read_text(encoding="utf-8")
    assert rwn_command("report", "r.toml", "--public", "-o", "card.toml")[0] == 0
    assert words in (tmp_path / "card.toml").read_text(encoding="utf-8")
