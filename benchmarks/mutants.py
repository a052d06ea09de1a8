"""Count how many small faults in a package's code its tests find.

``python -m benchmarks.mutants mechanism 40`` changes 40 random places of rwn_core/mechanism, one at
a time, in a copy of the repository, and runs the tests that import the changed file, then those of
the package. What no test notices is listed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("rwn_core", "rwn_cli", "rwn_ui", "tests", "benchmarks", "demo_data", "docs", "pages")
FILES = ("app.py", "pyproject.toml", "ARCHITECTURE.md", "README.md", "CHANGELOG.md")
ALSO = {
    "io": ["tests/bad_inputs"],
    "mechanism": ["tests/golden", "tests/properties"],
    "masking": ["tests/golden", "tests/properties"],
    "reporting": ["tests/cli/test_a_release_that_leaves.py", "tests/cli/test_report_command.py"],
}
MARKERS = "not browser and not nightly and not engines and not slow"
_PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", MARKERS]
_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One small fault.

    Attributes
    ----------
    path : str
        Of the changed file, from the root.
    line : int
    before, after : str
        The changed expression.
    source : str
        The whole file with the fault.
    """

    path: str
    line: int
    before: str
    after: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every small fault of a file: comparisons, sums, truths, numbers, conditions, results."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped = {id(part) for node in ast.walk(tree) for part in _no_code(node)}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr | ast.Return):
            continue
        for other in _changed(node):
            begin, end = _span(text, node)
            after = ast.unparse(other)
            yield Mutant(
                path=str(path.relative_to(ROOT)),
                line=node.lineno,
                before=text[begin:end],
                after=after,
                source=f"{text[:begin]}{after if isinstance(other, ast.stmt) else f'({after})'}"
                f"{text[end:]}",
            )


def _no_code(node: ast.AST) -> Iterator[ast.AST]:
    """Parts that no test can see: types, decorators, texts."""
    parts: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef):
        parts = [node.returns, *node.decorator_list]
    elif isinstance(node, ast.ClassDef):
        parts = list(node.decorator_list)
    elif isinstance(node, ast.arg | ast.AnnAssign):
        parts = [node.annotation]
    elif isinstance(node, ast.JoinedStr):
        parts = list(node.values)
    elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING",):
        parts = [node.test]
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a part of the code."""
    other = copy.deepcopy(node)
    if isinstance(other, ast.IfExp):
        yield ast.IfExp(other.test, other.orelse, other.body)
    elif isinstance(other, ast.Compare) and type(other.ops[0]) in _COMPARED:
        other.ops[0] = _COMPARED[type(other.ops[0])]()
        yield other
    elif isinstance(other, ast.BinOp) and type(other.op) in _COMPUTED:
        other.op = _COMPUTED[type(other.op)]()
        yield other
    elif isinstance(other, ast.BoolOp):
        other.op = ast.Or() if isinstance(other.op, ast.And) else ast.And()
        yield other
    elif isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.Not | ast.USub):
        yield other.operand
    elif isinstance(other, ast.Constant) and isinstance(other.value, int | float):
        truth = isinstance(other.value, bool)
        yield ast.Constant(not other.value if truth else other.value + 1)
    elif isinstance(other, ast.Return) and other.value is not None:
        yield ast.Return(ast.Constant(None))


def _span(text: str, node: ast.AST) -> tuple[int, int]:
    """Where a part of the code begins and ends in the text."""
    lines = text.encode().splitlines(keepends=True)

    def place(line: int, column: int) -> int:
        return len(b"".join([*lines[: line - 1], lines[line - 1][:column]]).decode())

    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)


def tests_of(path: str, package: str) -> list[list[str]]:
    """The test files that import a file, and then those of its package."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = dotted.rpartition(".")
    imported = re.compile(
        rf"{re.escape(dotted)}\b|from {re.escape(parent)} import [^\n]*\b{name}\b"
    )
    every = [
        each
        for each in sorted((ROOT / "tests").rglob("test_*.py"))
        if not {"browser", "rules"} & set(each.parts)
    ]
    first = [str(each.relative_to(ROOT)) for each in every if imported.search(each.read_text())]
    own = [ROOT / f"tests/core/{package}", *(ROOT / name for name in ALSO.get(package, []))]
    rest = [
        str(path.relative_to(ROOT))
        for name in own
        for path in ([name] if name.suffix else sorted(name.rglob("test_*.py")))
    ]
    return [part for part in (first, [name for name in rest if name not in first]) if part]


def fit(sample: list[Mutant], place: Path, package: str) -> set[str]:
    """The test files that pass without a fault; one that fails would find every fault."""
    files = {each for mutant in sample for part in tests_of(mutant.path, package) for each in part}
    ran = subprocess.run(
        [*_PYTEST, "-q", *sorted(files)], cwd=place, env=_environment(place), capture_output=True
    )
    failed = set(re.findall(r"^(?:FAILED|ERROR) ([^:\s]+)", ran.stdout.decode(), re.MULTILINE))
    return files - failed


def survives(mutant: Mutant, place: Path, files: list[list[str]], seconds: float) -> str:
    """Run the tests on a fault: "survived", "killed" or "too long"."""
    target = place / mutant.path
    whole = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    later = int(time.time()) + random.randrange(10**6)  # or Python would take the compiled one
    os.utime(target, (later, later))
    try:
        for part in files:
            ended = _run(part, place, seconds)
            if ended != "survived":
                return ended
        return "survived"
    finally:
        target.write_text(whole, encoding="utf-8")
        os.utime(target, (later + 1, later + 1))


def _run(files: list[str], place: Path, seconds: float) -> str:
    nowhere = subprocess.DEVNULL
    running = subprocess.Popen(
        [*_PYTEST, "-x", "-q", *files],
        cwd=place,
        env=_environment(place),
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )
    try:
        return "survived" if running.wait(seconds) in (0, 5) else "killed"
    except subprocess.TimeoutExpired:
        return "too long"
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def _environment(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(place), "OPENBLAS_NUM_THREADS": "1"}


def copied(place: Path) -> None:
    """Make a copy of the repository that may be broken."""
    for name in COPIED:
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, place / name)
    shutil.copytree(ROOT / ".streamlit", place / ".streamlit")


def main() -> int:
    """Print each surviving fault, and the share that was found with its interval."""
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    files = sorted((ROOT / "rwn_core" / given.package).rglob("*.py"))
    every = [mutant for path in files for mutant in mutants(path)]
    sample = random.Random(given.seed).sample(every, min(given.count, len(every)))
    ends: dict[str, int] = {"killed": 0, "too long": 0, "survived": 0}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        copied(place)
        good = fit(sample, place, given.package)
        sys.stdout.write(f"{len(good)} test files pass without a fault\n")
        for mutant in sample:
            parts = tests_of(mutant.path, given.package)
            files = [[name for name in part if name in good] for part in parts]
            end = survives(mutant, place, [part for part in files if part], given.seconds)
            ends[end] += 1
            if end != "killed":
                sys.stdout.write(
                    f"{end} {mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}\n"
                )
            sys.stdout.flush()
    tried = sum(ends.values())
    low, high = interval(tried - ends["survived"], tried)
    sys.stdout.write(
        f"{given.package}: {tried} of {len(every):,} faults, {ends}; found "
        f"{1 - ends['survived'] / tried:.0%} (95 % interval {low:.0%} to {high:.0%})\n"
    )
    return int(ends["survived"] / tried > 0.15)


def interval(found: int, tried: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share."""
    z, p = 1.96, found / tried
    middle, half = p + z**2 / (2 * tried), z * (p * (1 - p) / tried + z**2 / (4 * tried**2)) ** 0.5
    return (middle - half) / (1 + z**2 / tried), (middle + half) / (1 + z**2 / tried)


if __name__ == "__main__":
    sys.exit(main())
