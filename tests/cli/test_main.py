"""The program itself, describe, and the same words without docstrings."""

from __future__ import annotations

import io
import json
import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_cli import options, terminal
from rwn_cli.ledger import ledger
from rwn_cli.main import app
from rwn_core import Kind, Role, Schema, Variable
from rwn_core.evaluation.control_group import audit_attacked
from rwn_core.io.demo import demo_path
from rwn_core.io.write import table_bytes
from rwn_core.reporting.readers import rwn_intervals
from tests.cli.conftest import Run
from tests.labelled_files import survey, write_spss
from tests.tables import table as a_table
from tests.waiting import calls

SECRET = "sentinel-078-05-1120"


def secrets_in_arguments(command: Callable[..., None]) -> list[str]:
    """The parameters of a command that take a secret itself, which other accounts would read."""
    words = {"key", "secret", "salt", "token", "password", "code", "passphrase"}
    text = {str, str | None, bytes, int, int | None}
    types = get_type_hints(command)
    return [name for name, kind in types.items() if words & {*name.split("_")} and kind in text]


def test_a_secret_is_the_name_of_a_file_and_a_seed_says_that_it_is_none() -> None:
    def planted(source: Path, ledger_key: str) -> None: ...

    assert secrets_in_arguments(planted) == ["ledger_key"]
    seeds = 0
    for each in (*app.registered_commands, *ledger.registered_commands):
        assert each.callback is not None
        assert secrets_in_arguments(each.callback) == []
        seed = get_type_hints(each.callback, include_extras=True).get("seed")
        if seed is not None:
            seeds += 1
            said = seed.__metadata__[0].help
            # an audit takes that of a release which was made with one
            assert "no secret" in said or said.endswith("for a release made with a seed.")
    assert seeds > 2


def test_mask_writes_the_bytes_that_python_writes(rwn_command: Run) -> None:
    for suffix, order in (("csv", "original"), ("parquet", "shuffled")):
        target = f"out.{suffix}"
        said = rwn_command.done(
            *("mask", "demo:bodyfat", target, "--epsilon", 2, "--k", 5, "--q", 0.5),
            *("--weight", "age=2", "--weight", "siri=0", "--seed", 7, "--order", order),
            *("--round", "age=5", "--round", "weight=10", "--drop", "wrist"),
        )
        data = rwn.load_demo("bodyfat")
        schema = data.schema.replace_variable("wrist", role=Role.IDENTIFIER)
        data = data.with_schema(schema.with_weights({"age": 2.0, "siri": 0.0}))
        steps = {"age": 5, "weight": 10}
        release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5, q=0.5), seed=7, precision=steps)
        assert Path(target).read_bytes() == release.to_bytes(suffix, order)
        assert "wrist" not in rwn.read(target).names
        for words in ("241 records, 14 variables", "of cells changed", "no secret"):
            assert words in said
        assert "rounded: age in steps of 5, weight in steps of 10" in said


def test_audit_says_what_python_says_of_the_files_of_demo(a_process_reads, rwn_command) -> None:
    rwn_command.done("demo", "bodyfat", "-o", "bodyfat.csv", "--schema")
    kept = demo_path("bodyfat")
    assert Path("bodyfat.csv").read_bytes() == kept.read_bytes()
    assert Path("bodyfat.toml").read_bytes() == kept.with_suffix(".toml").read_bytes()
    masked = ("masked.csv", "--k", 5, "--seed", 7, "--order", "original")
    rwn_command.done("mask", "bodyfat.csv", *masked, "--schema", "bodyfat.toml")
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(k=5), seed=7)
    keys = ["correlation", "regression", "cells_changed"]
    expected = rwn.audit(data, release.masked, measures=keys).records()
    asked = [part for key in keys for part in ("--measure", key)]
    output = rwn_command.shown("audit", "demo:bodyfat", "masked.csv", "--json", *asked)
    result = json.loads(output)
    assert (result["records"], result["variables"]) == (241, 15)
    for row, wanted in zip(result["measures"], expected, strict=True):
        assert row["value"] == pytest.approx(wanted["value"])
        assert row["measure"] == wanted["measure"]


def test_audit_table_has_baselines_and_reasons(rwn_command: Run) -> None:
    Path("t.csv").write_text("a,b\n" + "".join(f"{i * i % 31},{i % 7}\n" for i in range(40)))
    rwn_command.done("mask", "t.csv", "masked.csv", "--k", 5, "--order", "original")
    code, output, said = rwn_command("audit", "t.csv", "masked.csv")
    assert code == 0
    assert "shuffled" in said
    header, *lines = output.splitlines()
    assert header.split() == ["measure", "value", "baseline", "better", "unit"]
    assert {line.split(":")[0].split()[0] for line in lines} == set(rwn.MEASURES)
    reason = next(line for line in lines if line.startswith("neighborhood_size"))
    assert "not applicable" in reason


def test_a_file_that_its_record_calls_shuffled_is_not_audited_by_rows(rwn_command: Run) -> None:
    rwn.load_demo("bodyfat").frame[["siri", "age", "weight"]].to_csv("t.csv", index=False)
    mask = ("mask", "t.csv", "out.csv", "--k", 5, "--record", "r.toml", "--seed", 1, "--overwrite")
    audit = ("audit", "t.csv", "out.csv", "--record", "r.toml", "--measure", "bayes_linkage")
    rwn_command.done(*mask)
    assert "mask again with --order original" in rwn_command.refused(3, *audit)
    rwn_command.done(*mask, "--order", "original")
    assert "simple attacks" in rwn_command.done(*audit)
    assert "simple attacks" not in rwn_command.done(*audit[:-1], "distance_linkage")


def test_an_audit_without_people_outside_says_what_it_did_not_judge(rwn_command: Run) -> None:
    made = ("--epsilon", 1, "--k", 5, "--seed", 7, "--order", "original")
    rwn_command.done("mask", "demo:bodyfat", "masked.csv", *made)
    asked = ("audit", "demo:bodyfat", "masked.csv", "--measure", "red_team")
    said = rwn_command.done(*asked)
    (note,) = [line for line in said.splitlines() if "Red team" in line]
    assert "siri is named for" in note  # what was found, and what was not, in one sentence
    assert "people outside were not attacked" in note
    assert "attribute gain, inside less outside" in note
    assert note.count(". ") == 0
    # of a file where no value is named there is nothing to compare with people outside
    Path("flat.csv").write_text("a,b\n" + "".join(f"{i % 5},{i}\n" for i in range(60)), "utf-8")
    rwn_command.done("mask", "flat.csv", "far.csv", "--k", 40, "--order", "original", "--keep", "b")
    asked = ("audit", "flat.csv", "far.csv", "--measure", "red_team")
    assert "not attacked" not in rwn_command.done(*asked)
    # a judgement that attacks people outside says nothing of the kind
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(epsilon=1.0, k=5), seed=7)
    judged = audit_attacked(data, release, ["attribute_gain"])
    assert judged["red_team"].detail.difference is not None
    assert judged["red_team"].detail.caveat == ""


def test_what_somebody_may_know_can_be_stated(rwn_command: Run) -> None:
    """Everybody is alone with four answers and a group; each row is released as it is."""
    answers = [f"{number:04b}" for number in range(16)] * 2
    lines = [f"{place // 16},{','.join(each)},{place}" for place, each in enumerate(answers)]
    Path("t.csv").write_text("\n".join(["g,a,b,c,d,secret", *lines]) + "\n", encoding="utf-8")
    variables = [
        Variable(name="g", kind=Kind.CATEGORICAL, role=Role.KEY),
        *(Variable(name=name, kind=Kind.CATEGORICAL, role=Role.OTHER) for name in "abcd"),
        Variable(name="secret", kind=Kind.CONTINUOUS, role=Role.CONFIDENTIAL),
    ]
    Path("t.toml").write_text(Schema(variables=tuple(variables)).to_toml(), encoding="utf-8")
    asked = ("audit", "t.csv", "t.csv", "--schema", "t.toml", "--measure", "true_matches", "--json")
    values = []
    for more in ((), ("--keys", "a, b"), ("--keys", "a,b", "--keys", "g, a,b,c,d")):
        output = rwn_command.shown(*asked, *more)
        values.append(json.loads(output)["measures"][0]["value"])
    assert min(values) > 0.8  # all are read truly, less luck; larger sets are searched, too


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 5, "memory"),
        (PermissionError(13, "Permission denied", "/somewhere/x.csv"), 5, "x.csv"),
        (IsADirectoryError(21, "Is a directory", "."), 5, ". cannot be read"),
        (ValueError(f"could not convert {SECRET}"), 1, "ValueError"),
    ],
)
def test_no_failure_shows_a_traceback_or_a_value(rwn_command, monkeypatch, error, code, word):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(options, "working_table", fail)
    result, output, said = rwn_command("mask", "demo:bodyfat", "out.csv", "--k", 5)
    assert (result, output) == (code, "")
    assert word in said
    assert SECRET not in said


def test_version_and_help(rwn_command: Run) -> None:
    assert rwn_command("--version") == (0, f"rwn {rwn.__version__}\n", "")
    for command in ((), ("app",), ("demo",), ("mask",), ("audit",)):
        output = rwn_command.shown(*command, "--help")
        assert "Usage: rwn" in output
    assert "not that of differential privacy" in " ".join(rwn_command("mask", "--help")[1].split())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stderr", "after", "drawn"),
    [(Terminal, 0.0, True), (Terminal, 3600.0, False), (io.StringIO, 0.0, False)],
)
def test_a_bar_is_drawn_on_a_terminal_when_it_takes_long_and_never_into_a_pipe(
    monkeypatch: pytest.MonkeyPatch, stderr: type[io.StringIO], after: float, drawn: bool
) -> None:
    screen = stderr()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "BAR_AFTER", after)
    with terminal.progress("masking") as report:
        for step in range(1, 5):
            report(step / 4)
    assert ("masking" in screen.getvalue()) is drawn
    assert ("100%" in screen.getvalue()) is drawn


def test_the_bar_of_an_audit_names_each_measure_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "BAR_AFTER", 0.0)
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7)
    measures = ["correlation", "distance_linkage", "cells_changed"]
    with terminal.progress("auditing") as report:
        rwn.audit(data, release, measures=measures, progress=report)
    shown = screen.getvalue()
    places = [shown.index(f"auditing ({rwn.MEASURES[key].title})") for key in measures]
    assert places == sorted(places)
    assert places[-1] < shown.index("100%")


def test_the_worst_case_of_a_record_is_that_of_the_release(rwn_command: Run) -> None:
    keys = ("bayes_linkage", "intruder_levels")
    asked = ("--json", *(word for key in keys for word in ("--measure", key)))

    def read(*more: str) -> dict[str, Any]:
        output = rwn_command.shown("audit", "demo:bodyfat", "m.csv", *asked, *more)
        return {row["measure"]: row["value"] for row in json.loads(output)["measures"]}

    given = ("--round", "age=5", "--weight", "age=2")
    mask = ("mask", "demo:bodyfat", "m.csv", "--epsilon", 2, "--k", 5, *given)
    rwn_command.done(*mask, "--seed", 7, "--order", "original", "--record", "r.toml")
    data = rwn.load_demo("bodyfat")
    data = data.with_schema(data.schema.with_weights({"age": 2.0}))
    release = rwn.mask(data, rwn.RWN(epsilon=2, k=5), seed=7, precision={"age": 5})
    own = rwn.audit(data, release, measures=keys)
    expected = {key: pytest.approx(own[key].value) for key in keys}
    assert read("--record", "r.toml") == expected
    assert read("--set", "epsilon=2", "--set", "k=5", *given) == expected
    assert read() == dict.fromkeys(keys), "without a setting there is no worst case"


def test_readers_are_written_beside_a_notice_and_read_it(rwn_command) -> None:
    words = "mask demo:bodyfat r.csv --kernel gaussian --balance 1 --slice siri,abdomen,age"
    rwn_command.done(*words.split(), "--record", "r.toml")
    rwn_command.done(*["report", "r.toml", "--public", "-o", "notice.json", "--readers"])
    assert Path("rwn_intervals.R").exists()
    survey = rwn_intervals.load(Path("r.csv"), Path("notice.json"))
    assert [row.term for row in survey.interval("siri ~ abdomen").rows] == ["Intercept", "abdomen"]
    # neither is written over, and no report for the house has them
    rwn_command.refused(4, *["report", "r.toml", "--public", "-o", "notice2.json", "--readers"])
    rwn_command.refused(2, *["report", "r.toml", "-o", "report.html", "--readers"])


@pytest.mark.parametrize("factors", ["abcdefghijklmnopqrstuvwxyz", ["weight"] * 40_000])
def test_a_hostile_scenario_is_refused_at_once(rwn_command, factors) -> None:
    """Finding T1."""
    Path("s.toml").write_text(
        'format = "rwn scenario 1"\n[setting]\nmethod = "rwn"\n[setting.parameters]\nk = 5\n'
        '[[analysis_plan]]\nname = "n"\nkind = "linear"\ntolerance = 1.0\n'
        f'formula = "y ~ {"*".join(factors)}"\n'
    )
    answers = list[tuple[int, str, str]]()
    line = ("mask", "demo:pima", "out.csv", "--scenario", "s.toml")
    tracemalloc.start()
    entered = calls(lambda: answers.append(rwn_command(*line)))
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert entered < 500_000, "26 factors have 67 million products"
    ((code, _, said),) = answers
    assert code != 0
    assert "formula" in said
    assert len(said.strip().splitlines()) == 1
    assert not Path("out.csv").exists()


MASK_LABELLED = ("mask", "s.sav", "m.csv", "--k", 3, "--seed", 1, "--schema", "s.toml")


@pytest.fixture
def described_survey(rwn_command: Run) -> str:
    """What is said of a labelled survey, of which the answers are accepted untouched."""
    write_spss(*survey("words", "gewichtung", seed=1), Path("s.sav"))
    return rwn_command.shown("describe", "s.sav", "-o", "s.toml")


def test_a_labelled_file_is_described_and_masked_without_harm(
    rwn_command: Run, described_survey: str
) -> None:
    assert "may mean missing" not in described_survey
    schema = rwn.Schema.from_toml(Path("s.toml").read_text(encoding="utf-8"))
    assert all(variable.masked for variable in schema.released)
    assert "unmasked" not in rwn_command.done(*MASK_LABELLED)
    assert rwn.read("m.csv").frame.notna().all(axis=None)


def test_each_answer_about_a_weight_is_said_with_its_option_which_does_it(
    rwn_command: Run, described_survey: str
) -> None:
    answers = (
        r"Answers: Mask it; Round it to ([\d.]+): --as-is gewichtung --round gewichtung=\1; "
        r"Release it unmasked: --as-is gewichtung; nothing is chosen"
    )
    step = re.search(answers, described_survey)
    assert step, described_survey
    rounded = ("--as-is", "gewichtung", "--round", f"gewichtung={step[1]}")
    said = rwn_command.done(*MASK_LABELLED, *rounded)
    assert "released unmasked, as stated: gewichtung" in said
    assert f"rounded: gewichtung in steps of {step[1]}" in said


@pytest.fixture
def household_survey(rwn_command) -> str:
    """Describe a survey into a file, and say what was printed."""
    data = a_table("survey")
    Path("s.csv").write_bytes(table_bytes(data.frame, "csv", data.schema))
    code, out, said = rwn_command("describe", "s.csv", "-o", "s.toml")
    assert code == 0, said
    assert "s.csv: 400 records, 7 variables" in said
    return str(out)


def test_a_survey_is_described_with_its_guessed_roles(household_survey) -> None:
    said = household_survey
    assert "Who could be recognized: variables that others may know: Geschlecht (guessed" in said
    assert "What is confidential: hhIncome (guessed: by its name), Krankheit" in said
    assert "household or cluster: hid (guessed: its values number groups of records)" in said
    assert "open: design_weight is the sampling weight. Masked as" in said
    schema = rwn.Schema.from_toml(Path("s.toml").read_text("utf-8"))
    assert schema.name_with_role(rwn.Role.HOUSEHOLD) == "hid"


@pytest.mark.usefixtures("household_survey")
def test_a_description_is_ready_to_mask_and_is_not_written_over(rwn_command) -> None:
    said = rwn_command.refused(4, "describe", "s.csv", "-o", "s.toml")
    assert "s.toml exists; choose another name" in said
    rwn_command.done("mask", "s.csv", "o.csv", "--schema", "s.toml", "--epsilon", 6, "--k", 40)


@pytest.mark.usefixtures("household_survey")
def test_a_guessed_household_needs_no_other_role(rwn_command) -> None:
    _, _, said = rwn_command("describe", "s.csv")
    assert "note: hid says who belongs together: it is left out of every release." in said
    rows = [f"{1001 + i // 3},{i % 7}.5" for i in range(900)]
    Path("h.csv").write_text("\n".join(["hid,x", *rows]))
    _, out, said = rwn_command("describe", "h.csv")
    assert "household or cluster: hid (guessed" in out
    assert "set its role to identifier" not in said


def test_an_official_file_is_named(rwn_command) -> None:
    names = "DB030,RB050,PB140,PB150,PY010G,HY010,mine"
    rows = [
        f"{i // 2},{400 + i // 2}.5,{1950 + i % 50},{1 + i % 2},{i * 7},{i // 2 * 9},{i % 5}"
        for i in range(60)
    ]
    Path("t.csv").write_text("\n".join([names, *rows, ""]), encoding="utf-8")
    assert "note: This looks like EU-SILC: 6 of 7 names." in rwn_command.done("describe", "t.csv")
    Path("t.csv").write_text("age,x\n1,3\n2,5\n2,7\n", encoding="utf-8")
    assert "This looks like" not in rwn_command.done("describe", "t.csv")


def test_a_description_that_lies_with_the_file_is_used_and_named(rwn_command) -> None:
    Path("t.csv").write_text("code,x\n1,3\n2,5\n2,7\n1,3\n", encoding="utf-8")
    mask = ("mask", "t.csv", "o.csv", "--epsilon", 6, "--k", 2, "--overwrite", "--record", "r.toml")
    mask += ("--seed", 1)  # by another key no cell of four rows may change
    said = rwn_command.done(*mask)
    assert "described by" not in said
    described = rwn.read("t.csv").schema.replace_variable("code", role="identifier")
    Path("t.csv.toml").write_text(described.to_toml(), encoding="utf-8")
    said = rwn_command.done(*mask)
    assert said.count("note: described by t.csv.toml, which lies with the file.") == 1
    assert Path("o.csv").read_text("utf-8").startswith("x\n")
    assert "t.csv.toml" in Path("r.toml").read_text("utf-8")
    Path("other.toml").write_text(rwn.read("t.csv").schema.to_toml(), encoding="utf-8")
    said = rwn_command.done(*mask, "--schema", "other.toml")
    assert "described by" not in said
    assert Path("o.csv").read_text("utf-8").startswith("code,x\n")
    Path("t.csv.toml").write_text('[[variable]]\nname="y"\nkind="count"\n')
    said = rwn_command.refused(3, "describe", "t.csv")
    assert "described by t.csv.toml" in said
    assert "the schema has a variable y that the table lacks" in said


def test_only_some_variables_are_released_and_audited_and_the_rest_is_named(rwn_command) -> None:
    Path("t.csv").write_text("a,b,c\n1,3,1\n2,5,2\n2,7,3\n1,3,4\n", encoding="utf-8")
    mask = ("mask", "t.csv", "o.csv", "--k", 2, "--seed", 1, "--only", "a, c", "--record", "r.toml")
    said = rwn_command.done(*mask)
    assert "note: b is left out of every release, as a direct identifier is." in said
    assert Path("o.csv").read_text("utf-8").startswith("a,c\n")
    assert 'dropped = ["b"]' in Path("r.toml").read_text("utf-8")
    rwn_command.done("describe", "t.csv", "--only", "b", "-o", "s.toml")
    schema = rwn.Schema.from_toml(Path("s.toml").read_text("utf-8"))
    assert [v.name for v in schema.released] == ["b"]
    rows = "".join(f"{20 + i * 7 % 60},{'NS'[i % 2]},{i % 30} 1/2\n" for i in range(60))
    for name in ("in.csv", "out.csv"):
        Path(name).write_text(f"age,region,house\n{rows}")
    code, shown, said = rwn_command("audit", "in.csv", "out.csv", "--only", "age,region")
    assert code == 0, said
    assert "not compared, because ORIGINAL is read without: house." in said
    assert "marginals" in shown
    made = ("--method", "rwn", "--set", "k=5")
    said = rwn_command.done("audit", "in.csv", "out.csv", "--only", "age,region", *made)
    assert "the worst case is not computed" in said


def test_a_file_with_odd_columns_is_described_masked_and_audited(rwn_command) -> None:
    """Finding F4: a house number 12 1/2, a column without values, a wiped column of a release."""
    rows = [f"{20 + i % 50},{'12 1/2' if i == 7 else i % 40},,{i * 7 % 90}.5" for i in range(200)]
    Path("t.csv").write_text("\n".join(["age,house,empty,x", *rows, ""]), encoding="utf-8")
    for more in ((), ("--drop", "house"), ("--drop", "empty"), ("--only", "age,x")):
        code, out, said = rwn_command("describe", "t.csv", *more)
        assert code == 0, said
        assert "Left out of every release: empty (no values)." in said
        assert "age" in out
    given = ("--k", 5, "--drop", "house", "--seed", 1)
    rwn_command.done("mask", "t.csv", "o.csv", *given, "--order", "original")
    masked = pd.read_csv("o.csv")
    assert masked.columns.tolist() == ["age", "x"]
    for wiped in (None, "***"):
        masked.assign(age=wiped).to_csv("w.csv", index=False)
        audit = ("audit", "t.csv", "w.csv", "--drop", "house", "--measure", "cells_changed")
        said = rwn_command.done(*audit)
        assert "not compared, because MASKED has no such values: age" in said
    rwn_command.done("recommend", "t.csv", "--only", "age,x")


def test_no_module_reads_a_docstring() -> None:
    """Python leaves them out under -OO, and commands and reports are to say the same."""
    root = Path(__file__).resolve().parents[2]
    rooms = ("rwn_core", "rwn_cli", "rwn_ui", "pages")
    files = [path for room in rooms for path in (root / room).rglob("*.py")]
    reads = [path for path in files if re.search(r"__doc__|getdoc\(", path.read_text("utf-8"))]
    assert reads == []
    # Typer takes a docstring where nothing else is stated
    assert all(each.help for each in (*app.registered_commands, *ledger.registered_commands))
