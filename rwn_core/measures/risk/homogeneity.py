"""Homogeneity: neighborhoods in which everybody has the same confidential value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.aligned import codes
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.key_variables import required_confidential

NEAR = 0.1  # standard deviations that count as one value
SHARE = 0.9  # of a neighborhood with one value


def same_share(
    members: sparse.csr_array, values: NDArray[np.float64], tolerance: float
) -> NDArray[np.float64]:
    """Share of S_i and i itself that has record i's value, shape (n,); 0 where S_i is empty.

    Parameters
    ----------
    members : sparse array, shape (n, n)
        Row i is nonzero for the members of S_i.
    values : ndarray of float64, shape (n,)
        NaN where missing; two missing values are the same.
    tolerance : float
        How near two values count as the same.
    """
    sizes = np.diff(members.indptr)
    owner = np.repeat(np.arange(len(values)), sizes)
    one, two = values[owner], values[members.indices]
    with np.errstate(invalid="ignore"):
        fits = (np.abs(one - two) <= tolerance) | (np.isnan(one) & np.isnan(two))
    share = (1 + np.bincount(owner, fits, len(values))) / (1 + sizes)
    # a record without neighbors loses its values: there is no neighborhood to tell them
    return np.asarray(np.where(sizes > 0, share, 0.0), dtype=np.float64)


def compute(comparison: Comparison) -> Reading:
    """Share of records whose neighborhood discloses a confidential value without any linkage."""
    secrets = required_confidential(comparison)
    law = comparison.law
    if law is None:
        raise NotApplicable("Homogeneity needs the neighborhoods of the method.")
    original = comparison.original
    share = np.empty(len(secrets))
    common = np.empty(len(secrets))
    for number, name in enumerate(secrets):
        values, tolerance = _values(comparison, name)
        share[number] = (same_share(law.members, values, tolerance) >= SHARE).mean()
        ordered = np.sort(values[~np.isnan(values)])
        alike = np.searchsorted(ordered, ordered + tolerance, "right") - np.searchsorted(
            ordered, ordered - tolerance, "left"
        )
        common[number] = float((alike / original.n >= SHARE).sum() / original.n)
    detail: dict[str, Any] = {
        "secrets": list(secrets), "share": share, "whole_file": common, "limit": SHARE,
    }  # fmt: skip
    return Reading(value=float(share.mean()), baseline=float(common.mean()), detail=detail)


def _values(comparison: Comparison, name: str) -> tuple[NDArray[np.float64], float]:
    original = comparison.original
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        code = codes(original, original, name)[0]
        return np.where(code < 0, np.nan, code.astype(np.float64)), 0.0
    values = original.values(name)
    known = values[~np.isnan(values)]
    return values, NEAR * float(known.std(ddof=1)) if len(known) > 1 else 0.0


def sentence(reading: Reading, n: int) -> str:
    """Say for how many no linkage is needed."""
    end = (
        ": no linkage is needed to learn it."
        if reading.value
        else "; other attacks do without that."
    )
    return (
        f"For {people(reading.value, n)} nearly all who may give it values have the record's own "
        f"confidential value{end}"
    )


MEASURE = Measure(
    key="homogeneity",
    title="Homogeneous neighborhoods",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="For how many records do nine of ten in the neighborhood have the record's own "
    "confidential value, so that no linkage is needed to learn it?",
    sentence=sentence,
    source="Machanavajjhala et al. 2007 (homogeneity attack) on the neighborhoods of Perry, "
    "Matloff, Tendick 2022; a number within 0.1 standard deviations is the same",
    compute=compute,
)
