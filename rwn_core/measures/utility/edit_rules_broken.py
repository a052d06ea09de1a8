"""Edit rules: released records that break one, compared with the original."""

from __future__ import annotations

import numpy as np

from rwn_core.errors import NotApplicable, SchemaError
from rwn_core.measures.comparison import RELEASED, Comparison, require_values
from rwn_core.measures.measure import Measure, Reading


def compute(comparison: Comparison) -> Reading:
    """Return the share of the released records that break an edit rule."""
    original, masked = comparison.original, comparison.masked
    rules = original.schema.edit_rules
    if not rules:
        raise NotApplicable("The schema has no edit rules; write them on the Data page.")
    require_values(masked)
    before = comparison.cached_for_original(
        ("edit rules", rules), lambda: [rule.broken(original.frame) for rule in rules]
    )
    try:
        after = [rule.broken(masked.frame) for rule in rules]
    except SchemaError as refusal:
        raise NotApplicable(f"{str(refusal).rstrip('.')}{RELEASED}.") from None
    some = [int(np.any(broken, axis=0).sum()) for broken in (before, after)]
    detail = {
        "names": [rule.text for rule in rules],
        "original": np.array([broken.sum() for broken in before], dtype=np.int64),
        "released": np.array([broken.sum() for broken in after], dtype=np.int64),
        "any_original": some[0],
        "any_released": some[1],
    }
    return Reading(value=some[1] / masked.n, baseline=some[0] / original.n, detail=detail)


MEASURE = Measure(
    key="edit_rules_broken",
    title="Edit rules broken",
    side="utility",
    unit="share of records",
    question="How many released records contradict themselves by the rules of the schema?",
    source="edit rules of the schema, each record counted once; Fellegi and Holt 1976",
    compute=compute,
)
