"""Total correlation: change of the dependence among all numeric variables together."""

from __future__ import annotations

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import FROM_ZERO, Measure, Reading
from rwn_core.measures.statistics.association import numbers_of_both, shared_correlations


def total_correlation(correlations: Floats, where: str) -> float:
    """Return -1/2 ln det of a correlation matrix, in nats; refuse a singular one."""
    sign, logarithm = np.linalg.slogdet(correlations)
    if sign <= 0 or np.linalg.cond(correlations) > 1e10:
        raise NotApplicable(
            f"In the {where} some variables follow from the ranks of others, so total correlation "
            "is infinite."
        )
    return max(0.0, -0.5 * float(logarithm))


def normal_scores(values: Floats) -> Floats:
    """Return normal quantiles of each column's ranks / (n + 1), ties at their mean rank."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri(rankdata(values, axis=0) / (len(values) + 1)), dtype=np.float64)


def compute(comparison: Comparison) -> Reading:
    """Return the absolute change of the total correlation of the variables' normal scores."""
    names, own, released = numbers_of_both(comparison, "total correlations")
    before = comparison.cached_for_original(
        ("total correlation", names),
        lambda: total_correlation(shared_correlations(normal_scores(own)), "original"),
    )
    after = total_correlation(shared_correlations(normal_scores(released)), "release")
    detail = {"names": list(names), "original": before, "released": after}
    return Reading(value=abs(after - before), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="total_correlation",
    title="Total correlation",
    side="utility",
    bounds=FROM_ZERO,
    unit="nats",
    question="How far did the dependence among all numeric variables together move?",
    source="Watanabe 1960 (multi-information), under a normal copula: of ranks, so that neither "
    "units nor outliers count; counted in classes, as in the authors' experiments of 2023, it is "
    "nearly the same for related and unrelated variables as soon as there are many",
    compute=compute,
)
