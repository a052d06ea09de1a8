"""What every command refuses: one sentence, the right exit code, no value, and no file."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting.scenario import Decision, Scenario
from rwn_core.tuning import Setting
from tests.cli.conftest import Run

SECRET = "sentinel-078-05-1120"

REFUSED = """
mask bodyfat.csv out.csv --q 0.5 | 2 | epsilon
mask bodyfat.csv out.csv --epsilon -1 | 2 | epsilon
mask bodyfat.csv out.csv --epsilon nan | 2 | epsilon
mask bodyfat.csv out.csv --epsilon 5km | 2 | epsilon
mask bodyfat.csv out.csv --k 0 | 2 | k must
mask bodyfat.csv out.csv --k 241 | 2 | k must
mask bodyfat.csv out.csv --k 5 --q 1.5 | 2 | q must
mask bodyfat.csv out.csv --k 5 --q nan | 2 | q must
mask bodyfat.csv out.csv --k 5 --weight age | 2 | NAME=W
mask bodyfat.csv out.csv --k 5 --weight age=heavy | 2 | NAME=W
mask bodyfat.csv out.csv --k 5 --weight age=-1 | 2 | weight
mask bodyfat.csv out.csv --k 5 --weight none=1 | 2 | none
mask bodyfat.csv out.csv --k 5 --drop none | 2 | none
mask bodyfat.csv out.csv --k 5 --seed -1 | 2 | seed
mask bodyfat.csv out.csv --k 5 --threads 0 | 2 | threads
mask bodyfat.csv out.csv --method none --k 5 | 2 | method
mask bodyfat.csv out.csv --method | 2 | '--method' requires an argument
mask bodyfat.csv out.csv --slice age,weight | 2 | Give epsilon, k or both
mask bodyfat.csv out.csv --k 5 --confidential none | 2 | There is no variable none; the table has
mask bodyfat.csv out.csv --k 5 --key none | 2 | There is no variable none; the table has
mask bodyfat.csv out.csv --k 5 --as-is none | 2 | There is no variable none; the table has
mask bodyfat.csv out.csv --k 5 --key age --confidential age | 2 | confidential and a key
mask bodyfat.csv out.csv --method swap --k 3 | 2 | There is no method swap
mask bodyfat.csv out.csv --method nbrs2015 --epsilon 1 --k 5 | 2 | has no parameter k
mask bodyfat.csv out.csv --method nbrs2015 --q 0.5 | 2 | The method nbrs2015 needs epsilon
mask bodyfat.csv out.txt --k 5 | 2 | .csv, .parquet
mask demo:none out.csv --k 5 | 2 | demo
mask bad.csv out.csv --k 5 | 3 | bad.csv
mask bodyfat.csv out.csv --k 5 --schema bad.csv | 3 | bad.csv
mask bodyfat.toml out.csv --k 5 | 3 | CSV
mask bodyfat.csv bodyfat.csv --k 5 | 4 | OUT
mask bodyfat.csv ./link.csv --k 5 | 4 | OUT
mask none.csv out.csv --k 5 | 5 | none.csv
mask bodyfat.csv out.csv --k 5 --schema none.toml | 5 | none.toml
mask . out.csv --k 5 | 5 | directory
mask bodyfat.csv none/out.csv --k 5 | 5 | folder
mask bodyfat.csv folder.csv --k 5 | 5 | folder.csv
mask demo:bodyfat out.csv --k 3 --set scale | 2 | --set must be NAME=VALUE
mask demo:bodyfat out.csv --k 3 --set =3 | 2 | --set must be NAME=VALUE
mask demo:bodyfat out.csv --set scale=sd --set scale=range | 2 | --set gives scale twice
mask demo:bodyfat out.csv --k 3 --set k=4 | 2 | --k and --set k say the same
mask demo:bodyfat out.csv --k 3 --set depth=4 | 2 | RWN has no parameter depth; fresh is near
mask demo:bodyfat out.csv --set method=rwn | 2 | RWN has no parameter method
mask demo:bodyfat out.csv --k 3 --set scale=inches | 2 | scale must be one of: sd, range
mask demo:bodyfat out.csv --k 3 --set q=often | 2 | q must be a number from 0 to 1
mask demo:bodyfat out.csv --k 3 --set fresh=perhaps | 2 | fresh must be true or false
mask demo:bodyfat out.csv --k 5 --set neighbors=sample | 2 | needs m
mask demo:bodyfat out.csv --k 5 --slice age | 2 | two variables or more
mask demo:bodyfat out.csv --k 5 --slice age,hip --slice hip,knee | 2 | hip twice
mask demo:bodyfat out.csv --k 5 --slice age,nowhere | 2 | nowhere, which is no masked variable
mask demo:pima out.csv --k 5 --round age=0 | 2 | precision of age must be a number above 0
mask demo:pima out.csv --k 5 --round age=nan | 2 | above 0
mask demo:pima out.csv --k 5 --round test=5 | 2 | test is no numeric variable
mask demo:pima out.csv --k 5 --round age=five | 2 | --round must be NAME=STEP
mask demo:pima out.csv --k 5 --round '5 years' | 2 | --round must be NAME=STEP
mask demo:pima out.csv --k 5 --round 20 | 2 | share of a standard deviation
mask demo:bodyfat out.csv --scenario nothing.toml | 2 | The scenario has no setting
mask demo:bodyfat out.csv --scenario far.toml | 2 | k must be a whole number from 1 to 240
mask demo:bodyfat out.csv --scenario weights.toml | 2 | no
mask demo:bodyfat out.csv --scenario steps.toml | 2 | no numeric variable
mask demo:bodyfat s.csv --scenario s.csv | 4 | input file itself
mask demo:bodyfat out.csv --scenario five.toml | 2 | write 0.05 for 5 percent
mask demo:bodyfat out.csv --k 5 --meeting decision.toml | 2 | give --record
mask demo:bodyfat out.csv --k 5 --record record.txt | 2 | ends in .toml
mask demo:bodyfat out.csv --k 5 --record no/new.toml | 5 | does not exist
mask demo:bodyfat out.csv --k 5 --record new.toml --meeting forged.toml | 3 | changed after
mask demo:bodyfat out.csv --k 5 --record new.toml --meeting other.toml | 3 | made on another table
mask demo:bodyfat out.csv --k 5 --record new.toml --meeting absent.toml | 5 | absent.toml
mask demo:bodyfat out.csv --record s.toml --scenario s.toml | 4 | another file of this command
mask demo:bodyfat out.csv --record d/../s.toml --scenario s.toml | 4 | another file of this command
mask demo:bodyfat out.csv --k 5 --record decision.toml --meeting decision.toml | 4 | another file
sweep demo:bodyfat -o out.csv | 2 | Give --epsilon
sweep demo:bodyfat --k 3, -o out.csv | 2 | --k must be values
sweep demo:bodyfat --k x -o out.csv | 2 | k must be
sweep demo:bodyfat --k 3 -o out.txt | 2 | .csv, .parquet
sweep demo:bodyfat --k 3 --set q -o out.csv | 2 | NAME=V
sweep demo:bodyfat --k 3 --measure x -o out.csv | 2 | no measure x
sweep demo:bodyfat --k 3 --limit bayes_linkage=5 -o out.csv | 2 | write 0.05 for 5 percent
sweep demo:pima --k 5 --round test=5 -o out.csv | 2 | test is no numeric variable
sweep demo:nothing --k 3 -o out.csv | 2 | demo
sweep bad.csv --k 3 -o out.csv | 3 | bad.csv
sweep absent.csv --k 3 -o out.csv | 5 | absent.csv
sweep demo:bodyfat --scenario bad.csv -o out.csv | 3 | TOML
sweep demo:bodyfat --scenario absent.toml -o out.csv | 5 | absent.toml
sweep demo:bodyfat --k 3 -o no/out.csv | 5 | does not exist
find demo:bodyfat --limit bayes_linkage | 2 | MEASURE=V
seek demo:bodyfat --k 3 | 2 | --k
seek-slices demo:bodyfat --limit bayes_linkage=5 | 2 | write 0.05 for 5 percent
find demo:bodyfat --limit bayes_linkage=much | 2 | MEASURE=V
find demo:bodyfat --limit bayes_linkage=-1 | 2 | at least 0
find demo:bodyfat --limit bayes_linkage=5 | 2 | write 0.05 for 5 percent
find demo:bodyfat --limit x=1 | 2 | no measure x
find demo:bodyfat --limit bayes_linkage=1 --limit bayes_linkage=0.2 | 2 | two limits
find demo:bodyfat -o out.csv | 2 | .toml
find demo:bodyfat -o no/found.toml | 5 | does not exist
find demo:bodyfat --scenario s.toml -o s.toml | 4 | another file of this command
audit bodyfat.csv bodyfat.csv --measure none | 2 | none
audit bodyfat.csv bodyfat.csv --response siri | 2 | --predictor
audit bodyfat.csv bodyfat.csv --population 3 | 2 | at least the file's
audit bodyfat.csv bodyfat.csv --weights nowhere | 2 | variable of the table
audit bodyfat.csv bodyfat.csv --response siri --predictor none | 2 | none
audit bodyfat.csv bodyfat.csv --response siri --predictor siri | 2 | siri
audit bodyfat.csv bad.csv | 3 | bad.csv
audit bodyfat.csv demo.csv | 3 | variables
audit demo:bodyfat m.csv --record record.toml --set k=5 | 2 | leave the parameters out
audit demo:pima demo.csv --record record.toml | 3 | another table
audit demo:bodyfat m.csv --round age=5 | 2 | part of a setting
audit small.csv m.csv --set k=1 | 3 | cannot have been made
audit demo:bodyfat m.csv --method none --set k=1 | 2 | There is no method none
report record.toml -o internal.xml | 2 | must end in one of: .html, .json
report record.toml --public -o notice.pdf | 2 | must end in one of
report record.toml -o record.toml | 4 | the record itself
report record.toml -o no/internal.html | 5 | does not exist
report record.toml --review soon -o internal.html | 2 | must be a date
report demo.csv -o internal.html | 3 | not valid TOML
claims record.toml -o claims.json --draws 12 | 2 | --draws
claims record.toml -o claims.json --plan bad.csv | 3 | TOML
claims bad.csv -o claims.json | 3 | TOML
verify m.csv record.toml | 3 | no card of this program
ledger show none.jsonl | 5 | none.jsonl
ledger add no/ledger.jsonl record.toml | 5 | does not exist
demo none -o out.csv | 2 | bodyfat
app --port 0 | 2 | port
app bad.csv --no-browser | 3 | bad.csv
app none.csv --no-browser | 5 | none.csv
mask-dataset in.parquet out --k 4 --seed 1 --key-file bad.csv | 2 | give one of them
mask-dataset in.parquet out --k 4 --sample 100 --set m=50 | 2 | --set m is given by another option
mask-dataset in.parquet out --k 4 --engine abacus | 2 | engine must be one of: local
mask-dataset in.parquet out --k 4 --rows 1000 | 2 | multiple of 1,024
mask-dataset in.parquet out --k 4 --key-file bad.csv | 2 | give the file that --key-file wrote
sweep demo:bodyfat --k 3 --slices half -o out.csv | 2 | There are no slices half
mask demo:bodyfat out.csv --kernel gaussian --k 5 | 2 | SoftRWN has no parameter k
mask demo:bodyfat out.csv --k 5 --width 1 | 2 | rwn.SoftRWN (--kernel gaussian) has it
mask demo:bodyfat out.csv --kernel gaussian --balance 2 | 2 | balance must be a fraction from 0 to 1
mask demo:bodyfat out.csv --slice age,weight | 2 | epsilon
mask-dataset in.parquet o --set kernel=exponential --set own=true --set bandwidth=absolute | 2 | own
mask demo:bodyfat out.csv --k 5 --file separator=; | 2 | leave --file out
audit-dataset in.parquet in.parquet | 2 | give --key-file
frobnicate | 2 | frobnicate
"""


@pytest.fixture
def folder(rwn_command: Run, tmp_path: Path) -> Path:
    """Tables, scenarios, decisions and a record, of which some are wrong."""
    bodyfat = rwn.load_demo("bodyfat")
    rwn_command.done("demo", "bodyfat", "-o", "bodyfat.csv", "--schema")
    rwn_command.done("demo", "pima", "-o", "demo.csv")
    bodyfat.frame[["siri", "age", "weight"]].to_csv("small.csv", index=False)
    masked = ("mask", "small.csv", "m.csv", "--k", 5, "--seed", 7, "--order", "original")
    rwn_command.done(*masked, "--record", "record.toml")
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
        "steps.toml": Scenario(setting=Setting.of("rwn", {"k": 5}, {}, {"no": 2.0})).to_toml(),
        "five.toml": Scenario(setting=setting, policy=limit).to_toml().replace("0.5", "5.0"),
        "decision.toml": decided,
        "forged.toml": decided.replace("2026-03-31", "2026-04-01"),
        "other.toml": other,
    }
    for name, text in {**texts, "s.toml": one.to_toml(), "s.csv": one.to_toml()}.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_every_refusal_is_one_sentence_and_a_code(rwn_command: Run, folder: Path) -> None:
    before, wrong = contents(folder), []
    for case in REFUSED.strip().splitlines():
        line, code, word = case.split(" | ")
        result, output, said = rwn_command(*shlex.split(line))
        sentences = [each for each in said.splitlines() if not each.startswith("note: ")]
        sound = sentences and word in sentences[-1] and sentences[-1].startswith(("rwn: ", "Error"))
        if (result, output) != (int(code), "") or not sound or SECRET in said:
            wrong.append((line, result, said))
        assert contents(folder) == before, line
    assert wrong == []
