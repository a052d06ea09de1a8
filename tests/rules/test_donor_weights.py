"""Only the kernel turns the size of a neighborhood into the probability of a donor."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.rules import import_law as law

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "rwn_core/neighbors/kernel.py"
SIZES = "sizes"


def divisions_by_sizes(source: str) -> list[int]:
    """Return the lines of divisions by neighborhood sizes.

    They are an attribute of that name, a parameter of that name, or a name that holds one.
    """
    found: list[int] = []
    if SIZES not in source:
        return []
    for function in law.nodes(source, ast.FunctionDef):
        names = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        names &= {SIZES}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _holds(node.value, names):
                targets = (name for each in node.targets for name in ast.walk(each))
                names |= {each.id for each in targets if isinstance(each, ast.Name)}
            if (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, ast.Div)
                and _holds(node.right, names)
            ):
                found.append(node.lineno)
    return sorted(set(found))


def _holds(node: ast.expr, names: set[str]) -> bool:
    """True if an expression is sizes, a part of them, or an elementwise function of them."""
    if isinstance(node, ast.Attribute):
        return node.attr == SIZES
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Subscript):
        return _holds(node.value, names)
    if isinstance(node, ast.BinOp):
        return _holds(node.left, names) or _holds(node.right, names)
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Attribute) and node.func.attr in ("maximum", "repeat")
        method = isinstance(node.func, ast.Attribute) and _holds(node.func.value, names)
        return method or (named and any(_holds(each, names) for each in node.args))
    return False


def test_only_the_kernel_divides_by_sizes() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "rwn_core").rglob("*.py"))
        if str(path.relative_to(ROOT)) != KERNEL
        for line in divisions_by_sizes(path.read_text())
    ]
    assert wrong == [], "read Neighborhoods.weights, total or probabilities instead"


@pytest.mark.parametrize(
    "line",
    [
        "return 1.0 / found.sizes",
        "return 1.0 / np.maximum(found.sizes, 1)",
        "sizes = found.sizes[rows]\n    return total / sizes[:, None]",
        "near = np.maximum(found.sizes, 1)\n    return total / near",
        "grown = found.sizes + 1\n    return inside / grown",
    ],
)
def test_a_division_is_found(line: str) -> None:
    assert len(divisions_by_sizes(f"def share(found, rows, total):\n    {line}\n")) == 1


def test_sizes_of_classes_are_no_neighborhoods() -> None:
    source = "def share(values):\n    sizes = np.bincount(values)\n    return values / sizes\n"
    assert divisions_by_sizes(source) == []
