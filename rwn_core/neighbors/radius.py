"""A radius of its own for each record."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError


class Radii:
    """Hold one radius for each record, usable wherever one epsilon for all is.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        At least 0.

    Raises
    ------
    ParameterError

    References
    ----------
    Matloff and Tendick 2015 wish for it: records in sparse places need a wider radius.

    Examples
    --------
    >>> Radii([0.5, 2.0])
    Radii(2 records, 0.5 to 2)
    """

    __slots__ = ("_identity", "values")

    def __init__(self, values: Any) -> None:
        array = np.array(values, dtype=np.float64)
        if array.ndim != 1 or not len(array) or not (array >= 0).all():
            raise ParameterError(
                "epsilon must be a number of at least 0 for each record (a radius in standard "
                "deviations)."
            )
        array.flags.writeable = False
        self.values: NDArray[np.float64] = array
        self._identity = hashlib.sha256(array.tobytes()).digest()

    def __len__(self) -> int:
        """Number of records."""
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The radii as an array."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        """Whether all radii are the same."""
        return isinstance(other, Radii) and self._identity == other._identity

    def __hash__(self) -> int:
        """By the values."""
        return hash(self._identity)

    def __reduce__(self) -> tuple[type[Radii], tuple[NDArray[np.float64]]]:
        """Pickle for worker processes."""
        return (Radii, (self.values,))

    def __repr__(self) -> str:
        """How many, and their range."""
        return f"Radii({len(self):,} records, {self.values.min():g} to {self.values.max():g})"


Radius = float | Radii | NDArray[np.float64]


def one_radius(epsilon: object) -> bool:
    """Whether this is one number for all records."""
    return not isinstance(epsilon, Radii | np.ndarray)


def radius_values(epsilon: Radius) -> float | NDArray[np.float64]:
    """The radius as plain numbers: a float64 whatever its type, as the tie rule needs it."""
    if one_radius(epsilon):
        return float(epsilon)  # type: ignore[arg-type]
    return np.asarray(epsilon, dtype=np.float64)


def nearest_radii(
    points: NDArray[np.float64], *, neighbors: int, quantile: float, threads: int | None = None
) -> Radii:
    """Give radii that adapt to how crowded a place is.

    Parameters
    ----------
    points : ndarray of float64, shape (n, d)
        In standard deviations, from `coordinates`.
    neighbors : int
        How many of the nearest others are looked at, below n.
    quantile : float
        Which quantile of the distances to them becomes the radius, from 0 to 1.
    threads : int, optional

    Returns
    -------
    Radii

    Raises
    ------
    ParameterError
        The quantile is not from 0 to 1, or there are not so many others.
    """
    from rwn_core.neighbors import neighbor_table

    if not 0 <= quantile <= 1:
        raise ParameterError("quantile must be a number from 0 to 1.")
    table = neighbor_table(points, k=neighbors, epsilon=None, threads=threads)
    # a tie at the last place is stored whole: only the asked number of distances counts
    place = table.offsets[:-1, None] + np.arange(neighbors)
    return Radii(np.quantile(np.sqrt(table.squared[place]), quantile, axis=1))
