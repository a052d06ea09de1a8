"""The law of a donor's rank under a fresh sample for each record, in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def fresh_sample_law(n: int, m: int, k: int) -> list[Fraction]:
    """The law of a donor's rank under a fresh sample for each record, for k alone and no ties.

    Parameters
    ----------
    n : int
        Records.
    m : int
        Sample size, at most n - 1.
    k : int
        At most m.

    Returns
    -------
    list of Fraction, length n - 1
        The probability that a modified cell comes from the other record of distance rank 1, 2,
        ... in the whole table: it is in the sample, and fewer than k nearer ones are.

    Examples
    --------
    >>> [str(probability) for probability in fresh_sample_law(6, 3, 1)]
    ['3/5', '3/10', '1/10', '0', '0']
    """
    law = []
    for nearer in range(n - 1):
        ways = sum(comb(nearer, h) * comb(n - 2 - nearer, m - 1 - h) for h in range(min(k, m)))
        law.append(Fraction(m, k * (n - 1)) * Fraction(ways, comb(n - 2, m - 1)))
    return law
