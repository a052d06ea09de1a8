"""Intruder levels: ordinary and worst-case intruders on the key variables."""

from __future__ import annotations

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.assignment import LARGEST_ASSIGNMENT
from rwn_core.measures.attacks.scenarios import levels
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.attacks.worst_case_words import linked
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.key_variables import key_names


def compute(comparison: Comparison) -> Reading:
    """Return the success of an intruder with the keys and all neighborhoods, and of four others."""
    keys = key_names(comparison)
    intruders = levels(comparison, keys)
    known = {level.key: level.success for level in intruders}
    value = known["L3"]
    if value is None:
        raise NotApplicable(next(level.reason for level in intruders if level.key == "L3"))
    detail = {
        "names": list(keys),
        "neighborhoods": comparison.law is not None and comparison.law.neighborhoods is not None,
        "levels": [level.key for level in intruders],
        "words": [level.words for level in intruders],
        "success": [level.success for level in intruders],
        "reasons": [level.reason for level in intruders],
        **worst_case(comparison, keys).detail,
    }
    return Reading(value=value, baseline=known["L0"], detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are linked by the keys and by which attack."""
    keys = ", ".join(reading.detail["names"])
    known = (
        ", the method and the neighborhoods"
        if reading.detail["neighborhoods"]
        else " and the method"
    )
    who = f"Somebody who knows only {keys} of everybody{known}"
    return f"{linked(reading, n, who)}."


MEASURE = Measure(
    key="intruder_levels",
    title="Linkage by the keys, worst case",
    side="risk",
    unit="share of records",
    question="How many released records would an intruder link correctly who knows the key "
    "variables of everybody, the method and all neighborhoods?",
    sentence=sentence,
    at_least="Linkage by the keys, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; distance "
    "linkage after Domingo-Ferrer and Torra 2001",
    compute=compute,
    of_released=True,
)
