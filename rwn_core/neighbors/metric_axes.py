"""Make the axes of a metric: one for each number, level and gap, with its center and its scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import ParameterError

Scale = Literal["sd", "range"]
Encoding = Literal["dummies", "matching"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One coordinate: (value - center) * factor, and which variable it belongs to.

    A category has an axis for each level, numbered from 0 in their order.
    """

    variable: Variable
    center: float
    factor: float
    level: Any = None
    number: int = 0
    missing: bool = False


SMALLEST_SQUARED = 1e-140  # differences whose squares a float64 holds with all digits


def _spread(values: NDArray[np.float64], scale: Scale) -> float:
    if len(values) < 2:
        return 0.0
    if scale == "range":
        return float(values.max() - values.min())
    width = float(values.max() - values.min())
    # exact zero for a constant column, whatever rounding does to its mean
    if width == 0:
        return 0.0
    if width < SMALLEST_SQUARED:
        return width * float(((values - values.min()) / width).std(ddof=1))
    return float(values.std(ddof=1))


def number_axes(microdata: Microdata, variable: Variable, scale: Scale) -> list[Axis]:
    """The axes of a variable of numbers: its own if it varies, and one for what is missing."""
    values = microdata.values(variable.name)
    missing = np.isnan(values)
    known = values[~missing]
    axes = []
    spread = _spread(known, scale)
    if spread > 0:
        factor = variable.weight / spread if spread > np.finfo(np.float64).tiny else np.inf
        if not np.isfinite(factor):
            raise ParameterError(
                f"The values of {variable.name} differ by less than 1e-307; multiply all of them "
                "by a large number."
            )
        axes.append(Axis(variable=variable, center=float(known.mean()), factor=factor))
    if missing.any():
        axes += _missing_axis(missing, variable, scale)
    return axes


def _missing_axis(missing: NDArray[np.bool_], variable: Variable, scale: Scale) -> list[Axis]:
    indicator = missing.astype(np.float64)
    spread = _spread(indicator, scale)
    if spread == 0:
        return []
    return [
        Axis(
            variable=variable,
            center=float(indicator.mean()),
            factor=variable.weight / spread,
            missing=True,
        )
    ]


def category_axes(
    microdata: Microdata, variable: Variable, scale: Scale, encoding: Encoding
) -> list[Axis]:
    """The axes of a category: one for each level that occurs, and one for what is missing."""
    codes, levels = microdata.codes(variable.name)
    if (codes >= 0).all() and len(levels) < 2:
        return []
    axes: list[Axis] = []
    for number, level in [*enumerate(levels), (-1, None)]:
        dummy = (codes == number).astype(np.float64)
        if not dummy.any():
            continue
        spread = np.sqrt(2.0) if encoding == "matching" else _spread(dummy, scale)
        center = 0.0 if encoding == "matching" else float(dummy.mean())
        axes.append(
            Axis(
                variable=variable,
                center=center,
                factor=variable.weight / spread,
                level=level,
                number=len(axes),
                missing=level is None,
            )
        )
    return axes


def coordinate(
    microdata: Microdata, axis: Axis, codes: dict[str, NDArray[np.int32]]
) -> NDArray[np.float64]:
    """The records' coordinates on an axis; `codes` are the numbers of each category's levels."""
    name = axis.variable.name
    if axis.missing:
        missing = microdata.frame[name].isna().to_numpy()
        return _scaled(missing.astype(np.float64), axis)
    if axis.variable.kind is Kind.CATEGORICAL:
        return _scaled((codes[name] == axis.number).astype(np.float64), axis)
    # a missing number sits at the mean; its missing-indicator coordinate sets it apart
    return np.nan_to_num(_scaled(microdata.values(name), axis), nan=0.0)


def _scaled(values: NDArray[np.float64], axis: Axis) -> NDArray[np.float64]:
    """Numbers in an axis' center and unit."""
    return (values - axis.center) * axis.factor
