"""The program of docs/reliability.md that takes minutes finds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly  # core/io/test_formats: nothing but the values is written
def test_no_planted_word_leaves_with_a_public_file() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tools.public_words"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stdout.write(ran.stdout)  # the figures, with pytest -rP
    assert ran.returncode == 0, ran.stdout + ran.stderr
