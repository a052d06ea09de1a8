"""The option --round: a release precision, or several to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps
from rwn_core.errors import ParameterError
from rwn_core.tuning import parse_values

AS_IS = "none"
LARGEST_SHARE = 10.0  # standard deviations; more is a step that was meant for one variable

_REFUSAL = (
    "--round must be NAME=STEP, such as age=5, or a share of a standard deviation for all "
    "numbers, such as 0.25; none leaves the values as they are."
)


def steps(
    data: Microdata, texts: Sequence[str], before: Mapping[str, float] | None = None
) -> dict[str, float]:
    """The release precision of a command line."""
    chosen: dict[str, float | None] = dict(before or {})
    parts = [text.rpartition("=") for text in texts]
    for name, sign, value in sorted(parts, key=lambda part: bool(part[1])):  # names count more
        if sign and not name:
            raise ParameterError(_REFUSAL)
        if name:
            chosen[name] = None if value == AS_IS else _number(value)
            continue
        # a share of a standard deviation for all numbers
        if value != AS_IS and not 0 < _number(value) <= LARGEST_SHARE:
            raise ParameterError(
                "A share of a standard deviation in --round must be a number above 0, and at most "
                f"{LARGEST_SHARE:g}; NAME=STEP gives one variable a step in its own unit."
            )
        chosen = {} if value == AS_IS else {**given_steps(data, _number(value))}
    return {name: step for name, step in chosen.items() if step is not None}


def step_axis(data: Microdata, texts: Sequence[str]) -> tuple[dict[str, float], ...]:
    """Every combination of the steps of a command line."""
    axes = []
    for text in texts:
        name, sign, values = text.rpartition("=")
        axes.append([f"{name}{sign}{value}" for value in parse_values(values, "--round")])
    return tuple(steps(data, chosen) for chosen in product(*axes))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(_REFUSAL) from None
