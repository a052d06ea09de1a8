"""`rwn mask` names the variables that it was to mask and hardly did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.cli.conftest import Run


def test_variables_that_were_hardly_masked_are_named(rwn_command: Run) -> None:
    """Finding P4: the mean share of changed cells hides a category that nothing changed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 90, 300), "income": rng.normal(size=300).round(3)}
    )
    frame["sex"] = rng.choice(["m", "f"], 300)
    frame["rare"] = np.where(np.arange(300) < 3, "yes", "no")
    frame["all"] = "same"
    frame.to_csv("people.csv", index=False)
    code, _, said = rwn_command("mask", "people.csv", "out.csv", "--k", 5, "--seed", 1)
    assert code == 0
    assert "WARNING: " in said
    assert "no cell changed: the file shows only true values" in said
    assert "sex" in said.partition("WARNING: ")[2]
    assert "all" not in said.partition("WARNING: ")[2].partition(" masked at")[0].split(", ")
    code, _, said = rwn_command("mask", "people.csv", "leaves.csv", "--k", 5, "--weight", "sex=99")
    assert (code, "no cell changed" in said) == (4, True)
    assert not Path("leaves.csv").exists()
    code, _, said = rwn_command("mask", "demo:bodyfat", "b.csv", "--k", 5)
    assert "WARNING" not in said
