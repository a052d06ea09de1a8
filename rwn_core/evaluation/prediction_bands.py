"""Where the numbers of a reading fall over many draws of one setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.measures.measure import Reading

LEVEL = 0.9  # how often one more draw falls into an interval
LARGEST_PART = 10_000  # numbers of one part of a detail: correlations of 100 variables

_PARTS: Mapping[str, tuple[str, ...]] = {
    "correlation": ("released",),
    "regression": ("coefficient_released", "se_released"),
    "generalized_regression": ("coefficient_released", "se_released"),
    "principal_components": ("share_released", "cumulative_released"),
    "cooks_distance": ("max_released",),
    "mahalanobis": ("max_released",),
    "nearest_distance": ("value",),
    "cells_changed": ("value",),
    "quantiles": ("change",),
    "subgroups": ("released", "total_change"),
}
"""What of each measure's detail a picture shows over the draws: statistics, never a record."""


def further_draw(
    draws: NDArray[np.float64], level: float = LEVEL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends between which one more draw falls.

    Parameters
    ----------
    draws : ndarray of float64, shape (R, ...)
        Independent draws.
    level : float
        How often, above 0 and below 1.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        Order statistics at the places (R + 1) (1 -+ level) / 2, between two of them in
        proportion: about right for any distribution. Where R is too small for that (below 19 for
        0.9), the smallest and the largest, which hold (R - 1) / (R + 1) of further draws.

    Examples
    --------
    >>> further_draw(np.arange(39.0))
    (array(1.), array(37.))
    """
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(draws, ends, axis=0, method="weibull")
    return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Where one part of a detail falls; arrays of the shape that it has in one draw.

    Attributes
    ----------
    low, median, high : ndarray of float64
        NaN where a draw has no number.
    """

    low: NDArray[np.float64]
    median: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, draws: Sequence[Any], level: float = LEVEL) -> Band:
        """Where one more draw falls, given some.

        Parameters
        ----------
        draws : sequence of arrays of one shape
        level : float
            How often it falls between `low` and `high`, above 0 and below 1; see
            `further_draw`.

        Examples
        --------
        >>> band = Band.of([[0.0], [10.0], [20.0]], level=0.5)
        >>> band.low.tolist(), band.median.tolist(), band.high.tolist()
        ([0.0], [10.0], [20.0])
        """
        values = np.asarray(draws, dtype=np.float64)
        low, high = further_draw(values, level)
        return cls(low=low, median=np.asarray(np.median(values, axis=0)), high=high)

    def outside(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values lie beyond the band; a missing number lies nowhere."""
        return np.asarray((values < self.low) | (values > self.high))


class Gathering:
    """The bands of one measure, draw by draw: only what a picture shows is kept of each.

    Parameters
    ----------
    key : str
        Of the measure.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._draws: dict[str, list[NDArray[np.float64]]] = {}
        self._frames: dict[str, NDArray[Any]] = {}
        self._unlike: set[str] = set()

    def add(self, reading: Reading) -> None:
        """Take in one draw."""
        for name, values, frame in _parts(self._key, reading):
            part = np.asarray(values, dtype=np.float64)
            known = self._frames.setdefault(name, frame)
            alike = np.array_equal(known, frame) and part.size <= LARGEST_PART
            draws = self._draws.setdefault(name, [])
            if alike and (not draws or draws[0].shape == part.shape):
                draws.append(part)
            else:
                self._unlike.add(name)

    def bands(self) -> dict[str, Band]:
        """The bands by part of the detail; a part that is not of one kind in all draws has none.

        Of "marginals" the parts are "released NAME" (counts), "mean NAME" and "sd NAME".
        """
        return {
            name: Band.of(draws) for name, draws in self._draws.items() if name not in self._unlike
        }


def _parts(key: str, reading: Reading) -> Iterator[tuple[str, Any, NDArray[Any]]]:
    """Name, numbers, and what they belong to: the bins of a histogram must be the same ones."""
    for name in _PARTS.get(key, ()):
        yield name, _part(name, reading), np.empty(0)
    if key == "marginals":
        for name, shown in reading.detail["variables"].items():
            yield f"released {name}", shown["released"], np.asarray(shown.get("edges", ()))
            for what in ("mean", "sd"):
                if shown["kind"] == "numeric":
                    yield f"{what} {name}", shown[f"{what}_released"], np.empty(0)


def _part(name: str, reading: Reading) -> Any:
    if name == "cumulative_released":
        return np.cumsum(reading.detail["share_released"])
    return reading.value if name == "value" else reading.detail[name]
