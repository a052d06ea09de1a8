"""The expected loss of relations for any slices, from two tables of pair losses.

A pair's relation depends on whether one donor gives both values, and on no other variable. So one
table with each variable apart and one with complete rows hold the loss of every partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Slices
from rwn_core.errors import NotApplicable
from rwn_core.measures import UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.association import (
    MOST_OF_A_PAIR,
    associations,
    original_chance,
)
from rwn_core.measures.statistics.usual_use import use_of
from rwn_core.tuning.evaluate import PreparedTables, evaluate
from rwn_core.tuning.point import Setting
from rwn_core.tuning.slice_presets import preset_slices

RELEASES = 6  # of a strength
STRENGTHS = 8  # that are drawn; those between are interpolated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SliceLoss:
    """The expected parts of the loss of relations, for p variables at s strengths."""

    names: tuple[str, ...]  # the released variables
    # apart, together: shape (s, p (p - 1) / 2): part of each pair if two donors give it, and if one
    # does
    apart: Floats
    together: Floats
    # shape (p (p - 1) / 2): the weight of each pair, which sum to 1, and whether it has a
    # confidential variable of the use
    weights: Floats
    confidential: Booleans

    @classmethod
    def from_settings(cls, microdata: Microdata, settings: Sequence[Setting]) -> SliceLoss:
        """Return the losses of settings that differ in their levers, as read on releases."""
        comparison = Comparison(original=microdata, masked=microdata)
        slicings = (), preset_slices(microdata, "whole")
        released = [variable.name for variable in microdata.schema.released]
        ready = PreparedTables(microdata, settings)
        parts = _drawn_parts(ready, settings, slicings, comparison)
        pairs = np.triu_indices(len(released), 1)
        apart, together = parts[:, :, *pairs]
        named = set(use_of(microdata).confidential)
        secret = np.array([name in named for name in released], dtype=bool)
        weights = _weights(comparison)[pairs]
        return cls(
            names=tuple(released),
            apart=apart,
            together=together,
            weights=weights / (weights.sum() or 1.0),
            confidential=(secret[:, None] | secret[None, :])[pairs],
        )

    def loss(self, slices: Slices) -> Floats:
        """Return the expected loss under some slices at each strength, shape (s,)."""
        return np.asarray(np.minimum(self._parts(slices).sum(axis=1), 1.0))

    def least_lost(self, slices: Slices) -> Floats:
        """Return what is lost at least of some part of the use at each strength, shape (s,).

        Of the relations of confidential variables, or of the others, whichever lose more; a
        regression may lose more than both.
        """
        parts = self._parts(slices)
        found = np.zeros(len(parts))
        for pairs in (self.confidential, ~self.confidential):
            weight = float(self.weights[pairs].sum())
            if weight > 0:
                found = np.maximum(found, parts[:, pairs].sum(axis=1) / weight)
        return np.minimum(found, 1.0)

    def _parts(self, slices: Slices) -> Floats:
        """Return each pair's part of the loss under some slices, shape (s, p (p - 1) / 2)."""
        inside: dict[str, int] = {}
        for place, names in enumerate(slices):
            inside |= dict.fromkeys(names, place)
        number = np.array([inside.get(name, -1 - at) for at, name in enumerate(self.names)])
        one, two = np.triu_indices(len(self.names), 1)
        return np.where(number[one] == number[two], self.together, self.apart)


def _drawn_parts(
    ready: PreparedTables,
    settings: Sequence[Setting],
    slicings: Sequence[Slices],
    comparison: Comparison,
) -> Floats:
    """Return parts of the loss as drawn at a few strengths, and as interpolated between them."""
    # shape (slicings, settings, variables, variables)
    places = np.unique(np.linspace(0, len(settings) - 1, STRENGTHS).round().astype(int))
    found: list[Floats] = []

    def read(release: Comparison) -> dict[str, Reading | NotApplicable]:
        found.append(_weighted(comparison, associations(release, release.masked)))
        return {}

    for place, slices in product(places, slicings):
        one = replace(settings[place], slices=slices)
        evaluate(ready, one, range(RELEASES), (UTILITY,), read=read)
    several = np.reshape(found, (len(places), len(slicings), RELEASES, -1))
    flat = several.mean(axis=2).reshape(len(places), -1)
    every = np.arange(len(settings))
    filled = np.column_stack([np.interp(every, places, column) for column in flat.T])
    shape = (len(settings), len(slicings), *found[0].shape)
    return filled.reshape(shape).swapaxes(0, 1)


def _weights(comparison: Comparison) -> Floats:
    """Return by how much each pair of the original exceeds chance, shape (p, p)."""
    size = np.abs(associations(comparison, comparison.original))
    chance = original_chance(comparison)
    return np.where(size > chance, size - chance, 0.0)


def _weighted(comparison: Comparison, after: Floats) -> Floats:
    """Return each pair's part of `relation_loss`, shape (p, p)."""
    before = associations(comparison, comparison.original)
    chance = original_chance(comparison)
    size = np.abs(before)
    found = np.nan_to_num(after)
    related = size > chance
    weight = _weights(comparison)
    total = np.triu(weight, 1).sum()
    change = np.minimum(np.abs(found - before) / np.where(related, size, 1.0), MOST_OF_A_PAIR)
    invented = np.maximum(np.abs(found) - np.nan_to_num(chance), 0.0)
    return np.asarray(np.where(related, weight * change, invented) / (total or 1.0))
