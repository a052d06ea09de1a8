"""What `tests/refusals.toml` lists for the shell is one sentence, an exit code, and no file."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pandas as pd

import rwn_core as rwn
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

SECRET = "sentinel-078-05-1120"
LISTED = tomllib.loads((Path(__file__).parents[1] / "refusals.toml").read_text("utf-8"))["shell"]


def fill_folder(run: Run) -> None:
    bodyfat = rwn.load_demo("bodyfat")
    run.done("demo", "bodyfat", "-o", "bodyfat.csv", "--schema")
    run.done("demo", "pima", "-o", "demo.csv")
    bodyfat.frame[["siri", "age", "weight"]].to_csv("small.csv", index=False)
    masked = ("mask", "small.csv", "m.csv", "--k", 5, "--seed", 7, "--order", "original")
    run.done(*masked, "--record", "record.toml")
    Path("bad.csv").write_text(f"a,b\n1,{SECRET}\n2,{SECRET},3\n", encoding="utf-8")
    Path("link.csv").symlink_to("bodyfat.csv")
    Path("folder.csv").mkdir()
    Path("d").mkdir()
    pd.DataFrame({"x": range(2500)}).to_parquet("in.parquet")
    setting = Setting.of("rwn", {"k": 5})
    limit = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.5),))
    one = Scenario(name="one", table=bodyfat.fingerprint, setting=setting)
    decided = Decision(scenarios=(one,), chosen="one", date="2026-03-31").frozen()
    other = Decision(scenarios=(replace(one, table="0" * 64),), chosen="one").frozen()
    texts = {
        "nothing.toml": Scenario().to_toml(),
        "far.toml": Scenario(setting=Setting.of("rwn", {"k": 500})).to_toml(),
        "weights.toml": Scenario(setting=Setting.of("rwn", {"k": 5}, {"no": 2.0})).to_toml(),
        "five.toml": Scenario(setting=setting, policy=limit).to_toml().replace("0.5", "5.0"),
        "decision.toml": decided,
        "forged.toml": decided.replace("2026-03-31", "2026-04-01"),
        "other.toml": other,
        "about.toml": '[context]\npurpose = "Teaching"\n',
    }
    for name, text in {**texts, "s.toml": one.to_toml(), "s.csv": one.to_toml()}.items():
        Path(name).write_text(text, encoding="utf-8")


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def test_every_refusal_is_one_sentence_and_a_code(rwn_command: Run) -> None:
    fill_folder(rwn_command)
    before = contents()
    wrong = []
    for line, code, words in LISTED:
        result, output, said = rwn_command(*shlex.split(line))
        (sentence,) = [each for each in said.splitlines() if not each.startswith("note: ")][-1:]
        sound = re.search(words, sentence) and sentence.startswith(("rwn: ", "Error"))
        if (result, output) != (code, "") or not sound or SECRET in said:
            wrong.append((line, result, said))
        assert contents() == before, line
    assert wrong == []
