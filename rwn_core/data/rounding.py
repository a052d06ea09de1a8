"""Release precision: values rounded to multiples of a step, variable by variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import floor, log10
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import is_number
from rwn_core.errors import ParameterError

Steps = tuple[tuple[str, float], ...]
"""A release precision that can be compared: each rounded variable and its step, by name."""

SHARES = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Usual steps for all numbers, as shares of a standard deviation."""

WEIGHT_SHARE = 0.5  # standard deviations of a sampling weight in the step that is offered
_EXACT = 2.0**50  # up to this many steps a float64 quotient is surely nearest to its own multiple
_MOST_DIGITS = 22  # 10**22 is the last power of ten that a float64 holds exactly
_LARGEST_WHOLE = 2.0**63  # what the type of whole numbers holds
_SMALLEST_STEP = 1e-300
_NAMED = 3  # variables that are named in words


def steps_by_name(precision: Mapping[str, float] | None) -> Steps:
    """Sort the steps of a release precision by the names of their variables.

    >>> steps_by_name({"weight": 10, "age": 5})
    (('age', 5.0), ('weight', 10.0))
    """
    for name, step in (precision or {}).items():
        if not is_number(step) or not 0 < step < np.inf:
            raise ParameterError(
                f"The release precision of {name} must be a number above 0; leave it out to "
                "round nothing."
            )
    return tuple(sorted((name, float(step)) for name, step in (precision or {}).items()))


def check_precision(microdata: Microdata, precision: Mapping[str, float]) -> None:
    """Refuse a step that cannot be used, or a variable that has no numbers."""
    if odd := [name for name in precision if name not in microdata.numeric_names]:
        raise ParameterError(
            f"Only numbers can be rounded; {odd[0]} is no numeric variable of the release."
        )
    steps_by_name(precision)


def precision_words(steps: Iterable[tuple[str, float]]) -> str:
    """A release precision in words; empty where no value is rounded.

    >>> precision_words((("age", 5.0), ("height", 0.5)))
    'age in steps of 5, height in steps of 0.5'
    >>> precision_words((name, 1.0) for name in "abcde")
    '5 variables rounded (a to 1, b to 1, c to 1, ...)'
    """
    every = list(steps)
    if len(every) <= _NAMED:
        return ", ".join(f"{name} in steps of {step:.10g}" for name, step in every)
    first = ", ".join(f"{name} to {step:.10g}" for name, step in every[:_NAMED])
    return f"{len(every)} variables rounded ({first}, ...)"


def rounded_values(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Multiples of a step nearest to some values, halves to the even multiple.

    >>> rounded_values(np.array([1.26, 1.24, -0.1]), 0.5).tolist()
    [1.5, 1.0, 0.0]
    >>> rounded_values(np.array([0.31, 0.72]), 0.1).tolist()
    [0.3, 0.7]
    """
    # values and result: the same shape
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = values / step
        result = _times(np.round(multiples), step)
    # where a step is finer than the numbers' own digits there is nothing to round
    result = np.where(np.abs(multiples) < _EXACT, result, values)
    return np.asarray(result + 0.0, dtype=np.float64)  # no negative zero


def _times(multiples: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Whole multiples of a step, each the float64 nearest to what a person would write."""
    # 3 * 0.1 is 0.30000000000000004; 3 / 10 is 0.3, because a quotient of two exact numbers is
    # rounded once.
    exponent = Decimal(repr(step)).normalize().as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) else 0
    product = multiples * step
    if not 0 < digits <= _MOST_DIGITS:
        return product
    power = 10.0**digits
    wholes = multiples * float(round(step * power))
    return np.asarray(np.where(np.abs(wholes) < _EXACT, wholes / power, product))


def rounded(microdata: Microdata, precision: Mapping[str, float]) -> Microdata:
    """A table with some of its variables rounded."""
    if not precision:
        return microdata
    check_precision(microdata, precision)
    columns = {name: microdata.array(name) for name in microdata.names}
    for name, step in precision.items():
        values: Any = rounded_values(microdata.values(name), float(step))
        missing = np.isnan(values)
        fits = missing | ((values % 1 == 0) & (np.abs(values) < _LARGEST_WHOLE))
        if pd.api.types.is_integer_dtype(columns[name].dtype) and fits.all():
            integers = pd.Series(values).astype("Int64").array
            values = integers if missing.any() else values.astype(np.int64)
        columns[name] = values
    return Microdata(pd.DataFrame(columns, copy=False), microdata.schema, microdata.notices)


def given_steps(microdata: Microdata, share: float) -> dict[str, float]:
    """A release precision for every number: about a share of its standard deviation."""

    def find() -> dict[str, float]:
        steps: dict[str, float] = {}
        for name in microdata.numeric_names if share > 0 else ():
            values = microdata.values(name)
            known = values[~np.isnan(values)]
            spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
            if not (np.isfinite(spread) and share * spread > _SMALLEST_STEP):
                continue
            step = readable_step(share * spread)
            if step > 1 or (known % 1 != 0).any():
                steps[name] = step
        return steps

    return dict(microdata.cached(("steps", float(share)), find))


def step_of_weight(values: NDArray[np.float64]) -> float | None:
    """A step for a sampling weight: about half a standard deviation, and no weight becomes 0.

    >>> step_of_weight(np.array([0.31, 0.9, 1.4, 3.7]))
    0.2
    >>> step_of_weight(np.array([120.5, 300.0, 951.25]))
    100.0
    """
    # values: shape (n,)
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    least = float(known.min())
    size = min(WEIGHT_SHARE * float(known.std(ddof=1)), least)
    if not (np.isfinite(size) and size > _SMALLEST_STEP):
        return None
    step = readable_step(size)
    return step if step <= least else readable_step(least / 2)


def rounded_share(microdata: Microdata, steps: Steps) -> float | None:
    """Which of the usual shares of a standard deviation, for all numbers, some steps are."""
    shares = (share for share in SHARES if steps_by_name(given_steps(microdata, share)) == steps)
    return next(shares, None)


def readable_step(size: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten.

    >>> readable_step(3.4), readable_step(0.08)
    (5.0, 0.1)
    """
    power = 10.0 ** floor(log10(size))
    nearest = min((1, 2, 5, 10), key=lambda digit: abs(log10(digit * power / size)))
    return float(f"{nearest * power:.3g}")
