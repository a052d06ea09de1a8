"""The random numbers of some keys, kept from one setting to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donors import Draws, random_streams
from rwn_core.randomness import SecretKey

_STORED_DRAWS = 256_000_000  # bytes of random numbers kept from one of many settings to the next
_BYTES_A_CELL = 260  # about 24 uniform numbers and 17 steps of the record chain


class StoredDraws:
    """The random numbers of some keys, kept for the next setting.

    Parameters
    ----------
    microdata : Microdata
    records : ndarray of int64, shape (m,)
    many : bool
        Keep those of as many keys as fit, from the first on, instead of the last one's.
    """

    def __init__(
        self, microdata: Microdata, records: NDArray[np.int64], *, many: bool = False
    ) -> None:
        self.records, self.streams = records, random_streams(microdata)
        needed = max(len(records) * len(self.streams) * _BYTES_A_CELL, 1)
        self._entries = _STORED_DRAWS // needed if many else None
        self._kept: dict[str, Draws] = {}

    def of(self, key: SecretKey) -> Draws:
        """The random numbers of a key."""
        if key.identity in self._kept:
            return self._kept[key.identity]
        draws = Draws(key, self.records, self.streams)
        if self._entries is None:
            self._kept = {key.identity: draws}
        elif len(self._kept) < self._entries:
            self._kept[key.identity] = draws
        return draws

    def of_table(self, microdata: Microdata) -> StoredDraws:
        """The same for other slices of these records: the same object where no stream changes."""
        if random_streams(microdata) == self.streams:
            return self
        return StoredDraws(microdata, self.records, many=self._entries is not None)
