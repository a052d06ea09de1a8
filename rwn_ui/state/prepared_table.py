"""From choices to readings: what a slider move computes, and what it finds already done."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import rwn_core as rwn
from rwn_core.masking import Masked, Rounded, unrounded
from rwn_core.masking.rwn import modification
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.mechanism.donors import Draws, column_streams
from rwn_core.neighbors import LARGEST_DENSE, NeighborTable
from rwn_core.neighbors.metric import coordinates
from rwn_core.neighbors.preview import Preview, build_preview
from rwn_core.neighbors.slider_range import SliderRange
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey

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
    """One setting's release and what the measures say about it.

    `exact` is the release before its rounding, where there is any.
    """

    params: rwn.RWN | Rounded
    exact: Masked
    masked: Masked
    readings: dict[str, Reading | rwn.NotApplicable]
    comparison: Comparison


@dataclass(slots=True, kw_only=True)
class Bench:
    """A table made ready for quick looks: its neighbors ranked, its own statistics kept."""

    data: rwn.Microdata
    preview: Preview
    comparison: Comparison
    draws: dict[str, Draws]

    @classmethod
    def of(
        cls,
        data: rwn.Microdata,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
    ) -> Bench:
        """Rank the neighbors of every record, or of random ones of a very large table."""
        preview = build_preview(coordinates(data), progress=progress, cancel=cancel)
        if preview.whole:
            comparison = Comparison(original=data, masked=data)
        else:
            comparison = Comparison.of_some(data, preview.records)
        return cls(data=data, preview=preview, comparison=comparison, draws={})

    @property
    def slider_range(self) -> SliderRange:
        """How far the sliders go."""
        return self.preview.slider_range

    @property
    def table(self) -> NeighborTable | None:
        """Every record's stored neighbors; None where only some records have them, or none."""
        return self.preview.table if self.preview.whole else None

    @property
    def slow(self) -> bool:
        """Whether preparing a table of this size takes seconds."""
        return self.data.n > LARGEST_DENSE

    def look(self, params: rwn.RWN | Rounded, seed: int, progress: Progress | None = None) -> Look:
        """Draw the release of a setting and read the measures.

        Beyond the stored neighbors the setting's own are searched for, and `progress` is told.
        """
        plain, precision = unrounded(params)
        draws = self._draws(seed)
        drawing = draws.drawing(modification(self.data, plain.q))
        found, donors = self.preview.find_and_draw(
            drawing, k=plain.k, epsilon=plain.epsilon, progress=progress
        )
        exact = plain.redraw(self.data, found, draws, donors)
        masked = exact.rounded(precision)
        comparison = self.comparison.with_masked(masked.masked, masked.law)
        readings = {key: rwn.MEASURES[key].read(comparison) for key in SHOWN}
        return Look(
            params=params, exact=exact, masked=masked, readings=readings, comparison=comparison
        )

    def _draws(self, seed: int) -> Draws:
        key = SecretKey.from_seed(seed)
        if key.identity not in self.draws:
            self.draws.clear()
            self.draws[key.identity] = Draws(key, self.preview.records, column_streams(self.data))
        return self.draws[key.identity]
