"""The command `rwn mask-dataset`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli.main import run
from rwn_core.datasets.dataset_plan import size_words


@pytest.fixture
def source(tmp_path: Path) -> Path:
    numbers = np.random.default_rng(4)
    table = pd.DataFrame({"x": numbers.normal(size=2500), "g": numbers.choice(["a", "b"], 2500)})
    (tmp_path / "in").mkdir()
    table[:1000].to_parquet(tmp_path / "in" / "1.parquet")
    table[1000:].to_parquet(tmp_path / "in" / "2.parquet")
    return tmp_path / "in"


COMMAND = ("--k", "4", "--epsilon", "0.1", "--sample", "100", "--workers", "1", "--weight", "g=2")


def test_the_command_writes_what_python_does(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    files = ("mask-dataset", str(source), str(tmp_path / "out"), "--key-file", str(key))
    assert run([*files, *COMMAND]) == 0
    said = capsys.readouterr()
    assert "2,500 records" in said.err
    assert "fewer than k candidates" in said.err
    assert "note: key holds the secret of this release; delete it." in said.err
    assert "a seed is for teaching" not in said.err
    assert said.out == ""
    secret = key.read_text()
    assert secret not in said.err
    assert key.stat().st_mode & 0o077 == 0

    data = rwn.Microdata.from_frame(pd.read_parquet(source)).with_weights({"g": 2.0})
    params = rwn.RWN(k=4, epsilon=0.1, neighbors="sample", m=100)
    release = rwn.mask(data, params, seed=rwn.SecretKey(bytes.fromhex(secret)))
    wanted = pd.read_parquet(release.publish(tmp_path / "memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), wanted)


def test_a_plan_writes_nothing(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    command = ["mask-dataset", str(source), str(tmp_path / "out"), *COMMAND]
    assert run([*command, "--plan", "--key-file", str(key)]) == 0
    said = capsys.readouterr().err
    assert re.search(r"2,500 records in 2 files, \d\d\.\d kB\n", said)
    assert re.search(r"about \d{3} MB of memory for each worker", said)
    assert "a sample of 100 records" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_small_dataset_is_not_compared(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to 2,000 records, as the how-to says."""
    command = ["mask-dataset", str(source / "1.parquet"), str(tmp_path / "out"), *COMMAND]
    assert run([*command, "--plan"]) == 0
    said = capsys.readouterr().err
    assert "1,000 records in one file" in said
    assert "fall back to k" not in said


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (11_700, "11.7 kB"),
        (999_400, "999 kB"),
        (999_900, "1 MB"),
        (117e6, "117 MB"),
        (2.5e9, "2.5 GB"),
        (1.5e13, "15,000 GB"),
    ],
)
def test_sizes_have_a_unit_that_suits_them(size: float, words: str) -> None:
    assert size_words(size) == words
