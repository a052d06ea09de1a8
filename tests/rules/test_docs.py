"""The pages that people write: what they link, name, run and promise is there."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shlex
import tomllib
from dataclasses import fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

import rwn_core as rwn
from rwn_cli import main
from tools import where

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXTS = {path: path.read_text("utf-8") for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]}
README = TEXTS[ROOT / "README.md"]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# ---------------------------------------------------------------- links

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]*)(#[^)\s]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def headings(text: str) -> set[str]:
    """The names that headings have as targets of links."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in titles}


def broken(page: Path, text: str) -> list[str]:
    """Links that lead to no file, or to no heading of it."""
    found = []
    for path, part in _LINK.findall(_CODE.sub("", text)):
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (part and part[1:] not in headings(target.read_text("utf-8"))):
            found.append(f"{page.name}: {path}{part}")
    return found


def test_every_link_leads_to_a_heading_and_a_link_leads_to_every_page() -> None:
    assert [each for page, text in TEXTS.items() for each in broken(page, text)] == []
    planted = "[a](gone.md) [b](../README.md#gone) [c](../README.md) `[d](gone)`"
    gone = ["index.md: gone.md", "index.md: ../README.md#gone"]
    assert broken(DOCS / "index.md", planted) == gone
    linked = {path for path, _ in _LINK.findall(TEXTS[DOCS / "contents.md"])}
    folders = ("tutorial", "how-to", "reference", "explanation")
    pages = [
        path.relative_to(DOCS).as_posix() for name in folders for path in DOCS.glob(f"{name}/*.md")
    ]
    assert {*pages, *(f"../{path.name}" for path in ROOT.glob("*.md"))} <= linked


# ---------------------------------------------------------------- names

TOPS = "rwn_core|rwn_ui|rwn_cli|tests|docs|pages|benchmarks|tools|demo_data"
_PATH = re.compile(rf"(?<![\w./-])((?:{TOPS})/[\w./*-]*\w)")
_SOURCE = re.compile(r"(?<![\w./*-])([\w/]+\.(?:py|js|css))\b")
_SYMBOL = re.compile(r"`(\w+)`(?: and `(\w+)`)? in `([\w/]+\.py)`")
_DOTTED = re.compile(r"\b(rwn_(?:core|ui|cli)(?:\.\w+)+)")
INSTALLED = ("rwn_ui/app/", "rwn_ui/app", "rwn_core/demo_data")
"""What an installed package has and a checkout has not."""


@cache
def files_that_end(path: str) -> list[Path]:
    """The files of the project whose path from its root ends so."""
    return [file for file in _files() if f"/{file.as_posix()}".endswith(f"/{path}")]


@cache
def _files() -> list[Path]:
    found = [path for top in TOPS.split("|") for path in (ROOT / top).rglob("*")]
    return [path.relative_to(ROOT) for path in [*found, *ROOT.glob("*.py")]]


def defines(path: str, name: str) -> bool:
    """True if a class, a function or a name of a module is defined in a file that ends so."""
    defined = re.compile(rf"^\s*(?:(?:class|def) )?{name}\b *[(:=]", re.M)
    return any(defined.search((ROOT / each).read_text("utf-8")) for each in files_that_end(path))


def is_there(name: str) -> bool:
    """True if a dotted name leads to a module, or to something in one."""
    module, *parts = name.split(".")
    result: Any = importlib.import_module(module)
    for part in parts:
        module += f".{part}"
        if not hasattr(result, part) and importlib.util.find_spec(module) is None:
            return False
        result = getattr(result, part, None) or importlib.import_module(module)
    return True


def gone(text: str) -> list[str]:
    """The files, folders and names of the program in a text that are not there."""
    # names that moved are held by their own test
    text = re.sub(r"### Names that moved\n.*?(?=\n##|\Z)", "", text, flags=re.DOTALL)
    lost = [path for path in _PATH.findall(text) if not list(ROOT.glob(path))]
    lost += [path for path in _SOURCE.findall(text) if not files_that_end(path)]
    for *names, path in _SYMBOL.findall(text):
        lost += [f"{each} in {path}" for each in names if each and not defines(path, each)]
    lost += [name for name in _DOTTED.findall(text) if not is_there(name)]
    return [each for each in lost if not each.startswith(INSTALLED)]


def test_every_file_and_name_in_the_docs_is_there() -> None:
    assert {page: lost for page, text in TEXTS.items() if (lost := gone(text))} == {}


def test_each_question_of_newcomers_has_one_file_that_defines_the_name() -> None:
    rest = TEXTS[ROOT / "ARCHITECTURE.md"].partition("\n## Questions of newcomers\n")[2]
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in lines[2:]]
    assert len(rows) >= 10
    assert [row[0] for row in rows if not defines(row[1], row[2])] == []
    # each is found by its own words
    known = list(where.answers())
    for asked, *_ in rows:
        best = where.ranked(where.stems(asked), known)[: where.ANSWERS_SHOWN]
        assert asked in {told for (_, told), _ in best}


def test_every_decision_says_whether_it_is_in_force() -> None:
    for page in DOCS.glob("decisions/*.md"):
        first = TEXTS[page].splitlines()[2]
        assert first.startswith(("In force.", "In force in part", "In force, ", "Replaced")), page


# ---------------------------------------------------------------- commands and examples

COMMANDS: Any = typer.main.get_command(main.app)


def commands_in(text: str) -> list[str]:
    """The command lines of a page, in blocks and in sentences."""
    blocks = re.findall(r"^ *```sh\n(.*?)```", text, flags=re.DOTALL | re.MULTILINE)
    whole = [block.replace("\\\n", " ") for block in blocks]
    lines = [line.strip() for block in whole for line in block.splitlines()]
    inline = [" ".join(each.split()) for each in re.findall(r"`(rwn [a-z][^`]*)`", text)]
    return [line for line in [*lines, *inline] if line.startswith("rwn ")]


def unknown_in(line: str) -> list[str]:
    """What a command line names that there is not: a command, an option, a parameter."""
    command = COMMANDS
    words = shlex.split(line.replace("|", " "))[1:]
    while hasattr(command, "commands") and words:  # a group of commands
        name, *words = words
        if name not in command.commands:
            return [name]
        command = command.commands[name]
    return unknown_options(command, words) + unknown_parameters(words)


def unknown_options(command, words: list[str]) -> list[str]:
    """The words of a command line that look like options and are none of the command."""
    known = {option for param in command.params for option in param.opts} | {"--help"}
    return [word for word in words if word.startswith("-") and word not in known]


def unknown_parameters(words: list[str]) -> list[str]:
    """What --set names that is no parameter of the method, or of any where it is no single one."""
    method = words[words.index("--method") + 1] if "--method" in words else "rwn"
    keys = [key for key in method.split(",") if key in rwn.METHODS] or list(rwn.METHODS)
    parameters = {"NAME", *(field.name for key in keys for field in fields(rwn.METHODS[key]))}
    asked = [after.partition("=")[0] for word, after in pairwise(words) if word == "--set"]
    return [each for each in asked if each not in parameters]


def test_every_command_in_the_docs_is_one() -> None:
    lines = {line: page for page, text in TEXTS.items() for line in commands_in(text)}
    assert len(lines) > 25
    assert {line: lost for line in lines if (lost := unknown_in(line))} == {}


@pytest.mark.usefixtures("small_forests")
def test_the_examples_of_the_readme_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert BLOCKS[0] == ("sh", "python -m pip install . && rwn app\n")
    assert BLOCKS[1] == ("sh", 'python -m pip install ".[test]" && python -m pytest\n')
    (example,) = (text for language, text in BLOCKS if language == "sh" and "rwn mask" in text)
    for line in example.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "rwn"
        assert main.run(arguments) == 0
    said = capsys.readouterr().out
    assert "regression" in said
    assert re.search(r"bayes_linkage +1 ", said)  # the worst case is shown, as the text says
    assert re.search(r"distance_linkage +0\.1369 ", said)
    (example,) = (text for language, text in BLOCKS if language == "python")
    exec(compile(example, "README.md", "exec"), {})
    assert "correlation" in capsys.readouterr().out
    assert (tmp_path / "release.csv").is_file()


def test_every_example_in_a_docstring_gives_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tried = 0
    failed = []
    for module in pkgutil.walk_packages(rwn.__path__, "rwn_core."):
        result = doctest.testmod(importlib.import_module(module.name))
        tried += result.attempted
        failed += [module.name] if result.failed else []
    assert not failed, capsys.readouterr().out
    assert tried > 50, "a search that finds none must not pass"


# ---------------------------------------------------------------- promises

# a name on a package index that is not ours: anybody could register it
INSTALL = re.compile(
    r"(pip|pipx|uv)( tool)? install[^\n&;]*?[ '\"]rwn\b(?!_)|install\.packages\([\"']rwn"
)


def test_nothing_says_to_install_a_package_that_is_not_published() -> None:
    folders = ("rwn_core", "rwn_ui", "rwn_cli", "docs", "r", "pages", "demo_data")
    paths = [*ROOT.glob("*"), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    endings = {".py", ".md", ".R", ".Rd", ".toml", ".ipynb", ".js", ".cff"}
    texts = {p: p.read_text("utf-8", errors="replace") for p in paths if p.suffix in endings}
    assert len(texts) > 500
    assert [path for path, text in texts.items() if INSTALL.search(text)] == []
    for line in ("pip install rwn", "pip install 'rwn[dask]'", 'install.packages("rwn")'):
        assert INSTALL.search(line)
    for line in ("pip install .", "pip install '.[dask]' && rwn app", "pip install anywidget"):
        assert not INSTALL.search(line)


def test_citation_license_version_and_addresses_are_those_of_the_project() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version: "{rwn.__version__}"' in citation
    assert f"license: {PROJECT['license']}" in citation
    assert "Novel Neighborhood-Based Method" in citation
    for field in ("cff-version", "message", "title", "authors"):
        assert re.search(rf"^{field}:", citation, re.M)
    description = (ROOT / "r" / "DESCRIPTION").read_text("utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert "License: Apache License (== 2.0)" in description
    assert f"Version: {rwn.__version__}" in description
    assert not re.search(r"example\.(org|com)|localhost", str(PROJECT.get("urls", {})))
