"""The command `rwn audit-dataset`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rwn_cli.main import run


def test_a_release_is_compared_and_linked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = np.random.default_rng(4)
    x = numbers.normal(size=2500)
    table = pd.DataFrame(
        {"x": x, "y": x + numbers.normal(size=2500), "g": np.where(x > 1, "a", "b")}
    )
    table.to_parquet(tmp_path / "in.parquet")
    source, out, key = (str(tmp_path / name) for name in ("in.parquet", "out", "key"))
    masking = ["mask-dataset", source, out, "--k", "4", "--q", "0.5", "--workers", "1"]
    assert run([*masking, "--key-file", key]) == 0
    command = ["audit-dataset", source, out, "--sample", "200"]
    assert run([*command, "--response", "y", "--predictor", "x", "--key-file", key]) == 0
    said = capsys.readouterr()
    assert "2,500 records, 2,500 released rows" in said.out
    assert "the true one for" in said.out
    assert "regression, x: 1.0" in said.out or "regression, x: 0.9" in said.out
    assert run([*command, "--json"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    mean = pd.read_parquet(out)["x"].mean()
    assert document["released"]["columns"]["x"]["mean"] == pytest.approx(mean, rel=1e-10)
    assert document["linkage"]["linked"] is None
    assert "without --key-file" in said.err
    assert run([*command, "--key-file", str(tmp_path / "none")]) != 0
    assert run([*command, "--response", "y"]) != 0
    assert not (tmp_path / "none").exists()
