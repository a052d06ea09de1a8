"""Sparse columns of small numbers, each with the logarithm of its own scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers

Scaled = tuple[sparse.csc_array, Floats]
"""Numbers, and for each column the logarithm of what they are to be multiplied by."""


def entries(matrix: sparse.csc_array) -> tuple[Integers, NDArray[np.int32], Floats]:
    """Return column starts, row numbers and values, as kernels read them."""
    starts = matrix.indptr.astype(np.int64, copy=False)
    return starts, matrix.indices.astype(np.int32, copy=False), matrix.data


def leveled(parts: Sequence[Scaled]) -> tuple[list[sparse.csc_array], Floats]:
    """Return the parts on one scale per column, and its logarithm."""
    if len(parts) == 1:
        return [parts[0][0]], parts[0][1]
    top = np.max([logs for _, logs in parts], axis=0)
    finite = np.where(np.isfinite(top), top, 0.0)
    return [times(matrix, np.exp(logs - finite)) for matrix, logs in parts], top


def times(matrix: sparse.csc_array, factors: Floats) -> sparse.csc_array:
    """Multiply each column by a factor of its own; zeros are not stored."""
    # scipy's product with a diagonal matrix takes several times as long
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    product = sparse.csc_array((data, matrix.indices.copy(), matrix.indptr.copy()), matrix.shape)
    if not data.all():
        product.eliminate_zeros()
    return product


def normalized(matrix: sparse.csc_array) -> Scaled:
    """Return each column divided by its largest entry, and those entries."""
    counts = np.diff(matrix.indptr)
    largest = np.zeros(matrix.shape[1])
    some = np.flatnonzero(counts)
    if some.size:
        largest[some] = np.maximum.reduceat(matrix.data, matrix.indptr[:-1][some])
    divisor = np.where(largest > 0, largest, 1.0)
    data = matrix.data / np.repeat(divisor, counts)
    scaled = sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    return scaled, largest


def releveled(part: Scaled) -> Scaled:
    """Divide each column again by its largest entry."""
    matrix, logs = part
    scaled, largest = normalized(matrix)
    with np.errstate(divide="ignore"):
        return scaled, logs + np.log(largest)


def of_records(part: Scaled, records: Integers | None) -> Scaled:
    """Return the rows of some records on scales of their own; all if None."""
    if records is None:
        return part
    return releveled((sparse.csc_array(sparse.csr_array(part[0])[records]), part[1]))
