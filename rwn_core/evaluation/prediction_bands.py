"""Prediction intervals of a reading's numbers over many draws of one setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.measures import MEASURES
from rwn_core.measures.measure import FROM_ZERO, UNBOUNDED, Bounds, Reading
from rwn_core.measures.statistics.intervals import LEVEL, prediction_interval

LARGEST_PART = 10_000  # numbers of one part of a detail: correlations of 100 variables


def release_interval(
    key: str, values: ArrayLike, level: float = LEVEL
) -> tuple[float, float] | None:
    """Find where one more draw of a measure falls, within the measure's bounds."""
    if np.size(values) < 2:
        return None
    low, high = prediction_interval(values, level, MEASURES[key].bounds)
    return float(low), float(high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Return the band of one part of a detail; arrays have the shape of one draw."""

    # low, median, high: NaN where a draw has no number
    low: Floats
    median: Floats
    high: Floats

    @classmethod
    def from_draws(
        cls, draws: Sequence[Any], level: float = LEVEL, bounds: Bounds = UNBOUNDED
    ) -> Band:
        """Return the interval of one more draw, given some.

        >>> band = Band.from_draws([[0.0], [10.0], [20.0]], level=0.5)
        >>> band.low.tolist(), band.median.tolist(), band.high.tolist()
        ([0.0], [10.0], [20.0])
        """
        values = np.asarray(draws, dtype=np.float64)
        low, high = prediction_interval(values, level, bounds)
        median = np.median(values, axis=0)
        return cls(low=np.asarray(low), median=np.asarray(median), high=np.asarray(high))

    def outside(self, values: Floats) -> Booleans:
        """Which values lie beyond the band; a missing number lies nowhere."""
        return np.asarray((values < self.low) | (values > self.high))


class Gathering:
    """The bands of one measure, draw by draw: only what a picture shows is kept of each."""

    def __init__(self, key: str) -> None:  # of the measure
        self._key = key
        self._draws: dict[str, list[Floats]] = {}
        self._bounds: dict[str, Bounds] = {}
        self._frames: dict[str, NDArray[Any]] = {}
        self._unlike: set[str] = set()

    def add(self, reading: Reading) -> None:
        """Take in one draw."""
        for name, values, frame, bounds in _parts(self._key, reading):
            self._bounds[name] = bounds
            part = np.asarray(values, dtype=np.float64)
            known = self._frames.setdefault(name, frame)
            identical = np.array_equal(known, frame) and part.size <= LARGEST_PART
            draws = self._draws.setdefault(name, [])
            if identical and (not draws or draws[0].shape == part.shape):
                draws.append(part)
            else:
                self._unlike.add(name)

    def bands(self) -> dict[str, Band]:
        """The bands by part of the detail; a part that is not of one kind in all draws has none."""
        return {
            name: Band.from_draws(draws, bounds=self._bounds[name])
            for name, draws in self._draws.items()
            if name not in self._unlike and len(draws) > 1
        }


def _parts(key: str, reading: Reading) -> Iterator[tuple[str, Any, NDArray[Any], Bounds]]:
    """Name, numbers, what they belong to, and their bounds."""
    for name, bounds in MEASURES[key].view.bands.items():
        yield name, _part(name, reading), np.empty(0), bounds
    if key == "marginals":
        for name, shown in reading.detail["variables"].items():
            edges = np.asarray(shown.get("edges", ()))
            yield f"released {name}", shown["released"], edges, FROM_ZERO
            for what, bounds in (("mean", UNBOUNDED), ("sd", FROM_ZERO)):
                if shown["kind"] == "numeric":
                    yield f"{what} {name}", shown[f"{what}_released"], np.empty(0), bounds


def _part(name: str, reading: Reading) -> Any:
    if name == "cumulative_released":
        return np.cumsum(reading.detail["share_released"])
    return reading.value if name == "value" else reading.detail[name]
