"""Abstaining linkage: links of an intruder that are correct with high precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.abstention import Curve, curve
from rwn_core.measures.attacks.posterior import Linkage, link
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import share_interval
from rwn_core.measures.statistics.key_variables import key_names

SURE = 0.95
"""The precision at which the share of linked people is read."""
PRECISIONS = (0.99, SURE, 0.8, 0.5)
"""Those at which it is stated."""


def _links(comparison: Comparison, law: Law, names: Sequence[str] | None) -> Linkage:
    key = ("links", None if names is None else tuple(names))
    return comparison.cached_for_release(key, lambda: link(law, comparison.masked, names))


def _plain(found: Curve) -> dict[str, Any]:
    return {
        **found.thinned()._asdict(),
        "at_sure": found.recall_at(SURE),
        "at": [found.recall_at(precision) for precision in PRECISIONS],
    }


def compute(comparison: Comparison) -> Reading:
    """Return the share of the rows linked with 95 % precision, on all variables and by the keys."""
    law = comparison.law
    if law is None:
        raise NotApplicable(
            "How sure an intruder may be follows from the law of the method that made the release."
        )
    links, keys = _links(comparison, law, None), key_names(comparison)
    found, by_keys = curve(links.best), curve(_links(comparison, law, keys).best)
    value = found.recall_at(SURE)
    detail: dict[str, Any] = {
        "names": list(keys),
        "sure": SURE,
        "precisions": list(PRECISIONS),
        "all": _plain(found),
        "keys": _plain(by_keys),
        "success": links.success,
        "sampled": links.sampled,
        "records": links.rows,
        "of": links.total_rows,
    }
    interval = None
    if links.sampled:
        low, high = share_interval(value * len(links.rows), len(links.rows)).tolist()
        interval = (low, high)
    return Reading(value=value, baseline=0.0, interval=interval, detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many rows are linked with certainty, and the average success."""
    detail, keys = reading.detail, reading.detail["keys"]["at_sure"]
    who = "Who holds the original file, knows the method and links only rows that he is sure of"
    everybody = f"who links everybody is right for {percent(detail['success'])}."
    if not reading.value:
        by_keys = f", by the keys alone {percent(keys)} of them" if keys else ""
        return f"{who} links nobody if {percent(SURE)} must be right{by_keys}; {everybody}"
    return (
        f"{who} links {percent(reading.value)} of the people, and {percent(SURE)} of these links "
        f"are right (by the keys alone: {percent(keys)} of the people); {everybody}"
    )


MEASURE = Measure(
    key="abstaining_linkage",
    title="Linked with certainty",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many records can an intruder link who knows the whole original file and the "
    "method, and keeps silent unless 95 % of his links are right?",
    sentence=sentence,
    source="Bayes' rule on the method's law: expected precision and recall over the least "
    "probability at which a row is linked",
    compute=compute,
    of_released=True,
)
