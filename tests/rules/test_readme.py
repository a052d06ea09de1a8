"""Examples of the README and of docstrings run; what leaves is said."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import tomllib
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

import rwn_core
import rwn_core as rwn
from rwn_cli import main
from rwn_core.masking import METHODS

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
    said = capsys.readouterr().out
    assert "regression" in said
    assert re.search(r"bayes_linkage +1 ", said)  # the worst case is shown, as the text says
    assert re.search(r"distance_linkage +0\.1369 ", said)


def test_python_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = (text for language, text in BLOCKS if language == "python")
    exec(compile(example, "README.md", "exec"), {})
    assert "correlation" in capsys.readouterr().out
    assert (tmp_path / "release.csv").is_file()


COMMANDS: Any = typer.main.get_command(main.app)

PAGES = sorted(
    p.relative_to(ROOT).as_posix() for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
)


def commands_in(text: str) -> list[str]:
    """The command lines of a page, in blocks and in sentences."""
    blocks = re.findall(r"^ *```sh\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)
    whole = [block.replace("\\\n", " ") for block in blocks]
    lines = [line.strip() for block in whole for line in block.splitlines()]
    inline = [" ".join(each.split()) for each in re.findall(r"`(rwn [a-z][^`]*)`", text)]
    return [line for line in [*lines, *inline] if line.startswith("rwn ")]


def unknown_in(line: str) -> list[str]:
    """What a command line names that there is not: a command, an option, a parameter."""
    _, name, *words = shlex.split(line.replace("|", " "))
    if name not in COMMANDS.commands:
        return [name]
    command = COMMANDS.commands[name]
    if hasattr(command, "commands") and words:  # a group of commands
        if words[0] not in command.commands:
            return [words[0]]
        command = command.commands[words[0]]
    known = {option for param in command.params for option in param.opts}
    lost = [word for word in words if word.startswith("-") and word not in {*known, "--help"}]
    method = words[words.index("--method") + 1] if "--method" in words else "rwn"
    keys = [key for key in method.split(",") if key in METHODS] or list(METHODS)
    parameters = {"NAME", *(field.name for key in keys for field in fields(METHODS[key]))}
    asked = [after.partition("=")[0] for word, after in pairwise(words) if word == "--set"]
    return lost + [each for each in asked if each not in parameters]


def test_every_command_in_the_docs_is_one() -> None:
    lines = {line: page for page in PAGES for line in commands_in((ROOT / page).read_text("utf-8"))}
    assert len(lines) > 25
    wrong = {f"{page}: {line}": unknown_in(line) for line, page in lines.items()}
    assert {line: what for line, what in wrong.items() if what} == {}


AT_LEAST = 50

"""Examples there are more of: a search that finds none must not pass."""


def modules() -> list[str]:
    """Every module of the package."""
    return [result.name for result in pkgutil.walk_packages(rwn_core.__path__, "rwn_core.")]


def test_every_example_gives_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    tried, failed = 0, []
    for name in modules():
        result = doctest.testmod(importlib.import_module(name))
        tried += result.attempted
        failed += [name] if result.failed else []
    assert not failed, capsys.readouterr().out
    assert tried > AT_LEAST


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

TEXTS = [
    path
    for folder in ("rwn_core", "rwn_ui", "rwn_cli", "docs", "r", "pages", "demo_data", ".")
    for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.glob("*"))
    if path.suffix in {".py", ".md", ".R", ".Rd", ".toml", ".ipynb", ".js", ".cff"}
]

# a name on a package index that is not ours: anybody could register it
INSTALL = re.compile(
    r"(pip|pipx|uv)( tool)? install[^\n&;]*?[ '\"]rwn\b(?!_)|install\.packages\([\"']rwn"
)


def test_nothing_says_to_install_a_package_that_is_not_published() -> None:
    assert len(TEXTS) > 500
    found = [p.name for p in TEXTS if INSTALL.search(p.read_text("utf-8", errors="replace"))]
    assert found == []
    for line in ("pip install rwn", "pip install 'rwn[dask]'", 'install.packages("rwn")'):
        assert INSTALL.search(line)
    for line in ("pip install .", "pip install '.[dask]' && rwn app", "pip install anywidget"):
        assert not INSTALL.search(line)


def test_the_citation_names_this_version_and_license() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version: "{rwn.__version__}"' in text
    assert f"license: {PROJECT['license']}" in text
    assert "Novel Neighborhood-Based Method" in text
    for field in ("cff-version", "message", "title", "authors"):
        assert re.search(rf"^{field}:", text, re.M)


def test_one_license_everywhere() -> None:
    description = (ROOT / "r" / "DESCRIPTION").read_text("utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert "License: Apache License (== 2.0)" in description
    assert f"Version: {rwn.__version__}" in description


def test_no_address_of_the_project_is_made_up() -> None:
    for address in PROJECT.get("urls", {}).values():
        assert not re.search(r"example\.(org|com)|localhost", address)


def test_what_a_visitor_looks_for_is_there_and_linked() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in ("SECURITY.md", "ACCESSIBILITY.md", "CITATION.cff", "LICENSE", "CONTRIBUTING.md"):
        assert (ROOT / name).is_file()
        assert f"({name})" in readme
    named = set(re.findall(r"`(tests/[^`]+)`", (ROOT / "ACCESSIBILITY.md").read_text("utf-8")))
    assert all((ROOT / each).exists() for each in named)
    methods = {12: "twelve", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
    assert f"one of {methods[len(rwn.METHODS)]} [methods]" in readme


def test_the_readmes_command_line_shows_the_worst_case() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (audit,) = re.findall(r"^rwn audit .*$", readme, re.M)
    assert "--record" in audit
