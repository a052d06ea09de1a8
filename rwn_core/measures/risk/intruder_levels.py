"""Intruder levels: ordinary and worst-case intruders side by side on the key variables."""

from __future__ import annotations

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.scenarios import levels
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import key_names


def compute(comparison: Comparison) -> Reading:
    """Success of the intruder who knows the keys and all neighborhoods, beside four others."""
    keys = key_names(comparison)
    intruders = levels(comparison, keys)
    known = {level.key: level.success for level in intruders}
    value = known["L3"]
    if value is None:
        raise NotApplicable(next(level.reason for level in intruders if level.key == "L3"))
    detail = {
        "names": list(keys),
        "levels": [level.key for level in intruders],
        "words": [level.words for level in intruders],
        "success": [level.success for level in intruders],
        "reasons": [level.reason for level in intruders],
    }
    return Reading(value=value, baseline=known["L0"], detail=detail)


MEASURE = Measure(
    key="intruder_levels",
    title="Linkage by the keys, worst case",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many released records would an intruder link rightly who knows the key "
    "variables of everybody, the method and all neighborhoods?",
    sentence=filled(
        "Knowing only {keys} of everybody, and the neighborhoods, is enough to link {people}."
    ),
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; distance "
    "linkage after Domingo-Ferrer and Torra 2001",
    compute=compute,
)
