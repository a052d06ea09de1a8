"""Abstaining linkage: links of an intruder that are correct with high precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.posterior import Linkage, link
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import percent
from rwn_core.measures.statistics.intervals import share_interval
from rwn_core.measures.statistics.key_variables import key_names

SURE = 0.95
"""The precision at which the share of linked people is read."""
PRECISIONS = (0.99, SURE, 0.8, 0.5)
"""Those at which it is stated."""
POINTS = 200  # of a curve
_DIGITS = 9  # to which two beliefs are the same


class Curve(NamedTuple):
    """Expected precision and recall at each threshold, shape (t,) each."""

    tau: Floats  # least posterior of a row's most likely original at which it is linked, descending
    precision: Floats  # expected share of correct links
    recall: Floats  # share of the rows that are linked

    def recall_at(self, precision: float) -> float:
        """Return the largest recall with at least this precision; 0 if none."""
        enough = self.precision >= precision - 10.0**-_DIGITS
        return float(self.recall[enough].max(initial=0.0))

    def thinned(self) -> Curve:
        """Return about `POINTS` of the points, with the first and the last."""
        if len(self.tau) <= POINTS:
            return self
        chosen = np.unique(np.linspace(0, len(self.tau) - 1, POINTS).astype(np.int64))
        return Curve(*(each[chosen] for each in self))


def curve(best: Floats) -> Curve:
    """Return precision and recall over all thresholds of the posteriors `best`, shape (m,).

    >>> one = curve(np.array([0.5, 1.0, 0.5, 0.0]))
    >>> one.tau.tolist(), one.recall.tolist(), one.precision.round(3).tolist()
    ([1.0, 0.5], [0.25, 0.75], [1.0, 0.667])
    """
    # a link of row r is right with probability best[r]: the mean over linked rows is their
    # expected precision, without simulation (Rao-Blackwell)
    surest = np.sort(np.round(best[best > 0], _DIGITS))[::-1]
    if not surest.size:
        return Curve(*np.empty((3, 0)))
    count = np.arange(1, len(surest) + 1)
    last = np.append(surest[1:] < surest[:-1], True)  # rows of equal belief are linked together
    precision = np.minimum(np.cumsum(surest) / count, 1.0)
    return Curve(surest[last], precision[last], count[last] / len(best))


def _links(
    comparison: Comparison, law: Law, names: Sequence[str] | None, units: Integers | None
) -> Linkage:
    key = ("links", None if names is None else tuple(names), units is None)
    return comparison.cached_for_release(
        key, lambda: link(law, comparison.masked, names, units=units)
    )


def _curve(comparison: Comparison, law: Law, names: Sequence[str] | None) -> tuple[Curve, Linkage]:
    """Return the curve that reaches farthest, by records or by the units they belong to."""
    # rows of equal belief are linked together, so that naming units may reach less far
    links = _links(comparison, law, names, None)
    tried = [(curve(links.best), links)]
    if comparison.units is not None:
        links = _links(comparison, law, names, comparison.units)
        tried.insert(0, (curve(links.best), links))
    return max(tried, key=lambda each: each[0].recall_at(SURE))


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
    keys = key_names(comparison)
    (found, links), (by_keys, _) = _curve(comparison, law, None), _curve(comparison, law, keys)
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
    unit="share of records",
    question="How many records can an intruder link who knows the whole original file and the "
    "method, and keeps silent unless 95 % of his links are right?",
    sentence=sentence,
    source="Bayes' rule on the method's law: expected precision and recall over the least "
    "probability at which a row is linked",
    compute=compute,
    of_released=True,
    of_units=True,
    view=View(charts=("precision_recall",), on={"report": 7, "worst cases": 5}),
)
