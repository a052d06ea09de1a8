"""`rwn mask`: the bytes of Python for rounding, slices and scenarios, its record, its warnings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli.precision_option import step_axis, steps
from rwn_core.data.rounding import given_steps
from rwn_core.errors import SchemaError
from rwn_core.reporting import read_record
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from rwn_core.tuning.slice_presets import preset_slices
from tests.cli.conftest import Run

SETTING = Setting.of(
    "rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0}, {"age": 5, "weight": 10}
)


@pytest.fixture(scope="module")
def bodyfat() -> rwn.Microdata:
    return rwn.load_demo("bodyfat")


def write(scenario: Scenario) -> str:
    Path("s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    return "s.toml"


def expected(data: rwn.Microdata, setting: Setting = SETTING, **changes: object) -> bytes:
    data = data.with_weights(dict(setting.weights))
    options = {"precision": dict(setting.precision), "seed": 7, **changes}
    return rwn.mask(data, setting.params, **options).to_bytes("csv")


def test_a_scenario_is_masked_as_it_says(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(table=bodyfat.fingerprint, setting=SETTING, seed=7))
    arguments = ("mask", "demo:bodyfat", "out.csv", "--scenario", name)
    code, _, said = rwn_command(*arguments, "--seed", 7)
    assert code == 0
    assert "another table" not in said
    assert Path("out.csv").read_bytes() == expected(bodyfat)
    write(Scenario(table="ab" * 32, setting=SETTING))
    code, _, said = rwn_command(*arguments, "--overwrite")
    assert (code, "made for another table" in said) == (0, True)


def test_the_seed_of_a_scenario_is_not_taken_for_a_secret(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(setting=SETTING, seed=7))
    result = []
    for out in ("one.csv", "two.csv"):
        assert rwn_command("mask", "demo:bodyfat", out, "--scenario", name)[0] == 0
        result.append(Path(out).read_bytes())
    assert expected(bodyfat) not in result
    assert result[0] != result[1]


def test_options_change_parts_of_a_scenario(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(table=bodyfat.fingerprint, setting=SETTING))
    arguments = ("mask", "demo:bodyfat", "out.csv", "--scenario", name, "--seed", 7)
    changes = ("--k", 9, "--weight", "neck=3", "--round", "age=none", "--round", "hip=2")
    assert rwn_command(*arguments, *changes)[0] == 0
    weights, precision = {"age": 2.0, "neck": 3.0}, {"weight": 10, "hip": 2}
    other = Setting.of("rwn", {"epsilon": 2.0, "k": 9, "q": 0.5}, weights, precision)
    assert Path("out.csv").read_bytes() == expected(bodyfat, other)
    changes = ("--method", "nbrs2015", "--epsilon", 4, "--round", "none")
    assert rwn_command(*arguments, *changes, "--overwrite")[0] == 0
    other = Setting.of("nbrs2015", {"epsilon": 4.0}, {"age": 2.0})
    assert Path("out.csv").read_bytes() == expected(bodyfat, other)


def test_weights_of_a_scenario_are_all_its_weights(rwn_command: Run) -> None:
    """A weight of 1 that differs from the schema's is not written down, and counts."""
    frame = rwn.load_demo("bodyfat").frame[["age", "weight", "height"]]
    frame.to_csv("in.csv", index=False)
    table = rwn.read("in.csv")
    Path("schema.toml").write_text(
        table.schema.with_weights({"age": 3.0, "weight": 2.0}).to_toml(), encoding="utf-8"
    )
    table = rwn.read("in.csv", schema="schema.toml")
    table = table.with_weights({"age": 1.0, "weight": 4.0})
    setting = Setting.of("rwn", {"k": 5}).resolved(table)
    assert setting.weights == (("weight", 4.0),)
    write(Scenario(table=table.fingerprint, setting=setting))
    common = ("--schema", "schema.toml", "--scenario", "s.toml", "--seed", 1)
    assert rwn_command("mask", "in.csv", "out.csv", *common)[0] == 0
    wanted = rwn.mask(table, rwn.RWN(k=5), seed=1).to_bytes("csv")
    assert Path("out.csv").read_bytes() == wanted


def test_shares_and_steps_are_combined(bodyfat) -> None:
    some = given_steps(bodyfat, 0.25)
    assert steps(bodyfat, ["0.25", "age=none"]) == {n: s for n, s in some.items() if n != "age"}
    assert steps(bodyfat, ["none"], {"age": 5.0}) == {}
    assert steps(bodyfat, [], {"age": 5.0}) == {"age": 5.0}
    tried = step_axis(bodyfat, ["none,0.25", "age=2,4"])
    assert tried == ({"age": 2.0}, {"age": 4.0}, {**some, "age": 2.0}, {**some, "age": 4.0})


SLICES = (("age", "weight"), ("hip", "knee", "neck"))
OPTIONS = ("--slice", "weight,age", "--slice", "hip,knee, neck")


def of_slices(data: rwn.Microdata) -> bytes:
    return rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")


def test_a_slice_writes_the_bytes_of_the_groups(rwn_command: Run, bodyfat) -> None:
    command = ("mask", "demo:bodyfat", "out.csv", "--epsilon", 2, "--k", 5, "--seed", 7)
    code, _, said = rwn_command(*command, *OPTIONS, "--record", "record.toml")
    assert code == 0
    grouped = bodyfat.schema
    for name, group in zip(("age", "weight", "hip", "knee", "neck"), "aabbb", strict=True):
        grouped = grouped.replace_variable(name, group=group)
    assert Path("out.csv").read_bytes() == of_slices(bodyfat.with_schema(grouped))
    assert "A row shows age and weight of one person verbatim" in said
    kept = read_record(Path("record.toml").read_text(encoding="utf-8"))
    assert kept["setting"]["slices"] == [list(each) for each in SLICES]


def test_a_scenario_has_slices_that_an_option_replaces(rwn_command: Run, bodyfat) -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5}, slices=SLICES).resolved(bodyfat)
    Path("s.toml").write_text(Scenario(setting=setting).to_toml(), encoding="utf-8")
    command = ("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml", "--seed", 7)
    command += ("--overwrite",)
    assert rwn_command(*command)[0] == 0
    assert Path("out.csv").read_bytes() == of_slices(bodyfat.with_slices(SLICES))
    assert rwn_command(*command, "--slice", "none")[0] == 0
    assert Path("out.csv").read_bytes() == of_slices(bodyfat)


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
    assert rwn_command(*command, *more, *OPTIONS)[0] == 0
    assert pd.read_csv("out.csv")["slices"].tolist() == ["age+weight hip+knee+neck"]


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
    assert (code, "almost unmasked" in said, "no cell changed" in said) == (0, False, False)
    warned = [line for line in said.splitlines() if line.startswith("WARNING: ")]
    assert len(warned) == 1
    assert " limits are broken" in warned[0] or " limits is broken" in warned[0]


@pytest.fixture
def people() -> pd.DataFrame:
    """A table without stated roles, as `people.csv`."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 200),
            "height": rng.normal(170, 9, 200).round(1),
            "visits": rng.integers(0, 30, 200),
            "hiv": np.where(rng.random(200) < 0.3, "yes", "no"),
        }
    )
    frame.to_csv("people.csv", index=False)
    return frame


MASK = ("mask", "people.csv", "out.csv", "--epsilon", 6, "--k", 20, "--overwrite")


def test_roles_are_guessed_and_the_limits_are_said_without_a_record(
    rwn_command: Run, people: pd.DataFrame
) -> None:
    code, _, said = rwn_command(*MASK, "--seed", 7)
    assert code == 0, said
    assert "roles guessed: hiv confidential; age, height keys." in said
    assert "limits" in said
    assert "not judged" not in said
    # the guesses change no byte
    wanted = rwn.mask(rwn.Microdata.from_frame(people), rwn.RWN(epsilon=6.0, k=20), seed=7)
    assert Path("out.csv").read_bytes() == wanted.to_bytes("csv")
    code, _, said = rwn_command(*MASK, "--confidential", "visits", "--key", "age")
    assert code == 0, said
    assert "roles guessed" not in said


def test_a_sweep_guesses_the_roles_of_rwn_mask_and_names_them(
    rwn_command: Run, people: pd.DataFrame
) -> None:
    """Finding V4: a sweep judged a table without roles, `rwn mask` one with guessed roles."""
    sweep = ("sweep", "people.csv", "--epsilon", "6", "--k", "20", "--releases", 2)
    more = ("--limit", "attribute_gain=0.9", "--workers", 1, "-o", "s.csv", "--overwrite")
    code, _, said = rwn_command(*sweep, *more)
    assert code == 0, said
    assert "roles guessed: hiv confidential; age, height keys." in said
    assert "not judged" not in said
    code, _, said = rwn_command(*sweep, *more, "--confidential", "visits", "--key", "age")
    assert (code, "roles guessed" in said) == (0, False)


def test_what_is_not_judged_is_said_with_the_option_that_helps(
    rwn_command: Run, people: pd.DataFrame
) -> None:
    people.drop(columns="hiv").to_csv("people.csv", index=False)
    for more in ((), ("--record", "record.toml")):
        code, _, said = rwn_command(*MASK, *more)
        assert code == 0, said
        words = "not judged: no variable is confidential. Say which is (--confidential NAME)."
        assert words in said
        assert "keeps the policy" not in said
    # nothing else is wrong: it is a warning all the same
    drawn = np.random.default_rng(1).normal(50, 10, (300, 3)).round(1)
    pd.DataFrame(drawn, columns=["x", "y", "z"]).to_csv("people.csv", index=False)
    code, _, said = rwn_command(*MASK)
    assert code == 0, said
    assert f"WARNING: Keeps 3 of 4 limits; attribute gain {words}" in said
    kept = read_record(Path("record.toml").read_text(encoding="utf-8"))["verdict"]
    assert kept["not_judged"]["attribute_gain"] == "No variable is confidential. Say which is."


def test_roles_and_variables_left_as_they_are_are_the_same_in_python(
    rwn_command: Run, people: pd.DataFrame
) -> None:
    """Findings V4, R7: `rwn.mask` had no word for what `rwn mask` takes as options."""
    stated = {"confidential": ["hiv"], "key": "age", "as_is": ["visits"]}
    release = rwn.mask(people, rwn.RWN(epsilon=6.0, k=20), seed=7, **stated)
    options = ("--confidential", "hiv", "--key", "age", "--as-is", "visits")
    code, _, said = rwn_command(*MASK, "--seed", 7, *options)
    assert code == 0, said
    assert Path("out.csv").read_bytes() == release.to_bytes("csv")
    assert list(release.masked.frame["visits"]) == list(people["visits"])
    found = {v.name: (str(v.role), v.masked) for v in release.original.schema.variables}
    assert found["hiv"] == ("confidential", True)
    assert found["age"] == ("key", True)
    assert found["visits"] == ("other", False)
    for one in stated:
        code, _, said = rwn_command(*MASK, f"--{one.replace('_', '-')}", "nobody")
        with pytest.raises(SchemaError) as refusal:
            rwn.mask(people, rwn.RWN(epsilon=6.0, k=20), seed=7, **{one: ["nobody"]})
        assert (code, said.strip().endswith(str(refusal.value))) == (2, True)


def test_a_variable_stays_as_it_is_where_that_is_stated(
    rwn_command: Run, people: pd.DataFrame
) -> None:
    code, _, said = rwn_command(*MASK, "--as-is", "hiv", "--record", "record.toml")
    assert code == 0, said
    assert "not masked, as stated: hiv" in said
    masked = pd.read_csv("out.csv")
    assert sorted(masked["hiv"]) == sorted(people["hiv"])
    source = read_record(Path("record.toml").read_text(encoding="utf-8"))["source"]
    assert source["as_is"] == ["hiv"]
    assert source["roles"] == {"age": "key", "height": "key", "hiv": "confidential"}
    refused = (
        ("--as-is", "nobody"),
        ("--drop", "hiv", "--confidential", "hiv"),
    )
    for more in refused:
        assert rwn_command(*MASK, *more)[0] != 0


def test_a_release_with_stated_roles_is_drawn_again(rwn_command: Run, people: pd.DataFrame) -> None:
    more = ("--as-is", "hiv", "--record", "record.toml", "--key-file", "secret.key")
    assert rwn_command(*MASK, *more)[0] == 0
    code, _, said = rwn_command("reproduce", "record.toml", "--key", "secret.key")
    assert (code, "differ" in said) == (0, False)
