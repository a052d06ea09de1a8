"""The record chain of the draw by plain arrays, without compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rwn_core.laws.donors import NO_DONOR, Draws
from rwn_core.neighbors import Neighborhoods
from rwn_core.randomness import uniforms


class RecordChain(Draws):
    """Draws with their random numbers in view."""

    @cache  # noqa: B019 - such an object lives as long as its test
    def block(self, number: int) -> np.ndarray:
        """Return eight uniform numbers of each cell, shape (8, m, p)."""
        columns = [uniforms(self.key, self.records, each, number) for each in self.streams]
        return np.stack(columns, axis=2)

    def step(self, number: int) -> np.ndarray:
        """Return one uniform number of each cell, shape (m, p)."""
        return self.block(number // 8)[number % 8]

    @property
    def modify(self) -> np.ndarray:
        """The number that decides whether a cell is modified."""
        return self.step(0)

    def ranks(self, sizes: np.ndarray) -> np.ndarray:
        """Return the last link of each cell's chain that is at most the record's size."""
        limit = sizes[:, None]
        number = 1
        ranks = np.ones((len(self.records), len(self.streams)), np.int64)
        following = ranks
        while True:
            following = np.floor(following / self.step(number)) + 1
            if not (following <= limit).any():
                return ranks
            ranks = np.where(following <= limit, following, ranks).astype(np.int64)
            number += 1


def assigned(
    neighborhoods: Neighborhoods,
    records: np.ndarray,
    modify: np.ndarray,
    ranks: Callable[[np.ndarray], np.ndarray],
    q: Any,
) -> np.ndarray:
    """Return the donors of some records in a stored table of all, shape (m, p)."""
    table = neighborhoods.table
    sizes = neighborhoods.sizes[records]
    entries = table.offsets[records][:, None] + ranks(np.maximum(sizes, 1)) - 1
    donors = table.records[np.minimum(entries, len(table.records) - 1)].astype(np.int64)
    donors = np.where(sizes[:, None] > 0, donors, NO_DONOR)
    return np.where(modify < q, donors, records[:, None])
