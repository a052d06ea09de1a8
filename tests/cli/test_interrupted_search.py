"""Ctrl-C during a search: the answer so far, in one sentence, with its own exit code."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rwn_core as rwn
from rwn_cli.partial_answer import SO_FAR
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Point, Spread
from rwn_core.tuning.partial_answer import PartialAnswer
from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
LIMIT = ("--limit", "distance_linkage=0.05")
COMMANDS = {
    "seek-slices": ("rwn_core.tuning.seek_slices", ()),
    "seek": ("rwn_core.tuning.seek", ("--k", "3,5", "--releases", 1, "--workers", 1)),
}


def interrupted(value: float | None) -> Any:
    """A search that finds an answer, or none, and is interrupted."""

    def search(data: rwn.Microdata, *_: object, progress: Any, **__: object) -> None:
        setting = rwn.Setting.of("rwn", {"epsilon": 6.0, "k": 7}, slices=[["age", "weight"]])
        if value is None:
            progress.found(None)
            raise KeyboardInterrupt
        read = {"distance_linkage": Spread(measure="distance_linkage", values=(value,))}
        limits = (rwn.Limit(measure="distance_linkage", at_most=0.05),)
        policy = rwn.Policy(limits=limits)
        point = Point(setting=setting.resolved(data), spreads=read)
        progress.found(PartialAnswer(point=point, goal=policy, records=data.n, of=data.n))
        raise KeyboardInterrupt

    return search


@pytest.mark.parametrize("command", COMMANDS)
def test_an_answer_so_far_that_keeps_the_limits_is_written(
    rwn_command: Run, monkeypatch, command
) -> None:
    name, more = COMMANDS[command]
    monkeypatch.setattr(name, interrupted(0.04))
    code, output, said = rwn_command(command, "demo:bodyfat", *LIMIT, *more, "-o", "s.toml")
    assert code == SO_FAR == 6, said
    assert output.startswith("Interrupted. Best so far: ε\N{NO-BREAK SPACE}6 · k")
    assert "keeps the limit" in output
    assert "Fresh releases have not confirmed it yet." in output
    assert output.count("\n") == 1
    scenario = Scenario.from_toml(Path("s.toml").read_text(encoding="utf-8"))
    assert scenario.setting.slices == (("age", "weight"),)
    assert scenario.note.startswith("Interrupted. Best so far")
    assert rwn_command("mask", "demo:bodyfat", "out.csv", "--scenario", "s.toml")[0] == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_the_nearest_so_far_is_named_and_not_written(
    rwn_command: Run, monkeypatch, command
) -> None:
    """The counterexample: an answer that breaks a limit does not pass for one."""
    name, more = COMMANDS[command]
    monkeypatch.setattr(name, interrupted(0.2))
    code, output, said = rwn_command(command, "demo:bodyfat", *LIMIT, *more, "-o", "s.toml")
    assert code == SO_FAR
    assert "Nearest so far" in output
    assert "Best" not in output
    assert "s.toml was not written: the setting does not keep all limits." in said
    assert not Path("s.toml").exists()


def test_without_an_answer_it_is_an_interruption_as_any_other(
    rwn_command: Run, monkeypatch
) -> None:
    monkeypatch.setattr("rwn_core.tuning.seek_slices", interrupted(None))
    assert rwn_command("seek-slices", "demo:bodyfat", *LIMIT)[0] == 130


def search_on(stderr: int) -> subprocess.Popen[str]:
    """A slice search far too long to end by itself."""
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from rwn_cli.main import main; main()"
    command = [sys.executable, "-c", program, "seek-slices", "demo:bodyfat", *LIMIT]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_sees_the_time_left_and_ctrl_c_ends_it_soon() -> None:
    ours, theirs = pty.openpty()
    process = search_on(theirs)
    os.close(theirs)
    seen, end = b"", time.monotonic() + 90
    while b" left" not in seen and time.monotonic() < end:
        seen += os.read(ours, 4096)
    assert b"time unknown yet" in seen, "before the first pace"
    assert b" left" in seen
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    output = process.communicate(timeout=30)[0]
    os.close(ours)
    assert time.monotonic() - begun < 10, "about a second, and more beside other work"
    assert process.returncode == SO_FAR
    assert " so far: " in output


def test_a_pipe_sees_no_progress() -> None:
    process = search_on(subprocess.PIPE)
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=60)
    assert process.returncode in (SO_FAR, 130)
    assert said == "" or "searching" not in said
    assert "searching" not in output
