"""What Python calls of the kernels was compiled for that; another call would end the process."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.rules import import_law as law

ROOT = law.ROOT
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
    paths: Iterable[Path] = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_python_uses_no_inner_kernel() -> None:
    files = {path: text for path, text in sources().items() if "kernel" in text or is_kernel(path)}
    assert len(inner_kernels(files)) > 60
    assert list(used(files)) == []


def test_such_a_use_would_be_noticed() -> None:
    kernel = "@jit_no_refcount\ndef look(a): ...\n@jit_entry\ndef search(a): look(a)\n"
    where, there = "rwn_core/laws/one_kernel.py", "rwn_core.laws.one_kernel"
    python = f"from {there} import look, search\nsearch(1)\n"
    given = f"{python}look, = {FOR_TESTS}(look)\nlook(1)\n"
    for fine in (python, given):
        assert list(used({where: kernel, "rwn_core/a.py": fine})) == []
    for wrong in (
        f"{python}look(1)\n",
        f"{python}run(look)\n",
        f"from {there} import look as seen\ndef f(): seen(1)\n",
        "from rwn_core.laws import one_kernel\none_kernel.look(1)\n",
        f"{python}search, = {FOR_TESTS}(search)\nlook(1)\n",
    ):
        assert len(list(used({where: kernel, "rwn_core/a.py": wrong}))) == 1, wrong
    assert list(used({where: kernel + "def f(): look(1)\n"})) == [(where, "look")]
