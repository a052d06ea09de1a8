"""A class is described by a noun, and a truth value by what is true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.rules import import_law as law

ROOT = law.ROOT


def untyped(text: str) -> Iterator[str]:
    """Classes that no noun describes, and functions that wrongly do or do not say True if."""
    for node in law.nodes(text, ast.ClassDef, ast.FunctionDef):
        match node, isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            case ast.ClassDef(), str(said) if not re.match(r"(An?|The|One|All|Any) ", said):
                yield f"{node.lineno}: {said[:100]}"
            case ast.FunctionDef(returns=given), str(said):
                truth = given is not None and re.match("bool$|TypeGuard", ast.unparse(given))
                if not said.startswith("True if ") if truth else said.startswith("True"):
                    yield f"{node.lineno}: {said[:100]}"


def test_first_lines_fit_their_types() -> None:
    for room in ("rwn_core", "rwn_ui", "rwn_cli", "pages"):
        for file in sorted((ROOT / room).rglob("*.py")):
            offenders = list(untyped(file.read_text(encoding="utf-8")))
            assert not offenders, f"{file.relative_to(ROOT)}:" + "\n".join(offenders)


SPARED = re.compile(r"\b(releases?|released|stays?|kept|leaves? \w+) as (it is|they are)\b", re.I)


def test_pages_and_shell_say_release_unmasked() -> None:
    assert SPARED.search("The column is released as it is.")
    for room in ("rwn_ui", "rwn_cli", "pages"):
        for file in sorted((ROOT / room).rglob("*.py")):
            texts = law.nodes(file.read_text(encoding="utf-8"), ast.Constant)
            said = [each.value for each in texts if isinstance(each.value, str)]
            assert not [each for each in said if SPARED.search(each)], file.relative_to(ROOT)
