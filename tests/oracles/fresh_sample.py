"""The law of a donor's rank under a fresh sample for each record, in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def fresh_sample_law(n: int, m: int, k: int) -> list[Fraction]:
    """The law of a donor's rank in the whole table, for k alone and no ties, length n - 1.

    The record of a rank gives its value if it is in the sample of m and fewer than k nearer are.
    """
    law = []
    for nearer in range(n - 1):
        ways = sum(comb(nearer, h) * comb(n - 2 - nearer, m - 1 - h) for h in range(min(k, m)))
        law.append(Fraction(m, k * (n - 1)) * Fraction(ways, comb(n - 2, m - 1)))
    return law
