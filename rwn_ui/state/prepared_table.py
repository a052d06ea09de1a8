"""Prepares a table once, so that a slider move draws its release and reads it at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import rwn_core as rwn
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.masking import METHODS, Masked, Prepared, lever_values, unrounded
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures import UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.association import is_mixed
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.threads import Progress
from rwn_core.randomness import SecretKey
from rwn_core.tuning.point import too_few

TRIED = 50  # positions of a lever, until releases are quick
SHOWN = (
    "distance_linkage",
    "neighborhood_size",
    "nearest_distance",
    UTILITY,
    "correlation",
    "regression",
    "principal_components",
    "cooks_distance",
    "mahalanobis",
    "cells_changed",
)
MIXED = "association"  # is shown in place of the correlations where not all variables are numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRelease:
    """One setting's release and what the measures say about it.

    `exact` is the release before its rounding, where there is any; `prepared` has drawn it, and
    `measures` are read with it.
    """

    params: Any
    prepared: Prepared
    exact: Masked
    masked: Masked
    measures: tuple[str, ...]
    comparison: Comparison

    @property
    def readings(self) -> dict[str, Reading | rwn.NotApplicable]:
        """Readings of the measures, computed at first use."""
        shown, keys = self.comparison, self.measures
        return shown.cached_for_release(
            "shown", lambda: {key: rwn.MEASURES[key].read(shown, bare=True) for key in keys}
        )

    @property
    def retained_share(self) -> float | None:
        """Share of released records if it is too small to meet limits, else None."""
        shown = self.comparison
        return shown.cached_for_release(
            "few", lambda: too_few(self.params, shown.original, shown.masked)
        )


@dataclass(slots=True, kw_only=True)
class PreparedTable:
    """A table made ready for a method's sliders, with its own statistics kept."""

    data: rwn.Microdata
    prepared: Prepared
    comparison: Comparison

    @classmethod
    def prepare(
        cls,
        data: rwn.Microdata,
        progress: Progress | None = None,
        cancel: threading.Event | None = None,
        *,
        method: str = "rwn",
        options: Mapping[str, Any] | None = None,
        most: int | None = None,
    ) -> PreparedTable:
        """Prepare every record, or so many random ones of a larger table."""
        params, most = first_setting(method, options), most or LIVE_RECORDS
        return cls._with(data, params.preview(data, most=most, progress=progress, cancel=cancel))

    @classmethod
    def _with(cls, data: rwn.Microdata, prepared: Prepared) -> PreparedTable:
        if prepared.masks_all_records:
            comparison = Comparison(original=data, masked=data)
        else:
            comparison = Comparison.of_some(data, prepared.records)
        return cls(data=data, prepared=prepared, comparison=comparison)

    def with_slices(self, data: rwn.Microdata) -> PreparedTable:
        """The same records under the slices of `data`; no neighbor is searched anew."""
        sliced = self.prepared.with_slices(data.schema.slices)
        return self._with(data, sliced)

    def quick_end(self, params: Any, lever: str) -> float:
        """Highest position of a lever without a search, the others as they are."""
        ends, now = self.prepared.ranges[lever], self.prepared.with_levers(**lever_values(params))
        for high in np.linspace(ends.high, ends.low, TRIED):
            if now.with_levers(**{lever: high}).is_quick:
                return float(high)
        return ends.low

    @property
    def slow(self) -> bool:
        """True if preparing a table of this size takes seconds."""
        return self.data.n > LARGEST_DENSE

    def is_quick(self, params: Any) -> bool:
        """True if the neighborhoods of a setting are stored."""
        setting, _ = unrounded(params)
        return self.prepared.with_levers(**lever_values(setting)).is_quick

    def release(self, params: Any, seed: int, progress: Progress | None = None) -> CurrentRelease:
        """Draw the release of a setting."""
        # Beyond the stored neighbors the setting's own are searched for; `progress` is called then.
        setting, precision = unrounded(params)
        moved = self.prepared.with_levers(**lever_values(setting))
        exact = moved.release(SecretKey.from_seed(seed), progress=progress)
        masked = exact.rounded(precision)
        comparison = self.comparison.with_masked(masked.masked, masked.law)
        return CurrentRelease(
            params=params,
            prepared=moved,
            exact=exact,
            masked=masked,
            measures=(*SHOWN, *((MIXED,) if is_mixed(self.data) else ())),
            comparison=comparison,
        )


def first_setting(method: str, options: Mapping[str, Any] | None = None) -> Any:
    """A setting of a method with these options that any table takes."""
    kind = METHODS[method]
    return kind(**(options or {}), **neutral_levers(kind, options))
