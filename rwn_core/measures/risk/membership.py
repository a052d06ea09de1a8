"""Membership: whether a person's own values betray that the person is in the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.value_survival import appearance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.row_mixture import RowMixtureLaw


def fingerprints(law: CellLaw) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """P(a value that only this record has appears anywhere in the release), for every record.

    Parameters
    ----------
    law : CellLaw
        Of n records.

    Returns
    -------
    appears : ndarray of float64, shape (n,)
        0 for a record without a value of its own.
    own : ndarray of int64, shape (n,)
        How many values only this record has.
    """
    if isinstance(law, RowMixtureLaw):
        return _of_whole_rows(law)
    n = law.original.n
    rows = np.arange(n)
    missed, own = np.ones(n), np.zeros(n, dtype=np.int64)
    for unit in law.units():
        table, columns = law.likelihood_columns(unit, law.original, rows)
        alone = np.bincount(columns, minlength=table.shape[1])[columns] == 1
        missed *= np.where(alone, 1.0 - appearance(table)[columns], 1.0)  # columns are independent
        own += alone
    return np.clip(1.0 - missed, 0.0, 1.0), own


def _of_whole_rows(law: RowMixtureLaw) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Where a row is kept or masked as a whole: its columns depend on each other."""
    n = law.original.n
    masked, unmasked = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for unit in law.units():
        _, columns = law.likelihood_columns(unit, law.original, np.arange(n))
        alone = np.bincount(columns)[columns] == 1
        counted = masked if law.modification(unit[0]) else unmasked
        counted += alone
    pairs = sparse.coo_array(law.members)
    donor = pairs.coords[1]
    # a selected receiver takes none of the donor's values in any of the columns where it is alone
    none = (1.0 - pairs.data) ** masked[donor]
    taken = np.log1p(-np.minimum(law.row_share * (1.0 - none), 1 - 1e-16))
    elsewhere = np.exp(np.bincount(donor, taken, n))
    missed = np.where(masked > 0, law.row_share, 1.0) * elsewhere * (unmasked == 0)
    return np.clip(1.0 - missed, 0.0, 1.0), masked + unmasked


def compute(comparison: Comparison) -> Reading:
    """Mean chance that one of a record's own values appears in the release."""
    if comparison.law is None:
        raise NotApplicable("Membership needs the law of the method that made the release.")
    appears, own = fingerprints(comparison.law)
    detail = {
        "appears": appears,
        "own_values": own,
        "share_with_own_values": float((own > 0).mean()),
        "above_nine_tenths": float((appears > 0.9).mean()),
    }
    return Reading(value=float(appears.mean()), baseline=0.0, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how surely a person's own values appear."""
    return (
        f"On average a person's own unique values appear with probability "
        f"{percent(reading.value)}; for {percent(reading.detail['above_nine_tenths'])} of the "
        "people that is nearly certain."
    )


MEASURE = Measure(
    key="membership",
    title="Membership",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="mean probability",
    question="How likely is it that the release shows a value which only one person has, and so "
    "tells that this person is in the file?",
    sentence=sentence,
    source="Cell law of Perry, Matloff, Tendick 2022, section 5; Matloff and Tendick 2015 on "
    "membership",
    compute=compute,
)
