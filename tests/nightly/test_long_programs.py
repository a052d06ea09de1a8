"""The programs of docs/reliability.md that take minutes, each with what it must end with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "broken files": "tools.fuzz 20000 --key {key} --state {folder}/fuzz.json",
    "kills": "tools.kills 200",
    "users": "tools.sessions --users 20 --actions 100",
    "words in public files": "tools.public_words",
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_long_program_finds_nothing(name: str, key_base: str, tmp_path: Path) -> None:
    line = PROGRAMS[name].format(key=key_base, folder=tmp_path).split()
    ran = subprocess.run(
        [sys.executable, "-m", *line],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    sys.stdout.write(ran.stdout)  # the figures, with pytest -rP
    assert ran.returncode == 0, ran.stdout + ran.stderr
