"""Neighborhood size: number of candidate donors of a record."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Booleans, Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading, View
from rwn_core.measures.sentence import percent


def governed_by_k(within: Integers, k: int | None) -> Booleans:
    """Return True for records with fewer than k others within epsilon, shape (n,)."""
    return np.zeros(len(within), dtype=bool) if k is None else within < k


def compute(comparison: Comparison) -> Reading:
    """Return the median number of records in a neighborhood."""
    neighborhoods = None if comparison.law is None else comparison.law.neighborhoods
    if neighborhoods is None:
        raise NotApplicable(
            "Only a method that draws from neighborhoods has neighborhood sizes, and the tables "
            "alone do not tell them."
        )
    governed = governed_by_k(neighborhoods.within, neighborhoods.k)
    sizes = neighborhoods.effective_sizes
    median = float(np.median(sizes))
    nearest = neighborhoods.nearest
    # of a record without neighbors in a large table it is known only that they lie beyond epsilon
    nearest = np.where(np.isnan(nearest), neighborhoods.radius, nearest)
    detail = {
        "sizes": sizes,
        "nearest": nearest,
        "epsilon": neighborhoods.epsilon,
        "k": neighborhoods.k,
        "governed_by_k": governed,
        "median": median,
        "share_governed_by_k": float(governed.mean()),
    }
    return Reading(value=median, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how large a typical neighborhood is, and how often k decides."""
    detail = reading.detail
    end = "."
    if detail["k"] is None and detail["epsilon"] is None:
        return (
            f"The donor of a typical record's value is as uncertain as one of {reading.value:,.0f} "
            "equally likely others."
        )
    if detail["k"] is not None:
        share = percent(detail["share_governed_by_k"])
        end = f"; {share} of the records have fewer than {detail['k']} within ε."
    return f"The donor of a typical record's value is one of {reading.value:,.0f} others{end}"


MEASURE = Measure(
    key="neighborhood_size",
    title="Neighborhood sizes",
    side="risk",
    better="higher",
    bounds=FROM_ZERO,
    unit="records (median)",
    question="From how many records is the donor of a cell drawn?",
    sentence=sentence,
    source="Perry, Matloff, Tendick 2022, sections 5 and 8, figure 1",
    compute=compute,
    reads_some=True,
    view=View(charts=("neighborhood_size",), on={"report": 12, "tune": 1}),
)
