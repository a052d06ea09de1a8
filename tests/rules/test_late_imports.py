"""Late imports, kernels from Python, and weights of donors."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.rules import import_law as law

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {
    *("numba", "plotly", "streamlit", "sklearn", "statsmodels"),
    *("scipy.optimize", "scipy.spatial", "scipy.stats"),
}

WORK = {
    "the catalogue of measures": "import rwn_core.measures",
    "the workers of a sweep, of a page and of a slider": (
        "import rwn_core.tuning.sweep, rwn_ui.background.job, rwn_ui.background.measure_worker"
    ),
    "the command rwn mask": (
        "from rwn_cli import main\n"
        "assert main.run(['mask', 'demo:bodyfat', 'out.csv', '--k', '5', '--seed', '7']) == 0"
    ),
    "the command rwn mask beyond the records that it judges": (
        "from pathlib import Path\n"
        "from rwn_cli import main\n"
        "rows = ''.join(f'{n * n % 97},{n % 13}\\n' for n in range(2_100))\n"
        "Path('in.csv').write_text('a,b\\n' + rows)\n"
        "assert main.run(['mask', 'in.csv', 'out.csv', '--k', '5', '--seed', '7']) == 0"
    ),
}

JUDGED = HEAVY - {"plotly", "streamlit", "statsmodels"}

"""What the verdict on a release needs: assignments, distances, and the red team's models."""


@pytest.mark.parametrize("work", WORK)
def test_work_imports_nothing_heavy_that_it_does_not_need(work: str, tmp_path: Path) -> None:
    code = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{WORK[work]}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    needed = {"numba"} if "mask" in work else set()  # draws are compiled for tables of all sizes
    needed = JUDGED if "rwn mask" in work else needed  # or says what cannot be judged
    assert sorted(HEAVY - needed & set(run.stdout.split())) == []


ROOT_OF_KERNELS_FROM_PYTHON = law.ROOT

INNER = {"jit_internal", "jit_no_refcount", "jit_inline", "jit_fused"}

HOW = {"jit_entry", *INNER}

FOR_TESTS = "callable_here"


def is_kernel(path: str) -> bool:
    """True if a file, or a dotted module, has compiled functions."""
    return path.removesuffix(".py").endswith("_kernel")


def decorators(function: ast.AST) -> set[str]:
    named = getattr(function, "decorator_list", ())
    return {each.id for each in named if isinstance(each, ast.Name)}


def inner_kernels(files: Mapping[str, str]) -> set[str]:
    """The names of the kernels that only kernels may call."""
    nodes = (node for path, text in files.items() if is_kernel(path)
             for node in law.parsed(text).body)  # fmt: skip
    return {node.name for node in nodes
            if isinstance(node, ast.FunctionDef) and decorators(node) & INNER}  # fmt: skip


def is_for_tests(node: ast.AST) -> bool:
    """Whether names are given to kernels that are compiled for Python."""
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == FOR_TESTS


def of_python(tree: ast.Module) -> Iterator[ast.AST]:
    """What a file has outside compiled functions."""
    for node in tree.body:
        if not decorators(node) & HOW and not is_for_tests(node):
            yield from ast.walk(node)


def known_here(tree: ast.Module, path: str, inner: set[str]) -> set[str]:
    """What a file calls these kernels."""
    known = {alias.asname or alias.name for node in ast.walk(tree)
             if isinstance(node, ast.ImportFrom) and is_kernel(f"{node.module}")
             for alias in node.names if alias.name in inner}  # fmt: skip
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    given = {name.id for node in tree.body if is_for_tests(node) for name in ast.walk(node)
             if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}  # fmt: skip
    return (known | (own & inner if is_kernel(path) else set())) - given


def used(files: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Files and the inner kernels that their Python calls, or passes on to be called."""
    inner = inner_kernels(files)
    for path, text in files.items():
        tree = law.parsed(text)
        names = known_here(tree, path, inner)
        for node in of_python(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                yield path, node.id
            if isinstance(node, ast.ImportFrom) and not path.startswith("tests"):
                modules = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from ((path, module) for module in modules if files.get(module_file(module)))


def module_file(module: str) -> str:
    """Return the path of a module with compiled functions; "" for any other module."""
    return module.replace(".", "/") + ".py" if is_kernel(module) else ""


def sources() -> dict[str, str]:
    folders = ("rwn_core", "rwn_ui", "rwn_cli", "tests", "benchmarks", "tools")
    paths: Iterable[Path] = (
        path for folder in folders for path in (ROOT_OF_KERNELS_FROM_PYTHON / folder).rglob("*.py")
    )
    return {
        path.relative_to(ROOT_OF_KERNELS_FROM_PYTHON).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
    }


def test_python_uses_no_inner_kernel() -> None:
    files = {path: text for path, text in sources().items() if "kernel" in text or is_kernel(path)}
    assert len(inner_kernels(files)) > 50
    assert list(used(files)) == []


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
