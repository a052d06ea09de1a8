"""Pages, pictures and the site that programs write are what they write today."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import typer

import rwn_core as rwn
from benchmarks import pages, side_by_side
from docs import build, case_study, concept_pictures, docstrings, method_pictures
from docs.reference_of import settings
from docs.reference_of.thresholds import ROOMS, thresholds
from docs.site import chapters, with_formulas, with_links, write
from docs.site import pages as site_pages
from rwn_cli.main import app
from rwn_core.data import schema
from rwn_core.data.arrays import Floats
from rwn_core.data.schema import Question
from rwn_core.evaluation.registered_analysis import Analysis
from rwn_core.masking import METHODS
from rwn_core.masking.option import method_words
from rwn_core.measures import MEASURES
from rwn_core.reporting.scenario import SavedSearch, Scenario
from rwn_core.tuning import Limit, Setting
from tests.rules import import_law as law

MOST_THRESHOLDS = 34
"""Thresholds that there may be; a new one replaces another."""
_ASKED = re.compile(r"environ(?:\.get|\.setdefault|ment\.setdefault)?[\[(]\"([A-Z_]+)\"")
_NAMED = re.compile(r"\"(RWN_[A-Z_]+)\"")


@pytest.fixture(scope="module")
def written() -> dict[Path, str]:
    """Every page as it should be."""
    pages = {build.HERE / name: build.text(name) for name in build.PAGES}
    pages |= {build.METHODS_HERE / name: page for name, page in build.about_methods().items()}
    return pages | build.texts_of_the_program()


def test_the_pages_are_up_to_date(written: dict[Path, str]) -> None:
    old = [path.name for path, text in written.items() if path.read_text("utf-8") != text]
    assert old == [], "run: python -m docs.build"
    known = {"index.md", *(f"{key}{end}" for key in METHODS for end in (".md", ".svg"))}
    known.add(method_pictures.NEAR_NAME)
    assert {path.name for path in build.METHODS_HERE.iterdir()} == known


def test_every_measure_has_an_entry(written: dict[Path, str]) -> None:
    page = written[build.HERE / "measures.md"]
    entries = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", page, re.M | re.S))
    assert list(entries) == sorted(MEASURES, key=lambda key: MEASURES[key].side == "risk")
    for key, measure in MEASURES.items():
        for part in (measure.title, measure.question, measure.unit, measure.source.rstrip(".")):
            assert part in entries[key], key
        assert ("For example: “" in entries[key]) == (measure.side == "risk"), key


def test_every_method_has_a_page_with_its_picture_and_all_its_parameters(
    written: dict[Path, str],
) -> None:
    index = written[build.METHODS_HERE / "index.md"]
    assert re.findall(r"\]\((\w+)\.md\)", index) == list(METHODS) == list(method_pictures.EXAMPLES)
    for key, method in METHODS.items():
        assert all(map(method_words(method).get, ("name", "does", "destroys", "source")))
        page = written[build.METHODS_HERE / f"{key}.md"]
        line = f"| `{key}` | [{method.title}](../methods/{key}.md)"
        assert line in written[build.HERE / "methods.md"]
        for part in (f"# {method.title}\n", f"]({key}.svg)"):
            assert part in page
        assert docstrings.undocumented(method) == []
        for name, (_, words) in docstrings.entries(method).items():
            assert words, f"{key}: {name} has a name and no words"
            assert f"| `{name}` |" in page
        assert all(f"(`{lever.name}`)" in page for lever in method.levers)


@cache
def documented_commands() -> dict[str, Any]:
    """The commands that are not hidden, and those of their groups, by their names."""
    group: Any = typer.main.get_command(app)
    commands = {name: each for name, each in group.commands.items() if not each.hidden}
    for name, command in list(commands.items()):
        commands |= {f"{name} {n}": c for n, c in getattr(command, "commands", {}).items()}
    return commands


def test_only_older_names_of_a_command_are_hidden() -> None:
    group: Any = typer.main.get_command(app)
    named = {each.name: each.callback for each in app.registered_commands}
    hidden = {name for name, command in group.commands.items() if command.hidden}
    assert {named[name] for name in hidden} <= {named["find"]}


def test_every_command_and_option_has_an_entry(written: dict[Path, str]) -> None:
    page = written[build.HERE / "commands.md"]
    assert "ledger add" in documented_commands()
    for name, command in documented_commands().items():
        assert f"## `rwn {name}`" in page
        for param in command.params:
            assert param.help, f"{name}: {param.opts} has no words"
            for option in param.opts if param.param_type_name == "option" else ():
                assert f"`{option}`" in page


def test_every_setting_and_threshold_has_an_entry(written: dict[Path, str]) -> None:
    page = written[build.HERE / "settings.md"]
    records = (Scenario, Setting, SavedSearch, Limit, Analysis, Question)
    files = (schema._FIELDS, *map(settings.in_file, records))
    sources = "\n".join(law.program().values())
    asked = {*_ASKED.findall(sources), *_NAMED.findall(sources)}
    assert {"RWN_FILE", "RWN_MEMORY", "OPENBLAS_NUM_THREADS"} <= asked
    assert asked <= set(settings.ENVIRONMENT)
    entries = asked.union(*files)
    assert [name for name in entries if f"| `{name}` |" not in page] == []
    code = [path.read_text("utf-8") for room in ROOMS for path in (law.ROOT / room).rglob("*.py")]
    assert len(thresholds()) == sum(text.count("# decides: ") for text in code) <= MOST_THRESHOLDS


@pytest.mark.parametrize("key", METHODS)
def test_the_picture_of_a_method_is_small_and_shows_something(key: str) -> None:
    kept = (build.METHODS_HERE / f"{key}.svg").read_text("utf-8")
    assert len(kept.encode()) < 60_000
    root = ElementTree.fromstring(kept)
    assert sum(shape.tag.endswith(("}path", "}rect")) for shape in root) > 5
    words = " ".join(each.text or "" for each in root)
    assert [word in words for word in ("original", "released", "nan")] == [True, True, False]
    if key in ("rwn", "record_swapping"):  # numbers and categories; all of them take seconds
        assert method_pictures.picture(key) == kept, "run python -m docs.build"


def test_the_picture_of_k_noise_shows_theorem_1(written: dict[Path, str]) -> None:
    k = 10
    at, near, stay, reach = method_pictures.records_near(k)
    ages = rwn.load_demo("bodyfat").values("age")
    rng = np.random.default_rng(1)
    inside = np.abs(ages - at[:, np.newaxis]) <= 2 * reach

    def released_near(width: float) -> Floats:
        """The mean number of those near that are released near, with noise of a width."""
        draws = ages + width * rng.uniform(-1, 1, size=(2000, 1, len(ages)))
        shown = [(inside & (np.abs(each - at[:, np.newaxis]) <= 2 * reach)) for each in draws]
        return np.asarray(np.mean(shown, axis=0).sum(axis=1))

    assert near.tolist() == inside.sum(axis=1).tolist()
    assert near.min() >= k > (np.abs(ages - at[:, np.newaxis]) < 2 * reach).sum(axis=1).min()
    np.testing.assert_allclose(released_near(reach), stay, atol=0.6)
    assert (stay >= near / 2).all()
    # planted: noise of five times the width leaves fewer than half
    assert (released_near(5 * reach) < near / 2).all()
    kept = (build.METHODS_HERE / method_pictures.NEAR_NAME).read_text("utf-8")
    assert method_pictures.near_picture() == kept, "run python -m docs.build"
    assert f"]({method_pictures.NEAR_NAME})" in written[build.METHODS_HERE / "k_noise.md"]


@pytest.mark.parametrize("name", concept_pictures.PICTURES)
def test_a_picture_of_the_concepts_is_drawn_the_same_again(name: str) -> None:
    here = concept_pictures.HERE
    drawn = concept_pictures.PICTURES[name]()
    assert drawn == (here / name).read_text("utf-8"), "run python -m docs.concept_pictures"
    assert f"]({name})" in (here / "concepts.md").read_text("utf-8")


def test_the_case_study_is_its_template_with_what_was_printed() -> None:
    page = case_study.PAGE.read_text("utf-8")
    template = case_study.TEMPLATE.read_text("utf-8")
    assert re.sub(r"\n```text\n.*?```\n", "", page, flags=re.DOTALL) == template
    for name in case_study.PICTURES:
        assert f"]({name})" in page
        ElementTree.fromstring((case_study.HERE / name).read_text("utf-8"))


@pytest.mark.nightly  # by day the test above: its text, not its figures
def test_the_case_study_comes_out_again() -> None:
    for name, text in case_study.made().items():
        kept = (case_study.HERE / name).read_text("utf-8")
        assert text == kept, f"{name}: run python -m docs.case_study"


def test_our_numbers_beside_other_programs_are_computed_today() -> None:
    stored = pages.read_lines(side_by_side.FILE)
    run = side_by_side.stored_run()
    assert [side_by_side.line(row, run, run) for row in side_by_side.ROWS] == stored
    assert all(line["why"] for line in stored if line["verdict"] == "different")
    page = side_by_side.PAGE.read_text("utf-8").partition(side_by_side.BEGINS)[2]
    assert page == "\n" + "\n\n".join(side_by_side.page_lines(stored)) + "\n"


def test_the_menu_of_the_site_has_every_page() -> None:
    names = site_pages()
    menu = [entry for chapter in chapters(names) for entry in chapter.items()]
    assert [title for title, _ in menu][:3] == ["Start", "Begin", "How to"]
    assert "'Rank swapping': 'methods/rank_swapping.md'" in str(menu)
    assert [name for name in names.values() if f"'{name}'" not in str(menu)] == []
    assert "decisions/" not in str(menu)


def test_the_site_has_its_formulas_and_opens_without_network(tmp_path: Path) -> None:
    site = tmp_path / "site"
    write(site)
    assert 'href="project/readme.html"' in (site / "index.html").read_text("utf-8")
    formulas = (site / "explanation" / "mathematics.html").read_text("utf-8")
    assert formulas.count("<math") > 40
    assert "$" not in re.sub(r"<code>.*?</code>", "", formulas)
    assert not (site / "decisions").exists()
    outside = re.compile(r"(?:src=|url\()[\"']?(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//")
    texts = [file for file in site.rglob("*") if file.suffix in {".html", ".css"}]
    assert [file for file in texts if outside.search(file.read_text("utf-8"))] == []


def test_the_site_has_formulas_as_mathml_and_only_its_own_links() -> None:
    text = with_formulas("$S_i$ costs $5, `$HOME$`\n\n$$\\frac{1}{2}$$")
    assert text.count("<math") == 2
    for part in ("<msub><mi>S</mi><mi>i</mi></msub>", "<mfrac>", "`$HOME$`", "costs $5,"):
        assert part in text
    names = site_pages()
    (page,) = (page for page in names if page.name == "index.md" and page.parent.name == "docs")
    text = with_links("[code](../rwn_core/errors.py), [us](../README.md#x)", page, names)
    assert text == "code, [us](project/readme.md#x)"
    with pytest.raises(KeyError):
        with_links("[x](y.md)", Path("elsewhere.md"), names)
