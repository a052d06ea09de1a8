"""Weights of the members of a neighborhood, and its radius: how likely each is to be the donor."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.errors import ParameterError

SoftShape = Literal["gaussian", "exponential"]
Shape = Literal["even", SoftShape]
Bandwidth = Literal["adaptive", "fixed", "absolute"]

LEAST_SCALE = 0.05  # of the median one: the scale of a record with its clones as neighbors


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel weighs the members of a neighborhood, which the neighborhood itself decides.

    Its numbers are those of a checked setting: see `rwn_core.masking.soft_rwn`.

    A weight depends on a member's rank and squared distance only. Everything that draws donors or
    computes with their probabilities reads them here. The kernel of a record at distance d is
    exp(-t^2 / 2) (gaussian) or exp(-t) (exponential), with t = d / (width s) and the scale s of
    the two records.

    Attributes
    ----------
    shape : {"even", "gaussian", "exponential"}
        Even: each member weighs 1 before a balance; width, bandwidth and bandwidth_k have no
        part.
    width : float
    bandwidth : {"adaptive", "fixed", "absolute"}
        The scale s: the geometric mean of both records' distances to their m-th nearest other;
        the median of these distances; or 1, the unit of the distance.
    bandwidth_k : int
        m of the scale.
    cap : float
        Largest weight of a donor, where the weights of a record sum to 1.
    own : bool
        Whether a record is one of its own donors.
    balance : float
        How far the sums of weights that records give approach 1, from 0 to 1.
    """

    shape: Shape = "even"
    width: float = 1.0
    bandwidth: Bandwidth = "adaptive"
    bandwidth_k: int = 10
    cap: float = 0.1
    own: bool = False
    balance: float = 0.0

    @property
    def has_edge(self) -> bool:
        """True if a radius and a number of nearest say which others are members."""
        return self.shape == "even"

    @property
    def is_even(self) -> bool:
        """True if all members are equally likely."""
        return self.has_edge and self.balance == 0

    @property
    def options(self) -> tuple[object, ...]:
        """Return what scaled distances depend on; a move of the width leaves them."""
        return self.shape, self.bandwidth, self.bandwidth_k, self.own

    @property
    def weighs_all(self) -> bool:
        """True if all records of a table of any size are donors, as a certificate needs it."""
        exponential = self.shape == "exponential" and self.bandwidth == "absolute"
        return exponential and self.own and self.balance == 0

    def totals(self, sizes: Integers) -> Floats:
        """Return the total weight of the first `sizes` members, same shape; 1 where none is."""
        return np.maximum(sizes, 1.0)

    def mean(self, sums: Floats | Booleans | float, sizes: Integers) -> Floats:
        """Divide weighted sums over the first `sizes` members by their total weight."""
        # Shapes: sums (..., n); sizes (n,) or as sums.
        return np.asarray(sums / self.totals(sizes))

    def scales(self, squared: Floats) -> Floats:
        """Return the scale of each record, by squared distance to its m-th nearest other."""
        if self.bandwidth == "absolute":
            return np.ones(len(squared))
        distances = np.sqrt(squared)
        positive = distances[distances > 0]
        least = LEAST_SCALE * float(np.median(positive)) if len(positive) else 1.0
        scales = np.maximum(distances, least)
        return scales if self.bandwidth == "adaptive" else np.full(len(scales), np.median(scales))

    def scaled(self, squared: Floats, scales: Floats) -> Floats:
        """Return what `logs` begins from at any width, by distance and scale squared."""
        relative = squared / scales
        return relative if self.shape == "gaussian" else np.sqrt(relative)

    def logs(self, scaled: Floats) -> Floats:
        """Return the logarithms of the weights of a soft shape, same shape as `scaled`."""
        by = -2.0 * self.width * self.width if self.shape == "gaussian" else -self.width
        return np.asarray(scaled / by)


EVEN = Kernel()


class Radii:
    """One radius for each record, usable wherever one epsilon for all is.

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

    def __init__(self, values: object) -> None:
        array = np.array(values, dtype=np.float64)
        if array.ndim != 1 or not len(array) or not (array >= 0).all():
            raise ParameterError(
                "epsilon must be a number of at least 0 for each record (a radius in standard "
                "deviations)."
            )
        array.flags.writeable = False
        self.values: Floats = array
        self._identity = hashlib.sha256(array.tobytes()).digest()

    def __len__(self) -> int:
        """Number of records."""
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The radii as an array."""
        # Shape: (n,).
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __eq__(self, other: object) -> bool:
        """True if all radii are equal."""
        return isinstance(other, Radii) and self._identity == other._identity

    def __hash__(self) -> int:
        """By the values."""
        return hash(self._identity)

    def __reduce__(self) -> tuple[type[Radii], tuple[Floats]]:
        """Pickle for worker processes."""
        # Shape: (n,).
        return (Radii, (self.values,))

    def __repr__(self) -> str:
        """Return their number and range."""
        return f"Radii({len(self):,} records, {self.values.min():g} to {self.values.max():g})"


Radius = float | Radii | Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class RadiusAndK:
    """The radius and the k that decide which others belong to a neighborhood."""

    k: int | None  # at least the k nearest
    epsilon: Radius | None  # shape (n,): all within this radius
    strict: bool = False  # whether records at exactly the radius are left out (the 2015 method)
    kernel: Kernel = EVEN  # how likely each member is to be the donor

    def of_records(self, records: Integers) -> RadiusAndK:
        """Return the ball with the radius of some records, shape (m,)."""
        if one_radius(self.epsilon):
            return self
        return replace(self, epsilon=np.asarray(self.epsilon)[records])


def one_radius(epsilon: object) -> bool:
    """True if this is one number for all records."""
    return not isinstance(epsilon, Radii | np.ndarray)


def radius_values(epsilon: Radius) -> float | Floats:
    """The radius as float64, whatever its type, as the tie rule needs it."""
    # Shapes: a number, or (n,).
    if one_radius(epsilon):
        return float(epsilon)  # type: ignore[arg-type]
    return np.asarray(epsilon, dtype=np.float64)


def check_radius_and_k(k: object, epsilon: object, n: int | None = None) -> None:
    """Refuse a k or an epsilon that cannot be used."""
    # Shapes: epsilon (n,).
    if k is None and epsilon is None:
        raise ParameterError("Give epsilon, k or both; neither is given.")
    if not one_radius(epsilon):
        radii = epsilon if isinstance(epsilon, Radii) else Radii(epsilon)
        if n is not None and len(radii) != n:
            raise ParameterError(
                f"epsilon must be one number, or one for each of the {n:,} records; "
                f"{len(radii):,} are given."
            )
    elif epsilon is not None and not _is_a_radius(epsilon):
        raise ParameterError(
            "epsilon must be a number of at least 0 (a radius in standard deviations)."
        )
    if k is not None and not _is_a_number_of_records(k, n):
        most = "n - 1" if n is None else f"{n - 1} (the number of records less one)"
        raise ParameterError(f"k must be a whole number from 1 to {most}.")


def _is_a_radius(value: object) -> bool:
    """True if a value is a number of at least 0 that a float can hold, not a truth value."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int) and value > sys.float_info.max:
        return False
    return isinstance(value, int | float | np.integer | np.floating) and float(value) >= 0


def _is_a_number_of_records(value: object, n: int | None) -> bool:
    """True if a value is a whole number from 1 on, below the records of a table if it is known."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= 1 and (n is None or int(value) < n)
