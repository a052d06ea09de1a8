"""Donors of a large stored table: each number made once, or chains kept for many looks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.chacha_kernel import chains
from rwn_core.neighbors.draw_kernel import donors_by_links
from rwn_core.neighbors.table import Neighborhoods
from rwn_core.parallel.threads import in_parts
from rwn_core.randomness import SecretKey

LINKS_A_CELL = 10  # room for a first try; the harmonic number of the longest row is needed


class Chains:
    """The chains of many cells, up to the largest size that a record will have.

    Parameters
    ----------
    key : SecretKey
    records : ndarray of int64, shape (m,)
    streams : ndarray of int64, shape (p,)
    longest : ndarray of int64, shape (m,)
    """

    def __init__(
        self,
        key: SecretKey,
        records: NDArray[np.int64],
        streams: NDArray[np.int64],
        longest: NDArray[np.int64],
    ) -> None:
        self.records, self.longest = records, longest
        self.modify = np.empty((len(records), len(streams)))
        self.ends = np.empty(self.modify.size, np.int64)
        self.links = np.empty(LINKS_A_CELL * self.modify.size, np.int32)
        arguments = (key.words, records, streams, longest, self.modify, self.ends)
        needed = chains(*arguments, self.links)
        if needed > len(self.links):
            self.links = np.empty(needed, np.int32)
            chains(*arguments, self.links)
        else:
            self.links = self.links[:needed].copy()

    def cover(self, longest: NDArray[np.int64]) -> bool:
        """True if no record's neighborhood is longer than its chains."""
        return bool((longest <= self.longest).all())

    def donors(
        self, neighborhoods: Neighborhoods, q: NDArray[np.float64], threads: int
    ) -> NDArray[np.int64]:
        """The donors of these records in a stored table, shape (m, p)."""
        donors = np.empty(self.modify.shape, np.int64)
        table = neighborhoods.table
        offsets, members, sizes = table.offsets, table.records, neighborhoods.sizes
        rows, probabilities = neighborhoods.rows(self.records), np.array(q, dtype=np.float64)

        def read(first: int, last: int) -> None:
            donors_by_links(
                offsets,
                members,
                sizes,
                rows,
                self.records,
                self.modify,
                self.ends,
                self.links,
                probabilities,
                donors,
                first,
                last,
            )

        in_parts(read, len(donors), donors.size, threads)
        return donors
