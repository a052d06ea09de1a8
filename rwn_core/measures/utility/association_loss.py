"""Relations lost: share of the relations between variables that a release no longer shows."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.statistics.association import (
    GONE,
    faded,
    original_associations,
    original_chance,
    relation_loss,
    released_associations,
)


def compute(comparison: Comparison) -> Reading:
    """Return the share of the original's relations that is lost."""
    names = [variable.name for variable in comparison.original.schema.released]
    if len(names) < 2:
        raise NotApplicable("Relations need at least two variables.")
    before, after = original_associations(comparison), released_associations(comparison)
    if np.isnan(after[np.triu_indices(len(names), 1)]).all():
        raise NotApplicable("No pair of variables varies in the released table.")
    loss = relation_loss(before, after, original_chance(comparison))
    if np.isnan(loss.value):
        raise NotApplicable(
            "No two variables of the original are related beyond chance, so that there is no "
            "relation to lose; choose another measure."
        )
    detail = {
        "pairs": int((loss.weight > 0).sum()),
        "invented": loss.invented,
        "faded": faded(names, before, after, loss),
        "gone": faded(names, before, after, loss, GONE),
    }
    return Reading(value=loss.value, baseline=0.0, detail=detail)


MEASURE = Measure(
    key="association_loss",
    title="Relations lost",
    side="utility",
    unit="share of all relations between variables",
    question="How much of the relations between variables is lost: 0 none, 1 all?",
    source="Pearson; correlation ratio (Kelley 1935); Cramer's V (Bergsma 2013); chance: "
    "Kazi-Aoual and others 1995",
    compute=compute,
    view=View(recorded=("faded", "gone", "invented"), on={"report": 99}),
)
