"""Neighborhoods of soft kernels: weights of the records that each record lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import ParameterError
from rwn_core.neighbors.all_donors import RowWeights, balanced_weights, row_weights
from rwn_core.neighbors.compressed_rows import KernelRows
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import SoftLists
from rwn_core.neighbors.table import Neighborhoods, NeighborTable


class Scaled(NamedTuple):
    """The lists with what the kernel of every width is computed from."""

    table: NeighborTable  # a record is in its own row where it is one of its donors
    scaled: Floats  # shape (m,)
    # squared distance from each record of the table to its nearest other
    nearest: Floats
    least: int  # possible donors of every record, at least
    n: int  # records that may be listed
    options: tuple[object, ...]  # what all of this depends on


def scale(kernel: Kernel, lists: SoftLists) -> Scaled:
    """Return lists with their distances in units of the bandwidth."""
    table = lists.table
    scales = kernel.scales(lists.scaling)
    nearest = table.squared[table.offsets[:-1]]
    if kernel.own:
        table = table.with_own()
    own = scales if table.numbers is None else scales[table.numbers]
    both = np.repeat(own, np.diff(table.offsets)) * scales[table.records]
    scaled = kernel.scaled(table.squared, both)
    return Scaled(table, scaled, nearest, lists.least + kernel.own, len(scales), kernel.options)


def column_factors(kernel: Kernel, lists: SoftLists) -> tuple[Floats, float]:
    """Return the logarithms of a balance's factors of all records, and what it misses."""
    found = weigh(kernel, scale(kernel, lists))
    return found.column, found.error


def soft_neighborhoods(
    kernel: Kernel, scaled: Scaled, some: Integers | None = None, column: Floats | None = None
) -> Neighborhoods:
    """Return all entries of lists as members, with their weights; or those of some records."""
    # Shapes: some (m,); column (n,).
    # Lists of some records take the factors of a balance from `column_factors` of all.
    table = scaled.table
    found = weigh(kernel, scaled, column)
    shares = found.weights
    nearest = scaled.nearest
    if some is not None:
        table, entries = table.for_records(some)
        shares = shares[entries]
        nearest = nearest[some]
    sizes = np.diff(table.offsets)
    return Neighborhoods(
        table=table,
        sizes=sizes,
        within=sizes,
        radius=np.sqrt(table.squared[table.offsets[1:] - 1]),
        first=nearest,
        kernel=kernel,
        shares=shares,
        imbalance=found.error,
    )


def weigh(kernel: Kernel, scaled: Scaled, column: Floats | None = None) -> RowWeights:
    """Return the weights of all entries of lists, which a record joins as its own donor."""
    # Shape: column (n,).
    table, least = scaled.table, scaled.least
    if kernel.cap * least < 1 - 1e-9:
        raise ParameterError(
            f"cap must be at least 1/{least:,} = {1 / least:.3g} here: a record has "
            f"{least:,} possible donors."
        )
    rows = KernelRows(table.offsets, table.records, kernel.logs(scaled.scaled))
    if table.numbers is not None:
        factors = np.zeros(scaled.n) if column is None else column
        return row_weights(rows, float(kernel.cap), factors)
    return balanced_weights(rows, float(kernel.cap), float(kernel.balance))
