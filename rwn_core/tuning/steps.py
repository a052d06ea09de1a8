"""Steps between the settings of a grid: half a step away, and halfway between two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.tuning.point import Point
from rwn_core.tuning.setting import Setting

_DIGITS = {"epsilon": 4, "q": 3}


def half_steps(points: Sequence[Point]) -> dict[str, float]:
    """For each number that the sweep varies, half its typical step."""
    steps: dict[str, float] = {}
    for name in points[0].setting.parameters | {"q": 1.0}:
        values = sorted({_number(getattr(p.setting.params, name, None)) for p in points} - {None})
        if len(values) > 1:
            steps[name] = (values[-1] - values[0]) / (len(values) - 1) / 2
    return steps


def around(setting: Setting, steps: Mapping[str, float], n: int) -> list[Setting]:
    """The settings one step away, along the axes and between them."""
    made = []
    for directions in product((-1, 0, 1), repeat=len(steps)):
        changes = {
            name: _moved(name, getattr(setting.params, name), direction * step, n)
            for (name, step), direction in zip(steps.items(), directions, strict=True)
        }
        try:
            made.append(Setting(params=replace(setting.params, **changes), weights=setting.weights))
        except ParameterError:
            continue  # a step beyond what the method allows
    return list({each.key: each for each in made if each.key != setting.key}.values())


def middle(one: Setting, other: Setting) -> Setting:
    """The setting halfway between two of one method; whole numbers stay whole."""
    changes = {}
    for name in one.parameters | {"q": 1.0}:
        a, b = (_number(getattr(setting.params, name, None)) for setting in (one, other))
        if a is not None and b is not None:
            whole = isinstance(a, int) and name not in _DIGITS
            changes[name] = (
                round((a + b) / 2) if whole else round((a + b) / 2, _DIGITS.get(name, 6))
            )
    return Setting(params=replace(one.params, **changes), weights=one.weights)


def _moved(name: str, value: Any, by: float, n: int) -> Any:
    if isinstance(value, int) and name != "q" and name != "epsilon":
        # a whole number moves by one at least, or small steps would not move it at all
        step = 0 if by == 0 else int(math.copysign(max(1, round(abs(by))), by))
        return max(1, min(value + step, n - 1))
    moved = round(float(value) + by, _DIGITS.get(name, 6))
    return min(max(moved, 0.0), 1.0) if name == "q" else max(moved, 0.0)


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
