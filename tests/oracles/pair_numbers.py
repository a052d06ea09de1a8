"""The pair that a whole number stands for, by whole numbers alone."""

from __future__ import annotations

from math import isqrt


def pair_of(number: int) -> tuple[int, int]:
    """The pair i < j of a number from 1, records from 1: (1, 2), (1, 3), (2, 3), (1, 4), ...

    Perry, Matloff, Tendick 2022, section 11, with its mapping corrected.
    """
    root = isqrt(8 * number + 1)
    j = (1 + root) // 2 if root * root == 8 * number + 1 else (3 + root) // 2
    return number - (j - 1) * (j - 2) // 2, j
