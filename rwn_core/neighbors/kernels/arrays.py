"""Names the arrays that the kernels read and write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HULL = 32  # leaves in a row that are passed over together; a multiple of VECTOR_WIDTH


class Side(NamedTuple):
    """One side of a search: records, grouped by identical rows, the rows in the order of a tree.

    Where categories are coded, a search makes a pass for each set of them that two rows may agree
    in, each with a tree of its own (`agreement.py`); otherwise there is one pass. The leaves of
    pass w are numbers w * leaves to (w + 1) * leaves - 1 of the arrays of leaves.

    Attributes
    ----------
    tiles : ndarray of float32 or float64, shape (passes * leaves, d + 1, width)
        Rotated points from the center of their leaf's box, leaf by leaf, and half of their
        squared distance from it; NaN beyond a leaf's last row.
    centers, halves : ndarray, shape (passes * leaves, d)
        Of the leaves' boxes, of the same type: their middles, and how far they go from there.
    spans : ndarray of float64, shape (passes * leaves,)
        A bound of the distances of a leaf's points from its center.
    norms : ndarray of float64, shape (passes * leaves,)
        A bound of the distances of a leaf's points from the center of the rotation and their own.
    boxes : ndarray, shape (2, d, passes * a multiple of VECTOR_WIDTH of at least `leaves`)
        The centers and halves again, leaf beside leaf.
    hulls : ndarray of float64, shape (passes * hulls, 2, d)
        Centers and halves of the boxes around each `HULL` leaves of a pass, which lie together.
    starts : ndarray of int64, shape (2 * leaves,)
        The first position of each node, in every tree; the last entry is g.
    exact : ndarray of float64, shape (g, c)
        The points themselves, by position: that in the tree of pass 0.
    offsets : ndarray of int64, shape (g + 1,)
        Position t's records are entries offsets[t] to offsets[t + 1] of `records`.
    records : ndarray of int32, shape (n,)
        Ascending within a row.
    positions : ndarray of int32, shape (n,)
        The position of each record's row.
    numbers : ndarray of int64, shape (n,)
        Each record's number in the whole table, ascending.
    firsts : ndarray of int64, shape (g,)
        The number of the first record at each position.
    levels : ndarray of int64, shape (c,)
        Where the squares of each coded column begin; -1 for a coordinate. Empty if none is coded.
    squares : ndarray of float64
        What each level of the coded columns adds to a squared distance.
    coded : ndarray of int64, shape (a,)
        The coded columns that passes tell apart.
    places : ndarray of int32, shape (passes, g)
        The position of each row of a pass' tree; empty if no column is coded.
    shifts : ndarray of float64, shape (passes, g)
        What is to be added to a row's squared distances in a pass; empty if no column is coded.
    far : float
        A squared distance in a pass that no rows have which agree as it asks.
    """

    tiles: NDArray[Any]
    centers: NDArray[Any]
    halves: NDArray[Any]
    spans: NDArray[np.float64]
    norms: NDArray[np.float64]
    boxes: NDArray[Any]
    hulls: NDArray[np.float64]
    starts: NDArray[np.int64]
    exact: NDArray[np.float64]
    offsets: NDArray[np.int64]
    records: NDArray[np.int32]
    positions: NDArray[np.int32]
    numbers: NDArray[np.int64]
    firsts: NDArray[np.int64]
    levels: NDArray[np.int64]
    squares: NDArray[np.float64]
    coded: NDArray[np.int64]
    places: NDArray[np.int32]
    shifts: NDArray[np.float64]
    far: float


class Wanted(NamedTuple):
    """What is asked of a search, beyond the sizes.

    Attributes
    ----------
    own : ndarray of int32, shape (n,)
        Which record of the target each query record is; -1 for none.
    edges : ndarray of float64, shape (g,)
        The largest squared distance within each query row's radius.
    k : int
        0 for none.
    unit : float
        Relative error of one rotated coordinate.
    key : ndarray of uint32, shape (8,)
    streams : ndarray of int64, shape (p,)
        Empty if no donors are wanted.
    words : ndarray of uint32, shape (a multiple of VECTOR_WIDTH,)
        The streams, and zeros.
    q : ndarray of float64, shape (p,)
    """

    own: NDArray[np.int32]
    edges: NDArray[np.float64]
    k: int
    unit: float
    key: NDArray[np.uint32]
    streams: NDArray[np.int64]
    words: NDArray[np.uint32]
    q: NDArray[np.float64]


class SearchResult(NamedTuple):
    """What a search fills in, by query record.

    Attributes
    ----------
    within, sizes : ndarray of int64, shape (n,)
        Members within epsilon, and in all.
    nearest : ndarray of float64, shape (n,)
        Squared distance to the nearest member; NaN if there is none.
    kth : ndarray of float64, shape (n,)
        Squared distance to the k-th nearest where k governs, else 0.
    donors : ndarray of int64, shape (n, p)
    starts : ndarray of int64, shape (n + 1,)
        Where each record's row of the table below begins; empty if no table is wanted.
    members : ndarray of int32, shape (m,)
    squared : ndarray of float64, shape (m,)
    """

    within: NDArray[np.int64]
    sizes: NDArray[np.int64]
    nearest: NDArray[np.float64]
    kth: NDArray[np.float64]
    donors: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    squared: NDArray[np.float64]
