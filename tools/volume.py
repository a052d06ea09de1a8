"""Count the code of each room and hold it against ``tests/rules/volume.toml``.

Counted are code lines (without docstrings, comments, imports and blank lines), functions, classes
and files. ``python -m tools.figures --lower`` writes what has become less; nothing writes more.
"""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "rules" / "volume.toml"
PACKAGES = ("rwn_core", "rwn_ui", "rwn_cli")
COUNTED = ("lines", "functions", "classes", "files")
Volume = dict[str, Counter[str]]

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
_HEAD = """# What each room holds at most: code lines (no docstring, comment, import or blank line),
# functions, classes and files. Written by `python -m tools.figures --lower`, which never writes
# more for a package; between rooms of a package code may move while its sum falls or stays.
"""


def room(path: Path) -> str:
    """Return the room of a file: its folder in a package, or the package for a file at its top."""
    package, *inside = path.relative_to(ROOT).parts[:-1]
    return "/".join([package, *inside[:1]])


def count(text: str) -> Counter[str]:
    """Count one file."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    found: Counter[str] = Counter(files=1)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found["functions"] += 1
        elif isinstance(node, ast.ClassDef):
            found["classes"] += 1
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            assert isinstance(node, ast.stmt)
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    found["lines"] = len(lines - left_out)
    return found


def _is_text(node: ast.AST) -> bool:
    """True for a docstring, and a note below a name."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text and isinstance(node.value.value, str)  # type: ignore[attr-defined]


def measured() -> Volume:
    """Return what each room holds today, and each package's sum under its own name and "/all"."""
    rooms: Volume = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            found = count(path.read_text(encoding="utf-8"))
            for name in (room(path), f"{package}/all"):
                rooms.setdefault(name, Counter()).update(found)
    return dict(sorted(rooms.items()))


def held() -> Volume:
    """Return what each room may hold."""
    return {name: Counter(each) for name, each in tomllib.loads(FILE.read_text("utf-8")).items()}


def exceeded(today: Volume, most: Volume) -> list[str]:
    """Return a sentence for each figure above what is held."""
    return [
        f"{name} has {each[what]:,} {what}, at most {most.get(name, Counter())[what]:,} are held"
        for name, each in today.items()
        for what in COUNTED
        if each[what] > most.get(name, Counter())[what]
    ]


def lower() -> list[str]:
    """Write today's figures; return why not, where a package has grown."""
    today, most = measured(), held()
    grown = [each for each in exceeded(today, most) if each.split()[0].endswith("/all")]
    if not grown:
        FILE.write_text(written(today), "utf-8")
    return grown


def written(rooms: Volume) -> str:
    """Return the text of the file."""
    lines = [
        f'"{name}" = {{ {", ".join(f"{what} = {each[what]}" for what in COUNTED)} }}'
        for name, each in rooms.items()
    ]
    return "\n".join([_HEAD, *lines, ""])
