"""Make small faults in a file of code: one changed expression, or one statement removed."""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
_SCRIPT = (
    (re.compile(r"(?<![=!<>])(===|!==|<=|>=|<|>)(?= )"),
     {"===": "!==", "!==": "===", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    (re.compile(r"(?<= )(&&|\|\|)(?= )"), {"&&": "||", "||": "&&"}),
    (re.compile(r"(?<= )([-+*/])(?= )"), {"+": "-", "-": "+", "*": "/", "/": "*"}),
    (re.compile(r"\b(true|false)\b"), {"true": "false", "false": "true"}),
    (re.compile(r"(?<= )(return)(?= [^;\n]+;)"), {"return": "return null &&"}),
    (re.compile(r"(?<=\bif \()([\w.]+)(?=\))"), None),
    (re.compile(r"(?<![\w.#])(\d+)(?![\w.%])"), None),
)  # fmt: skip
"""Parts of a script, and their faults; a condition is negated and a number raised by 1."""

_LEFT_OUT = (ast.Raise, ast.Continue, ast.Break)
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One small fault."""

    path: str  # of the changed file, from the root
    line: int
    ran: Lines  # shape (2,): the first and the last line that a test must run to notice it
    # before, after: the changed part
    before: str
    after: str
    source: str  # the whole file with the fault
    key: str  # the same for the same fault in the same file

    def __str__(self) -> str:
        """Name the place and the change, on one line."""
        change = f"{self.before} -> {self.after}"
        return f"{self.path}:{self.line}: {' '.join(change.split())}"


def mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Every small fault of a file: comparisons, sums, truths, numbers, conditions, results."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped = {id(part) for node in ast.walk(tree) for part in _no_code(node)}
    asked = {id(node.test) for node in ast.walk(tree) if isinstance(node, ast.If | ast.IfExp)}
    lines = dict(_lines(tree))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr | ast.stmt):
            continue
        begin, end = _span(text, node)
        for after in (*_changed(node), *_turned(node, asked)):
            yield Mutant(
                path=str(path.relative_to(root)),
                line=node.lineno,
                ran=lines[id(node)],
                before=text[begin:end],
                after=after,
                source=text[:begin] + after + text[end:],
                key=f"{digest} {begin} {after}",
            )


def script_mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Return every small fault of a JavaScript file, outside of comments and texts."""
    text = path.read_text(encoding="utf-8")
    bare = re.sub(r"//.*|/\*[\s\S]*?\*/|\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`", _blanked, text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    for pattern, others in _SCRIPT:
        for found in pattern.finditer(bare):
            before = found[1]
            number = str(int(before) + 1) if before.isdigit() else f"!{before}"
            after = others[before] if others else number
            line = text.count("\n", 0, found.start()) + 1
            yield Mutant(
                path=str(path.relative_to(root)),
                line=line,
                ran=(line, line),
                before=before,
                after=after,
                source=text[: found.start(1)] + after + text[found.end(1) :],
                key=f"{digest} {found.start()} {after}",
            )


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "\0", found[0])


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
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        parts = [node]
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def _lines(tree: ast.Module) -> Iterator[tuple[int, Lines]]:
    """The lines of the statement that each part belongs to; of its head, where it has a body."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt):
            continue
        inside = [
            each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)
        ]
        heads = [
            each for each in inside if isinstance(each, ast.expr | ast.withitem | ast.arguments)
        ]
        last = statement.lineno
        if not any(isinstance(each, ast.stmt) for each in ast.iter_child_nodes(statement)):
            last = statement.end_lineno or last
        for part in (each for head in heads for each in ast.walk(head)):
            last = max(last, getattr(part, "end_lineno", None) or 0)
        for part in (statement, *(each for head in inside for each in ast.walk(head))):
            if part is statement or not isinstance(part, ast.stmt):
                yield id(part), (statement.lineno, last)


def _changed(node: ast.AST) -> Iterator[str]:
    """What may stand in the place of a part of the code."""
    yield from (f"({ast.unparse(other)})" for other in _expressions(copy.deepcopy(node)))
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return None"
    elif isinstance(node, _LEFT_OUT) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "pass"


def _turned(node: ast.AST, asked: set[int]) -> Iterator[str]:
    """The opposite of a condition that is no comparison."""
    if id(node) in asked and isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        yield f"(not {ast.unparse(node)})"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _expressions(other: ast.AST) -> Iterator[ast.expr]:
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


def _span(text: str, node: ast.expr | ast.stmt) -> Lines:
    """Where a part of the code begins and ends in the text."""
    lines = text.encode().splitlines(keepends=True)

    def place(line: int, column: int) -> int:
        return len(b"".join([*lines[: line - 1], lines[line - 1][:column]]).decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
