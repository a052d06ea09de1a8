"""The command mask: options, what it says, what it never writes over."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pyreadstat
import pytest

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.main import app
from rwn_cli.options import steps
from rwn_cli.sweep import _precisions
from rwn_core.data.rounding import given_steps
from rwn_core.errors import SchemaError
from rwn_core.parallel import jit
from rwn_core.parallel.kernel_cache import compiling, on_compiling
from rwn_core.reporting import read_record
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting
from rwn_core.tuning.slice_presets import preset_slices
from tests.cli.conftest import Run
from tests.core.io.test_excel_sheets import ugly

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


@pytest.mark.usefixtures("unjudged")
def test_a_scenario_is_masked_as_it_says(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(table=bodyfat.fingerprint, setting=SETTING, seed=7))
    arguments = ("mask", "demo:bodyfat", "out.csv", "--scenario", name)
    said = rwn_command.done(*arguments, "--seed", 7)
    assert "another table" not in said
    assert Path("out.csv").read_bytes() == expected(bodyfat)
    write(Scenario(table="ab" * 32, setting=SETTING))
    assert "made for another table" in rwn_command.done(*arguments, "--overwrite")


@pytest.mark.usefixtures("unjudged")
def test_the_seed_of_a_scenario_is_not_taken_for_a_secret(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(setting=SETTING, seed=7))
    result = []
    for out in ("one.csv", "two.csv"):
        rwn_command.done("mask", "demo:bodyfat", out, "--scenario", name)
        result.append(Path(out).read_bytes())
    assert expected(bodyfat) not in result
    assert result[0] != result[1]


@pytest.mark.usefixtures("unjudged")
def test_options_change_parts_of_a_scenario(rwn_command: Run, bodyfat) -> None:
    name = write(Scenario(table=bodyfat.fingerprint, setting=SETTING))
    arguments = ("mask", "demo:bodyfat", "out.csv", "--scenario", name, "--seed", 7)
    changes = ("--k", 9, "--weight", "neck=3", "--round", "age=none", "--round", "hip=2")
    rwn_command.done(*arguments, *changes)
    weights, precision = {"age": 2.0, "neck": 3.0}, {"weight": 10, "hip": 2}
    other = Setting.of("rwn", {"epsilon": 2.0, "k": 9, "q": 0.5}, weights, precision)
    assert Path("out.csv").read_bytes() == expected(bodyfat, other)
    changes = ("--method", "nbrs2015", "--epsilon", 4, "--round", "none")
    rwn_command.done(*arguments, *changes, "--overwrite")
    other = Setting.of("nbrs2015", {"epsilon": 4.0}, {"age": 2.0})
    assert Path("out.csv").read_bytes() == expected(bodyfat, other)


@pytest.mark.usefixtures("unjudged")
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
    rwn_command.done("mask", "in.csv", "out.csv", *common)
    wanted = rwn.mask(table, rwn.RWN(k=5), seed=1).to_bytes("csv")
    assert Path("out.csv").read_bytes() == wanted


def test_shares_and_steps_are_combined(bodyfat) -> None:
    some = given_steps(bodyfat, 0.25)
    assert steps(bodyfat, ["0.25", "age=none"]) == {n: s for n, s in some.items() if n != "age"}
    assert steps(bodyfat, ["none"], {"age": 5.0}) == {}
    assert steps(bodyfat, [], {"age": 5.0}) == {"age": 5.0}
    tried = _precisions(bodyfat, ["none,0.25", "age=2,4"])
    assert tried == ({"age": 2.0}, {"age": 4.0}, {**some, "age": 2.0}, {**some, "age": 4.0})


SLICES = (("age", "weight"), ("hip", "knee", "neck"))
OPTIONS = ("--slice", "weight,age", "--slice", "hip,knee, neck")


def of_slices(data: rwn.Microdata) -> bytes:
    return rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")


def test_a_slice_writes_the_bytes_of_the_groups(rwn_command: Run, bodyfat) -> None:
    command = ("mask", "demo:bodyfat", "out.csv", "--epsilon", 2, "--k", 5, "--seed", 7)
    said = rwn_command.done(*command, *OPTIONS, "--record", "record.toml")
    grouped = bodyfat.schema
    for name, group in zip(("age", "weight", "hip", "knee", "neck"), "aabbb", strict=True):
        grouped = grouped.replace_variable(name, group=group)
    assert Path("out.csv").read_bytes() == of_slices(bodyfat.with_schema(grouped))
    assert "A row shows age and weight of one person verbatim" in said
    kept = read_record(Path("record.toml").read_text("utf-8"))
    assert kept["setting"]["slices"] == [list(each) for each in SLICES]


@pytest.mark.usefixtures("unjudged")
def test_a_scenario_has_slices_that_an_option_replaces(rwn_command: Run, bodyfat) -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5}, slices=SLICES).resolved(bodyfat)
    Path("s.toml").write_text(Scenario(setting=setting).to_toml(), encoding="utf-8")
    command = ("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml", "--seed", 7)
    command += ("--overwrite",)
    rwn_command.done(*command)
    assert Path("out.csv").read_bytes() == of_slices(bodyfat.with_slices(SLICES))
    rwn_command.done(*command, "--slice", "none")
    assert Path("out.csv").read_bytes() == of_slices(bodyfat)


def test_a_sweep_tries_presets(rwn_command: Run, bodyfat) -> None:
    command = ("sweep", "demo:bodyfat", "--epsilon", "3", "--k", "5", "--releases", 2)
    more = ("--measure", "correlation", "--workers", 1, "-o", "out.csv", "--overwrite")
    assert "2 settings" in rwn_command.done(*command, *more, "--slices", "alone, keys_together")
    frame = pd.read_csv("out.csv", keep_default_na=False)
    slices = preset_slices(bodyfat, "keys_together")
    assert list(frame["slices"]) == ["", " ".join("+".join(names) for names in slices)]
    assert frame["median"][1] < frame["median"][0]
    rwn_command.done(*command, *more, *OPTIONS)
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
    said = rwn_command.done("mask", "people.csv", "out.csv", "--k", 5, "--seed", 1)
    assert "WARNING: " in said
    assert "no cell changed: the file shows only true values" in said
    assert "sex" in said.partition("WARNING: ")[2]
    assert "all" not in said.partition("WARNING: ")[2].partition(" masked at")[0].split(", ")
    leaves = ("mask", "people.csv", "leaves.csv", "--k", 5)
    said = rwn_command.refused(4, *leaves, "--weight", "sex=99")
    assert "no cell changed" in said
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


def test_roles_are_guessed_and_the_limits_are_said_without_a_record(rwn_command, people) -> None:
    said = rwn_command.done(*MASK, "--seed", 7)
    assert "roles guessed: hiv confidential; age, height keys." in said
    assert "limits" in said
    assert "not judged" not in said
    # the guesses change no byte
    wanted = rwn.mask(rwn.Microdata.from_frame(people), rwn.RWN(epsilon=6.0, k=20), seed=7)
    assert Path("out.csv").read_bytes() == wanted.to_bytes("csv")
    said = rwn_command.done(*MASK, "--confidential", "visits", "--key", "age")
    assert "roles guessed" not in said


def test_a_sweep_guesses_the_roles_of_rwn_mask_and_names_them(rwn_command, people) -> None:
    """Finding V4: a sweep judged a table without roles, `rwn mask` one with guessed roles."""
    sweep = ("sweep", "people.csv", "--epsilon", "6", "--k", "20", "--releases", 2)
    more = ("--limit", "attribute_gain=0.9", "--workers", 1, "-o", "s.csv", "--overwrite")
    said = rwn_command.done(*sweep, *more)
    assert "roles guessed: hiv confidential; age, height keys." in said
    assert "not judged" not in said
    said = rwn_command.done(*sweep, *more, "--confidential", "visits", "--key", "age")
    assert "roles guessed" not in said


def test_what_is_not_judged_is_said_with_the_option_that_helps(rwn_command, people) -> None:
    people.drop(columns="hiv").to_csv("people.csv", index=False)
    for more in ((), ("--record", "record.toml")):
        said = rwn_command.done(*MASK, *more)
        words = "not judged: no variable is confidential. Say which is (--confidential NAME)."
        assert words in said
        assert "keeps the policy" not in said
    # nothing else is wrong: it is a warning all the same
    drawn = np.random.default_rng(1).normal(50, 10, (300, 3)).round(1)
    pd.DataFrame(drawn, columns=["x", "y", "z"]).to_csv("people.csv", index=False)
    assert f"WARNING: Keeps 3 of 4 limits; attribute gain {words}" in rwn_command.done(*MASK)
    kept = read_record(Path("record.toml").read_text("utf-8"))["verdict"]
    assert kept["not_judged"]["attribute_gain"] == "No variable is confidential. Say which is."


@pytest.mark.usefixtures("unjudged")
def test_roles_and_variables_left_as_they_are_are_the_same_in_python(rwn_command, people) -> None:
    """Findings V4, R7: `rwn.mask` had no word for what `rwn mask` takes as options."""
    stated = {"confidential": ["hiv"], "key": "age", "as_is": ["visits"]}
    release = rwn.mask(people, rwn.RWN(epsilon=6.0, k=20), seed=7, **stated)
    options = ("--confidential", "hiv", "--key", "age", "--as-is", "visits")
    rwn_command.done(*MASK, "--seed", 7, *options)
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


def test_a_variable_stays_as_it_is_where_that_is_stated(rwn_command, people) -> None:
    said = rwn_command.done(*MASK, "--as-is", "hiv", "--record", "record.toml")
    assert "not masked, as stated: hiv" in said
    masked = pd.read_csv("out.csv")
    assert sorted(masked["hiv"]) == sorted(people["hiv"])
    source = read_record(Path("record.toml").read_text("utf-8"))["source"]
    assert source["as_is"] == ["hiv"]
    assert source["roles"] == {"age": "key", "height": "key", "hiv": "confidential"}
    refused = (("--as-is", "nobody"), ("--drop", "hiv", "--confidential", "hiv"))
    for more in refused:
        assert rwn_command(*MASK, *more)[0] != 0


def test_a_release_with_stated_roles_is_drawn_again(rwn_command: Run, people: pd.DataFrame) -> None:
    more = ("--as-is", "hiv", "--record", "record.toml", "--key-file", "secret.key")
    rwn_command.done(*MASK, *more)
    said = rwn_command.done("reproduce", "record.toml", "--key", "secret.key")
    assert "differ" not in said


VALUES = {
    "epsilon": 2.0, "k": 5, "outside_household": False, "kernel": "exponential", "width": 0.5,
    "bandwidth": "fixed", "bandwidth_k": 5, "cap": 0.2, "own": True, "balance": 0.5, "q": 0.75,
    "scale": "range", "encoding": "matching", "neighbors": "partition", "m": 20, "u": 3,
    "fresh": False, "weights": "discrete", "radius_variable": "age",
    "record_selection": "bernoulli", "size": 0.5, "shape": "laplace", "reflected": True,
    "others": "keep", "form": "plain", "draw_from": "permute", "top": 0.05, "bottom": 0.1,
    "classes": 5, "left_out": 0.25, "leaf": 10, "smoothing": 0.5, "visit": "neck,age", "anew": 0.5,
}  # fmt: skip

"""A value of each parameter that differs from its default where it can."""

OWN = {
    "data_shuffling": {"variables": "siri,neck"},
    "rank_swapping": {"p": 0.1, "r0": 0.9, "k0": 0.05, "form": "mu_argus"},
    "random_swapping": {"share": 0.5, "pairs": "successive", "variables": "age"},
    "soft_rwn": {
        "chain": True,
        "later": 25,
        "later_balance": False,
        "mixed": True,
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
@pytest.mark.usefixtures("unjudged")
def test_every_parameter_of_every_method_can_be_set(method, rwn_command) -> None:
    kind = rwn.METHODS[method]
    values = {**VALUES, **OWN.get(method, {})}
    names = [field.name for field in fields(kind) if values[field.name] is not None]
    chosen = {name: values[name] for name in names}
    options = [part for name, x in chosen.items() for part in ("--set", f"{name}={written(x)}")]
    data = rwn.load_demo("bodyfat").take(range(90))
    data.frame.to_csv("in.csv", index=False)
    Path("in.toml").write_text(data.schema.to_toml(), encoding="utf-8")
    command = ("mask", "in.csv", "out.csv", "--schema", "in.toml", "--method", method)
    rwn_command.done(*command, "--seed", 7, *options)
    release = rwn.mask(data, kind(**chosen), seed=7)
    assert Path("out.csv").read_bytes() == release.to_bytes("csv")


PARAMS = rwn.SoftRWN(kernel="gaussian", width=0.8, balance=1.0)
OPTIONS_OF_SET = ("--kernel", "gaussian", "--width", 0.8, "--balance", 1)


@pytest.mark.usefixtures("unjudged")
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
    ways = {"own": OPTIONS_OF_SET, "set": by_set, "scenario": ("--scenario", "s.toml"),
            "method": by_name, "former": ("--scenario", "former.toml")}  # fmt: skip
    for name, given in ways.items():
        rwn_command.done("mask", "demo:bodyfat", f"{name}.csv", *given, "--seed", 7)
        assert Path(f"{name}.csv").read_bytes() == Path("python.csv").read_bytes()


def test_a_dataset_is_masked_with_a_soft_kernel(rwn_command: Run) -> None:
    rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]].to_parquet("in.parquet")
    given = ("--workers", 1, "--set", "kernel=gaussian", "--set", "width=0.7", "--set", "balance=1")
    more = ("--record", "record.toml", "--seed", 3)
    rwn_command.done("mask-dataset", "in.parquet", "out", *given, *more)
    data = rwn.Microdata.from_frame(pd.read_parquet("in.parquet"))
    params = rwn.SoftRWN(kernel="gaussian", width=0.7, balance=1.0)
    wanted = pd.read_parquet(rwn.mask(data, params, seed=3).publish("memory.parquet"))
    pd.testing.assert_frame_equal(pd.read_parquet("out"), wanted)
    record = Path("record.toml").read_text("utf-8")
    assert 'kernel = "gaussian"' in record
    assert tomllib.loads(record)["kernel"] == {"bandwidth_k": 10, "cap": 0.1, "listed": 240}
    plan = rwn_command("mask-dataset", "in.parquet", "other", *given, "--plan")
    assert plan[0] == 0
    assert "tasks" in plan[2]


MASK_OF_SET = ("mask", "demo:bodyfat", "out.csv", "--k", 5, "--epsilon", 2, "--seed", 7)
MASK_OF_SET += ("--overwrite",)


@pytest.mark.usefixtures("unjudged")
def test_what_candidates_and_weights_cost_is_said(rwn_command: Run) -> None:
    for given in ("neighbors=sample m=50 fresh=true", "neighbors=partition u=3 m=10"):
        options = [word for each in given.split() for word in ("--set", each)]
        said = rwn_command.done(*MASK_OF_SET, *options)
        for words in ("median radius", "fall back to k", "exact members kept"):
            assert words in said
    said = rwn_command.done(*MASK_OF_SET, "--set", "weights=discrete")
    assert "shares of the squared distance: " in said


@pytest.mark.usefixtures("unjudged")
def test_threads_change_nothing_wherever_they_are_set(rwn_command: Run, monkeypatch) -> None:
    wanted = rwn.mask(rwn.load_demo("bodyfat"), rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")
    for stated, more in (("1", ("--threads", 1)), ("1", ("--threads", 2)), ("3", ())):
        monkeypatch.setenv("RWN_THREADS", stated)
        rwn_command.done(*MASK_OF_SET, *more)
        assert Path("out.csv").read_bytes() == wanted
    monkeypatch.setenv("RWN_THREADS", "none")
    rwn_command.refused(2, *MASK_OF_SET)


@pytest.mark.usefixtures("unjudged")
def test_decimal_commas_come_back_and_are_known_again(rwn_command) -> None:
    lines = [f"{20 + i},5;{i % 7};{'ab'[i % 2]}" for i in range(60)]
    content = "\n".join(["x;y;g", *lines, ""])
    Path("t.csv").write_text(content, encoding="cp1252")
    layout = ("--file", "separator=;", "--file", "decimal=,", "--file", "encoding=cp1252")
    Path("s.toml").write_text(
        '[file]\nseparator = ";"\ndecimal = ","\nencoding = "cp1252"\n', encoding="utf-8"
    )
    kept = ("--epsilon", 1, "--k", 5, "--q", 0, "--order", "original")
    for told in (layout, ("--schema", "s.toml")):
        said = rwn_command.done("mask", "t.csv", "o.csv", "--overwrite", *kept, *told)
        assert Path("o.csv").read_text("utf-8") == content
        assert "note: CSV does not keep the encoding of the file." in said
    Path("plain.csv").write_text(content.replace(",", ".").replace(";", ","))
    for masked in ("o.csv", "plain.csv"):  # a release, and what another program made of it
        output = rwn_command.shown("audit", "t.csv", masked, "--schema", "s.toml", "--json")
        assert '"variables": 3' in output
    secret = ("--key-file", "key", "--record", "r.toml", "--overwrite")
    masked = ("mask", "t.csv", "o.csv", "--k", 5, "--weight", "g=0")  # else no g would change
    rwn_command.done(*masked, *layout, *secret)
    rwn_command.done("reproduce", "r.toml", "--key", "key", "--out", "again.csv")
    assert Path("again.csv").read_bytes() == Path("o.csv").read_bytes()
    assert b",5;" in Path("o.csv").read_bytes()
    rwn_command.done("report", "r.toml", "--public", "-o", "card.toml")
    rwn_command.done("verify", "o.csv", "card.toml")


@pytest.mark.usefixtures("unjudged")
def test_the_options_of_an_ugly_workbook_are_named_and_work(rwn_command) -> None:
    Path("t.xlsx").write_bytes(ugly())
    mask = ("mask", "t.xlsx", "o.xlsx", "--epsilon", 1, "--k", 5, "--q", 0)
    mask += ("--keep", "born", "--keep", "score")
    said = rwn_command.refused(3, *mask)
    words = (
        '--file decimal="," --file above=4 --file below=1 --file dates="DD.MM.YYYY" '
        '--file missing="k.A." --file fill=true'
    )
    assert words in said
    options = [word for word in shlex.split(words) if word != "--file"]
    given = [word for option in options for word in ("--file", option)]
    rwn_command.done(*mask, *given)
    assert len(pd.read_excel("o.xlsx", engine="calamine")) == 24


HINT = 'file = { encoding = "cp1252", separator = ";", decimal = "," }'


@pytest.fixture
def survey(rwn_command: Run) -> str:
    """A table in the layout of a spreadsheet of the west of Europe."""
    towns = ("K\u00f6ln", "Ulm", "Bonn")
    lines = [f"{towns[i % 3]};{i * 7 % 60},5;{i * 3 % 41}" for i in range(60)]
    text = "\n".join(["town;income;age", *lines]) + "\n"
    Path("t.csv").write_bytes(text.encode("cp1252"))
    return "t.csv"


@pytest.mark.usefixtures("unjudged")
def test_the_refusal_comes_first_and_the_options_after_it(rwn_command: Run, survey: str) -> None:
    code, _, said = rwn_command("mask", survey, "out.csv", "--k", 3)
    refusal, note = said.splitlines()
    assert code == 3
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert "say its encoding, or save" in refusal
    assert note.startswith("note: the file seems to be laid out in another way; give --file ")
    options = note.partition("give ")[2].replace('"', "").split()
    rwn_command.done("mask", survey, "out.csv", "--k", 45, *options)


def test_without_the_option_it_is_the_schema_that_says_so(rwn_command: Run, survey: str) -> None:
    said = rwn_command.refused(3, "seek", survey)
    assert "--file" not in said
    alias, refusal, note = said.splitlines()
    assert alias.startswith("note: rwn find is the name")
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert note.endswith(f"(--schema FILE.toml) with the line {HINT}")


SEX = {1: "male", 2: "female", 9: "refused"}


@pytest.fixture
def labelled(tmp_path):
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


@pytest.mark.usefixtures("unjudged")
def test_a_release_in_any_format_reads_the_same(labelled, rwn_command) -> None:
    tables = {}
    for ending in ("sav", "csv", "rds"):
        line = f"mask s.sav o.{ending} --k 3 --order original --seed 1"
        said = rwn_command.done(*line.split())
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


RECORD = ("mask", "demo:bodyfat", "release.csv", "--k", "5", "--record", "record.toml")
KEYED = (*RECORD, "--key-file", "sealed.key")
SWEPT = ("--k", "60", "--q", "1", "--releases", "1", "--workers", "1")
SEARCH = ("--limit", "distance_linkage=0.5", "--workers", "1")

COMMANDS = {
    "mask": ("mask", "demo:bodyfat", "out.csv", "--k", "5"),
    "record": ("mask", "demo:bodyfat", "other.csv", "--k", "5", "--record", "out.toml"),
    "demo": ("demo", "bodyfat", "--out", "out.csv"),
    "sweep": ("sweep", "demo:bodyfat", *SWEPT, "--measure", "marginals", "-o", "out.csv"),
    "find": ("find", "demo:bodyfat", "--strength", *SEARCH, "-o", "out.toml"),
    "report": ("report", "record.toml", "-o", "out.html"),
    "reproduce": ("reproduce", "record.toml", "--key", "sealed.key", "-o", "out.csv"),
}

OUTPUTS = {"-o", "--out"}


@pytest.mark.parametrize("name", list(COMMANDS))
@pytest.mark.usefixtures("unjudged")
def test_a_file_that_is_there_is_replaced_only_with_overwrite(rwn_command, name: str) -> None:
    command = COMMANDS[name]
    out = next(Path(word) for word in command if word.startswith("out."))
    if name in ("report", "reproduce"):
        rwn_command.done(*KEYED)
    out.write_bytes(b"what was here before")
    said = rwn_command.refused(4, *command)
    assert f"{out.name} exists; choose another name, or give --overwrite to replace it." in said
    assert out.read_bytes() == b"what was here before"
    rwn_command.done(*command, "--overwrite")
    assert out.read_bytes() != b"what was here before"


def test_the_evidence_beside_a_record_is_not_replaced(rwn_command) -> None:
    Path("record.evidence.json").write_bytes(b"of another release")
    assert "record.evidence.json exists" in rwn_command.refused(4, *RECORD)
    assert not Path("release.csv").exists()


def test_every_command_that_writes_a_file_has_the_option() -> None:
    """A new command with an output and no --overwrite is found here."""
    import typer

    for command in app.registered_commands:
        made = typer.main.get_command_from_info(
            command, pretty_exceptions_short=False, rich_markup_mode=None
        )
        options = {name for param in made.params for name in param.opts}
        if options & OUTPUTS and made.name != "mask-dataset":  # which replaces nothing at all
            assert "--overwrite" in options, made.name


NOTE = "note: part of the search is compiled for this machine, once; this takes half a minute."


def test_it_is_said_once_where_it_is_true(rwn_command, monkeypatch) -> None:
    """A kernel that is compiled in a moment stands for the search."""
    assert jit.numba is numba, "whose compiler is listened to"
    kernel = numba.njit(lambda number: number + 1)

    def compiled(*_: object, **__: object) -> None:
        for number in (1, 1.5):  # compiled for each
            kernel(number)
        raise rwn.RWNError("No more than that.")

    monkeypatch.setattr(options, "working_table", compiled)
    mask = ("mask", "demo:bodyfat", "m.csv", "--k", "5")
    assert rwn_command(*mask)[2].count(NOTE) == 1
    assert NOTE not in rwn_command(*mask)[2]  # the code is there


def test_nobody_is_told_twice_or_without_asking() -> None:
    told: list[int] = []
    with on_compiling(lambda: told.append(1)):
        compiling()
        compiling()
    compiling()
    assert told == [1]


PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "a-release-that-leaves.md"


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return [shlex.split(line) for line in lines]


def test_every_command_of_the_tutorial_works_and_makes_what_it_names(a_process_reads, rwn_command):
    said = []
    for program, *arguments in commands():
        assert program == "rwn"
        code, output, words = rwn_command(*arguments)
        assert code == 0, words
        said.append(output + words)
    used = {each[1] for each in commands()}
    assert used == {"demo", "mask", "audit", "report", "verify", "ledger", "reproduce"}
    whole = "\n".join(said)
    assert "internal report written to internal-report.html; it stays in the house" in whole
    assert "nothing of the original was found in it" in whole
    assert "release.sav is release " in whole
    assert "the same file came out of the key" in whole
    assert "entry 1 added to ledger.jsonl" in whole
    assert "1 entry, each follows the one before it" in whole
    files = {path.name for path in Path().iterdir()}
    named = set(re.findall(r"`([\w.-]+\.\w+)`", PAGE.read_text("utf-8")))
    assert named <= files
    assert files - named == {"ledger.jsonl.key", "trial.sav"}
    five = PAGE.read_text("utf-8").partition("## ")[0]
    assert five.count("   rwn ") == 5
    assert "rwn ledger add" in five.rpartition("```sh")[2]
