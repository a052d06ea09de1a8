"""What several releases of one table add up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likelihood import attacked_units, likelihoods
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.row_mixture import RowMixtureLaw

LARGEST_PAIRS = 6_250_000  # of records that are held at a time


def bhattacharyya(
    law: CellLaw, names: Sequence[str] | None = None, records: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """How alike two records' releases are: BC_il = product of sum over v of sqrt(P_ij(v) P_lj(v)).

    Parameters
    ----------
    law : CellLaw
    names : sequence of str, optional
        The attacked variables; all by default.
    records : ndarray of int64, shape (m,), optional
        The records i; all by default.

    Returns
    -------
    ndarray of float64, shape (m, n)
        From 0 (never alike) to 1 (the same law); 1 for a record and itself.

    Raises
    ------
    NotApplicable
        Too many pairs.

    Notes
    -----
    For a method that keeps or masks whole rows this is an upper bound, so that
    `success_bounds` stays a lower bound: with sqrt(a + b) <= sqrt(a) + sqrt(b), the sum of what
    kept with kept, kept with masked, and masked with masked rows have in common.
    """
    records = np.arange(law.original.n) if records is None else records
    if isinstance(law, RowMixtureLaw):
        return _alike_at_most(law, names, records)
    return _pairwise(law, names, np.sqrt, records)


def _alike_at_most(
    law: RowMixtureLaw, names: Sequence[str] | None, records: NDArray[np.int64]
) -> NDArray[np.float64]:
    share, drawn = law.row_share, law.given(selected=True)
    both_drawn = _pairwise(drawn, names, np.sqrt, records)
    both_kept = _pairwise(law.given(selected=False), names, np.sqrt, records)
    one_drawn = _become(drawn, names, records)
    touched = [
        name for unit in attacked_units(law, names) for name in unit if law.modification(name)
    ]
    if law.empty.size and touched:  # their masked values are lost: like each other at most
        lost = np.zeros(law.original.n, dtype=bool)
        lost[law.empty] = True
        both_drawn[np.ix_(lost[records], lost)] = 1.0
        if law.original.frame[touched].isna().any().all():  # like any row of missing values
            both_drawn[lost[records]], both_drawn[:, lost], one_drawn[:, lost] = 1.0, 1.0, 1.0
            one_drawn[lost[records]] = 2.0
    alike = (1 - share) * both_kept + np.sqrt(share * (1 - share)) * one_drawn + share * both_drawn
    alike[np.arange(len(records)), records] = 1.0
    return np.asarray(np.minimum(alike, 1.0))


def _become(
    drawn: CellLaw, names: Sequence[str] | None, records: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The roots of P(i releases l's row) and of P(l releases i's), added up, shape (m, n)."""
    n = drawn.original.n
    one, other = np.ones((len(records), n)), np.ones((len(records), n))
    for unit in attacked_units(drawn, names):
        table, columns = drawn.likelihood_columns(unit, drawn.original, np.arange(n))
        one *= sparse.csr_array(table)[records].toarray()[:, columns]
        other *= table[:, columns[records]].toarray().T
    return np.asarray(np.sqrt(one) + np.sqrt(other))


def coincidence(law: CellLaw, names: Sequence[str] | None = None) -> NDArray[np.float64]:
    """P(two independent releases of a record are the same row), shape (n,).

    Raises
    ------
    NotApplicable
        Too many pairs, or a law whose cells are not independent.
    """
    if isinstance(law, RowMixtureLaw):
        raise NotApplicable("This is for a method that draws each cell independently.")
    records = np.arange(law.original.n)
    return np.diagonal(_pairwise(law, names, lambda share: share, records)).copy()


def _pairwise(
    law: CellLaw,
    names: Sequence[str] | None,
    change: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    records: NDArray[np.int64],
) -> NDArray[np.float64]:
    n, m = law.original.n, len(records)
    if m * n > LARGEST_PAIRS:
        raise NotApplicable(
            f"At most {LARGEST_PAIRS:,} pairs of records are compared, and {m:,} records of "
            f"{n:,} have more."
        )
    result = np.ones((m, n))
    for unit in attacked_units(law, names):
        table, _ = law.likelihood_columns(unit, law.original, np.arange(n))
        values = sparse.csr_array(table)
        values.data = change(values.data)
        result *= np.clip((values[records] @ values.T).toarray(), 0.0, 1.0 + 1e-12)
    return np.minimum(result, 1.0)


def bounds_of_records(
    alike: NDArray[np.float64], releases: Sequence[int], records: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Lower bound on P(the intruder links a record rightly) after M releases.

    Parameters
    ----------
    alike : ndarray of float64, shape (m, n)
        From `bhattacharyya`.
    releases : sequence of int
        The numbers M.
    records : ndarray of int64, shape (m,), optional
        Those of `alike`; all by default.

    Returns
    -------
    ndarray of float64, shape (len(releases), m)
        1 - sum over the others of BC^M, cut at 0.

    References
    ----------
    Union bound over the pairwise errors of the likelihood ratio; ties count as failures.
    """
    others = alike.copy()
    others[np.arange(len(others)), np.arange(len(others)) if records is None else records] = 0.0
    return np.array([np.maximum(0.0, 1.0 - (others**times).sum(axis=1)) for times in releases])


def success_bounds(alike: NDArray[np.float64], releases: Sequence[int]) -> NDArray[np.float64]:
    """`bounds_of_records` averaged over all records, shape (len(releases),)."""
    return np.asarray(bounds_of_records(alike, releases).mean(axis=1))


def success_after(
    law: CellLaw,
    releases: Sequence[Microdata],
    names: Sequence[str] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """The intruder's expected success after the first, the first two, ... of some releases.

    Parameters
    ----------
    law : CellLaw
    releases : sequence of Microdata
        Of one setting, independently drawn, rows aligned across them.
    names : sequence of str, optional
    rows : ndarray of int64, shape (m,), optional
        Released rows to link; all by default.

    Returns
    -------
    ndarray of float64, shape (len(releases),)
    """
    rows = np.arange(releases[0].n) if rows is None else rows
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
