"""`rwn mask --kernel`: the bytes of Python, its record and its scenario, and refusals."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting import read_record
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

Run = Callable[..., tuple[int, str, str]]
PARAMS = rwn.RWN(kernel="gaussian", width=0.8, balance=1.0)
OPTIONS = ("--kernel", "gaussian", "--width", 0.8, "--balance", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_command_python_set_and_scenario_write_the_same_bytes(rwn_command: Run) -> None:
    bodyfat = rwn.load_demo("bodyfat")
    rwn.mask(bodyfat, PARAMS, seed=7).publish("python.csv")
    scenario = Scenario(name="Soft", table=bodyfat.fingerprint, setting=Setting(params=PARAMS))
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(Path("s.toml").read_text("utf-8")).setting.method == "rwn"
    by_set = ("--set", "kernel=gaussian", "--set", "width=0.8", "--set", "balance=1")
    ways = {"own": OPTIONS, "set": by_set, "scenario": ("--scenario", "s.toml")}
    for name, options in ways.items():
        code, _, said = rwn_command("mask", "demo:bodyfat", f"{name}.csv", *options, "--seed", 7)
        assert code == 0, said
        assert Path(f"{name}.csv").read_bytes() == Path("python.csv").read_bytes()


def test_the_record_names_the_kernel(rwn_command: Run) -> None:
    files = ("--record", "record.toml", "--key-file", "secret.key")
    assert rwn_command("mask", "demo:bodyfat", "out.csv", *OPTIONS, *files)[0] == 0
    text = Path("record.toml").read_text(encoding="utf-8")
    assert read_record(text)["file"]["sha256"]
    assert 'kernel = "gaussian"' in text
    assert read_record(text)["kernel"] == {"bandwidth_k": 10, "cap": 0.1, "listed": 240}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kernel", "gaussian", "--k", 5), "width in place of epsilon and k"),
        (("--k", 5, "--width", 1), "width needs kernel"),
        (("--kernel", "gaussian", "--balance", 2), "balance must be a number from 0 to 1"),
    ],
)
def test_a_wrong_combination_is_refused(
    rwn_command: Run, options: tuple[object, ...], words: str
) -> None:
    code, _, said = rwn_command("mask", "demo:bodyfat", "out.csv", *options)
    assert code == 2, said
    assert words in " ".join(said.split())
    assert not Path("out.csv").exists()


def test_a_dataset_is_masked_with_a_soft_kernel(rwn_command: Run) -> None:
    rwn.load_demo("bodyfat").frame.to_parquet("in.parquet")
    options = ("--set", "kernel=gaussian", "--set", "width=0.7", "--set", "balance=1")
    more = ("--record", "record.toml", "--seed", 3)
    code, _, said = rwn_command("mask-dataset", "in.parquet", "out", *options, *more)
    assert code == 0, said
    data = rwn.Microdata.from_frame(pd.read_parquet("in.parquet"))
    params = rwn.RWN(kernel="gaussian", width=0.7, balance=1.0)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=3).publish("memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet("out"), wanted)
    record = Path("record.toml").read_text(encoding="utf-8")
    assert 'kernel = "gaussian"' in record
    assert tomllib.loads(record)["kernel"] == {"bandwidth_k": 10, "cap": 0.1, "listed": 240}
    plan = rwn_command("mask-dataset", "in.parquet", "other", *options, "--plan")
    assert plan[0] == 0
    assert "tasks" in plan[2]


def test_a_kernel_of_all_pairs_is_refused_for_a_dataset(rwn_command: Run) -> None:
    pd.DataFrame({"x": range(2500)}).to_parquet("in.parquet")
    kernel = ("kernel=exponential", "own=true", "bandwidth=absolute")
    options = [word for each in kernel for word in ("--set", each)]
    code, _, said = rwn_command("mask-dataset", "in.parquet", "out", *options)
    assert code != 0
    assert "leave out own" in " ".join(said.split())
