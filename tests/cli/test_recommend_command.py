"""`rwn mask` without parameters, and `rwn recommend`."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli.recommend import command
from rwn_core.data.variable import Role
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

SMALL = ["siri", "age", "weight", "height", "abdomen", "neck"]


@pytest.fixture
def small(rwn_command: Run) -> str:
    """A table for which every method is tried in two seconds."""
    rwn.load_demo("bodyfat").frame[SMALL].to_csv("small.csv", index=False)
    return "small.csv"


def test_without_parameters_the_recommended_setting_is_used_and_said(
    rwn_command: Run, small: str
) -> None:
    roles = ("--key", "age", "--confidential", "siri")
    code, _, said = rwn_command("mask", small, "a.csv", "--seed", 3, *roles)
    assert code == 0, said
    assert "recommended: 6 numbers, 1 key: of " in said
    assert "this one keeps 4 limits on all 241 records" in said
    (line,) = [line for line in said.splitlines() if line.startswith("the same as: ")]
    words = shlex.split(line.removeprefix("the same as: rwn "))
    words[words.index("a.csv")] = "b.csv"
    assert rwn_command(*words, "--seed", 3)[0] == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "WARNING: this setting is not known" not in said


@pytest.fixture
def described(rwn_command: Run) -> Path:
    """A table with a schema that weights, and a secret that only its name tells."""
    rng = np.random.default_rng(3)
    size = rng.normal(170, 9, 260).round()
    frame = pd.DataFrame({"name": [f"N{i}" for i in range(260)], "height": size})
    frame["weight"] = (size - 100 + rng.normal(0, 6, 260)).round()
    frame["age"], frame["sex"] = rng.integers(18, 90, 260), rng.choice(["f", "m"], 260)
    frame["income"] = (size * 20 + rng.normal(0, 90, 260)).round()
    frame.to_csv("people.csv", index=False)
    path = Path("people.toml")
    code, _, said = rwn_command("describe", "people.csv", "--drop", "name", "-o", path)
    assert code == 0, said
    schema = rwn.Schema.from_toml(path.read_text("utf-8"))
    schema = schema.with_weights({"height": 3.0})
    for name in ("age", "sex", "income"):
        schema = schema.replace_variable(name, role=Role.OTHER)
    path.write_text(schema.to_toml(), "utf-8")
    return path


@pytest.mark.parametrize("given", [("--only", "height,weight,sex,income", "--as-is", "sex"),
                                   ("--key", "weight", "--order", "original")])  # fmt: skip
def test_the_line_alone_gives_the_bytes_and_the_verdict(
    rwn_command: Run, described: Path, given: tuple[str, ...]
) -> None:
    """Schema, options, guessed roles and weights that the setting does not have are in the line."""
    command = ("mask", "people.csv", "a.csv", "--schema", described, *given)
    code, _, said = rwn_command(*command, "--seed", 3)
    assert code == 0, said
    (line,) = [line for line in said.splitlines() if line.startswith("the same as: ")]
    assert "--confidential income" in line
    words = shlex.split(line.removeprefix("the same as: rwn "))
    words[words.index("a.csv")] = "b.csv"
    code, _, again = rwn_command(*words, "--seed", 3)
    assert code == 0, again
    assert "roles guessed" not in again
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    verdicts = [[each for each in text.splitlines() if "limit" in each] for text in (said, again)]
    assert verdicts[0][-1] == verdicts[1][-1]


def test_a_large_table_is_told_which_limits_no_release_of_it_can_be_judged_by(
    rwn_command: Run,
) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.normal(size=2_100).round(3) for name in ("u", "v", "w")})
    frame.to_csv("large.csv", index=False)
    code, _, said = rwn_command("mask", "large.csv", "o.csv", "--k", 5, "--seed", 1)
    assert code == 0, said
    assert (
        "No limit was read: on a table of this size it takes long. Attribute gain not judged: no "
        "variable is confidential. Say which is (--confidential NAME). --record FILE.toml reads 3 "
        "limits." in said
    )
    # the planted other case: with a confidential variable all of them can be read
    code, _, said = rwn_command(
        "mask", "large.csv", "o.csv", "--k", 5, "--seed", 1, "--overwrite", "--confidential", "u"
    )
    assert "takes long. --record FILE.toml reads 4 limits." in said


def test_the_command_of_a_setting_of_rwn_masks_as_the_setting_does(rwn_command: Run) -> None:
    slices = [["age", "weight"], ["hip", "knee"]]
    data, options = rwn.load_demo("bodyfat"), {"kernel": "gaussian", "width": 1.5, "scale": "range"}
    setting = Setting.of("rwn", options, slices=slices)
    words = shlex.split(command(setting, "demo:bodyfat", Path("out.csv")))
    code, _, said = rwn_command(*words[1:], "--seed", 3)
    assert code == 0, said
    release = rwn.mask(setting.applied_to(data), setting.params, seed=3)
    assert Path("out.csv").read_bytes() == release.to_bytes("csv")


def test_a_table_without_a_setting_that_keeps_the_policy_is_warned_of(rwn_command: Run) -> None:
    frame = pd.DataFrame(
        {f"v{i}": [(7.0 * i + 3) * row % 31 for row in range(15)] for i in range(3)}
    )
    frame.to_csv("t.csv", index=False)
    code, _, said = rwn_command("mask", "t.csv", "o.csv", "--seed", 1)
    assert code == 0, said
    assert "WARNING: this setting is not known to keep the usual policy" in said


def test_the_recommendation_is_printed_as_a_command(rwn_command: Run, small: str) -> None:
    """The line masks as it stands, with what the table was told; unfit methods have a reason."""
    code, out, _ = rwn_command("recommend", small, "--drop", "neck")
    assert code == 0
    first, why, *_ = out.splitlines()
    assert first.startswith("recommended: rwn mask small.csv OUT.csv --drop neck ")
    assert why.startswith("why: 5 numbers")
    assert " on all 241 records, 6 releases" in why
    words = shlex.split(first.removeprefix("recommended: rwn "))
    code, _, said = rwn_command(*words, "--seed", 1)
    assert code == 0, said
    assert "neck" not in pd.read_csv("OUT.csv")
    assert "not rank_swapping: It has no exact law, so that worst-case linkage" in out


def test_a_method_alone_takes_its_own_start_and_says_it(rwn_command: Run, small: str) -> None:
    code, _, said = rwn_command("mask", small, "a.csv", "--method", "microaggregation", "--seed", 3)
    assert code == 0, said
    (line,) = [line for line in said.splitlines() if line.startswith("its own start: ")]
    assert "releases of all 241 records" in line
