"""Statements only become plainer: no group of code has more than ``sentences.toml`` says."""

from __future__ import annotations

import ast

import pytest

from tools import sentences

PACKED = '''
def weigh(records, about, known: Any):
    """A docstring is no code."""
    first, last = records[0], len(about)
    scale, unit = about
    rows = ["a"] * bool(known) + [*("b", "c")]
    return [x for each in rows for x in each if x and (first or last)], {**{"a": scale}}
'''


def test_no_group_of_code_has_more_than_is_held() -> None:
    assert sentences.exceeded(sentences.measured(), sentences.held()) == []


def test_each_kind_of_packing_is_counted() -> None:
    counted = sentences.count(PACKED)
    once = (
        "assignments of unlike values",
        "lists or texts times a truth value",
        "comprehensions of two loops",
        "parameters typed Any",
        "tuples unpacked from a parameter",
    )
    assert {name: counted[name] for name in once} == dict.fromkeys(once, 1)
    assert counted["literals spread into literals"] == 2
    assert counted["code lines"] == 5


@pytest.mark.parametrize(
    ("statement", "branches"),
    [
        ("pass", 1),
        ("if a and b or c: pass", 4),
        ("return 1 if a else 2", 2),
        ("return [x for x in a if x if y]", 4),
        ("assert a", 2),
        ("def inner():\n        while a: pass", 2),
    ],
)
def test_branches_are_counted_honestly(statement: str, branches: int) -> None:
    function = ast.parse(f"def f():\n    {statement}").body[0]
    assert sentences.branches(function) == branches


def test_names_that_trade_places_and_values_of_one_kind_are_alike() -> None:
    alike = ("a, b = b, a", "a, b = f(1), f(2)", "a, b = x.one, x.two", "a, b = 0, 1")
    assert not any(sentences.unlike_values(ast.parse(each).body[0]) for each in alike)
    assert sentences.unlike_values(ast.parse("a, b = x, f(y)").body[0])


def test_a_higher_figure_is_told_and_not_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sentences, "FILE", tmp_path / "held.toml")
    monkeypatch.setattr(sentences, "measured", lambda: {"core": {"fmt: skip": 3, "tokens": 9}})
    assert sentences.lower() == []
    monkeypatch.setattr(sentences, "measured", lambda: {"core": {"fmt: skip": 4, "tokens": 8}})
    assert sentences.lower() == ["core has 4 fmt: skip, at most 3 are held"]
    assert sentences.held() == {"core": {"fmt: skip": 3}}
