"""Links of the documentation lead somewhere, and the site is built from it without network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.site import chapters, pages, with_formulas, with_links, write

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
