"""What Python calls of the kernels was compiled for that; another call would end the process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import architecture_page

ROOT = architecture_page.ROOT
KERNELS = "rwn_core/neighbors/kernels/"
INNER = {"inner", "lean", "merged"}
HOW = {"compiled", "inlined", *INNER}
FOR_TESTS = "callable_here"


def decorators(function: ast.AST) -> set[str]:
    named = getattr(function, "decorator_list", ())
    return {each.id for each in named if isinstance(each, ast.Name)}


def inner_kernels(files: Mapping[str, str]) -> set[str]:
    """The names of the kernels that only kernels may call."""
    nodes = (node for path, text in files.items() if path.startswith(KERNELS)
             for node in ast.parse(text).body)  # fmt: skip
    return {node.name for node in nodes
            if isinstance(node, ast.FunctionDef) and decorators(node) & INNER}  # fmt: skip


def of_python(tree: ast.Module) -> Iterator[ast.AST]:
    """What a file has outside compiled functions."""
    for node in tree.body:
        if not decorators(node) & HOW:
            yield from ast.walk(node)


def known_here(tree: ast.Module, path: str, inner: set[str]) -> set[str]:
    """What a file calls these kernels."""
    known = {alias.asname or alias.name for node in ast.walk(tree)
             if isinstance(node, ast.ImportFrom) and KERNELS.replace("/", ".") in f"{node.module}."
             for alias in node.names if alias.name in inner}  # fmt: skip
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return known | (own & inner if path.startswith(KERNELS) else set())


def called(files: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Files and the inner kernels that their Python calls."""
    inner = inner_kernels(files)
    for path, text in files.items():
        tree = ast.parse(text)
        names = known_here(tree, path, inner)
        if FOR_TESTS not in text:  # which compiles them for Python
            yield from ((path, node.func.id) for node in of_python(tree)
                        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                        and node.func.id in names)  # fmt: skip


def sources() -> dict[str, str]:
    folders = ("rwn_core", "rwn_ui", "rwn_cli", "tests", "benchmarks")
    paths: Iterable[Path] = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_python_calls_no_inner_kernel() -> None:
    files = {path: text for path, text in sources().items() if "kernels" in text or KERNELS in path}
    assert len(inner_kernels(files)) > 80
    assert list(called(files)) == []


def test_such_a_call_would_be_noticed() -> None:
    kernel = "@lean\ndef look(a): ...\n@compiled\ndef search(a): look(a)\n"
    where, there = KERNELS + "one.py", "rwn_core.neighbors.kernels.one"
    python = f"from {there} import look, search\nsearch(1)\n"
    assert list(called({where: kernel, "rwn_core/a.py": python})) == []
    for calls in (f"{python}look(1)\n", f"from {there} import look as seen\ndef f(): seen(1)\n"):
        assert len(list(called({where: kernel, "rwn_core/a.py": calls}))) == 1
    assert list(called({where: kernel + "def f(): look(1)\n"})) == [(where, "look")]
