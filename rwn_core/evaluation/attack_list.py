"""The list of attacks on a release: how each is read, and which needs more knowledge than which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading

Answers = Mapping[str, Reading | NotApplicable]
"""By measure key, the reading or why there is none."""

_NEIGHBORHOODS = "… and neighborhoods"
_INFORMED = "method, keys"
_WORST = ("intruder_levels", "bayes_linkage")
"""Attacks that are the worst case with what they know, where both ways to link are tried."""


def read_attack(
    measure: Measure, comparison: Comparison, control: Comparison | None
) -> Reading | NotApplicable:
    """Read a risk measure; guessing attacks are compared with a control group."""
    if control is not None and measure.against_control:
        on_control = measure.read(control)
        if isinstance(on_control, Reading):
            return on_control
    return measure.read(comparison)


def attacks(readings: Answers) -> list[dict[str, Any]]:
    """Linkage attacks in the order of what they need, each with its success."""
    listed: list[dict[str, Any]] = []
    levels = readings["intruder_levels"]
    if isinstance(levels, Reading):
        listed.append({"words": "guessing", "success": levels.baseline, "worst": False})
        ordinary, informed = levels.detail.success[1:3]
    else:
        ordinary = informed = None
    for words, key, success, worst in (
        ("distance, keys", "intruder_levels", ordinary, False),
        ("probabilistic, keys", "probabilistic_linkage", None, False),
        ("distance, all", "distance_linkage", None, False),
        ("global distance, all", "global_linkage", None, False),
        (_INFORMED, "intruder_levels", informed, True),
        (_known(levels), "intruder_levels", _value(readings, "intruder_levels"), True),
        ("… of the whole file at once", "whole_file_linkage", None, True),
        ("whole original file", "bayes_linkage", None, True),
    ):
        if words == _INFORMED and _known(levels) != _NEIGHBORHOODS:
            continue  # the same intruder as the next
        reading = readings[key]
        if key != "intruder_levels":
            success = _value(readings, key)
        reason = str(reading) if isinstance(reading, NotApplicable) else ""
        listed.append(
            {"words": words, "success": success, "worst": worst, "reason": reason}
            | {
                "at_least": key in _WORST
                and words != _INFORMED
                and worst
                and isinstance(reading, Reading)
                and reading.detail.standing == "at least"
            }
        )
    return listed


def _known(levels: Reading | NotApplicable) -> str:
    """Return the variables that the strongest key intruder knows."""
    drawn = not isinstance(levels, Reading) or levels.detail.neighborhoods
    return _NEIGHBORHOODS if drawn else "method, keys"


def _value(readings: Answers, key: str) -> float | None:
    reading = readings[key]
    return reading.value if isinstance(reading, Reading) else None
