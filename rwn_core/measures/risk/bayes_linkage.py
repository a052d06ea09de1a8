"""Worst-case linkage by an intruder with the original file and the method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.measures.attacks.worst_case import WorstCase, linked, worst_case
from rwn_core.measures.comparison import Comparison, require_same_records
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import mean_interval


def reading(found: WorstCase, random_share: float, names: Sequence[str]) -> Reading:
    """Return the reading of the worst case of linking by `names`, and of random links."""
    links, interval = found.links, None
    if links.sampled:
        interval = mean_interval(links.best, links.total_rows)
    detail: dict[str, Any] = {
        "names": list(names),
        "best": links.best,
        "truth": links.truth,
        "records": links.rows,
        "sampled": links.sampled,
        "of": links.total_rows,
        "rows": len(links.rows),
        "top1": float(links.top1.mean()),
        "top5": float(links.top5.mean()),
        "same": float(links.same.mean()),
        "above_half": float((links.truth > 0.5).mean()),
        "above_nine_tenths": float((links.truth > 0.9).mean()),
        "candidates": links.candidates,
        **found.detail,
    }
    return Reading(value=found.success, baseline=random_share, interval=interval, detail=detail)


def compute(comparison: Comparison, names: Sequence[str] | None = None) -> Reading:
    """Return the share of correct links of the best attack, by all released variables or some."""
    _check(comparison)
    known = names or [variable.name for variable in comparison.original.schema.released]
    return reading(worst_case(comparison, names), comparison.random_share, known)


def begin(comparison: Comparison) -> Reading:
    """Return the share of correct links without an upper bound."""
    _check(comparison)
    known = [variable.name for variable in comparison.original.schema.released]
    return reading(worst_case(comparison, bounded=False), comparison.random_share, known)


def _check(comparison: Comparison) -> None:
    comparison.required_law("The worst case")
    require_same_records(comparison.original, comparison.masked)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are linked and by which attack."""
    who = "Somebody who holds the original file and knows the method"
    return (
        f"{linked(reading, n, who)}; for {percent(reading.detail['top5'])} of all the right one is "
        "among five candidates."
    )


MEASURE = Measure(
    key="bayes_linkage",
    title="Worst-case linkage",
    side="risk",
    unit="share of records",
    question="How many released records would an intruder link correctly who holds the whole "
    "original file and knows the method and its parameters, but not the key?",
    sentence=sentence,
    at_least="Linkage, at least",
    certain_up_to=LARGEST_ASSIGNMENT,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5; the most "
    "likely assignment of all rows (Burkard, Dell'Amico, Martello 2009); the most likely source "
    "of each row given all rows (Sinkhorn and Knopp 1967, Metropolis and others 1953): whichever "
    "links most",
    compute=compute,
    begin=begin,
    of_released=True,
    of_units=True,
    view=View(charts=("record_risk",), on={"report": 6, "worst cases": 1, "scenarios": 6}),
)
