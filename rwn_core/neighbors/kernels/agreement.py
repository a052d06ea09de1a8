"""The passes of a search over coded categories: who agrees in which of them.

In pass w two rows agree in those categories whose bits are set in w, and differ in the others.
Then their squared distance is that of points without dummies: those of the query row and of the
target row in this pass, and the query row's shift (`rwn_core.neighbors.embedding`). A row meets
every other one in exactly one pass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.kernels.arrays import Side
from rwn_core.neighbors.kernels.error_bound import exact_squared
from rwn_core.neighbors.kernels.leaf_distances import BLOCK, Facing
from rwn_core.neighbors.kernels.simd import lowest
from rwn_core.parallel.jit import jit_inline


@jit_inline
def shift_of(query: Side, which: int, position: int) -> float:
    """What is to be added to a row's squared distances in a pass."""
    return float(query.shifts[which, position]) if len(query.levels) else 0.0


@jit_inline
def _agreement(query: Side, position: int, target: Side, place: int) -> int:
    bits = 0
    for number in range(len(target.coded)):
        column = target.coded[number]
        bits |= int(query.exact[position, column] == target.exact[place, column]) << number
    return bits


@jit_inline
def copy_agreeing(
    query: Side,
    row: int,
    target: Side,
    which: int,
    facing: Facing,
    point: int,
    first: int,
    most: float,
    position: NDArray[np.int32],
    squared: NDArray[np.float64],
    count: int,
) -> int:
    """Append the entries of a tile that were kept and belong to the pass, with exact distances.

    Parameters
    ----------
    query : Side
    row : int
        The query row's position.
    target : Side
    which : int
        The pass.
    facing : Facing
    point : {0, 1}
        Which of the two of `scan` it was.
    first : int
        The tile's first position in the pass' tree.
    most : float
        The largest squared distance that is wanted.
    position, squared : ndarray
        Filled from entry `count` on.
    count : int

    Returns
    -------
    int
        How many candidates there are now.
    """
    for block in range(facing.kept.shape[1]):
        bits = facing.kept[point, block]
        while bits != 0:
            place = target.places[which, first + block * BLOCK + lowest(bits)]
            bits &= bits - 1
            if _agreement(query, row, target, place) != which:
                continue
            exact = exact_squared(
                query.exact[row], target.exact, target.levels, target.squares, place
            )
            if exact <= most:
                position[count], squared[count] = place, exact
                count += 1
    return count


@jit_inline
def only_passes_tell(target: Side) -> bool:
    """Whether passes tell all coded columns apart, so that rough distances count every one."""
    count = 0
    for column in range(len(target.levels)):
        count += target.levels[column] >= 0
    return count == len(target.coded)


@jit_inline
def keep_differing(
    query: Side,
    row: int,
    target: Side,
    position: NDArray[np.int32],
    rough: NDArray[np.float64],
    begin: int,
    end: int,
) -> int:
    """Of candidates that pass 0 found, keep those that agree in nothing, and add the row's shift.

    Parameters
    ----------
    query : Side
    row : int
        The query row's position.
    target : Side
        Of which `only_passes_tell`.
    position, rough : ndarray
        What `copy_kept` has appended are entries begin to end.
    begin, end : int

    Returns
    -------
    int
        How many candidates there are now.
    """
    shift, count = shift_of(query, 0, row), begin
    for entry in range(begin, end):
        if _agreement(query, row, target, position[entry]) == 0:
            position[count], rough[count] = position[entry], rough[entry] + shift
            count += 1
    return count
