"""Rank correlations: change of the monotone relation of each pair."""

from __future__ import annotations

from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, matrix
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.association import pair_changes, rank_correlation_matrix

RANKED = (Kind.CONTINUOUS, Kind.COUNT, Kind.ORDERED, Kind.DATE)


def compute(comparison: Comparison) -> Reading:
    """Return the mean absolute change of Spearman's correlation of all ranked pairs."""
    original = comparison.original
    names = [v.name for v in original.schema.released if v.kind in RANKED]
    if len(names) < 2:
        raise NotApplicable(
            "Rank correlations need at least two variables whose values have order."
        )
    before = comparison.cached_for_original(
        "rank correlations", lambda: rank_correlation_matrix(matrix(original, original, names))
    )
    after = rank_correlation_matrix(matrix(original, comparison.masked, names))
    refusal = "No pair of variables whose values have order varies in both tables."
    change = pair_changes(before, after, refusal)
    detail = {
        "names": names,
        "original": before,
        "released": after,
        "pairs": len(change),
    }
    return Reading(value=float(change.mean()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="rank_correlation",
    title="Rank correlations",
    side="utility",
    bounds=(0.0, 2.0),
    unit="mean absolute change",
    question="How far did the monotone relations of pairs of variables move?",
    source="Spearman 1904",
    compute=compute,
)
