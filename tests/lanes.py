"""One test in both lanes: with few draws by day, with many at night."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def lanes(by_day: object, *at_night: object) -> list[object]:
    """The values of a parameter: one by day, the others at night."""
    return [by_day, *(pytest.param(each, marks=pytest.mark.nightly) for each in at_night)]


def some(by_day: Iterable[object], of: Iterable[object]) -> list[object]:
    """All values of a parameter in their order: these by day, the others at night."""
    days = [*by_day]
    every = [*of]
    assert all(each in every for each in days), days
    return [
        each if each in days else pytest.param(each, marks=pytest.mark.nightly) for each in every
    ]
