"""Find the file that has it: ``python -m tools.where WORD ...`` searches names and first lines."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("rwn_core", "rwn_ui", "pages", "rwn_cli", "docs", "benchmarks", "tools")
SHOWN = 12
_ENDINGS = re.compile(r"(ings?|ions?|ed|es|s|e|y|ies)$")


def places() -> Iterator[tuple[str, str]]:
    """Yield each file, and each of its functions and classes, with its first docstring line."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield name, _first_line(tree)
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    yield f"{name}:{node.lineno} {node.name}", _first_line(node)


def _first_line(node: ast.Module | ast.FunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


def stems(text: str) -> set[str]:
    """Return the words of a text without their endings."""
    words = re.findall(r"[a-z]{2,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {_ENDINGS.sub("", word) for word in words}


def found(words: list[str], most: int = SHOWN) -> list[tuple[str, str]]:
    """Return the places that have most of the words; a word counts twice in a name."""
    wanted = stems(" ".join(words))
    scores = []
    for name, line in places():
        score = 2 * len(wanted & stems(name)) + len(wanted & stems(line))
        scores.append((-score, len(name), name, line))
    return [(name, line) for score, _, name, line in sorted(scores)[:most] if score]


def main(words: list[str]) -> int:
    """Print the places; return 1 if there is none."""
    places_found = found(words)
    sys.stdout.write("".join(f"{name}\n    {line}\n" for name, line in places_found))
    return int(not places_found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
