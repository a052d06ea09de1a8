"""Names, comments and sentences are plain words of the field; a truth value says which it is."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    file
    for room in ("rwn_core", "rwn_ui", "rwn_cli", "pages")
    for file in sorted((ROOT / room).rglob("*"))
    if file.suffix in {".py", ".js", ".toml"} and "static" not in file.parts
]
IDIOM = (
    r"told|tells? of|heeds?|heeded|settles?|settled|sifts?|at hand|to come|at rest|let go|now and "
    r"then|may well|begun|beside|lone|alike|hardly|seldom|likeliest|rightly|weighed|gone "
    r"over|held against"
)
PERSON = r"who|whom|whose|whoever|he|him|his|himself|she|her|nobody|somebody|anybody|everybody"
ANYWHERE, IN_CODE = (re.compile(rf"\b({each})\b", re.I) for each in (IDIOM, f"{IDIOM}|{PERSON}"))
NAME = re.compile(r"(^|_)(told|whole|beside|begun|alike|lone|heed)$")
ALLOWED = re.compile(r"(#|//) words: \S")  # the line, or the documentation text that it ends
PLAIN = re.compile(r"an intruder who|side by side", re.I)
RESULT = re.compile(r"\b(True|False|[Ww]hether|Recognize)\b")


def pieces(text: str, suffix: str) -> Iterator[tuple[int, str, re.Pattern[str]]]:
    """Each comment, text and new name of a file with its last line, and what it must not have."""
    if suffix != ".py":
        for found in re.finditer(r"(?<!:)//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|`[^`]*`", text, re.S):
            pattern = IN_CODE if found[0][0] == "/" else ANYWHERE
            yield text.count("\n", 0, found.end()) + 1, found[0], pattern
        return
    docs = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.start[0] in docs:
            yield token.end[0], token.string, IN_CODE
        elif token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            words = re.sub(r"\{[^}]*\}", "", token.string)  # without what an f-string computes
            if len(words.split()) > 3:
                yield token.end[0], words, ANYWHERE
        elif token.type == tokenize.NAME:
            yield token.end[0], token.string, NAME


def faults(text: str, suffix: str) -> list[str]:
    """The pieces that have what they must not."""
    lines = text.splitlines()
    return [
        f"{line}: {piece.strip()[:100]}"
        for line, piece, pattern in pieces(text, suffix)
        if pattern.search(PLAIN.sub("", piece)) and not ALLOWED.search(lines[line - 1])
    ]


def silent(text: str) -> list[str]:
    """Functions that return a truth value and do not say which."""
    return [
        f"{node.lineno}: {node.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node))
        if node.returns
        and ast.unparse(node.returns) == "bool"
        and (said.startswith("Return True") or not RESULT.search(said.partition("\n")[0]))
    ]


def test_words_are_plain_and_truth_values_are_said() -> None:
    assert {file.suffix for file in FILES} == {".py", ".js", ".toml"}
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        found = faults(text, file.suffix) + (silent(text) if file.suffix == ".py" else [])
        assert not found, f"{file.relative_to(ROOT)}:" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ('"""Who is asked."""', ".py"),
        ("x = 1  # beside it", ".py"),
        ("all_told = 1", ".py"),
        ('x = "The row is weighed by itself"', ".py"),
        ("// whose it is", ".js"),
        ('a = "The row is weighed by itself"', ".toml"),
    ],
)
def test_a_planted_phrase_is_found(text: str, suffix: str) -> None:
    assert len(faults(text, suffix)) == 1
    mark = "#" if suffix == ".py" else "//"
    assert faults(f"{text}  {mark} words: a quotation", suffix) == []
