"""One test in both lanes: with few draws by day, with many at night."""

from __future__ import annotations

import pytest


def lanes(by_day: object, *at_night: object) -> list[object]:
    """The values of a parameter: one by day, the others at night."""
    return [by_day, *(pytest.param(each, marks=pytest.mark.nightly) for each in at_night)]
