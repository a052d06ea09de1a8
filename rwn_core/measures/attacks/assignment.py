"""What all released rows together tell: each original record is the source of one row only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.exchangeable_records import assigned
from rwn_core.measures.attacks.likelihood import likelihoods
from rwn_core.mechanism.law import Law

LARGEST_ASSIGNMENT = 1500  # records: the assignment takes about n^3 steps
_FORBIDDEN = 1e6  # costs more than any row's log-likelihood can save


def whole_file_links(
    law: Law,
    masked: Microdata,
    names: Sequence[str] | None,
    orders: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> NDArray[np.int64]:
    """The original that the most likely assignment gives to every released row.

    Parameters
    ----------
    law : Law
        Of n records.
    masked : Microdata
        One row for each.
    names : sequence of str or None
        The variables the intruder knows; all if None.
    orders : pair of ndarray of int64, shape (n,), optional
        Canonical orders of originals and rows, which settle ties; file order if left out.

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    NotApplicable
        Too many records, or not one row for each.

    References
    ----------
    Burkard, Dell'Amico, Martello 2009, chapter 4 (linear assignment of log-likelihoods).
    """
    n = law.original.n
    if masked.n != n:
        raise NotApplicable(
            "The released table has another number of records than the original, so not every "
            "original has a row of its own."
        )
    if n > LARGEST_ASSIGNMENT:
        raise NotApplicable(
            f"The assignment of all records at once is computed for at most "
            f"{LARGEST_ASSIGNMENT:,} records, and the table has {n:,}; look at the worst-case "
            "linkage, which is a lower bound."
        )
    # each row's likelihoods have a scale of their own, which an assignment does not care for
    dense = likelihoods(law, masked, np.arange(n), names)[0].toarray()
    with np.errstate(divide="ignore"):
        cost = np.where(dense > 0, -np.log(dense), _FORBIDDEN)
    return assigned(cost, *(orders or (np.arange(n), np.arange(n))))
