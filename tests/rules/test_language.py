"""The private idiom does not grow: each count may only fall."""

from __future__ import annotations

import pytest

from tools import language

MOST = {"first line": 0, "name": 0, "sentence": 0}


def test_there_is_no_more_private_idiom_than_there_was() -> None:
    found = language.offenders()
    grown = {rule: n for rule, n in language.counts(found).items() if n > MOST[rule]}
    assert not grown, "\n".join(str(each) for each in found if each.rule in grown)


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ('"""Who is told more."""', "first line"),
        ('def told():\n    """Return it."""', "name"),
        ('x = "The row is weighed by itself"', "sentence"),
    ],
)
def test_a_planted_phrase_is_found(source: str, rule: str) -> None:
    assert [each.rule for each in language.offenders_in(source, "x.py")] == [rule]


def test_a_line_with_a_reason_is_allowed() -> None:
    source = 'x = "The row is weighed by itself"  # words: a quotation'
    assert not language.offenders_in(source, "x.py")
