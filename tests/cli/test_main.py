"""The command line: the same bytes as Python, the right exit code, one sentence, no value."""

from __future__ import annotations

import io
import json
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rwn_core as rwn
from rwn_cli import options, terminal
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.io.demo import demo_path
from rwn_core.reporting.readers import rwn_claims
from tests.cli.conftest import Run

SECRET = "sentinel-078-05-1120"


@pytest.fixture
def bodyfat(rwn_command: Run) -> Path:
    """The demo table as a file in the empty folder."""
    assert rwn_command("demo", "bodyfat", "-o", "bodyfat.csv", "--schema")[0] == 0
    return Path("bodyfat.csv")


def test_demo_copies_table_and_schema(bodyfat: Path) -> None:
    kept = demo_path("bodyfat")
    assert bodyfat.read_bytes() == kept.read_bytes()
    assert Path("bodyfat.toml").read_bytes() == kept.with_suffix(".toml").read_bytes()


@pytest.mark.parametrize(("suffix", "order"), [("csv", "original"), ("parquet", "shuffled")])
def test_mask_writes_the_bytes_that_python_writes(
    rwn_command: Run, suffix: str, order: str
) -> None:
    target = f"out.{suffix}"
    code, _, said = rwn_command(
        *("mask", "demo:bodyfat", target, "--epsilon", 2, "--k", 5, "--q", 0.5),
        *("--weight", "age=2", "--weight", "siri=0", "--seed", 7, "--order", order),
        *("--round", "age=5", "--round", "weight=10", "--drop", "wrist"),
    )
    assert code == 0
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


def test_without_a_seed_no_two_releases_are_alike(rwn_command: Run) -> None:
    for name in ("one.csv", "two.csv"):
        assert rwn_command("mask", "demo:bodyfat", name, "--k", 5)[0] == 0
    assert Path("one.csv").read_bytes() != Path("two.csv").read_bytes()


def test_audit_tells_what_python_tells(rwn_command: Run, bodyfat: Path) -> None:
    masked = ("masked.csv", "--k", 5, "--seed", 7, "--order", "original")
    rwn_command("mask", bodyfat, *masked, "--schema", "bodyfat.toml")
    data = rwn.load_demo("bodyfat")
    release = rwn.mask(data, rwn.RWN(k=5), seed=7)
    keys = ["correlation", "regression", "cells_changed"]
    expected = rwn.audit(data, release.masked, measures=keys).records()
    asked = [part for key in keys for part in ("--measure", key)]
    code, output, _ = rwn_command("audit", "demo:bodyfat", "masked.csv", "--json", *asked)
    assert code == 0
    result = json.loads(output)
    assert (result["records"], result["variables"]) == (241, 15)
    for row, wanted in zip(result["measures"], expected, strict=True):
        assert row["value"] == pytest.approx(wanted["value"])
        assert row["measure"] == wanted["measure"]


def test_audit_table_has_baselines_and_reasons(rwn_command: Run) -> None:
    Path("t.csv").write_text("a,b\n" + "".join(f"{i * i % 31},{i % 7}\n" for i in range(40)))
    rwn_command("mask", "t.csv", "masked.csv", "--k", 5, "--order", "original")
    code, output, said = rwn_command("audit", "t.csv", "masked.csv")
    assert code == 0
    assert "shuffled" in said
    header, *lines = output.splitlines()
    assert header.split() == ["measure", "value", "baseline", "better", "unit"]
    assert {line.split(":")[0].split()[0] for line in lines} == set(rwn.MEASURES)
    reason = next(line for line in lines if line.startswith("neighborhood_size"))
    assert "not applicable" in reason


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
        code, output, _ = rwn_command(*asked, *more)
        assert code == 0
        values.append(json.loads(output)["measures"][0]["value"])
    assert min(values) > 0.8  # all are read truly, less luck; larger sets are searched, too
    code, _, said = rwn_command(*asked, "--keys", "a,nobody")
    assert code == 2
    assert "must name released variables only" in said


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
def test_no_failure_shows_a_traceback_or_a_value(
    rwn_command: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, word: str
) -> None:
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
        code, output, _ = rwn_command(*command, "--help")
        assert code == 0
        assert "Usage: rwn" in output
    assert "not that of differential privacy" in " ".join(rwn_command("mask", "--help")[1].split())


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

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


MASK = ("mask", "demo:bodyfat", "m.csv", "--epsilon", "2", "--k", "5", "--seed", "7",
        "--order", "original", "--round", "age=5", "--weight", "age=2")  # fmt: skip
STATED = ("--set", "epsilon=2", "--set", "k=5", "--round", "age=5", "--weight", "age=2")
KEYS = ("bayes_linkage", "intruder_levels")
AUDIT = ("audit", "demo:bodyfat", "m.csv", "--json", "--measure", KEYS[0], "--measure", KEYS[1])


def test_the_worst_case_of_a_record_is_that_of_the_release(rwn_command: Run) -> None:
    def read(*more: str) -> dict[str, Any]:
        code, output, _ = rwn_command(*AUDIT, *more)
        assert code == 0
        return {row["measure"]: row["value"] for row in json.loads(output)["measures"]}

    assert rwn_command(*MASK, "--record", "r.toml")[0] == 0
    data = rwn.load_demo("bodyfat")
    data = data.with_schema(data.schema.with_weights({"age": 2.0}))
    release = rwn.mask(data, rwn.RWN(epsilon=2, k=5), seed=7, precision={"age": 5})
    own = rwn.audit(data, release, measures=KEYS)
    expected = {key: pytest.approx(own[key].value) for key in KEYS}
    assert read("--record", "r.toml") == expected
    assert read(*STATED) == expected
    assert read() == dict.fromkeys(KEYS), "without a setting there is no worst case"


PLAN = """
[[analysis]]
name = "fat"
kind = "linear"
tolerance = 1.0
formula = "siri ~ abdomen + age"
"""


@pytest.fixture
def record(rwn_command, tmp_path: Path) -> Path:
    assert rwn_command("demo", "bodyfat", "-o", "b.csv", "--schema")[0] == 0
    words = "mask b.csv r.csv --schema b.toml --epsilon 2 --k 5 --round 0.1 --record r.toml"
    assert rwn_command(*words.split())[0] == 0
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path / "r.toml"


def test_claims_and_readers_are_written_and_read(record: Path, rwn_command) -> None:
    words = "claims r.toml -o claims.json --plan plan.toml --draws 40 --readers"
    code, _, said = rwn_command(*words.split())
    assert code == 0, said
    assert "1 of 1 analyses have a claim" in said
    assert "of 105 pairs of numbers have a claim" in said
    assert (record.parent / "rwn_claims.R").exists()
    survey = rwn_claims.load(record.parent / "r.csv", record.parent / "claims.json")
    assert survey.fit("siri ~ age + abdomen").rows[0].term == "abdomen"
    assert rwn_command(*words.split())[0] == 4  # the files are there


@pytest.mark.parametrize("factors", ["abcdefghijklmnopqrstuvwxyz", ["weight"] * 40_000])
def test_a_hostile_scenario_is_refused_at_once(
    rwn_command: Run, tmp_path: Path, factors: Sequence[str]
) -> None:
    """Finding T1."""
    (tmp_path / "s.toml").write_text(
        'format = "rwn scenario 1"\n[setting]\nmethod = "rwn"\n[setting.parameters]\nk = 5\n'
        '[[analysis_plan]]\nname = "n"\nkind = "linear"\ntolerance = 1.0\n'
        f'formula = "y ~ {"*".join(factors)}"\n'
    )
    tracemalloc.start()
    begun = time.perf_counter()
    code, _, said = rwn_command("mask", "demo:pima", "out.csv", "--scenario", "s.toml")
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert time.perf_counter() - begun < 20
    assert code != 0
    assert "formula" in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_the_second_reading_is_said_and_stands_in_the_record(
    rwn_command: Run, tmp_path: Path
) -> None:
    code, _, said = rwn_command("mask", "demo:pima", "out.csv", "--k", 50, "--record", "r.toml")
    assert code == 0
    words = (
        "Every cell is the same in a second reading: release read by pandas, original by pandas."
    )
    assert words in said
    assert words in (tmp_path / "r.toml").read_text(encoding="utf-8")
    assert rwn_command("report", "r.toml", "--public", "-o", "card.toml")[0] == 0
    assert words in (tmp_path / "card.toml").read_text(encoding="utf-8")
