"""Largest linkage: the highest probability with which an intruder names one record's original."""

from __future__ import annotations

from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison, require_same_records
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent

TITLE = "Largest linkage"


def reading(found: WorstCase, random_share: float) -> Reading:
    """Return the largest posterior of a row: of its most likely original, or of the true one."""
    # For random rows it is a lower bound, which can break a limit and never keep one.
    links = found.links
    alone = float(links.best.max())
    together = None if found.together is None else float(found.together.truth.max())
    standing = "at least" if links.sampled or not found.earned else "worst"
    detail = {
        "row_by_row": alone,
        "together": together,
        "standing": standing,
        "rows": len(links.rows),
        "of": links.total_rows,
    }
    return Reading(value=max(alone, together or 0.0), baseline=random_share, detail=detail)


def compute(comparison: Comparison) -> Reading:
    """Return the largest probability over rows."""
    if comparison.law is None:
        raise NotApplicable("The largest linkage needs the law of the method of the release.")
    require_same_records(comparison.original, comparison.masked)
    return reading(worst_case(comparison, bounded=False), comparison.random_share)


def sentence(reading: Reading, n: int) -> str:
    """Say the largest probability, and of how many rows."""
    known = reading.detail["standing"] == "worst"
    rows = "over every row" if known else "over the rows that were attacked; it may be larger"
    return (
        "The largest probability that an intruder who holds the original file and knows the method "
        f"can give to one original of a row is {percent(reading.value)}, {rows}."
    )


MEASURE = Measure(
    key="largest_linkage",
    title=TITLE,
    side="risk",
    unit="probability",
    question="How sure can an intruder be of the original of the most exposed released record, who "
    "holds the whole original file and knows the method and its parameters, but not the key?",
    sentence=sentence,
    at_least=f"{TITLE}, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the method's law, as for worst-case linkage: the maximum over rows "
    "where worst-case linkage is the mean",
    compute=compute,
    of_released=True,
    of_units=True,
)
