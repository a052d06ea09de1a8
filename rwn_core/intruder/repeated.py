"""What several releases of one table add up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.cell_law import CellLaw, RowMixtureLaw
from rwn_core.errors import NotApplicable
from rwn_core.intruder.likelihood import attacked_units, likelihoods
from rwn_core.microdata import Microdata

LARGEST_PAIRWISE = 2500  # records: all pairs are held


def bhattacharyya(law: CellLaw, names: Sequence[str] | None = None) -> NDArray[np.float64]:
    """How alike two records' releases are: BC_il = product of sum over v of sqrt(P_ij(v) P_lj(v)).

    Parameters
    ----------
    law : CellLaw
    names : sequence of str, optional
        The attacked variables; all by default.

    Returns
    -------
    ndarray of float64, shape (n, n)
        From 0 (never alike) to 1 (the same law); 1 on the diagonal.

    Raises
    ------
    NotApplicable
        Too many records, or a law whose cells are not independent.
    """
    return _pairwise(law, names, np.sqrt)


def coincidence(law: CellLaw, names: Sequence[str] | None = None) -> NDArray[np.float64]:
    """P(two independent releases of a record are the same row), shape (n,)."""
    return np.diagonal(_pairwise(law, names, lambda share: share)).copy()


def _pairwise(
    law: CellLaw,
    names: Sequence[str] | None,
    change: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    n = law.original.n
    if n > LARGEST_PAIRWISE:
        raise NotApplicable(
            f"Pairs of records are compared for at most {LARGEST_PAIRWISE:,} records, and the "
            f"table has {n:,}."
        )
    if isinstance(law, RowMixtureLaw):
        raise NotApplicable("The bound is for a method that draws each cell independently.")
    result = np.ones((n, n))
    for unit in attacked_units(law, names):
        table, _ = law.likelihood_columns(unit, law.original, np.arange(n))
        values = sparse.csr_array(table)
        values.data = change(values.data)
        result *= np.clip((values @ values.T).toarray(), 0.0, 1.0 + 1e-12)
    return np.minimum(result, 1.0)


def success_bounds(alike: NDArray[np.float64], releases: Sequence[int]) -> NDArray[np.float64]:
    """Lower bound on the intruder's success after M releases, averaged over records.

    Parameters
    ----------
    alike : ndarray of float64, shape (n, n)
        From `bhattacharyya`.
    releases : sequence of int
        The numbers M.

    Returns
    -------
    ndarray of float64, shape (len(releases),)
        1 - sum over the others of BC^M for each record, cut at 0.

    References
    ----------
    Union bound over the pairwise errors of the likelihood ratio; ties count as failures.
    """
    others = alike.copy()
    np.fill_diagonal(others, 0.0)
    return np.array(
        [np.maximum(0.0, 1.0 - (others**times).sum(axis=1)).mean() for times in releases]
    )


def success_after(
    law: CellLaw, releases: Sequence[Microdata], names: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """The intruder's expected success after the first, the first two, ... of some releases.

    Parameters
    ----------
    law : CellLaw
    releases : sequence of Microdata
        Of one setting, independently drawn, rows aligned across them.
    names : sequence of str, optional

    Returns
    -------
    ndarray of float64, shape (len(releases),)
    """
    rows = np.arange(releases[0].n)
    evidence: sparse.csc_array | None = None
    success = []
    for masked in releases:
        likelihood, _ = likelihoods(law, masked, rows, names)
        evidence = likelihood if evidence is None else _combined(evidence, likelihood)
        total = np.asarray(evidence.sum(axis=0)).ravel()
        best = evidence.max(axis=0).toarray().ravel()
        success.append(np.divide(best, total, out=np.zeros_like(best), where=total > 0).mean())
    return np.array(success)


def _combined(one: sparse.csc_array, other: sparse.csc_array) -> sparse.csc_array:
    product_ = sparse.csc_array(one.multiply(other))
    largest = product_.max(axis=0).toarray().ravel()
    scale = np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
    return sparse.csc_array(product_ @ sparse.diags_array(scale))


def mode_is_own(q: float, donors: int, releases: int) -> float:
    """P(the most frequent value of a cell over M aligned releases is the true one).

    Parameters
    ----------
    q : float
        Modification probability, from 0 to 1.
    donors : int
        Different donor values, none of them the own; at least 1.
    releases : int
        M, at least 1.

    Returns
    -------
    float
        Ties are broken at random.
    """
    share = q / donors
    total = 0.0
    for own in range(releases + 1):
        rest = releases - own
        for largest, at_top, ways in _occupancies(rest, donors):
            if largest > own or not own:
                continue
            tied = at_top + 1 if largest == own else 1
            total += comb(releases, own) * (1 - q) ** own * share**rest * ways / tied
    return float(total)


def _occupancies(balls: int, boxes: int) -> list[tuple[int, int, int]]:
    """Ways to spread balls over boxes, by the largest count and how many boxes have it."""
    found: dict[tuple[int, int], int] = {}
    for counts in _partitions(balls, boxes):
        ways = factorial(balls)
        for count in counts:
            ways //= factorial(count)
        padded = [*counts, *[0] * (boxes - len(counts))]
        orders = factorial(boxes)
        for value in set(padded):
            orders //= factorial(padded.count(value))
        top = padded[0] if padded else 0
        key = (top, padded.count(top) if padded else 0)
        found[key] = found.get(key, 0) + ways * orders
    return [(top, at_top, ways) for (top, at_top), ways in found.items()]


def _partitions(total: int, parts: int, most: int | None = None) -> list[tuple[int, ...]]:
    """Non-increasing positive numbers, at most `parts` of them, that add up to `total`."""
    if total == 0:
        return [()]
    if parts == 0:
        return []
    most = total if most is None else min(most, total)
    return [
        (first, *rest)
        for first in range(most, 0, -1)
        for rest in _partitions(total - first, parts - 1, first)
    ]


def distinct_donors(donors: int, releases: int) -> float:
    """Expected number of different donor values seen in M releases at q = 1 (coupon collector)."""
    return float(donors * (1.0 - (1.0 - 1.0 / donors) ** releases))
