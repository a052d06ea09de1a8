"""The questions of ARCHITECTURE.md are answered by the file and the name beside them."""

from __future__ import annotations

import ast

from tests.rules import architecture_page


def names_in(path: str) -> set[str]:
    """Return the functions, classes, methods and constants of a file."""
    tree = ast.parse((architecture_page.ROOT / path).read_text(encoding="utf-8"))
    defining = ast.FunctionDef | ast.ClassDef
    names = {node.name for node in ast.walk(tree) if isinstance(node, defining)}
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    return names | {ast.unparse(target) for node in assigned for target in node.targets}


def unanswered(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the questions whose file lacks the name."""
    return [row[0] for row in rows if row[2].strip("`") not in names_in(row[1].strip("`"))]


def test_each_question_has_one_file_that_defines_the_name() -> None:
    rows = architecture_page.rows("Questions of newcomers")
    assert len(rows) >= 10
    assert unanswered(rows) == []
    planted = ("Where?", "`rwn_core/neighbors/kernel.py`", "`NothingOfThisName`")
    assert unanswered([planted]) == ["Where?"]
