"""Make the axes of a metric: one for each number, level and gap, with its center and its scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import ParameterError

Scale = Literal["sd", "range"]
Encoding = Literal["dummies", "matching"]
# decides: levels of a category up to which its dummies are coordinates (those of more are coded),
# and, the most frequent ones, that a split of CART synthesis tells apart
CODED_LEVELS = 50


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
    if len(levels) > CODED_LEVELS:
        counts = np.bincount(codes + 1, minlength=len(levels) + 1)
        numbered = [*zip(levels, counts[1:].tolist(), strict=True), (None, int(counts[0]))]
        return axes_of_counts(numbered, variable, scale, encoding)
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


def axes_of_counts(
    counts: Sequence[tuple[Any, int]], variable: Variable, scale: Scale, encoding: Encoding
) -> list[Axis]:
    """`category_axes` from the number of records of each level."""
    n = sum(count for _, count in counts)
    occurring = [(level, count) for level, count in counts if count]
    axes: list[Axis] = []
    for level, count in occurring if len(occurring) > 1 else ():
        center, spread = 0.0, math.sqrt(2.0)
        if encoding != "matching":
            center = count / n
            spread = math.sqrt(count * (n - count) / (n * (n - 1))) if scale == "sd" else 1.0
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


def squares_of_levels(axes: Sequence[Axis]) -> NDArray[np.float64]:
    """Return the square that each level of a category adds to a distance; 0 for an unknown one."""
    centers = np.array([axis.center for axis in axes])
    factors = np.array([axis.factor for axis in axes])
    apart = (1.0 - centers) * factors - (0.0 - centers) * factors
    return np.append(apart * apart, 0.0)


def level_column(
    microdata: Microdata, axes: Sequence[Axis], codes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """The number of each record's axis among those of a category; len(axes) where it has none."""
    name, column = axes[0].variable.name, codes.astype(np.float64)
    column[codes < 0] = len(axes)
    if axes[-1].missing:
        column[microdata.frame[name].isna().to_numpy()] = axes[-1].number
    return column


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
