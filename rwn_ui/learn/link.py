"""The address of a lesson: the positions of its controls, which are public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rwn_ui.learn.lesson import Control, Lesson, Slider, Switch, Values


def write(lesson: Lesson, values: Values) -> dict[str, str]:
    """Return the controls that are not at their start, as parameters of an address."""
    return {
        _name(control): _text(values[control.name])
        for control in lesson.controls
        if values[control.name] != control.start
    }


def read(lesson: Lesson, asked: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the positions that an address asks for, and a sentence for each that is refused."""
    found, refused = {}, []
    for control in lesson.controls:
        if _name(control) in asked:
            value = _value(control, asked[_name(control)])
            if value is None:
                refused.append(
                    f"{control.name} of the link must be {_allowed(control)}; the lesson begins "
                    "with its usual one."
                )
            else:
                found[control.name] = value
    return found, refused


def _name(control: Control) -> str:
    return f"lesson-{control.name}"


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else f"{value}"


def _value(control: Control, text: str) -> Any:
    """Return a position of the control; None if the text is none."""
    if isinstance(control, Slider):
        try:
            steps = (float(text) - control.low) / control.step
        except ValueError:
            return None
        last = round((control.high - control.low) / control.step)
        if not (math.isfinite(steps) and 0 <= round(steps) <= last):
            return None
        return type(control.start)(round(control.low + round(steps) * control.step, 10))
    if isinstance(control, Switch):
        return {"0": False, "1": True}.get(text)
    return text if text in control.options else None


def _allowed(control: Control) -> str:
    if isinstance(control, Slider):
        return f"a number from {control.low:g} to {control.high:g}"
    if isinstance(control, Switch):
        return "0 or 1"
    return f"one of: {', '.join(control.options)}"
