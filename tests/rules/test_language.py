"""The private idiom does not grow: each count may only fall."""

from __future__ import annotations

import pytest

from tools import language

MOST = {"first line": 0, "docstring": 0, "comment": 0, "name": 0, "sentence": 0}


def test_there_is_no_more_private_idiom_than_there_was() -> None:
    found = language.offenders()
    grown = {rule: n for rule, n in language.counts(found).items() if n > MOST[rule]}
    assert not grown, "\n".join(str(each) for each in found if each.rule in grown)


@pytest.mark.parametrize(
    ("source", "path", "rule"),
    [
        ('"""Who is told more."""', "x.py", "first line"),
        ('"""Return it.\n\nNobody reads it.\n"""', "x.py", "docstring"),
        ("x = 1  # beside it", "x.py", "comment"),
        ('def told():\n    """Return it."""', "x.py", "name"),
        ("def f(told):\n    return told", "x.py", "name"),
        ("kept = 1", "x.py", "name"),
        ("a.kept = 1", "x.py", "name"),
        ('x = "The row is weighed by itself"', "x.py", "sentence"),
        ('x = "The row is weighed by itself"', "x.toml", "sentence"),
        ("// whose it is\nlet a = 1;", "x.js", "comment"),
        ("/* beside\n it */", "x.js", "comment"),
        ("const allKept = 1;", "x.js", "name"),
        ("  kept(a) {\n  }", "x.js", "name"),
        ('a = "The row is weighed by itself";', "x.js", "sentence"),
    ],
)
def test_a_planted_phrase_is_found(source: str, path: str, rule: str) -> None:
    assert [each.rule for each in language.offenders_in(source, path)] == [rule]


def test_both_languages_are_read() -> None:
    assert {".py", ".js", ".toml"} == {file.suffix for file in language.files()}


def test_a_line_with_a_reason_is_allowed() -> None:
    source = 'x = "The row is weighed by itself"  # words: a quotation'
    assert not language.offenders_in(source, "x.py")
    docstring = '"""Return it.\n\nNobody reads it.\n"""'
    assert not language.offenders_in(f"{docstring}  # words: help on the screen", "x.py")
