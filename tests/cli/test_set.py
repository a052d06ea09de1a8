"""`rwn mask` with every parameter of every method, soft kernels and large tables."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli.main import run
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

VALUES = {
    "epsilon": 2.0,
    "k": 5,
    "outside_household": False,
    "kernel": "exponential",
    "width": 0.5,
    "bandwidth": "fixed",
    "bandwidth_k": 5,
    "cap": 0.2,
    "own": True,
    "balance": 0.5,
    "q": 0.75,
    "scale": "range",
    "encoding": "matching",
    "neighbors": "partition",
    "m": 20,
    "u": 3,
    "fresh": False,
    "weights": "discrete",
    "radius_variable": "age",
    "record_selection": "bernoulli",
    "size": 0.5,
    "shape": "laplace",
    "reflected": True,
    "others": "keep",
    "form": "plain",
    "draw_from": "permute",
    "top": 0.05,
    "bottom": 0.1,
    "classes": 5,
    "left_out": 0.25,
    "leaf": 10,
    "smoothing": 0.5,
    "visit": "neck,age",
    "anew": 0.5,
}
"""A value of each parameter that differs from its default where it can."""

OWN = {
    "data_shuffling": {"variables": "siri,neck"},
    "rank_swapping": {"p": 0.1, "r0": 0.9, "k0": 0.05, "form": "mu_argus"},
    "random_swapping": {"share": 0.5, "pairs": "successive", "rarer_than": 3, "variables": "age"},
    "soft_rwn": {
        "chain": True,
        "later": 25,
        "later_balance": False,
        "order": "siri,neck",
        "q": 1.0,
        "tie": None,
        "tie_factors": None,
    },
    "record_swapping": {"share": 0.25, "within": "age", "variables": "siri,neck"},
    "pram": {
        "change": 0.5,
        "spread": "margins",
        "invariant": False,
        "alpha": 0.5,
        "variables": "age",
        "within": "height",
        "matrices": None,
    },
}
"""The same of methods whose parameters exclude each other or have the names of others."""


def written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("method", rwn.METHODS)
def test_every_parameter_of_every_method_can_be_set(method, rwn_command, tmp_path) -> None:
    kind = rwn.METHODS[method]
    values = {**VALUES, **OWN.get(method, {})}
    names = [field.name for field in fields(kind) if values[field.name] is not None]
    chosen = {name: values[name] for name in names}
    options = [part for name, x in chosen.items() for part in ("--set", f"{name}={written(x)}")]
    code, _, said = rwn_command(
        *("mask", "demo:bodyfat", "out.csv", "--method", method, "--seed", 7, *options)
    )
    assert code == 0, said
    release = rwn.mask(rwn.load_demo("bodyfat"), kind(**chosen), seed=7)
    assert (tmp_path / "out.csv").read_bytes() == release.to_bytes("csv")


PARAMS = rwn.SoftRWN(kernel="gaussian", width=0.8, balance=1.0)
OPTIONS = ("--kernel", "gaussian", "--width", 0.8, "--balance", 1)


def test_command_python_set_and_scenario_write_the_same_bytes(rwn_command: Run) -> None:
    bodyfat = rwn.load_demo("bodyfat")
    rwn.mask(bodyfat, PARAMS, seed=7).publish("python.csv")
    scenario = Scenario(name="Soft", table=bodyfat.fingerprint, setting=Setting(params=PARAMS))
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    assert Scenario.from_toml(Path("s.toml").read_text("utf-8")).setting.method == "soft_rwn"
    by_set = ("--set", "kernel=gaussian", "--set", "width=0.8", "--set", "balance=1")
    by_name = ("--method", "soft_rwn", "--width", 0.8, "--balance", 1)
    now = Path("s.toml").read_text("utf-8")
    former = now.replace('"soft_rwn"', '"rwn"').replace("width", 'kernel = "gaussian"\nwidth')
    Path("former.toml").write_text(former, encoding="utf-8")
    ways = {"own": OPTIONS, "set": by_set, "scenario": ("--scenario", "s.toml"),
            "method": by_name, "former": ("--scenario", "former.toml")}  # fmt: skip
    for name, options in ways.items():
        code, _, said = rwn_command("mask", "demo:bodyfat", f"{name}.csv", *options, "--seed", 7)
        assert code == 0, said
        assert Path(f"{name}.csv").read_bytes() == Path("python.csv").read_bytes()


def test_a_dataset_is_masked_with_a_soft_kernel(rwn_command: Run) -> None:
    rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]].to_parquet("in.parquet")
    options = ("--set", "kernel=gaussian", "--set", "width=0.7", "--set", "balance=1")
    more = ("--record", "record.toml", "--seed", 3)
    code, _, said = rwn_command("mask-dataset", "in.parquet", "out", *options, *more)
    assert code == 0, said
    data = rwn.Microdata.from_frame(pd.read_parquet("in.parquet"))
    params = rwn.SoftRWN(kernel="gaussian", width=0.7, balance=1.0)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=3).publish("memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet("out"), wanted)
    record = Path("record.toml").read_text(encoding="utf-8")
    assert 'kernel = "gaussian"' in record
    assert tomllib.loads(record)["kernel"] == {"bandwidth_k": 10, "cap": 0.1, "listed": 240}
    plan = rwn_command("mask-dataset", "in.parquet", "other", *options, "--plan")
    assert plan[0] == 0
    assert "tasks" in plan[2]


MASK = ["mask", "demo:bodyfat", "--k", "5", "--epsilon", "2", "--seed", "7"]


def masked(tmp_path, *options: str) -> tuple[int, bytes]:
    target = tmp_path / "out.csv"
    code = run([*MASK[:2], str(target), *MASK[2:], "--overwrite", *options])
    return code, target.read_bytes() if target.exists() else b""


def test_what_candidates_and_weights_cost_is_said(tmp_path, capsys):
    for options in ("neighbors=sample m=50 fresh=true", "neighbors=partition u=3 m=10"):
        assert masked(tmp_path, *(w for each in options.split() for w in ("--set", each)))[0] == 0
        said = capsys.readouterr().err
        for words in ("median radius", "fall back to k", "exact members kept"):
            assert words in said
    assert masked(tmp_path, "--set", "weights=discrete")[0] == 0
    assert "shares of the squared distance: " in capsys.readouterr().err


def test_threads_change_nothing_wherever_they_are_set(tmp_path, monkeypatch):
    one = masked(tmp_path, "--threads", "1")
    assert one == masked(tmp_path, "--threads", "2")
    monkeypatch.setenv("RWN_THREADS", "3")
    assert one == masked(tmp_path)
    monkeypatch.setenv("RWN_THREADS", "none")
    assert masked(tmp_path)[0] == 2
