"""The site: its menu, its links, pictures, questions and figures that were measured."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import journeys
from docs import case_study, concept_pictures
from docs.site import chapters, pages, with_formulas, with_links, write
from tests.rules import architecture_page

ROOT = Path(__file__).resolve().parents[2]

NAMES = pages()

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
        if not target.exists():
            found.append(f"{page.name}: {path}")
        elif part and part[1:] not in headings(target.read_text(encoding="utf-8")):
            found.append(f"{page.name}: {path}{part}")
    return found


def test_every_link_leads_to_a_file_and_to_a_heading_of_it() -> None:
    everything = {*NAMES, *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")}
    assert [each for page in everything for each in broken(page, page.read_text("utf-8"))] == []
    index = next(page for page in NAMES if page.name == "index.md")
    assert broken(index, "[a](gone.md) [b](../README.md#gone) [c](../README.md) `[d](gone)`") == [
        "index.md: gone.md",
        "index.md: ../README.md#gone",
    ]


def test_the_menu_is_the_list_of_pages_by_titles() -> None:
    menu = [entry for chapter in chapters(NAMES) for entry in chapter.items()]
    assert [title for title, _ in menu][:3] == ["Start", "Begin", "How to"]
    reached = str(menu)
    assert "'Rank swapping': 'methods/rank_swapping.md'" in reached
    assert [name for name in NAMES.values() if f"'{name}'" not in reached] == []
    assert "decisions/" not in reached


def test_formulas_are_mathml_and_code_and_money_stay() -> None:
    text = with_formulas("$S_i$ costs $5, `$HOME$`\n\n$$\\frac{1}{2}$$")
    assert text.count("<math") == 2
    assert "<msub><mi>S</mi><mi>i</mi></msub>" in text
    assert "<mfrac>" in text
    assert "`$HOME$`" in text
    assert "costs $5," in text


def test_the_site_opens_without_network(tmp_path: Path) -> None:
    write(tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="project/readme.html"' in index
    formulas = (tmp_path / "site" / "explanation" / "mathematics.html").read_text("utf-8")
    assert formulas.count("<math") > 40
    assert not (tmp_path / "site" / "decisions").exists()
    assert "$" not in re.sub(r"<code>.*?</code>", "", formulas)
    for file in (tmp_path / "site").rglob("*"):
        if file.suffix in {".html", ".css"}:
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"(?:src=|url\()[\"']?(?:https?:)?//", text), file.name
            assert not re.search(r"<link[^>]+href=\"(?:https?:)?//", text), file.name


def test_a_link_that_leads_out_of_the_site_becomes_words() -> None:
    page = next(page for page in NAMES if page.name == "index.md" and page.parent.name == "docs")
    text = with_links("[code](../rwn_core/errors.py), [us](../README.md#x)", page, NAMES)
    assert text == "code, [us](project/readme.md#x)"


def test_a_page_without_a_name_on_the_site_fails() -> None:
    with pytest.raises(KeyError):
        with_links("[x](y.md)", Path("elsewhere.md"), NAMES)


@pytest.mark.parametrize("name", concept_pictures.PICTURES)
def test_a_picture_of_the_concepts_is_drawn_the_same_again(name: str) -> None:
    drawn = concept_pictures.PICTURES[name]()
    kept = (concept_pictures.HERE / name).read_text(encoding="utf-8")
    assert drawn == kept, "run python -m docs.concept_pictures"
    page = (concept_pictures.HERE / "concepts.md").read_text(encoding="utf-8")
    assert f"]({name})" in page


def test_the_case_study_is_its_template_with_what_was_printed() -> None:
    page = case_study.PAGE.read_text(encoding="utf-8")
    template = case_study.TEMPLATE.read_text(encoding="utf-8")
    assert re.sub(r"\n```text\n.*?```\n", "", page, flags=re.DOTALL) == template
    for name in case_study.PICTURES:
        assert f"]({name})" in page
        ElementTree.fromstring((case_study.HERE / name).read_text(encoding="utf-8"))


@pytest.mark.nightly
def test_the_case_study_comes_out_again() -> None:
    for name, text in case_study.made().items():
        kept = (case_study.HERE / name).read_text(encoding="utf-8")
        assert text == kept, f"{name}: run python -m docs.case_study"


def names_in(path: str) -> set[str]:
    """Return the functions, classes, methods and constants of a file."""
    tree = ast.parse((architecture_page.ROOT / path).read_text(encoding="utf-8"))
    defining = ast.FunctionDef | ast.ClassDef
    names = {node.name for node in ast.walk(tree) if isinstance(node, defining)}
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    return names | {ast.unparse(target) for node in assigned for target in node.targets}


def unanswered(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the questions whose file lacks the name."""
    return [row[0] for row in rows if row[2].strip("`") not in names_in(row[1].strip("`"))]


def test_each_question_has_one_file_that_defines_the_name() -> None:
    rows = architecture_page.rows("Questions of newcomers")
    assert len(rows) >= 10
    assert unanswered(rows) == []
    planted = ("Where?", "`rwn_core/neighbors/kernel.py`", "`NothingOfThisName`")
    assert unanswered([planted]) == ["Where?"]


ROWS = journeys.read(journeys.FIGURES)

PAGE = journeys.PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_figures_of_the_file() -> None:
    assert journeys.with_table(PAGE, ROWS) == PAGE
    assert {(row["job"], row["way"]) for row in ROWS} == {
        (job, way) for job in journeys.JOBS for way in ("browser", "shell")
    }
    assert len(PAGE.splitlines()) <= 80


def test_the_jobs_are_short() -> None:
    for row in ROWS:
        most = 300 if row["job"] == "workbook" else 600
        assert int(row["machine"]) + int(row["hands"]) <= most, row
        assert int(row["actions"]) <= 30
