"""Rows of donors in compressed form, as kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers, Integers32


class Entries(NamedTuple):
    """The entries of lists: the row, the record listed there, and their squared distance."""

    rows: Integers32
    records: Integers32
    squared: Floats


class Listed(NamedTuple):
    """The lists of some rows in compressed form."""

    starts: Integers  # shape (n + 1,)
    records: Integers32  # shape (m,)
    squared: Floats  # shape (m,): their squared distances

    @classmethod
    def empty(cls, starts: Integers) -> Listed:
        """Return room for rows of these lengths."""
        return cls(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1]))


class KernelRows(NamedTuple):
    """A kernel as compressed rows: the possible donors of each record."""

    starts: Integers  # shape (n + 1,)
    members: Integers32  # shape (m,)
    logs: Floats  # shape (m,): logarithms of the kernel
