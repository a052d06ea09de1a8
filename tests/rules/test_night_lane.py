"""Each test that runs at night only names the test by day that holds the same promise.

``python -m pytest tests/rules/test_night_lane.py -rP -n 0`` prints the list. A parameter of the
night lane has its other values by day, in the same test.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
NIGHT = "pytest.mark.nightly"
UNNAMED = """
import pytest

@pytest.mark.nightly
def test_alone(): ...

@pytest.mark.nightly  # by day the one above
def test_beside(): ...

# by day the one above
@pytest.mark.nightly
@pytest.mark.parametrize("n", [1])
def test_below(n): ...
"""


def at_night(source: str) -> Iterator[tuple[str, str]]:
    """Every test, or file of tests, of the night lane, and what is said of its test by day."""
    lines = source.splitlines()

    def said(first: int, mark: int) -> str:
        """The comment behind a mark, or the ones above its statement."""
        behind = lines[mark - 1].partition("# ")[2]
        above = list[str]()
        while lines[first - 2].startswith("# "):
            first -= 1
            above.insert(0, lines[first - 1].removeprefix("# "))
        return behind or " ".join(above)

    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if ast.unparse(mark) == NIGHT:
                    yield node.name, said(node.decorator_list[0].lineno, mark.lineno)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            for part in ast.walk(node.value):
                if isinstance(part, ast.expr) and ast.unparse(part) == NIGHT:
                    yield "all of its tests", said(node.lineno, part.lineno)


def test_each_test_of_the_night_lane_names_its_test_by_day() -> None:
    unnamed = []
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, said in dict(at_night(path.read_text("utf-8"))).items():
            where = f"{path.relative_to(TESTS)}::{name}"
            sys.stdout.write(f"{where}: {said}\n")
            if not said:
                unnamed.append(where)
    assert not unnamed


def test_a_test_that_names_none_is_found() -> None:
    said = {"test_alone": "", "test_beside": "by day the one above"}
    assert dict(at_night(UNNAMED)) == {**said, "test_below": "by day the one above"}
