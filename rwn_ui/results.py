"""From choices to readings: what a slider move computes, and what it finds already done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import rwn_core as rwn
from rwn_core.comparison import Comparison
from rwn_core.coordinates import coordinates
from rwn_core.donors import Draws, column_streams
from rwn_core.masking import Masked
from rwn_core.neighborhoods import LARGEST_DENSE, Neighborhoods, NeighborTable, neighbor_table
from rwn_core.neighborhoods.reach import Reach, interactive_reach
from rwn_core.randomness import SecretKey
from rwn_core.reading import Reading

LARGEST_PAIRS = 6_000_000  # stored neighbor pairs: 12 bytes each

SHOWN = (
    "distance_linkage",
    "neighborhood_size",
    "nearest_distance",
    "correlation",
    "regression",
    "principal_components",
    "cooks_distance",
    "mahalanobis",
    "marginals",
    "cells_changed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One setting's release and what the measures say about it."""

    params: rwn.RWN
    masked: Masked
    readings: dict[str, Reading | rwn.NotApplicable]
    comparison: Comparison


@dataclass(slots=True, kw_only=True)
class Bench:
    """A table made ready for quick looks: its neighbors ranked, its own statistics kept."""

    data: rwn.Microdata
    reach: Reach
    table: NeighborTable
    comparison: Comparison
    draws: dict[str, Draws]

    @classmethod
    def of(cls, data: rwn.Microdata, progress: Callable[[float], None] | None) -> Bench:
        """Rank every record's neighbors out to the sliders' ends."""
        points = coordinates(data)
        reach = interactive_reach(points, LARGEST_PAIRS)
        table = neighbor_table(points, k=reach.k, epsilon=reach.epsilon, progress=progress)
        return cls(
            data=data,
            reach=reach,
            table=table,
            comparison=Comparison(original=data, masked=data),
            draws={},
        )

    @property
    def slow(self) -> bool:
        """Whether preparing a table of this size takes seconds."""
        return self.data.n > LARGEST_DENSE

    def neighborhoods(self, params: rwn.RWN) -> Neighborhoods:
        """The neighborhoods of a setting within the sliders' ranges."""
        return self.table.narrow(k=params.k, epsilon=params.epsilon)

    def look(self, params: rwn.RWN, seed: int) -> Look:
        """Draw the release of a setting and read the measures."""
        masked = params.redraw(self.data, self.neighborhoods(params), self._draws(seed))
        comparison = self.comparison.with_masked(masked.masked, masked.law)
        readings = {key: rwn.MEASURES[key].read(comparison) for key in SHOWN}
        return Look(params=params, masked=masked, readings=readings, comparison=comparison)

    def _draws(self, seed: int) -> Draws:
        key = SecretKey.from_seed(seed)
        if key.identity not in self.draws:
            self.draws.clear()
            self.draws[key.identity] = Draws(key, np.arange(self.data.n), column_streams(self.data))
        return self.draws[key.identity]
