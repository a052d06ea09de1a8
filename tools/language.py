"""Find the private idiom in names, docstrings and screen sentences: ``python -m tools.language``.

A line that ends in ``# words: REASON`` is allowed.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.rules.import_law import nodes

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("rwn_core", "rwn_ui", "rwn_cli", "pages", "app.py")

PERSON = re.compile(
    r"\b(who|whom|whose|whoever|he|him|his|himself|she|her|nobody|somebody|anybody|everybody)\b",
    re.I,
)
IDIOM = re.compile(
    r"\b(told|tells? of|heeds?|heeded|settles?|settled|sifts?|at hand|to come|at rest|let go|"
    r"now and then|may well|for sure|begun|beside|lone|alike|hardly|seldom|likeliest|rightly|"
    r"weighed|gone over|held against)\b",
    re.I,
)
OPENING = re.compile(r"^(What|Whom|Who|Whose|Where|How|In which|By which|Of|Out of|Whether)\b")
NAMES = re.compile(r"(^|_)(told|whole|kept|of|beside|begun|alike|lone|heed|rest|once|here|on)$")
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS: tuple[type[Definition], ...] = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_ALLOWED = re.compile(r"# words: \S")
_PHRASES = re.compile(r"an intruder who|side by side", re.I)


@dataclass(frozen=True, slots=True)
class Offender:
    """Hold one place."""

    rule: str  # "first line", "name" or "sentence"
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """Return a line that editors can open."""
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def files() -> list[Path]:
    """Return the Python files of the product."""
    return [each for room in ROOMS for each in sorted(_under(ROOT / room))]


def _under(place: Path) -> Iterator[Path]:
    return iter([place]) if place.is_file() else place.rglob("*.py")


def offenders_in(source: str, path: str) -> list[Offender]:
    """Return the offenders of one file."""
    lines = source.splitlines()
    found = [*_first_lines(source, path), *_names(source, path), *_sentences(source, path)]
    return [each for each in found if not _ALLOWED.search(lines[each.line - 1])]


def _documented(source: str) -> Iterator[ast.Constant]:
    for node in (*nodes(source, ast.Module), *nodes(source, *DEFINITIONS)):
        first = node.body[0] if node.body else None
        constant = first.value if isinstance(first, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            yield constant


def _first_lines(source: str, path: str) -> Iterator[Offender]:
    for constant in _documented(source):
        line = str(constant.value).strip().split("\n")[0]
        plain = _PHRASES.sub("", line)
        if PERSON.search(plain) or IDIOM.search(plain) or OPENING.match(line):
            yield Offender("first line", path, constant.lineno, line)


def _names(source: str, path: str) -> Iterator[Offender]:
    for node in nodes(source, *DEFINITIONS):
        if NAMES.search(node.name):
            yield Offender("name", path, node.lineno, node.name)


def _sentences(source: str, path: str) -> Iterator[Offender]:
    docstrings = set(map(id, _documented(source)))
    for node in nodes(source, ast.Constant):
        if not isinstance(node.value, str):
            continue
        words = node.value.split()
        if id(node) in docstrings or len(words) < 4:
            continue
        if IDIOM.search(_PHRASES.sub("", node.value)):
            yield Offender("sentence", path, node.lineno, " ".join(words)[:100])


def offenders() -> list[Offender]:
    """Return all offenders of the product."""
    return [
        each
        for file in files()
        for each in offenders_in(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
    ]


def counts(found: list[Offender]) -> dict[str, int]:
    """Return the number of offenders of each rule."""
    return {rule: sum(o.rule == rule for o in found) for rule in ("first line", "name", "sentence")}


def main() -> int:
    """Print the offenders and their counts; 1 if there are any."""
    found = offenders()
    summary = ", ".join(f"{rule} {count}" for rule, count in counts(found).items())
    sys.stdout.write("\n".join([*map(str, found), summary, ""]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
