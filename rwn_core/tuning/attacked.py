"""The worse of what a limit's measure states and what a simple attack achieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rwn_core.errors import NotApplicable
from rwn_core.measures.measure import Reading
from rwn_core.tuning.point import Point

RED_TEAM = "red_team"
RAISED = {"bayes_linkage": "identity", "attribute_gain": "attribute"}
"""Measures that state a worst case, and the kind of finding that may be worse."""

Readings = Mapping[str, Reading | NotApplicable]


def attacked(readings: Readings) -> Readings:
    """Raise stated worst cases to what the red team achieved, where these readings have one.

    Parameters
    ----------
    readings : mapping of str to Reading or NotApplicable
        Of one release.

    Returns
    -------
    mapping
        A raised reading has in its detail the value that was "stated", and which attack it was
        "attacked_by". Of links, which depend on the luck of a release, their lower bound counts.
    """
    team = readings.get(RED_TEAM)
    if not isinstance(team, Reading):
        return readings
    raised = {key: _raised(readings.get(key), team.detail[kind]) for key, kind in RAISED.items()}
    return {**readings, **{key: each for key, each in raised.items() if each is not None}}


def _raised(stated: Reading | NotApplicable | None, found: Mapping[str, float | str] | None) -> (
    Reading | None
):  # fmt: skip
    if not isinstance(stated, Reading) or found is None or float(found["certain"]) <= stated.value:
        return None
    value = float(found["certain"])
    detail = {**stated.detail, "stated": stated.value, "attacked_by": found["words"]}
    if detail.get("at_most") is not None:
        detail["at_most"] = max(detail["at_most"], value)
    return replace(stated, value=value, interval=None, detail=detail)


def with_attacked(point: Point, few: Point) -> Point:
    """A setting's point with the spreads that simple attacks raised on a few of its releases."""
    raised = {key: each for key, each in few.spreads.items() if each.by}
    return replace(point, spreads={**point.spreads, **raised})
