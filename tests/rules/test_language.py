"""Words are plain; a class is described by a noun, and a truth value by what is true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.rules import import_law as law

ROOT = law.ROOT
# `code` stands for documentation texts and comments only: a question on screen may ask who
WORDS = re.compile(
    r"\b(?P<all>told|tells? of|heeds?|heeded|settles?|settled|sifts?|at hand|to come|at rest|let go"
    r"|now and then|may well|begun|beside|lone|alike|hardly|seldom|likeliest|rightly"
    r"|weighed|gone over|held against)\b"
    r"|\b(?P<code>(?<!intruder )who|whom|whose|whoever|he|him|his|himself|she|her|nobody|somebody"
    r"|anybody|everybody)\b"
    r"|\b(?P<unmasked>(?:released?|stays?|left|leaves? \w+|kept) as (?:it is|they are))\b"
    r"|(?-i:(?:^|_)(?P<name>told|whole|beside|begun|alike|lone|heed)$)",
    re.I,
)
HELD = {"code": {"all", "code"}, "text": {"all", "unmasked"}, "name": {"name"}}


PIECES = (
    ast.Expr,
    ast.JoinedStr,
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.arg,
    ast.FunctionDef,
    ast.ClassDef,
)
"""What has words: texts and names."""


def pieces(text: str, suffix: str) -> Iterator[tuple[int, str, str]]:
    """The last line, the kind and the words of each comment, text and name of a file.

    A text whose last line ends with `# words: ` and a reason is exempt.
    """
    others = r"(?<!:)//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|`[^`]*`"
    for found in re.finditer(r"#[^\n]*" if suffix == ".py" else others, text, re.S):
        kind = "code" if found[0][0] in "#/" else "text"
        yield text.count("\n", 0, found.end()) + 1, kind, found[0]
    for node in law.nodes(text, *PIECES) if suffix == ".py" else ():
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                yield node.end_lineno or 0, "code", words
            case ast.JoinedStr(values=parts):
                fixed = [str(each.value) for each in parts if isinstance(each, ast.Constant)]
                yield node.end_lineno or 0, "text", " ".join(fixed)
            case ast.Constant(value=str(words)):
                yield node.end_lineno or 0, "text", words
            case ast.Name() | ast.Attribute() | ast.arg() | ast.FunctionDef() | ast.ClassDef():
                names = (getattr(node, each, "") for each in ("id", "attr", "arg", "name"))
                yield node.lineno, "name", "".join(names)


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


def test_words_are_plain_and_first_lines_fit_their_types() -> None:
    for room in ("rwn_core", "rwn_ui", "rwn_cli", "pages"):
        for file in sorted((ROOT / room).rglob("*")):
            if file.suffix not in {".py", ".js", ".toml"} or "static" in file.parts:
                continue
            text = file.read_text(encoding="utf-8")
            offenders = list(untyped(text)) if file.suffix == ".py" else []
            for line, kind, words in pieces(text, file.suffix):
                short = kind == "text" and len(words.split()) <= 3  # a key, say
                found = {each.lastgroup for each in WORDS.finditer(words)} & HELD[kind]
                if found and not short and "# words: " not in text.splitlines()[line - 1]:
                    offenders.append(f"{line}: {words.strip()[:100]}")
            assert not offenders, f"{file.relative_to(ROOT)}:" + "\n".join(offenders)
