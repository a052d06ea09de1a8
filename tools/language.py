"""Find the private idiom in names, docstrings, comments, sentences: ``python -m tools.language``.

It reads Python, JavaScript and TOML. A line that ends in ``# words: REASON`` or
``// words: REASON`` is allowed; after the closing quotes of a docstring the mark allows its lines.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
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
NAMES = re.compile(r"^of$|(^|_)(told|whole|kept|beside|begun|alike|lone|heed|rest|once|here|on)$")
READ = (".py", ".js", ".toml")
RULES = ("first line", "docstring", "comment", "name", "sentence")
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS: tuple[type[Definition], ...] = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_ALLOWED = re.compile(r"(#|//) words: \S")
_JS_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.S)
_JS_TEXT = re.compile(r'"([^"\n]*)"|`([^`]*)`')
_JS_NAME = re.compile(
    r"\b(?:const|let|function|class)\s+(\w+)|^\s+(?:async )?(\w+)\([^)]*\) \{", re.M
)
_PHRASES = re.compile(r"an intruder who|side by side", re.I)


@dataclass(frozen=True, slots=True)
class Offender:
    """Hold one place."""

    rule: str  # one of RULES
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """Return a line that editors can open."""
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def files() -> list[Path]:
    """Return the Python and JavaScript files of the product, and its lists of texts."""
    return [each for room in ROOMS for each in sorted(_under(ROOT / room))]


def _under(place: Path) -> Iterator[Path]:
    found = [place] if place.is_file() else place.rglob("*")
    return (each for each in found if each.suffix in READ and "static" not in each.parts)


def offenders_in(source: str, path: str) -> list[Offender]:
    """Return the offenders of one file."""
    lines = source.splitlines()
    if path.endswith(".js"):
        found = [*_script(source, path), *_texts(_JS_COMMENT.sub("", source), path)]
    elif path.endswith(".toml"):
        found = list(_texts(source, path))
    else:
        readers = (_docstrings, _comments, _names, _sentences)
        found = [each for reader in readers for each in reader(source, path)]
    return [each for each in found if not _ALLOWED.search(lines[each.line - 1])]


def _is_private(text: str) -> bool:
    """Return True if a text that is no sentence on a screen has a phrase of the idiom."""
    plain = _PHRASES.sub("", text)
    return bool(PERSON.search(plain) or IDIOM.search(plain))


def _script(source: str, path: str) -> Iterator[Offender]:
    def at(match: re.Match[str]) -> int:
        return source.count("\n", 0, match.start()) + 1

    for match in _JS_COMMENT.finditer(source):
        if _is_private(match[0]):
            yield Offender("comment", path, at(match), match[0].strip())
    for match in _JS_NAME.finditer(source):
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1] or match[2]).lower()
        if NAMES.search(name):
            yield Offender("name", path, at(match), match[1] or match[2])


def _texts(source: str, path: str) -> Iterator[Offender]:
    for match in _JS_TEXT.finditer(source):
        text = match[1] or match[2] or ""
        if len(text.split()) >= 4 and IDIOM.search(_PHRASES.sub("", text)):
            yield Offender("sentence", path, source.count("\n", 0, source.find(text)) + 1, text)


def _documented(source: str) -> Iterator[ast.Constant]:
    for node in (*nodes(source, ast.Module), *nodes(source, *DEFINITIONS)):
        first = node.body[0] if node.body else None
        constant = first.value if isinstance(first, ast.Expr) else None
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
            yield constant


def _docstrings(source: str, path: str) -> Iterator[Offender]:
    lines = source.splitlines()
    for constant in _documented(source):
        if _ALLOWED.search(lines[(constant.end_lineno or constant.lineno) - 1]):
            continue
        first, *others = str(constant.value).strip().split("\n")
        if _is_private(first) or OPENING.match(first):
            yield Offender("first line", path, constant.lineno, first)
        for number, line in enumerate(others, 1):
            if _is_private(line):
                yield Offender("docstring", path, constant.lineno + number, line.strip())


def _comments(source: str, path: str) -> Iterator[Offender]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and _is_private(token.string):
            yield Offender("comment", path, token.start[0], token.string)


def _names(source: str, path: str) -> Iterator[Offender]:
    for node in ast.walk(ast.parse(source)):
        name = _name_of(node)
        if name and NAMES.search(name):
            yield Offender("name", path, node.lineno, name)  # type: ignore[attr-defined]


def _name_of(node: ast.AST) -> str:
    """Return the name that a node gives to something; empty for none."""
    if isinstance(node, DEFINITIONS):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return ""


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
    return {rule: sum(o.rule == rule for o in found) for rule in RULES}


def main() -> int:
    """Print the offenders and their counts; 1 if there are any."""
    found = offenders()
    summary = ", ".join(f"{rule} {count}" for rule, count in counts(found).items())
    sys.stdout.write("\n".join([*map(str, found), summary, ""]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
