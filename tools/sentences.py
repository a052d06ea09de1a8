"""Count what makes a statement hard to read, and hold it: ``tests/rules/sentences.toml``.

A function's branches are its loops, conditions, ``and``, ``or``, ternaries, handlers, assertions
and the clauses of its comprehensions. ``python -m tools.figures --lower`` writes what has become
less; nothing writes more.
"""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "rules" / "sentences.toml"
GROUPS = {
    "core": ("rwn_core",),
    "shell": ("rwn_cli",),
    "pages": ("rwn_ui", "pages", "app.py"),
    "tests": ("tests",),
}
TARGETS = {
    "core": {
        "functions over 15 branches": 20,
        "functions over 20 branches": 0,
        "tokens a code line": 8.5,
        "assignments of unlike values": 0,
        "lists or texts times a truth value": 0,
        "literals spread into literals": 0,
        "fmt: skip": 5,
        "comprehensions of two loops": 60,
        "ternaries in a ternary": 0,
        "parameters typed Any": 40,
        "tuples unpacked from a parameter": 0,
        "tokens": 350_000,
    },
    "pages": {
        "functions over 15 branches": 5,
        "functions over 20 branches": 0,
        "tokens a code line": 7.5,
    },
    "tests": {
        "functions over 15 branches": 20,
        "functions over 20 branches": 0,
        "test functions over 10 branches": 60,
        "tokens a code line": 9.0,
    },
}
"""What each group of code shall come to."""
FREE = {"tokens", "code lines"}  # told, not held
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.Assert,
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_LEAVES = {ast.Name, ast.Constant}  # half of all nodes: none is below them but contexts
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
Figures = dict[str, float]


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it but contexts, in a third of the time of ``ast.walk``."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        if type(node) in _LEAVES:
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                left += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                left.append(value)


def branches(function: ast.AST) -> int:
    """Return the ways through a function, those of functions inside it included."""
    count = 1
    for node in nodes(function):
        if isinstance(node, _BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
    return count


def unlike_values(node: ast.AST) -> bool:
    """True for ``a, b = x, y(z)``: not for names that trade places, nor for values of one kind."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    if not isinstance(node.targets[0], ast.Tuple):
        return False
    assigned = {ast.unparse(each) for each in node.targets[0].elts}
    trade_places = assigned & {ast.unparse(each) for each in node.value.elts}
    kinds = {_kind(each) for each in node.value.elts}
    return not trade_places and len(kinds) > 1


def _kind(value: ast.expr) -> str:
    """Return what a value is: a call of this function, a part of that object."""
    if isinstance(value, ast.Call):
        return "call " + ast.unparse(value.func)
    if isinstance(value, ast.Attribute | ast.Subscript):
        return "part " + ast.unparse(value.value)
    return type(value).__name__


def times_truth(node: ast.AST) -> bool:
    """True for a text or a list times something that is no number as such."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = (node.left, node.right)
    literal = any(_is_sequence(each) for each in sides)
    truth = any(_is_truth(each) for each in sides)
    return literal and truth


def _is_sequence(node: ast.expr) -> bool:
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text or isinstance(node, ast.List | ast.Tuple | ast.JoinedStr)


def _is_truth(node: ast.expr) -> bool:
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    of_bool = isinstance(node, ast.Call) and ast.unparse(node.func) == "bool"
    return negated or of_bool or isinstance(node, ast.Compare | ast.BoolOp | ast.Attribute)


def spread_literals(node: ast.AST) -> int:
    """Return how many literals are spread into a literal."""
    if isinstance(node, ast.Dict):
        spread = [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        spread = [each.value for each in node.elts if isinstance(each, ast.Starred)]
    else:
        spread = []
    return sum(isinstance(each, _LITERALS) for each in spread)


def _is_nested(node: ast.AST) -> bool:
    """True for a comprehension of two loops, or one within another."""
    if not isinstance(node, _COMPREHENSIONS):
        return False
    inside = any(isinstance(each, _COMPREHENSIONS) for each in nodes(node) if each is not node)
    return inside or len(node.generators) > 1


def _unpacked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many parameters of a function are taken apart into several names."""
    parameters = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    return sum(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Name)
        and node.value.id in parameters
        for node in nodes(function)
    )


def _any_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    annotations = [e.annotation for e in ast.walk(function.args) if isinstance(e, ast.arg)]
    return sum(each is not None and ast.unparse(each) == "Any" for each in annotations)


def _holds_another(ternary: ast.AST) -> bool:
    """True for a ternary in whose condition or values another one stands."""
    return any(isinstance(each, ast.IfExp) for each in ast.iter_child_nodes(ternary))


_COUNTED: dict[type[ast.AST], tuple[str, Callable[[ast.AST], int]]] = {
    ast.Assign: ("assignments of unlike values", unlike_values),
    ast.BinOp: ("lists or texts times a truth value", times_truth),
    ast.IfExp: ("ternaries in a ternary", _holds_another),
    **dict.fromkeys(_LITERALS, ("literals spread into literals", spread_literals)),
    **dict.fromkeys(_COMPREHENSIONS, ("comprehensions of two loops", _is_nested)),
}
"""By the kind of a node: what is counted, and how much of it the node is."""


def count(text: str) -> Counter[str]:
    """Count one file."""
    found = Counter(dict.fromkeys((name for name, _ in _COUNTED.values()), 0))
    silent: set[int] = set()
    for node in nodes(ast.parse(text)):
        if type(node) in _COUNTED:
            name, packed = _COUNTED[type(node)]
            found[name] += packed(node)
        elif isinstance(node, _FUNCTIONS):
            ways = branches(node)
            found["functions over 15 branches"] += ways > 15
            found["functions over 20 branches"] += ways > 20
            found["test functions over 10 branches"] += ways > 10 and node.name.startswith("test_")
            found["parameters typed Any"] += _any_parameters(node)
            found["tuples unpacked from a parameter"] += _unpacked(node)
        elif isinstance(node, ast.Import | ast.ImportFrom) or _is_note(node):
            assert isinstance(node, ast.stmt)
            silent |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    found["fmt: skip"] = text.count("# fmt: skip")
    lines: set[int] = set()
    tokens = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _LAYOUT:
            continue
        first = token.start[0]
        last = token.end[0]
        if first not in silent or not silent.issuperset(range(first, last + 1)):
            tokens += 1
            lines.update(range(first, last + 1))
    found["tokens"] = tokens
    found["code lines"] = len(lines - silent)
    return found


def _is_note(node: ast.AST) -> bool:
    """True for a docstring, and a note below a name."""
    if not isinstance(node, ast.Expr):
        return False
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def files(group: str) -> Iterator[Path]:
    """Yield the Python files of a group of code."""
    for name in GROUPS[group]:
        place = ROOT / name
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def measured() -> dict[str, Figures]:
    """Return the figures of each group of code."""
    figures = {}
    for group in GROUPS:
        total = Counter[str]()
        for file in files(group):
            total.update(count(file.read_text(encoding="utf-8")))
        ratio = total["tokens"] / total["code lines"]
        # up to a tenth, so that a file more or less is no matter
        figures[group] = {**total, "tokens a code line": -(-round(ratio, 6) * 10 // 1) / 10}
    return figures


def held() -> dict[str, Figures]:
    """Return what each group may have at most."""
    return tomllib.loads(FILE.read_text("utf-8"))


def exceeded(today: dict[str, Figures], most: dict[str, Figures]) -> list[str]:
    """Return a sentence for each figure above what is held."""
    return [
        f"{group} has {value:,} {name}, at most {most[group].get(name, 0):,} are held"
        for group, figures in today.items()
        for name, value in figures.items()
        if name not in FREE and value > most[group].get(name, 0)
    ]


def lower() -> list[str]:
    """Write today's figures where none is above what is held; return those that are."""
    today = measured()
    higher = exceeded(today, held()) if FILE.exists() else []
    if not higher:
        FILE.write_text(written(today), "utf-8")
    return higher


def written(figures: dict[str, Figures]) -> str:
    """Return the text of the file."""
    lines = [
        "# What the code has at most of what makes a statement hard to read (tools/sentences.py).",
        "# Written by `python -m tools.figures --lower`, which writes lower figures only.",
    ]
    for group, values in figures.items():
        lines += ["", f"[{group}]"]
        lines += [f'"{name}" = {value:g}' for name, value in values.items() if name not in FREE]
    return "\n".join([*lines, ""])
