"""The command mask: options, what it says, what it never writes over."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pyreadstat
import pytest
import typer

import rwn_core as rwn
from rwn_cli import options
from rwn_cli.main import app
from rwn_cli.options import settings, steps
from rwn_cli.sweep import _precisions
from rwn_core import Scenario, Setting
from rwn_core.data.rounding import given_steps
from rwn_core.masking.option import method_options
from rwn_core.parallel import jit
from rwn_core.parallel.kernel_cache import compiling, on_compiling
from rwn_core.reporting import read_record
from rwn_core.tuning.slice_presets import preset_slices
from tests.cli.conftest import Run

ROUNDED = {"age": 5, "weight": 10}
SETTING = Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0}, ROUNDED)


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


def test_a_scenario_is_masked_as_it_says_and_options_change_parts(rwn_command: Run, bodyfat):
    name = write(Scenario(table=bodyfat.fingerprint, setting=SETTING, seed=7))
    mask = ("mask", "demo:bodyfat", "out.csv", "--overwrite", "--scenario", name)

    def masked(*more: object) -> bytes:
        assert "another table" not in rwn_command.done(*mask, *more)
        return Path("out.csv").read_bytes()

    assert masked("--seed", 7) == expected(bodyfat)
    # its seed is not taken for a secret
    assert len({expected(bodyfat), masked(), masked()}) == 3
    changes = ("--seed", 7, "--k", 9, "--weight", "neck=3", "--round", "age=none", "--round")
    weights, precision = {"age": 2.0, "neck": 3.0}, {"weight": 10, "hip": 2}
    other = Setting.of("rwn", {"epsilon": 2.0, "k": 9, "q": 0.5}, weights, precision)
    assert masked(*changes, "hip=2") == expected(bodyfat, other)
    changes = ("--seed", 7, "--method", "nbrs2015", "--epsilon", 4, "--round", "none")
    other = Setting.of("nbrs2015", {"epsilon": 4.0}, {"age": 2})
    assert masked(*changes) == expected(bodyfat, other)
    write(Scenario(table="ab" * 32, setting=SETTING))
    assert "made for another table" in rwn_command.done(*mask)


def test_weights_of_a_scenario_are_all_its_weights(rwn_command: Run) -> None:
    """A weight of 1 that differs from the schema's is not written down, and counts."""
    frame = rwn.load_demo("bodyfat").frame[["age", "weight", "height"]]
    frame.to_csv("in.csv", index=False)
    table = rwn.read("in.csv")
    schema = table.schema.with_weights({"age": 3.0, "weight": 2.0})
    Path("schema.toml").write_text(schema.to_toml(), encoding="utf-8")
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


def test_slices_are_those_of_options_or_of_a_scenario(rwn_command: Run, bodyfat) -> None:
    def of_slices(data: rwn.Microdata) -> bytes:
        return rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")

    mask = ("mask", "demo:bodyfat", "out.csv", "--seed", 7, "--overwrite")
    strength = ("--epsilon", 2, "--k", 5)
    options = ("--slice", "weight,age", "--slice", "hip,knee, neck", "--record", "record.toml")
    said = rwn_command.done(*mask, *strength, *options)
    sliced = of_slices(bodyfat.with_slices(SLICES))
    assert Path("out.csv").read_bytes() == sliced
    assert "A row shows age and weight of one person verbatim" in said
    kept = read_record(Path("record.toml").read_text("utf-8"))
    assert kept["setting"]["slices"] == [list(each) for each in SLICES]
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5}, slices=SLICES).resolved(bodyfat)
    name = write(Scenario(setting=setting))
    rwn_command.done(*mask, "--scenario", name)
    assert Path("out.csv").read_bytes() == sliced
    rwn_command.done(*mask, "--scenario", name, "--slice", "none")
    assert Path("out.csv").read_bytes() == of_slices(bodyfat)
    sweep = ("sweep", "demo:bodyfat", "--epsilon", "3", "--k", "5", "--releases", 2, "--workers", 1)
    sweep += ("--measure", "correlation", "-o", "swept.csv")
    assert "2 settings" in rwn_command.done(*sweep, "--slices", "alone, keys_together")
    frame = pd.read_csv("swept.csv", keep_default_na=False)
    slices = preset_slices(bodyfat, "keys_together")
    assert list(frame["slices"]) == ["", " ".join("+".join(names) for names in slices)]
    assert frame["median"][1] < frame["median"][0]


def test_variables_that_were_hardly_masked_are_named(judged, rwn_command: Run) -> None:
    """Finding P4: the mean share of changed cells hides a category that nothing changed."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 90, 300)})
    frame["income"] = rng.normal(size=300).round(3)
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
    assert warned[0].startswith("WARNING: Breaks ")
    assert " in one more release uses " in warned[0]


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 120)})
    frame["height"] = rng.normal(170, 9, 120).round(1)
    frame["visits"] = rng.integers(0, 30, 120)
    frame["hiv"] = np.where(rng.random(120) < 0.3, "yes", "no")
    frame.to_csv("people.csv", index=False)
    return frame


MASK = ("mask", "people.csv", "out.csv", "--epsilon", 6, "--k", 20, "--overwrite")


def test_mask_and_sweep_guess_the_same_roles_and_name_them(judged, rwn_command, people) -> None:
    """Finding V4: a sweep judged a table without roles, `rwn mask` one with guessed roles."""
    sweep = ("sweep", "people.csv", "--epsilon", "6", "--k", "20", "--releases", 2, "--workers", 1)
    sweep += ("--limit", "attribute_gain=0.5", "-o", "s.csv", "--overwrite")
    for command in ((*MASK, "--seed", 7), sweep):
        said = rwn_command.done(*command)
        assert "roles guessed: hiv confidential; age, height keys." in said
        assert "limits" in said
        assert "not judged" not in said
        said = rwn_command.done(*command, "--confidential", "visits", "--key", "age")
        assert "roles guessed" not in said


def test_what_is_not_judged_is_said_with_the_option_that_helps(judged, rwn_command, people) -> None:
    people.drop(columns="hiv").to_csv("people.csv", index=False)
    for more in ((), ("--record", "record.toml")):
        said = rwn_command.done(*MASK, *more)
        words = "not judged: no variable is confidential. Say which is (--confidential NAME)."
        assert words in said
        assert "keeps the policy" not in said
    # nothing else is wrong: it is a warning all the same
    drawn = np.random.default_rng(1).normal(50, 10, (300, 3)).round(1)
    pd.DataFrame(drawn, columns=["x", "y", "z"]).to_csv("people.csv", index=False)
    part = "WARNING: Not judged: 1 of 4 limits cannot be judged; the other 3 are kept."
    assert f"{part} Attribute gain {words}" in rwn_command.done(*MASK)
    kept = read_record(Path("record.toml").read_text("utf-8"))["verdict"]
    assert kept["not_judged"]["attribute_gain"] == "No variable is confidential. Say which is."


def test_stated_roles_are_those_of_python_and_of_the_record(rwn_command, people) -> None:
    """Findings V4, R7: `rwn.mask` had no word for what `rwn mask` takes as options."""
    stated = {"confidential": ["hiv"], "key": "age", "as_is": ["visits"]}
    release = rwn.mask(people, rwn.RWN(epsilon=6.0, k=20), seed=7, **stated)
    options = ("--confidential", "hiv", "--key", "age", "--as-is", "visits")
    said = rwn_command.done(*MASK, "--seed", 7, *options, "--record", "record.toml")
    assert "released unmasked, as stated: visits" in said
    assert Path("out.csv").read_bytes() == release.to_bytes("csv")
    assert list(release.masked.frame["visits"]) == list(people["visits"])
    source = read_record(Path("record.toml").read_text("utf-8"))["source"]
    assert source["as_is"] == ["visits"]
    assert source["roles"] == {"age": "key", "hiv": "confidential"}
    for one in stated:
        code, _, said = rwn_command(*MASK, f"--{one.replace('_', '-')}", "nobody")
        with pytest.raises(rwn.SchemaError) as refusal:
            rwn.mask(people, rwn.RWN(epsilon=6.0, k=20), seed=7, **{one: ["nobody"]})
        assert (code, said.strip().endswith(str(refusal.value))) == (2, True)
    secret = ("--record", "record.toml", "--key-file", "secret.key")
    rwn_command.done(*MASK, "--as-is", "hiv", *secret)
    said = rwn_command.done("reproduce", "record.toml", "--key", "secret.key")
    assert "differ" not in said


def test_every_parameter_of_every_method_can_be_set_as_text() -> None:
    for key, method in rwn.METHODS.items():
        values = {field.name: [field.default] for field in fields(method)}
        for option in method_options(method):
            values[option.name] += option.choices
        for name, each in values.items():
            for value in each:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                if isinstance(value, bool | int | float | str):
                    assert settings([f"{name}={text}"]) == {name: value}, f"{key}: {name}"


def test_options_set_and_a_scenario_of_one_method_write_the_same_bytes(rwn_command, bodyfat):
    params = rwn.SoftRWN(kernel="gaussian", width=0.8, balance=1.0)
    wanted = rwn.mask(bodyfat, params, seed=7).to_bytes("csv")
    text = Scenario(table=bodyfat.fingerprint, setting=Setting(params=params)).to_toml()
    former = text.replace('"soft_rwn"', '"rwn"').replace("width", 'kernel = "gaussian"\nwidth')
    Path("s.toml").write_text(text, encoding="utf-8")
    Path("former.toml").write_text(former, encoding="utf-8")
    for given in (
        ("--kernel", "gaussian", "--width", 0.8, "--balance", 1),
        ("--set", "kernel=gaussian", "--set", "width=0.8", "--set", "balance=1"),
        ("--method", "soft_rwn", "--width", 0.8, "--balance", 1),
        ("--scenario", "s.toml"),
        ("--scenario", "former.toml"),
    ):
        rwn_command.done("mask", "demo:bodyfat", "o.csv", *given, "--seed", 7, "--overwrite")
        assert Path("o.csv").read_bytes() == wanted


MASK_DEMO = ("mask", "demo:bodyfat", "out.csv", "--k", 5, "--epsilon", 2, "--seed", 7)
MASK_DEMO += ("--overwrite",)


@pytest.mark.usefixtures("unread_demos")
def test_what_candidates_cost_is_said_and_threads_change_nothing(rwn_command, bodyfat, monkeypatch):
    for given in ("neighbors=sample m=50 fresh=true", "neighbors=partition u=3 m=10"):
        options = [word for each in given.split() for word in ("--set", each)]
        said = rwn_command.done(*MASK_DEMO, *options)
        for words in ("median radius", "fall back to k", "exact members kept"):
            assert words in said
    said = rwn_command.done(*MASK_DEMO, "--set", "weights=discrete")
    assert "shares of the squared distance: " in said
    wanted = rwn.mask(bodyfat, rwn.RWN(epsilon=2.0, k=5), seed=7).to_bytes("csv")
    for stated, more in (("1", ("--threads", 2)), ("3", ())):
        monkeypatch.setenv("RWN_THREADS", stated)
        rwn_command.done(*MASK_DEMO, *more)
        assert Path("out.csv").read_bytes() == wanted
    monkeypatch.setenv("RWN_THREADS", "none")
    rwn_command.refused(2, *MASK_DEMO)


def test_decimal_commas_come_back_and_are_known_again(rwn_command) -> None:
    lines = [f"{20 + i},5;{i % 7};{'ab'[i % 2]}" for i in range(60)]
    content = "\n".join(["x;y;g", *lines, ""])
    Path("t.csv").write_text(content, encoding="cp1252")
    layout = ("--file", "separator=;", "--file", "decimal=,", "--file", "encoding=cp1252")
    stated = '[file]\nseparator = ";"\ndecimal = ","\nencoding = "cp1252"\n'
    Path("s.toml").write_text(stated, encoding="utf-8")
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
    rwn_command.done("report", "r.toml", "--public", "-o", "notice.json")
    rwn_command.done("verify", "o.csv", "notice.json")


def test_another_layout_is_refused_with_the_options_that_read_it(rwn_command: Run) -> None:
    towns = ("K\u00f6ln", "Ulm", "Bonn")
    lines = [f"{towns[i % 3]};{i * 7 % 60},5;{i * 3 % 41}" for i in range(60)]
    text = "\n".join(["town;income;age", *lines]) + "\n"
    Path("t.csv").write_bytes(text.encode("cp1252"))
    refusal, note = rwn_command.refused(3, "mask", "t.csv", "out.csv", "--k", 3).splitlines()
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert "say its encoding, or save" in refusal
    assert note.startswith("note: the file seems to be laid out in another way; give --file ")
    options = note.partition("give ")[2].replace('"', "").split()
    rwn_command.done("mask", "t.csv", "out.csv", "--k", 45, *options)
    alias, refusal, again = rwn_command.refused(3, "seek", "t.csv").splitlines()
    assert alias.startswith("note: rwn find is the name")
    assert refusal.startswith("rwn: t.csv, line 2: ")
    assert again == note


def test_a_better_layout_stops_a_run_until_one_flag_answers(rwn_command: Run) -> None:
    """A total line, and numbers in groups: each is a doubt about what a column is."""
    lines = [f"c{i % 3},{i * 37 % 900}.5,{i * 7 % 40}" for i in range(60)]
    total = sum(float(line.split(",")[1]) for line in lines)
    Path("total.csv").write_text("\n".join(["town,pay,age", *lines, f"Total,{total},"]) + "\n")
    refusal = rwn_command.refused(4, "mask", "total.csv", "o.csv", "--k", 3)
    assert "its last rows seem to be no records (a total, a note or a source)" in refusal
    assert "Answer: --file below=1 reads it so, --file below=0 reads it as now." in refusal
    for answer, count in (("below=1", 60), ("below=0", 61)):
        rwn_command.done("mask", "total.csv", "o.csv", "--k", 20, "--file", answer, "--overwrite")
        assert len(Path("o.csv").read_text().splitlines()) == 1 + count
    grouped = [f"{i % 3},{1 + i % 4}'{i * 37 % 1000:03}" for i in range(60)]
    Path("g.csv").write_text("\n".join(["town,pay", *grouped]) + "\n")
    refusal = rwn_command.refused(4, "mask", "g.csv", "o.csv", "--k", 3, "--overwrite")
    assert "more of its columns are numbers or dates" in refusal
    assert "--file grouped=true reads it so, --file grouped=false reads it as now" in refusal
    rwn_command.done(
        *("mask", "g.csv", "o.csv", "--k", 20, "--file", "grouped=true", "--overwrite")
    )


@pytest.mark.parametrize("judges", ["recommend", "find", "sweep -o s.csv --k 2", "audit t.csv"])
def test_every_command_that_judges_stops_where_mask_does(rwn_command: Run, judges: str) -> None:
    lines = [f"{i * 7 % 41},{i * 37 % 900}" for i in range(60)]
    total = sum(int(line.split(",")[1]) for line in lines)
    Path("t.csv").write_text("\n".join(["age,pay", *lines, f"Total,{total}"]) + "\n")
    refusal = rwn_command.refused(4, "mask", "t.csv", "o.csv", "--k", 3)
    command, *more = judges.split()
    assert rwn_command.refused(4, command, "t.csv", *more).endswith(refusal)
    # describe decides nothing
    assert "leave it out by below = 1" in rwn_command.done("describe", "t.csv")


def test_a_release_of_a_labelled_file_reads_the_same_in_any_format(rwn_command: Run) -> None:
    rng = np.random.default_rng(1)
    labels = {"sex": {1: "male", 2: "female", 9: "refused"}}
    labels["health"] = {1: "bad", 2: "fair", 3: "good"}
    frame = pd.DataFrame({name: rng.choice([1.0 * c for c in labels[name]], 60) for name in labels})
    frame["income"] = np.where(rng.random(60) < 0.1, -9, rng.normal(2000, 300, 60).round(2))
    missing = {"sex": [9], "income": [-9]}
    pyreadstat.write_sav(frame, "s.sav", variable_value_labels=labels, missing_ranges=missing)
    tables = set()
    for ending in ("sav", "csv", "rds"):
        line = f"mask s.sav o.{ending} --k 3 --order original --seed 1"
        said = rwn_command.done(*line.split())
        assert "sex has" in said
        assert "declared as missing (9)" in said
        assert ("does not keep" in said) == (ending == "csv")
        line = f"audit s.sav o.{ending} --measure correlation --measure marginals"
        tables.add(rwn_command.shown(*line.split()))
    assert len(tables) == 1


RECORD = ("mask", "demo:bodyfat", "release.csv", "--k", "5", "--record", "record.toml")
SEARCH = ("--limit", "distance_linkage=0.5", "--workers", "1")
COMMANDS = (
    ("demo", "bodyfat", "--out", "out.csv"),
    ("mask", "demo:bodyfat", "out.csv", "--k", "5"),
    ("mask", "demo:bodyfat", "other.csv", "--k", "5", "--record", "out.toml"),
    ("sweep", "demo:bodyfat", "--k", "60", "--q", "1", "--releases", "1", "--workers", "1",
     "--measure", "marginals", "-o", "out.csv"),
    ("find", "demo:bodyfat", "--strength", *SEARCH, "-o", "out.toml"),
    ("report", "record.toml", "-o", "out.html"),
    ("reproduce", "record.toml", "--key", "sealed.key", "-o", "out.csv"),
)  # fmt: skip


def test_a_file_that_is_there_is_replaced_only_with_overwrite(rwn_command: Run) -> None:
    rwn_command.done(*RECORD, "--key-file", "sealed.key")
    for command in COMMANDS:
        (out,) = (Path(word) for word in command if word.startswith("out."))
        out.write_bytes(b"what was here before")
        said = rwn_command.refused(4, *command)
        assert f"{out.name} exists; choose another name, or give --overwrite to replace" in said
        assert out.read_bytes() == b"what was here before"
        rwn_command.done(*command, "--overwrite")
        assert out.read_bytes() != b"what was here before"
    # nor is the evidence beside a record
    for name in ("release.csv", "record.toml"):
        Path(name).unlink()
    assert "record.evidence.json exists" in rwn_command.refused(4, *RECORD)
    assert not Path("release.csv").exists()


def test_every_command_that_writes_a_file_has_the_option() -> None:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        options = {name for param in command.params for name in param.opts}
        if options & {"-o", "--out"} and name != "mask-dataset":  # which replaces nothing at all
            assert "--overwrite" in options, name


def test_compiling_is_said_once_where_it_is_true(rwn_command, monkeypatch) -> None:
    """A kernel that is compiled in a moment stands for the search."""
    assert jit.numba is numba, "whose compiler is listened to"
    kernel = numba.njit(lambda number: number + 1)

    def compiled(*_: object, **__: object) -> None:
        for number in (1, 1.5):  # compiled for each
            kernel(number)
        raise rwn.RWNError("No more than that.")

    monkeypatch.setattr(options, "working_table", compiled)
    mask = ("mask", "demo:bodyfat", "m.csv", "--k", "5")
    note = "note: part of the search is compiled for this machine, once; this takes half a minute."
    assert rwn_command(*mask)[2].count(note) == 1
    assert note not in rwn_command(*mask)[2]  # the code is there
    heard: list[int] = []
    with on_compiling(lambda: heard.append(1)):
        compiling()
        compiling()
    compiling()
    assert heard == [1]
