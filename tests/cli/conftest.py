"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from rwn_cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _no_process_reads(read_here: None) -> None:
    """Read files in this process."""


@cache
def _commands() -> Any:
    """All commands, put together once and not for each test's call."""
    return typer.main.get_command(main.app)


@pytest.fixture
def rwn_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run a command in an empty folder: its exit code, its output, what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "app", _commands())

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main.run([str(argument) for argument in arguments])
        output, said = capsys.readouterr()
        assert "Traceback" not in said
        return code, output, said

    return run
