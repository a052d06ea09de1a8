"""What holds a rule for many cases reports every one that breaks it."""

from __future__ import annotations

import pytest

from tests.holding import broken, hold


def test_whatever_breaks_a_rule_is_reported():
    def rule(key: str, table: str) -> None:
        assert (key, table) != ("one", "tiny"), "planted"
        assert {"tiny": 1, "wide": 2}[table]

    found = broken(rule, ["one", "two"], ["tiny", "wide", "none"])
    assert [line.split(":")[0] for line in found] == ["one, tiny", "one, none", "two, none"]
    assert "AssertionError: planted" in found[0]
    assert "KeyError" in found[1]
    with pytest.raises(AssertionError, match=r"(?s)one, tiny: .*two, none: "):
        hold(rule, ["one", "two"], ["tiny", "wide", "none"])


def test_a_rule_held_for_nothing_is_a_fault():
    with pytest.raises(ValueError, match="no case"):
        hold(lambda key: None, [])
