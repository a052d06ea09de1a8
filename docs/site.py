"""Builds the documentation as a web site without network: ``python -m docs.site -o DIR``."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OUTSIDE = (*sorted(ROOT.glob("*.md")), ROOT / "demo_data" / "SOURCES.md")
"""Pages that do not lie in docs, and stand under "project" on the site."""
INTERNAL = DOCS / "decisions"
"""Records for developers, which are no part of the site."""
INDEX, CONTENTS = DOCS / "index.md", DOCS / "contents.md"
"""The first page of the site, and the one that lists all pages by chapters."""
_OTHERS = ("svg", "png", "csv", "json", "ipynb")
"""Endings of files in docs that are no pages, and parts of the site."""
_LINK = re.compile(r"(\[[^\]]*\])\(([^)\s#]*)(#[^)\s]*)?\)")
_NOTE = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\w)")


def pages() -> dict[Path, str]:
    """Every page, with its name on the site.

    Returns
    -------
    dict of Path to str
        Names are paths below the site's folder, with slashes.
    """
    found = [page for page in sorted(DOCS.rglob("*.md")) if INTERNAL not in page.parents]
    inside = {page: page.relative_to(DOCS).as_posix() for page in found}
    return inside | {page: f"project/{page.name.lower()}" for page in OUTSIDE}


def with_formulas(text: str) -> str:
    """Write the formulas of a page, between dollars, as MathML; code stays as it is."""

    def written(part: str) -> str:
        part = _DISPLAY.sub(lambda found: convert(found[1].strip(), display="block"), part)
        # a line that began with <math> would begin a block of its own
        return _INLINE.sub(lambda found: f"<span>{convert(found[1])}</span>", part)

    parts = _CODE.split(text)
    return "".join(part if at % 2 else written(part) for at, part in enumerate(parts))


def with_links(text: str, page: Path, names: dict[Path, str]) -> str:
    """Point the links of a page to where their targets lie on the site.

    What is no page, and no picture in docs, is no part of the site: there the words stay.
    """
    here = Path(names[page]).parent

    def pointed(found: re.Match[str]) -> str:
        words, path, part = found[1], found[2], found[3] or ""
        if not path or "://" in path:
            return found[0]
        target = (page.parent / path).resolve()
        name = names.get(target)
        if name is None and target.is_relative_to(DOCS) and target.suffix not in {"", ".md"}:
            name = target.relative_to(DOCS).as_posix()
        if name is None:
            return words[1:-1]
        return f"{words}({Path(os.path.relpath(name, here)).as_posix()}{part})"

    return _LINK.sub(pointed, text)


def stage(folder: Path) -> None:
    """Lay the pages, as the site wants them, and other files into a folder."""
    names = pages()
    for page, name in names.items():
        text = _NOTE.sub("", page.read_text(encoding="utf-8"))  # so that it begins with its title
        text = with_formulas(with_links(text, page, names))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for file in (each for kind in _OTHERS for each in DOCS.rglob(f"*.{kind}")):
        place = folder / file.relative_to(DOCS)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)


def chapters(names: dict[Path, str]) -> Iterator[dict[str, object]]:
    """The chapters of the list of pages, in its order, each with its pages by title."""
    yield {"Start": [{"Documentation": names[INDEX]}, {"All pages": names[CONTENTS]}]}
    text = CONTENTS.read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        linked = [(DOCS / link[2]).resolve() for link in _LINK.finditer(text)]
        yield {title: [_entry(page, names) for page in linked if page in names]}


def _entry(page: Path, names: dict[Path, str]) -> dict[str, object]:
    """A page by its title; the index of a folder with the pages of the folder below it."""
    if page.name != INDEX.name:
        return {_title(page): names[page]}
    others = sorted(set(page.parent.glob("*.md")) - {page}, key=_title)
    return {_title(page): [{_title(each): names[each]} for each in (page, *others)]}


def _title(page: Path) -> str:
    """The first heading of a page, without marks of code."""
    found = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert found, f"{page.name} has no title"
    return found[1].replace("`", "")


def embed_search(folder: Path) -> None:
    """Put the index of the search into a script, which a page opened from a file may load."""
    index = folder / "search_index.json"
    pages = json.dumps(json.loads(index.read_text(encoding="utf-8"))["docs"], ensure_ascii=False)
    (folder / "index.js").write_text(f"const SEARCH_PAGES = {pages};\n", encoding="utf-8")
    shutil.copyfile(DOCS / "search.js", folder / "main.js")
    index.unlink()
    (folder / "worker.js").unlink()


def write(out: Path) -> None:
    """Build the site; a link that leads nowhere is refused.

    Parameters
    ----------
    out : Path
        A folder for the site, which opens from `index.html` without a server.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "docs")
        stage(folder)
        settings = {
            "site_name": "RWN",
            "docs_dir": str(folder),
            "site_dir": str(out.resolve()),
            "theme": {"name": "readthedocs", "highlightjs": False},
            "use_directory_urls": False,
            "nav": list(chapters(pages())),
            "strict": True,
            "validation": {"links": {"anchors": "warn"}},
        }
        file = Path(made, "mkdocs.yml")
        file.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML
        build(load_config(str(file)))
    embed_search(out / "search")


def main() -> None:
    """Build the site into the folder that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=Path("site"), help="Folder of the site.")
    out: Path = parser.parse_args().out
    write(out)
    sys.stdout.write(f"Open {out / 'index.html'}.\n")


if __name__ == "__main__":
    main()
