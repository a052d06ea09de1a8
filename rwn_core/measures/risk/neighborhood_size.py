"""Neighborhood size: from how many records a cell's donor is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent


def governed_by_k(within: NDArray[np.int64], k: int | None) -> NDArray[np.bool_]:
    """Which records' neighborhoods reach beyond epsilon to hold k members.

    Parameters
    ----------
    within : ndarray of int64, shape (n,)
        Number of other records within epsilon.
    k : int or None

    Returns
    -------
    ndarray of bool, shape (n,)

    Examples
    --------
    >>> governed_by_k(np.array([0, 5, 9]), 5).tolist()
    [True, False, False]
    """
    return np.zeros(len(within), dtype=bool) if k is None else within < k


def compute(comparison: Comparison) -> Reading:
    """Median number of records in a neighborhood."""
    neighborhoods = None if comparison.law is None else comparison.law.neighborhoods
    if neighborhoods is None:
        raise NotApplicable(
            "Only a method that draws from neighborhoods has neighborhood sizes, and the tables "
            "alone do not tell them."
        )
    governed = governed_by_k(neighborhoods.within, neighborhoods.k)
    median = float(np.median(neighborhoods.sizes))
    nearest = neighborhoods.nearest
    # of a record without neighbors in a large table it is known only that they lie beyond epsilon
    nearest = np.where(np.isnan(nearest), neighborhoods.radius, nearest)
    detail = {
        "sizes": neighborhoods.sizes,
        "nearest": nearest,
        "epsilon": neighborhoods.epsilon,
        "k": neighborhoods.k,
        "governed_by_k": governed,
        "median": median,
        "share_governed_by_k": float(governed.mean()),
    }
    return Reading(value=median, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say among how many a donor is drawn, and for how many the radius plays no part."""
    detail = reading.detail
    end = "."
    if detail["k"] is not None:
        share = percent(detail["share_governed_by_k"])
        end = f"; {share} of the records have fewer than {detail['k']} within ε."
    return f"The donor of a typical record's value is one of {reading.value:,.0f} others{end}"


MEASURE = Measure(
    key="neighborhood_size",
    title="Neighborhood sizes",
    side="risk",
    better="higher",
    bounds=(0.0, float("inf")),
    unit="records (median)",
    question="From how many records is the donor of a cell drawn?",
    sentence=sentence,
    source="Perry, Matloff, Tendick 2022, sections 5 and 8, figure 1",
    compute=compute,
    reads_some=True,
)
