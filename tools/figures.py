"""Print how plain the code is, beside its targets: ``python -m tools.figures``, in seconds.

``--lower`` writes today's figures into ``tests/rules/sentences.toml``, unless one has risen.
``--more`` adds figures of the ideas, among them two that run the program, in minutes.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

from docs.reference_of.thresholds import thresholds
from tools import ideas, sentences

ROOT = sentences.ROOT
_MEMBER = re.compile(r'^        "(\w+\.\w+)": ', re.M)
_RESULTS = {"Neighborhoods", "NeighborTable", "SearchResult", "Candidates"}
_COUNTED = re.compile(r"(\d+) files, (\d+) calls")
MOVE = "tests/ui/test_live_picture.py::test_a_move_on_bodyfat_enters_few_files"
BY_COMMAND = {
    "compiling all that the app needs, processor seconds": "time NUMBA_CACHE_DIR=$(mktemp -d) "
    "python -m rwn_core.compile_ahead",
    "faults found in each room": "python -m tools.mutants ROOM 40",
    "masking 100,000 x 10 against cKDTree": "python -m benchmarks 'mask 100000 x 10'",
    "redraw of bodyfat": "python -m benchmarks.redraw --whole-range --demo bodyfat",
    "the check of a fresh clone": ".ci/run",
    "first picture where nothing is compiled": "python -m benchmarks.redraw --fresh",
    "a quick check": "make quick",
    "all tests": "time python -m pytest (one after another: with -n 0)",
    "scripts: rules, and tests without a browser": "make lint; node --test tests/js/*.test.mjs",
    "where another package is called tests": "d=$(mktemp -d); mkdir $d/tests; "
    "touch $d/tests/__init__.py; PYTHONPATH=$d python -m pytest --collect-only -q",
}
"""Figures that need minutes, each with its command."""


def plainness() -> list[tuple[str, float, float | None]]:
    """Return name, present value and target, if there is one, of each figure of the sentences."""
    rows: list[tuple[str, float, float | None]] = []
    for group, values in sentences.measured().items():
        targets = sentences.TARGETS.get(group, {})
        rows += [(f"{name}, {group}", value, targets.get(name)) for name, value in values.items()]
    return rows


def lines_of(*patterns: str) -> int:
    """Return the number of lines of all files that match."""
    files = {file for pattern in patterns for file in ROOT.glob(pattern) if file.is_file()}
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def _functions(*rooms: str) -> Iterator[ast.FunctionDef]:
    for room in rooms:
        for file in sorted((ROOT / "rwn_core" / room).rglob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield node


def ways() -> list[str]:
    """Return the public functions that return neighborhoods."""
    functions = _functions("neighbors")
    return [each.name for each in functions if each.returns and _names(each.returns) & _RESULTS]


def _names(annotation: ast.expr) -> set[str]:
    return set(re.findall(r"\w+", ast.unparse(annotation)))


def draws() -> list[str]:
    """Return the public functions that draw donors."""
    return [each.name for each in _functions("neighbors", "laws") if each.name.startswith("draw")]


def members() -> list[str]:
    """Return the private members of Streamlit that the app reads; Starlette's one is public."""
    file = ROOT / "rwn_ui" / "server" / "private_streamlit.py"
    found = _MEMBER.findall(file.read_text(encoding="utf-8"))
    return [name for name in found if not name.startswith("MultiPartParser.")]


def move() -> tuple[int, int]:
    """Return the files that one slider move of bodyfat enters, and its calls."""
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", MOVE]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = _COUNTED.search(ran.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def more() -> list[tuple[str, float, float | None]]:
    """Return the same of the ideas that a reader has to hold in mind."""
    files = [file.relative_to(ROOT) for file in (ROOT / "rwn_core").rglob("*_kernel.py")]
    compiled = [str(file) for file in files]
    entered, calls = move()
    masked, depth = ideas.mask_and_audit()
    key, naming = ideas.most_named()
    forms = ideas.forms()
    scripts = lines_of("rwn_ui/**/*.js", "rwn_ui/**/*.css")
    return [
        ("lines of js and css", scripts, None),
        ("class names of the core with two meanings", len(ideas.twice()), 0),
        ("reads of a detail by a text key in the core", ideas.detail_reads(), 0),
        ("array functions of the core without a shape", len(ideas.shapeless()), 0),
        ("long functions of the core without a comment", len(ideas.silent()), 0),
        ("forms of a setting", forms["setting"], 1),
        ("forms of a limit's number", forms["limit"], 2),
        ("classes of slow work", forms["slow"], 2),
        ("controls in Tune's sidebar with More open", ideas.controls(), 20),
        ("words a user meets", ideas.words(), 12),
        (f"files that name the key of a measure, at most ({key})", naming, 3),
        ("files entered by `rwn mask` of bodyfat", masked, 80),
        ("calls on top of each other in an audit", depth, 18),
        ("thresholds (# decides: ...)", len(thresholds()), 25),
        ("functions that return neighborhoods (ways)", len(ways()), 6),
        ("functions that draw donors", len(draws()), 2),
        ("private members of Streamlit that are read", len(members()), 5),
        ("files entered by one slider move of bodyfat", entered, 45),
        ("Python calls of one slider move of bodyfat", calls, 1_500),
        ("files of all compiled functions", len(compiled), 10),
        ("lines of all compiled functions", lines_of(*compiled), 2_100),
    ]


def table(rows: Sequence[tuple[str, float, float | None]]) -> str:
    """Return the figures as a Markdown table."""
    body = [
        f"| {name} | {value:,} | {'' if target is None else f'{target:,}'} |"
        for name, value, target in rows
    ]
    return "\n".join(["| figure | today | target |", "|---|---:|---:|", *body])


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table, or lower what is held."""
    if "--lower" in arguments:
        higher = sentences.lower()
        sys.stdout.write("".join(f"{each}; nothing is written.\n" for each in higher))
        return 1 if higher else 0
    rows = plainness()
    if "--more" in arguments:
        rows += more()
    sys.stdout.write(table(rows) + "\n\nFigures that take minutes:\n")
    sys.stdout.write("- the ideas a reader holds in mind: python -m tools.figures --more\n")
    sys.stdout.write("".join(f"- {name}: {line}\n" for name, line in BY_COMMAND.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
