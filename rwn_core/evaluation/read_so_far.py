"""Readings so far of a release that is being judged, and the measure that is read now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rwn_core.errors import NotApplicable
from rwn_core.measures.measure import Reading
from rwn_core.parallel.threads import Work

Answers = Mapping[str, Reading | NotApplicable]


class ReadSoFar(NamedTuple):
    """Numbers without their records."""

    # by measure its value, and what that is where it is no worst case
    values: dict[str, tuple[float, str]]
    now: str  # key of the measure that is read now


def tell(work: Work, readings: Answers, now: str) -> None:
    """Report the readings so far."""
    numbers = {
        key: (each.value, each.detail.standing)
        for key, each in readings.items()
        if isinstance(each, Reading)
    }
    work.found(ReadSoFar(values=numbers, now=now))
