"""The list of pages leads to all of them, and no page names what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FOLDERS = ("tutorial", "how-to", "reference", "explanation")
TOPS = "rwn_core|rwn_ui|rwn_cli|tests|docs|pages|benchmarks|tools|demo_data"
_PATH = re.compile(rf"(?<![\w./-])((?:{TOPS})/[\w./*-]*\w)")
_SOURCE = re.compile(r"(?<![\w./*-])([\w/]+\.(?:py|js|css))\b")
_SYMBOL = re.compile(r"`(\w+)`(?: and `(\w+)`)? in `([\w/]+\.py)`")
_DOTTED = re.compile(r"\b(rwn_(?:core|ui|cli)(?:\.\w+)+)")
INSTALLED = ("rwn_ui/app/", "rwn_ui/app", "rwn_core/demo_data")
"""What an installed package has and a checkout has not."""


def linked() -> set[str]:
    """The files that docs/contents.md links, as paths below docs."""
    text = (DOCS / "contents.md").read_text(encoding="utf-8")
    return set(re.findall(r"\]\(([^)#\s]+)", text))


def unlinked(links: set[str]) -> list[str]:
    """The pages that no link leads to."""
    pages = [path for name in FOLDERS for path in DOCS.glob(f"{name}/*")]
    files = [path.relative_to(DOCS).as_posix() for path in pages]
    assert len(files) > 20
    tops = [f"../{path.name}" for path in ROOT.glob("*.md")]
    return [name for name in (*files, *tops) if name.endswith(".md") and name not in links]


def gone(text: str) -> list[str]:
    """The files, folders and names of the program in a text that are not there."""
    paths = [path for path in _PATH.findall(text) if not path.startswith(INSTALLED)]
    lost = [path for path in paths if not list(ROOT.glob(path))]
    lost += [path for path in _SOURCE.findall(text) if not _is_somewhere(path)]
    for *names, path in _SYMBOL.findall(text):
        places = [file for file in _files() if file.endswith(f"/{path}")]
        code = "\n".join((ROOT / place[1:]).read_text(encoding="utf-8") for place in places)
        lost += [f"{each} in {path}" for each in names if each and not _defines(code, each)]
    return lost + [name for name in _DOTTED.findall(text) if not _is_there(name)]


def _defines(code: str, name: str) -> bool:
    """True if a class, a function or a name of a module is defined."""
    return re.search(rf"^\s*(?:(?:class|def) )?{name}\b *[(:=]", code, flags=re.M) is not None


def _is_somewhere(path: str) -> bool:
    return path.startswith(INSTALLED) or any(name.endswith(f"/{path}") for name in _files())


@cache
def _files() -> list[str]:
    """Every file of the project, as a path from its root with a slash before it."""
    result = [path for top in TOPS.split("|") for path in (ROOT / top).rglob("*")]
    return [f"/{path.relative_to(ROOT).as_posix()}" for path in [*result, *ROOT.glob("*.py")]]


def _is_there(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            result = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(result, part):
                return False
            result = getattr(result, part)
        return True
    return False


def wrong(pages: Iterable[Path]) -> list[str]:
    """What pages name that is not there, with the page."""
    return [
        f"{page.relative_to(ROOT)}: {each}"
        for page in pages
        for each in gone(page.read_text(encoding="utf-8"))
    ]


def test_every_page_is_linked() -> None:
    assert unlinked(linked()) == []
    assert unlinked(linked() - {"reference/measures.md"}) == ["reference/measures.md"]


def test_every_file_and_name_in_the_docs_is_there() -> None:
    assert wrong(PAGES) == []


def test_every_decision_says_whether_it_is_in_force() -> None:
    for page in sorted((DOCS / "decisions").glob("*.md")):
        first = page.read_text(encoding="utf-8").splitlines()[2]
        assert first.startswith(("In force.", "In force in part", "In force, ", "Replaced")), page
