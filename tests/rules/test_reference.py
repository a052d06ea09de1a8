"""The reference is what the catalogues say, and lacks none of their entries."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
import typer

from docs import build, docstrings
from docs.reference_of import commands, measures, settings
from rwn_cli.main import app
from rwn_core.data import schema
from rwn_core.data.schema import Question
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.masking import METHODS
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES
from rwn_core.reporting.scenario import SavedSearch, Scenario
from rwn_core.tuning import Limit, Setting
from tests.rules import import_law as law

MASKING = METHODS.values()
_ASKED = re.compile(r"environ(?:\.get|\.setdefault|ment\.setdefault)?[\[(]\"([A-Z_]+)\"")
_NAMED = re.compile(r"\"(RWN_[A-Z_]+)\"")


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every page as it should be."""
    return {name: build.text(name) for name in build.PAGES}


@pytest.mark.parametrize("name", build.PAGES)
def test_the_pages_are_up_to_date(name: str, texts: dict[str, str]) -> None:
    kept = (build.HERE / name).read_text(encoding="utf-8")
    assert kept == texts[name], "run: python -m docs.build"


def test_what_the_program_says_of_methods_and_commands_is_up_to_date() -> None:
    for path, text in build.texts_of_the_program().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m docs.build"
    for method in MASKING:
        assert all(map(method_words(method).get, ("name", "does", "destroys", "source")))


def test_every_measure_has_an_entry(texts: dict[str, str]) -> None:
    entries = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", texts["measures.md"], re.M | re.S))
    assert list(entries) == sorted(MEASURES, key=lambda key: MEASURES[key].side == "risk")
    for key, measure in MEASURES.items():
        for part in (measure.title, measure.question, measure.unit, measure.source.rstrip(".")):
            assert part in entries[key], key
        assert ("For example: “" in entries[key]) == (measure.side == "risk"), key


def test_every_method_has_a_line_and_a_page_with_all_its_parameters(texts: dict[str, str]) -> None:
    pages = build.about_methods()
    for method in MASKING:
        page = pages[f"{method.method}.md"]
        assert (
            f"| `{method.method}` | [{method.title}](../methods/{method.method}.md)"
            in (texts["methods.md"])
        )
        assert docstrings.undocumented(method) == []
        for name, (_, words) in docstrings.entries(method).items():
            assert words, f"{method.method}: {name} has a name and no words"
            assert f"| `{name}` |" in page
        for lever in method.levers:
            assert f"(`{lever.name}`)" in page


def test_every_command_and_option_has_an_entry(texts: dict[str, str]) -> None:
    group: Any = typer.main.get_command(app)
    named = {each.name: each.callback for each in app.registered_commands}
    hidden = {name for name, command in group.commands.items() if command.hidden}
    assert {named[name] for name in hidden} <= {named["find"]}  # its older names
    commands = {n: c for n, c in group.commands.items() if n not in hidden}
    for name, command in list(commands.items()):
        commands |= {f"{name} {n}": c for n, c in getattr(command, "commands", {}).items()}
    assert "ledger add" in commands
    for name, command in commands.items():
        assert f"## `rwn {name}`" in texts["commands.md"]
        for param in command.params:
            assert param.help, f"{name}: {param.opts} has no words"
            for option in param.opts if param.param_type_name == "option" else ():
                assert f"`{option}`" in texts["commands.md"]


def test_every_setting_has_an_entry(texts: dict[str, str]) -> None:
    records = (Scenario, Setting, SavedSearch, Limit, Analysis, Question)
    files = (schema._FIELDS, *map(settings.in_file, records))
    lacking = {name for names in files for name in names if f"| `{name}` |" not in settings.page()}
    assert lacking == set()
    sources = "\n".join(law.program().values())
    asked = {*_ASKED.findall(sources), *_NAMED.findall(sources)}
    assert {"RWN_FILE", "RWN_MEMORY", "OPENBLAS_NUM_THREADS"} <= asked
    assert asked <= set(settings.ENVIRONMENT)
    assert all(f"| `{name}` |" in texts["settings.md"] for name in asked)


def test_a_new_measure_is_in_the_page(
    monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    planted = replace(MEASURES["correlation"], key="planted", title="A planted measure")
    catalogue = MappingProxyType({**MEASURES, planted.key: planted})
    monkeypatch.setattr(measures.rwn, "MEASURES", catalogue, raising=False)
    result = build.text("measures.md")
    assert result != texts["measures.md"]
    assert "### `planted`\n\n**A planted measure.**" in result


def test_a_new_option_is_in_the_page(
    monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]
) -> None:
    other = typer.Typer()

    @other.command()
    def planted(swift: bool = typer.Option(False, "--swift", help="Be quick.")) -> None:
        """Do something else."""

    @other.command()
    def second() -> None:
        """Do a second thing; a lone command has no name."""

    monkeypatch.setattr(commands, "app", other)
    result = build.text("commands.md")
    assert result != texts["commands.md"]
    assert "## `rwn planted`" in result
    assert "| `--swift` |  | Be quick. |" in result


def test_a_setting_without_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "in_file", lambda record: ["planted"])
    with pytest.raises(KeyError, match="planted"):
        settings.page()
