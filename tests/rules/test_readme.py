"""The README's examples run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rwn_cli import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


def test_readme_opens_with_the_two_commands() -> None:
    assert BLOCKS[0] == ("sh", "python -m pip install . && rwn app\n")
    assert BLOCKS[1] == ("sh", 'python -m pip install ".[test]" && python -m pytest\n')


def test_command_line_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (text for language, text in BLOCKS if language == "sh" and "rwn mask" in text)
    for line in example.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "rwn"
        assert main.run(arguments) == 0
    assert "regression" in capsys.readouterr().out


def test_python_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (text for language, text in BLOCKS if language == "python")
    exec(compile(example, "README.md", "exec"), {})
    assert "correlation" in capsys.readouterr().out
    assert (tmp_path / "release.csv").is_file()


@pytest.mark.parametrize(
    "page",
    sorted(
        p.relative_to(ROOT).as_posix() for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    ),
)
def test_no_link_leads_nowhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).exists(), target
