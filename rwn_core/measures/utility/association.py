"""Associations of all pairs of variables: mean change."""

from __future__ import annotations

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.association import (
    is_category,
    original_associations,
    pair_changes,
    released_associations,
    shown,
)


def compute(comparison: Comparison) -> Reading:
    """Return the mean absolute change of the association of all pairs of variables."""
    original = comparison.original
    names = [variable.name for variable in original.schema.released]
    if len(names) < 2:
        raise NotApplicable("Association needs at least two variables.")
    category = is_category(original)
    before = shown(original_associations(comparison), category)
    after = shown(released_associations(comparison), category)
    change = pair_changes(before, after, "No pair of variables varies in both tables.")
    detail = {
        "names": names,
        "original": before,
        "released": after,
        "coefficient": category[:, None] + category[None, :],
        "mean_absolute_change": float(change.mean()),
        "pairs": len(change),
    }
    return Reading(value=float(change.mean()), baseline=0.0, detail=detail)


MEASURE = Measure(
    key="association",
    title="Associations",
    side="utility",
    bounds=(0.0, 2.0),
    unit="mean absolute change",
    question="How far did the association of pairs of variables move, categories among them?",
    source="Pearson; correlation ratio (Kelley 1935); Cramer's V (Bergsma 2013)",
    compute=compute,
    view=View(charts=("association",), bands={"released": (-1.0, 1.0)}),
)
