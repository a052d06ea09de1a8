"""The possible donors of some records, as kernels read them."""

from __future__ import annotations

from typing import NamedTuple

from rwn_core.data.arrays import Floats, Integers, Integers32


class Lists(NamedTuple):
    """The possible donors of some records. All of them are given by their positions in an order."""

    records: Integers  # shape (r,)
    # begin, sizes: shape (r,): record r's list is the `sizes[r]` entries of `members` from
    # `begin[r]` on; identical records share one
    begin: Integers
    sizes: Integers
    members: Integers32
    weights: Floats  # of the entries; empty where all count the same
    totals: Floats  # shape (r,): what the weights of a record's donors sum to; above 0
    itself: bool  # whether each list has its record too, which is no donor
