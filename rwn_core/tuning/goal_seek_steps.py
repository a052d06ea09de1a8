"""Steps between the settings of a grid: half a step away, and halfway between two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from rwn_core.errors import ParameterError
from rwn_core.tuning.point import Point
from rwn_core.tuning.setting import Setting

_DIGITS = {"epsilon": 4, "q": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How far a search goes along one number, and between which ends.

    Attributes
    ----------
    size : float
    low, high : float
        Least and largest value of the sweep: who chose them did not offer what lies beyond.
    absent : bool
        Whether settings of the sweep go without this number; that is then the step below `low`.
    """

    size: float
    low: float
    high: float
    absent: bool = False

    def half(self) -> Step:
        """A step of half the size."""
        return replace(self, size=self.size / 2)


def half_steps(points: Sequence[Point]) -> dict[str, Step]:
    """For each number that the sweep varies, half its typical step."""
    steps: dict[str, Step] = {}
    for name in _names(points[0].setting):
        searched = {_number(getattr(point.setting.params, name)) for point in points}
        values = sorted(searched - {None})
        if values and len(searched) > 1:
            size = (values[-1] - values[0]) / max(len(values) - 1, 1) / 2
            steps[name] = Step(size=size, low=values[0], high=values[-1], absent=None in searched)
    return steps


def around(setting: Setting, steps: Mapping[str, Step]) -> list[Setting]:
    """The settings one step away, along the axes and between them."""
    made = []
    for directions in product((-1, 0, 1), repeat=len(steps)):
        changes = {
            name: _moved(name, getattr(setting.params, name), direction, step)
            for (name, step), direction in zip(steps.items(), directions, strict=True)
        }
        try:
            made.append(replace(setting, params=replace(setting.params, **changes)))
        except ParameterError:
            continue  # two numbers that the method does not allow together
    return list({each.key: each for each in made if each.key != setting.key}.values())


def middle(one: Setting, other: Setting) -> Setting:
    """The setting halfway between two of one method; whole numbers stay whole."""
    changes = {}
    for name in _names(one):
        a, b = (_number(getattr(setting.params, name)) for setting in (one, other))
        if a is not None and b is not None:
            whole = isinstance(a, int) and name not in _DIGITS
            changes[name] = (
                round((a + b) / 2) if whole else round((a + b) / 2, _DIGITS.get(name, 6))
            )
    return replace(one, params=replace(one.params, **changes))


def _moved(name: str, value: Any, direction: int, step: Step) -> Any:
    if _number(value) is None:
        enters = value is None and direction > 0
        return step.low if enters else value
    if step.absent and direction < 0 and value <= step.low:
        return None
    whole = isinstance(value, int) and name not in _DIGITS
    # a whole number moves by one at least, or small steps would not move it at all
    size = max(1, round(step.size)) if whole else step.size
    moved = min(max(value + direction * size, step.low), step.high)
    return moved if whole else round(float(moved), _DIGITS.get(name, 6))


def _names(setting: Setting) -> list[str]:
    """The parameters of a setting's method."""
    return [field.name for field in fields(setting.params)]


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
