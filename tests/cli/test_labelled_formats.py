"""A labelled file goes through the commands into any format, and the measures read the same."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyreadstat
import pytest

SEX = {1: "male", 2: "female", 9: "refused"}


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "sex": rng.choice([1.0, 2.0, 9.0], 60),
            "health": rng.choice([1.0, 2.0, 3.0], 60),
            "income": np.where(rng.random(60) < 0.1, -9, rng.normal(2000, 300, 60).round(2)),
        }
    )
    pyreadstat.write_sav(
        frame,
        tmp_path / "s.sav",
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={"sex": SEX, "health": {1: "bad", 2: "fair", 3: "good"}},
        missing_ranges={"sex": [9], "income": [-9]},
        variable_measure={"health": "ordinal"},
    )


def test_a_release_in_any_format_reads_the_same(survey, rwn_command) -> None:
    tables = {}
    for ending in ("sav", "csv", "rds"):
        line = f"mask s.sav o.{ending} --k 3 --order original --seed 1"
        code, _, said = rwn_command(*line.split())
        assert code == 0
        assert "sex has" in said
        assert "declared as missing (9)" in said
        lost = said.count("does not keep")
        assert lost == (4 if ending == "csv" else 0)
        code, tables[ending], _ = rwn_command(
            "audit", "s.sav", f"o.{ending}", "--measure", "correlation", "--measure", "marginals"
        )
        assert code == 0
    assert len(set(tables.values())) == 1
    assert "correlation" in tables["sav"]


def test_a_pipe_without_a_writer_is_refused_at_once(rwn_command, tmp_path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    os.mkfifo(tmp_path / "p.csv")
    code, _, said = rwn_command("mask", "p.csv", "o.csv", "--k", "2")
    assert code == 3
    assert "is no ordinary file" in said
