"""Find the file that has it: ``python -m tools.where WORD ...`` searches names and first lines.

What ARCHITECTURE.md answers comes first: its questions of newcomers, and where new code goes.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("rwn_core", "rwn_ui", "pages", "rwn_cli", "docs", "benchmarks", "tools", "tests")
SHOWN, TESTS_SHOWN, ANSWERS_SHOWN = 12, 3, 4
_ENDINGS = re.compile(r"(ings?|ions?|ten|ed|es|s|e|y|ies)$")
_ASKING = re.compile("where|would|add|how|does|do|what|who|which|is|are|in|to|of|the|its")
_SCRIPT = re.compile(r"^(?:class (\w+)|(?:async )?function (\w+)|const ([A-Z_]{3,}))", re.MULTILINE)


def places() -> Iterator[tuple[str, str]]:
    """Yield each file, function, class, method and constant, with the first line about it."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix == ".py":
                yield from _python(name, path.read_text(encoding="utf-8"))
            elif path.suffix == ".js" and "." not in path.stem:
                yield from _script(name, path.read_text(encoding="utf-8"))


def answers() -> Iterator[tuple[str, str]]:
    """Yield each answer of ARCHITECTURE.md, with its question."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for heading in ("Questions of newcomers", "Where new code goes"):
        rest = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        rows = [line for line in rest.splitlines() if line.startswith("| ")]
        for asked, *cells in (line.strip("| ").split(" | ") for line in rows[1:]):
            yield "; ".join(each for each in cells if each != "none").replace("`", ""), asked


def _python(name: str, text: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(text)
    lines = text.splitlines()
    yield name, _first_line(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f"{name}:{node.lineno} {node.name}", _first_line(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            says = lines[node.lineno - 1].partition("#")[2]
            if isinstance(target, ast.Name):
                yield f"{name}:{node.lineno} {target.id}", says.strip()
        if isinstance(node, ast.ClassDef):
            for each in (part for part in node.body if isinstance(part, ast.FunctionDef)):
                yield f"{name}:{each.lineno} {node.name}.{each.name}", _first_line(each)


def _script(name: str, text: str) -> Iterator[tuple[str, str]]:
    yield name, text.partition("\n")[0].removeprefix("// ")
    for found in _SCRIPT.finditer(text):
        line = text.count("\n", 0, found.start())
        above = text.splitlines()[line - 1] if line else ""
        said = above.strip("/* ") if above.startswith(("//", "/**")) else ""
        yield f"{name}:{line + 1} {next(filter(None, found.groups()))}", said


def _first_line(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


def stems(text: str) -> set[str]:
    """Return the words of a text without their endings."""
    words = re.findall(r"[a-z]{2,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {_ENDINGS.sub("", word) for word in words if not _ASKING.fullmatch(word)}


def own_name(place: str) -> str:
    """Return the name of a function, or of a file without its folders and ending."""
    return place.rpartition(" ")[2].rpartition("/")[2].removesuffix(".py")


def found(words: list[str], most: int = SHOWN) -> list[tuple[str, str]]:
    """Return the places that have most of the words: rare ones, and those of a name, count more."""
    wanted = stems(" ".join(words))
    best = [place for place, _ in ranked(wanted, list(places()))]
    code = [place for place in best if not place[0].startswith("tests/")]
    tests = [place for place in best if place[0].startswith("tests/")]
    # an answer has half of the words at least
    half = len(wanted) / 2
    told = [place for place, held in ranked(wanted, list(answers())) if held >= half]
    return told[:ANSWERS_SHOWN] + code[:most] + tests[:TESTS_SHOWN]


def ranked(wanted: set[str], known: list[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    """Return the places that have some of the words, the best first, and how many each has."""
    split = [(each, stems(own_name(each[0])), stems(each[0]), stems(each[1])) for each in known]
    holders = Counter(word for _, _, name, line in split for word in wanted & (name | line))
    scores = []
    for place, own, in_name, in_line in split:
        held = wanted & (in_name | in_line)
        score = sum(
            math.log(1 + len(known) / holders[word])
            * ((word in own) + (word in in_name) + (word in in_line))
            for word in held
        )
        scores.append((-score, len(place[0]), place, len(held)))
    return [(place, held) for score, _, place, held in sorted(scores) if score]


def main(words: list[str]) -> int:
    """Print the places; return 1 if there is none."""
    places_found = found(words)
    sys.stdout.write("".join(f"{name}\n    {line}\n" for name, line in places_found))
    return int(not places_found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
