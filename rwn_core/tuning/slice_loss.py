"""The expected loss of correlations for any slices, from two forecasts.

Whether one donor gives two variables changes the expectation of their product and of nothing else.
So a forecast with each variable alone and one with whole rows hold what any partition leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.slices import Slices
from rwn_core.evaluation.forecast import forecast_scan
from rwn_core.masking import lever_values
from rwn_core.measures.statistics.correlation import correlation_matrix
from rwn_core.randomness import SecretKey
from rwn_core.tuning.setting import Setting
from rwn_core.tuning.slice_presets import preset_slices

RELEASES = 6  # where there is no closed form

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SliceLoss:
    """Expected changes of the correlations of m numbers at s strengths.

    Attributes
    ----------
    names : tuple of str
        The numbers.
    apart, together : ndarray of float64, shape (s, m (m - 1) / 2)
        Absolute change of each pair's correlation where two donors give it, and where one does;
        NaN where a pair has no correlation.
    """

    names: tuple[str, ...]
    apart: Floats
    together: Floats

    @classmethod
    def of(cls, microdata: Microdata, settings: Sequence[Setting]) -> SliceLoss:
        """The changes under some settings, whatever their slices.

        Parameters
        ----------
        microdata : Microdata
        settings : sequence of Setting
            Of one family, weights and precision: they differ in their levers. In closed form where
            their method has one; over six releases each where it has none, or values are rounded.
        """
        before = correlation_matrix(microdata.matrix(microdata.numeric_names))
        pairs = np.triu_indices(len(before), 1)
        changes = []
        for slices in ((), preset_slices(microdata, "whole")):
            after = _correlations(microdata, [replace(each, slices=slices) for each in settings])
            changes.append(_mean(np.abs(after - before))[:, *pairs])
        return cls(names=microdata.numeric_names, apart=changes[0], together=changes[1])

    def loss(self, slices: Slices) -> Floats:
        """Mean change over the pairs under some slices at each strength, shape (s,)."""
        change = np.where(self._inside(slices), self.together, self.apart)
        known = np.isfinite(change)
        total = np.where(known, change, 0.0).sum(axis=1)
        return np.asarray(total / np.maximum(known.sum(axis=1), 1))

    def _inside(self, slices: Slices) -> NDArray[np.bool_]:
        """Which pairs are in one slice."""
        own = {name: number for number, names in enumerate(slices) for name in names}
        number = np.array([own.get(name, -1 - at) for at, name in enumerate(self.names)], dtype=int)
        one, two = np.triu_indices(len(self.names), 1)
        return np.asarray(number[one] == number[two])


def _correlations(microdata: Microdata, settings: Sequence[Setting]) -> Floats:
    """Of each setting: expected in one piece, or of several releases, shape (s, r, m, m)."""
    params: list[Any] = [each.params for each in settings]
    table = settings[0].applied_to(microdata)
    prepared = params[0].prepare(table, settings=params)
    if params[0].has_forecast and not settings[0].precision:
        scan = forecast_scan(table, params, prepared=prepared)
        return np.array([each.correlations.to_numpy()[None] for each in scan])
    precision = dict(settings[0].precision)
    keys = [SecretKey.from_seed(seed) for seed in range(RELEASES)]
    return np.array(
        [
            [_released(prepared.with_levers(**lever_values(each)), key, precision) for key in keys]
            for each in params
        ]
    )


def _released(prepared: Any, key: SecretKey, precision: dict[str, float]) -> Floats:
    masked = prepared.release(key, threads=1).rounded(precision).masked
    return correlation_matrix(masked.matrix(masked.numeric_names))


def _mean(changes: Floats) -> Floats:
    """Over the releases, of those that have a number, shape (s, m, m)."""
    known = np.isfinite(changes)
    count = known.sum(axis=1)
    total = np.where(known, changes, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
