"""Records as points: the scaled, dummy-coded and weighted coordinates of the distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from rwn_core.data.arrays import Floats, Integers32
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, NamedParameters, Variable, checks_form
from rwn_core.errors import ParameterError
from rwn_core.neighbors.distance import CodedPoints, Points

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


SMALLEST_SQUARED = 1e-140  # a float64 holds squares of larger differences with all digits


def weighted_variables(schema: Schema, *, equal: bool = False) -> Sequence[Variable]:
    """Return the released variables with a weight; each with weight 1 if these are `equal`."""
    if equal:
        return [replace(variable, weight=1.0) for variable in schema.released]
    used = [variable for variable in schema.released if variable.weight > 0]
    if not used:
        raise ParameterError(
            "The weights are 0 for every variable; give at least one a positive weight."
        )
    return used


def number_axes(
    variable: Variable, scale: Scale, center: float, spread: float, known: int, n: int
) -> list[Axis]:
    """The axes of a variable of numbers: its own if it varies, and one for what is missing."""
    axes = []
    if spread > 0:
        axes.append(Axis(variable=variable, center=center, factor=variable.weight / spread))
    if 0 < known < n:
        center, spread = _of_dummy(n - known, n, scale)
        factor = variable.weight / spread
        axes.append(Axis(variable=variable, center=center, factor=factor, missing=True))
    return axes


def category_axes(
    counts: Sequence[tuple[Any, int]], variable: Variable, scale: Scale, encoding: Encoding
) -> list[Axis]:
    """The axes of a category: one for each level that occurs, and one for what is missing."""
    # `counts` are levels with their numbers of records; the level None stands for what is missing.
    n = sum(count for _, count in counts)
    occurring = [each for each in counts if each[1]]
    if len(occurring) < 2:
        return []
    axes = []
    for number, (level, count) in enumerate(occurring):
        center, spread = _of_dummy(count, n, scale)
        if encoding == "matching":
            center = 0.0
            spread = math.sqrt(2.0)
        factor = variable.weight / spread
        missing = level is None
        axes.append(
            Axis(
                variable=variable,
                center=center,
                factor=factor,
                level=level,
                number=number,
                missing=missing,
            )
        )
    return axes


def _of_dummy(count: int, n: int, scale: Scale) -> tuple[float, float]:
    """Return mean and spread of a coordinate that is 1 for some of n records, else 0."""
    return count / n, math.sqrt(count * (n - count) / (n * (n - 1))) if scale == "sd" else 1.0


def squares_of_levels(axes: Sequence[Axis]) -> Floats:
    """Return the square that each level of a category adds to a distance; 0 for an unknown one."""
    # Shape: one for each level, and one more: (levels,) and 1.
    centers = np.array([axis.center for axis in axes])
    factors = np.array([axis.factor for axis in axes])
    apart = (1.0 - centers) * factors - (0.0 - centers) * factors
    return np.append(apart * apart, 0.0)


def level_column(microdata: Microdata, axes: Sequence[Axis], codes: Integers32) -> Floats:
    """The number of each record's axis among those of a category; len(axes) where it has none."""
    # Shapes: codes, the answer (n,).
    name = axes[0].variable.name
    column = codes.astype(np.float64)
    column[codes < 0] = len(axes)
    if axes[-1].missing:
        column[microdata.frame[name].isna().to_numpy()] = axes[-1].number
    return column


def coordinate(microdata: Microdata, axis: Axis, codes: dict[str, Integers32]) -> Floats:
    """The records' coordinates on an axis, NaN where missing; `codes` number categories' levels."""
    # Shapes: each of codes, and the answer (n,).
    name = axis.variable.name
    if axis.missing:
        values = microdata.frame[name].isna().to_numpy().astype(np.float64)
    elif axis.variable.kind is Kind.CATEGORICAL:
        values = (codes[name] == axis.number).astype(np.float64)
    else:
        values = microdata.values(name)
    return (values - axis.center) * axis.factor


def at_the_mean(coordinates: Floats) -> Floats:
    """Put missing numbers at the mean, in place; missing-indicator coordinates set them apart."""
    # Any shape will do; the answer is the same array.
    return np.nan_to_num(coordinates, copy=False, nan=0.0)


Weights = Literal["schema", "discrete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(NamedParameters):
    """A metric turns any record of a table's form into a point, and so gives distances.

    Scales are those of the table it was fitted on, so that a release is measured in the
    original's units.

    Attributes
    ----------
    axes : tuple of Axis
        One for each of the d coordinates.

    References
    ----------
    Matloff and Tendick 2015 (scaling, weights); divisor n - 1 throughout.
    """

    checks_itself: ClassVar[bool] = True
    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        """Refuse a distance without axes."""
        if not self.axes:
            raise ParameterError(
                "No variable with a positive weight varies, so there is no distance between "
                "records; give a varying variable a positive weight."
            )

    @classmethod
    def fit(
        cls,
        microdata: Microdata,
        scale: Scale = "sd",
        encoding: Encoding = "dummies",
        *,
        equal_weights: bool = False,
    ) -> Metric:
        """Take centers and scales from a table.

        Parameters
        ----------
        microdata : Microdata
        scale : {"sd", "range"}
            Divide numbers by the standard deviation (divisor n - 1) or by the range.
        encoding : {"dummies", "matching"}
            A category counts as one z-scored dummy for each level, or as simple matching
            (0/1 divided by the square root of 2, so that two unlike categories are 1 apart).
        equal_weights : bool
            Every released variable has weight 1, whatever the schema says.

        Returns
        -------
        Metric

        Raises
        ------
        ParameterError
            Unknown option, no variable with a weight, or no variation in any of them.
        """
        for name, value, known in (("scale", scale, Scale), ("encoding", encoding, Encoding)):
            if value not in get_args(known):
                raise ParameterError(f"{name} must be one of: {', '.join(get_args(known))}.")
        axes: list[Axis] = []
        for variable in weighted_variables(microdata.schema, equal=equal_weights):
            if variable.kind is Kind.CATEGORICAL:
                codes, levels = microdata.codes(variable.name)
                missing, *held = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
                counts = [*zip(levels, held, strict=True), (None, missing)]
                axes += category_axes(counts, variable, scale, encoding)
            else:
                # the axes of a variable of numbers, from a table's column, shape (n,)
                values = microdata.values(variable.name)
                there = values[~np.isnan(values)]
                spread = float(there.max() - there.min()) if len(there) > 1 else 0.0
                # exact zero for a constant column, whatever rounding does to its mean
                if scale == "sd" and 0 < spread < SMALLEST_SQUARED:
                    spread *= float(((there - there.min()) / spread).std(ddof=1))
                elif scale == "sd" and spread > 0:
                    spread = float(there.std(ddof=1))
                tiny = spread <= np.finfo(np.float64).tiny
                if spread > 0 and (tiny or variable.weight / spread == math.inf):
                    raise ParameterError(
                        f"The values of {variable.name} differ by less than 1e-307; multiply all "
                        "of them by a large number."
                    )
                center = float(there.mean()) if spread > 0 else 0.0
                axes += number_axes(variable, scale, center, spread, len(there), len(values))
        return cls(axes=tuple(axes))

    def restricted_to(self, names: Sequence[str]) -> Metric:
        """The part of the distance that some variables have in it.

        Raises
        ------
        ParameterError
            None of them has any.
        """
        axes = tuple(axis for axis in self.axes if axis.variable.name in names)
        if not axes:
            raise ParameterError(
                "None of these variables varies and has a weight, so there is no distance between "
                "records; name a variable of the distance."
            )
        return Metric(axes=axes)

    def points(self, microdata: Microdata) -> Floats:
        """The table's records as points.

        Returns
        -------
        ndarray of float64, shape (n, d)
            Read-only, column-major: distances are summed column by column.
        """
        points = np.empty((microdata.n, len(self.axes)), order="F")
        codes = self._level_numbers(microdata)
        for column, axis in enumerate(self.axes):
            points[:, column] = coordinate(microdata, axis, codes)
        at_the_mean(points).flags.writeable = False
        return points

    def coded(self, microdata: Microdata) -> Points:
        """The table's records as points of which only distances are asked: see `CodedPoints`.

        Returns
        -------
        ndarray of float64, shape (n, d), or CodedPoints
            The same as `points` where no category has many levels.
        """
        columns = self._columns()
        values = np.empty((microdata.n, len(columns)), order="F")
        codes = self._level_numbers(microdata)
        squares: dict[int, Floats] = {}
        for column, axes in enumerate(columns):
            if len(axes) == 1:
                values[:, column] = coordinate(microdata, axes[0], codes)
            else:
                squares[column] = squares_of_levels(axes)
                values[:, column] = level_column(microdata, axes, codes[axes[0].variable.name])
        at_the_mean(values).flags.writeable = False
        return CodedPoints(values=values, squares=squares) if squares else values

    def variable_columns(self, names: Sequence[str]) -> list[int]:
        """Columns of `coded` points that belong to some variables."""
        owners = [axes[0].variable.name for axes in self._columns()]
        return [column for column, name in enumerate(owners) if name in names]

    def _columns(self) -> list[tuple[Axis, ...]]:
        """The axis of each column of `coded` points; all axes of a coded category in one."""
        columns: list[tuple[Axis, ...]] = []
        for _, found in groupby(self.axes, key=attrgetter("variable.name")):
            axes = tuple(found)
            coded = len(axes) > CODED_LEVELS and axes[0].variable.kind is Kind.CATEGORICAL
            columns += [axes] if coded else zip(axes)
        return columns

    def shares(self, microdata: Microdata) -> dict[str, float]:
        """Return each variable's part of the squared distance between two records.

        On average over all pairs of records: a variable's part is twice the variance of its
        coordinates. The shares sum to 1; a variable without a weight has none.

        Returns
        -------
        dict
            By variable name, in order.
        """
        codes = self._level_numbers(microdata)
        parts: dict[str, float] = {}
        for axes in self._columns():
            name = axes[0].variable.name
            if len(axes) == 1:
                column = at_the_mean(coordinate(microdata, axes[0], codes))
                parts[name] = parts.get(name, 0.0) + float(column.var())
                continue
            levels = level_column(microdata, axes, codes[name]).astype(np.int64)
            squares = squares_of_levels(axes)
            share = np.bincount(levels, minlength=len(squares)) / microdata.n
            parts[name] = float((squares * share * (1 - share)).sum())
        total = sum(parts.values())
        return {name: part / total for name, part in parts.items()}

    def _level_numbers(self, microdata: Microdata) -> dict[str, Integers32]:
        """For each categorical variable, the number of the axis that a record's level has."""
        levels: dict[str, list[Any]] = {}
        for axis in self.axes:
            if axis.variable.kind is Kind.CATEGORICAL and not axis.missing:
                levels.setdefault(axis.variable.name, []).append(axis.level)
        numbers: dict[str, Integers32] = {}
        for name, known in levels.items():
            numbers[name] = microdata.codes(name, known)[0]
        return numbers


def discretely_weighted(microdata: Microdata) -> Microdata:
    """The table with the weights of its categorical variables made smaller as it grows.

    Each is multiplied by n^(-1 / (c + 4)), c being the number of other variables with a weight.
    With a fixed weight a neighborhood almost never crosses a category, however many records there
    are. The 2015 paper asks for weights that go to 0 with n and names no rate; this one is that
    at which the radius of the best local average of c variables shrinks, so that a category's
    distance stays in proportion to the radius.

    References
    ----------
    Matloff and Tendick 2015, on discrete variables.
    """
    return microdata.with_weights(discrete_weights(microdata.schema, microdata.n))


def discrete_weights(schema: Schema, n: int) -> dict[str, float]:
    """The weights of `discretely_weighted` for n records, by the name of the category."""
    used = [v for v in schema.released if v.weight > 0]
    continuous = sum(variable.kind is not Kind.CATEGORICAL for variable in used)
    factor = float(n) ** (-1.0 / (continuous + 4))
    return {v.name: v.weight * factor for v in used if v.kind is Kind.CATEGORICAL}


def shared_metric(
    microdata: Microdata,
    scale: Scale = "sd",
    encoding: Encoding = "dummies",
    weights: Weights = "schema",
) -> Metric:
    """Fit the distance of a table, once for equal arguments."""
    weighting = tuple([(v.name, v.weight) for v in microdata.schema.released])
    fit = partial(Metric.fit, scale=scale, encoding=encoding)
    discrete = weights == "discrete"
    return microdata.cached(
        ("metric", scale, encoding, weights, weighting),
        lambda: fit(discretely_weighted(microdata) if discrete else microdata),
    )


@checks_form
def coordinates(
    microdata: Microdata, scale: Scale = "sd", encoding: Encoding = "dummies"
) -> Floats:
    """Place the records of a table as points of the table's metric.

    Parameters
    ----------
    microdata : Microdata
        With n records.
    scale : {"sd", "range"}
        Divide numbers by the standard deviation (divisor n - 1) or by the range.
    encoding : {"dummies", "matching"}
        A category counts as one z-scored dummy for each level, or as simple matching.

    Returns
    -------
    ndarray of float64, shape (n, d)
        In standard deviations or ranges, times the weights.

    Raises
    ------
    ParameterError
        Unknown option, no variable with a weight, or no variation in any of them.

    References
    ----------
    Matloff and Tendick 2015 (scaling, weights).

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.coordinates(rwn.load_demo("bodyfat")).shape
    (241, 15)
    """
    return shared_metric(microdata, scale, encoding).points(microdata)
