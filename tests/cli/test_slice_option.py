"""`--slice` and `--slices`: what travels together, as in Python."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting import read_record
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from rwn_core.tuning.slice_presets import preset_slices
from tests.cli.conftest import Run

SLICES = (("age", "weight"), ("hip", "knee", "neck"))
OPTIONS = ("--slice", "weight,age", "--slice", "hip,knee, neck")


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def expected(data: rwn.Microdata) -> bytes:
    return rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")


def test_a_slice_writes_the_bytes_of_the_groups(rwn_command: Run, bodyfat) -> None:
    command = ("mask", "demo:bodyfat", "out.csv", "--epsilon", 2, "--k", 5, "--seed", 7)
    code, _, said = rwn_command(*command, *OPTIONS, "--record", "record.toml")
    assert code == 0
    grouped = bodyfat.schema
    for name, group in zip(("age", "weight", "hip", "knee", "neck"), "aabbb", strict=True):
        grouped = grouped.replace_variable(name, group=group)
    assert Path("out.csv").read_bytes() == expected(bodyfat.with_schema(grouped))
    assert "A row shows age and weight of one person verbatim" in said
    kept = read_record(Path("record.toml").read_text(encoding="utf-8"))
    assert kept["setting"]["slices"] == [list(each) for each in SLICES]


def test_a_scenario_has_slices_that_an_option_replaces(rwn_command: Run, bodyfat) -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5}, slices=SLICES).resolved(bodyfat)
    Path("s.toml").write_text(Scenario(setting=setting).to_toml(), encoding="utf-8")
    command = (
        "mask",
        "demo:bodyfat",
        "out.csv",
        "--scenario",
        "s.toml",
        "--seed",
        7,
        "--overwrite",
    )
    assert rwn_command(*command)[0] == 0
    assert Path("out.csv").read_bytes() == expected(bodyfat.with_slices(SLICES))
    assert rwn_command(*command, "--slice", "hip,knee")[0] == 0
    assert Path("out.csv").read_bytes() == expected(bodyfat.with_slices([["hip", "knee"]]))
    assert rwn_command(*command, "--slice", "none")[0] == 0
    assert Path("out.csv").read_bytes() == expected(bodyfat)


def test_a_sweep_tries_presets(rwn_command: Run, bodyfat) -> None:
    command = ("sweep", "demo:bodyfat", "--epsilon", "3", "--k", "5", "--releases", 2)
    more = ("--measure", "correlation", "--workers", 1, "-o", "out.csv", "--overwrite")
    code, _, said = rwn_command(*command, *more, "--slices", "alone, keys_together")
    assert code == 0
    assert "2 settings" in said
    frame = pd.read_csv("out.csv", keep_default_na=False)
    slices = preset_slices(bodyfat, "keys_together")
    assert list(frame["slices"]) == ["", " ".join("+".join(names) for names in slices)]
    assert frame["median"][1] < frame["median"][0]
    code, _, said = rwn_command(*command, *more, "--slices", "half")
    assert code == 2
    assert "There are no slices half" in said
    assert rwn_command(*command, *more, *OPTIONS)[0] == 0
    assert pd.read_csv("out.csv")["slices"].tolist() == ["age+weight hip+knee+neck"]
