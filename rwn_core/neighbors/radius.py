"""Says how far neighborhoods go: one radius for all records, or one for each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.neighbors.kernel import EVEN, Kernel


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
    Matloff and Tendick 2015 wish for it: records with few others near need a wider radius.

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
        """True if all radii are equal."""
        return isinstance(other, Radii) and self._identity == other._identity

    def __hash__(self) -> int:
        """By the values."""
        return hash(self._identity)

    def __reduce__(self) -> tuple[type[Radii], tuple[NDArray[np.float64]]]:
        """Pickle for worker processes."""
        return (Radii, (self.values,))

    def __repr__(self) -> str:
        """Return their number and range."""
        return f"Radii({len(self):,} records, {self.values.min():g} to {self.values.max():g})"


Radius = float | Radii | NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """Which others belong to a neighborhood.

    Attributes
    ----------
    k : int or None
        At least the k nearest.
    epsilon : float, ndarray of float64 of shape (n,), or None
        All within this radius.
    strict : bool
        Whether records at exactly the radius are left out (the 2015 method).
    kernel : Kernel
        How likely each member is to be the donor.
    """

    k: int | None
    epsilon: Radius | None
    strict: bool = False
    kernel: Kernel = EVEN


def one_radius(epsilon: object) -> bool:
    """True if this is one number for all records."""
    return not isinstance(epsilon, Radii | np.ndarray)


def radius_values(epsilon: Radius) -> float | NDArray[np.float64]:
    """The radius as float64, whatever its type, as the tie rule needs it."""
    if one_radius(epsilon):
        return float(epsilon)  # type: ignore[arg-type]
    return np.asarray(epsilon, dtype=np.float64)


def check_radius_and_k(k: object, epsilon: object, n: int | None = None) -> None:
    """Refuse a k or an epsilon that cannot be used."""
    # Shapes: epsilon (n,).
    if k is None and epsilon is None:
        raise ParameterError("Give epsilon, k or both; neither is given.")
    if epsilon is not None:
        _check_epsilon(epsilon, n)
    if k is None:
        return
    most = "n - 1" if n is None else f"{n - 1} (the number of records less one)"
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or int(k) < 1 or (n is not None and int(k) >= n):  # type: ignore[call-overload]
        raise ParameterError(f"k must be a whole number from 1 to {most}.")


def _check_epsilon(epsilon: object, n: int | None) -> None:
    if not one_radius(epsilon):
        radii = epsilon if isinstance(epsilon, Radii) else Radii(epsilon)
        if n is not None and len(radii) != n:
            raise ParameterError(
                f"epsilon must be one number, or one for each of the {n:,} records; "
                f"{len(radii):,} are given."
            )
        return
    number = isinstance(epsilon, int | float | np.integer | np.floating)
    if not number or isinstance(epsilon, bool) or not float(epsilon) >= 0:  # type: ignore[arg-type]
        raise ParameterError(
            "epsilon must be a number of at least 0 (a radius in standard deviations)."
        )
