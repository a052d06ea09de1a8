"""What the tests of the command line share."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import typer

from rwn_cli import main


class Run:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        code = main.run([str(argument) for argument in arguments])
        output, said = self._capsys.readouterr()
        assert "Traceback" not in said
        return code, output, said

    def done(self, *arguments: object) -> str:
        """What a command says that succeeds."""
        return self.refused(0, *arguments)

    def refused(self, code: int, *arguments: object) -> str:
        """What a command says that ends with this code."""
        ended, _, said = self(*arguments)
        assert ended == code, said
        return said

    def shown(self, *arguments: object) -> str:
        code, output, said = self(*arguments)
        assert code == 0, said
        return output


@pytest.fixture(autouse=True)
def _no_process_reads(read_here: None) -> None:
    """Read files in this process."""


@pytest.fixture(autouse=True)
def _demos(demos_read_once: None) -> None:
    """Share what is known of a demo table."""


@pytest.fixture(autouse=True)
def _small(small_forests: None) -> None:
    """Judge by small forests."""


@pytest.fixture(autouse=True)
def _no_process_tries_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try settings in this process; that several find the same is tested in `core/tuning`."""
    monkeypatch.setenv("RWN_THREADS", "1")


@cache
def _commands() -> Any:
    """All commands, put together once and not for each test's call."""
    return typer.main.get_command(main.app)


@pytest.fixture
def rwn_command(tmp_path, monkeypatch, capsys) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "app", _commands())
    return Run(capsys)


@pytest.fixture
def judged() -> None:
    """Commands that mask read the limits of their release for whoever asks for this."""


@pytest.fixture(autouse=True)
def _no_limits_are_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that mask read no limits: the file is asked for, not its verdict."""
    if "judged" not in request.fixturenames:
        monkeypatch.setattr("rwn_cli.mask._verdict_words", lambda *_: "")
        monkeypatch.setattr("rwn_cli.mask._further_draws", lambda *_: None)
