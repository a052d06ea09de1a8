"""The examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import rwn_core

AT_LEAST = 50
"""Examples there are more of: a search that finds none must not pass."""


def modules() -> list[str]:
    """Every module of the package."""
    return [result.name for result in pkgutil.walk_packages(rwn_core.__path__, "rwn_core.")]


def test_every_example_gives_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    tried, failed = 0, []
    for name in modules():
        result = doctest.testmod(importlib.import_module(name))
        tried += result.attempted
        failed += [name] if result.failed else []
    assert not failed, capsys.readouterr().out
    assert tried > AT_LEAST


def test_a_wrong_example_would_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner().run(wrong).failed == 1
    assert "Expected" in capsys.readouterr().out
