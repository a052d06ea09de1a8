"""Linked over one half: records linked with a probability above one half."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.posterior import SMALLEST_SAMPLE, Sample, weigh
from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import people, percent
from rwn_core.measures.statistics.intervals import exact_interval
from rwn_core.measures.statistics.nearest_points import original_points
from rwn_core.neighbors.distance import point_values

HALF = 0.5 * (1 + 1e-9)  # of two equal candidates neither is above one half
SHOWN = 10  # records that the detail names


def reading(
    found: WorstCase,
    n: int,
    far: tuple[Integers, Floats] | None = None,
    units: Integers | None = None,
) -> Reading:
    """Return the share of rows with a posterior of the true original above one half."""
    # The larger share of row by row and given all rows. Random rows: the upper 97.5 % confidence
    # limit if a row is above one half, also one of `far` (records that are far from the others,
    # and their posteriors); else 0. Of units (n,) with several rows: the share of units with a
    # row above one half, if that is larger.
    links = found.links
    alone, truth, records = float((links.truth > HALF).mean()), links.truth, links.rows
    together = None
    if found.together is not None and not links.sampled:
        given_all = found.together.truth[links.rows]
        together = float((given_all > HALF).mean())
        truth = given_all if together > alone else truth
    share = max(alone, together or 0.0)
    value, interval, above = share, None, None
    if links.sampled:
        interval = exact_interval(round(share * len(truth)), len(truth))
        if far is not None:
            records = np.concatenate((records, far[0]))
            records, first = np.unique(records, return_index=True)
            truth = np.concatenate((truth, far[1]))[first]
        value = interval[1] if (truth > HALF).any() else 0.0
    if units is not None:
        above = len(np.unique(units[records[truth > HALF]]))
        value = max(value, above / len(np.unique(units[records])))
    worst = np.argsort(-truth, kind="stable")[:SHOWN]
    detail: dict[str, Any] = {
        "share": share,
        "units_above": above,
        "row_by_row": alone,
        "together": together,
        "truth": truth,
        "records": records,
        "records_worst": records[worst],
        "truth_worst": truth[worst],
        "largest": float(truth.max()),
        "over": int((truth > HALF).sum()),
        "random": len(links.rows),
        "rows": len(records),
        "sampled": links.sampled,
        "of": links.total_rows,
    }
    return Reading(value=value, baseline=float(n == 1), interval=interval, detail=detail)


def compute(comparison: Comparison) -> Reading:
    """Return the share of rows with a true original more likely than all others together."""
    found, far, units = worst_case(comparison, bounded=False), None, comparison.units
    if found.links.sampled:
        law, rows = comparison.required_law(), released_rows(comparison.original, comparison.masked)
        try:
            points = point_values(original_points(comparison))[rows]
        except NotApplicable:  # no variable has a distance
            points = np.zeros((len(rows), 1))
        rows = np.sort(rows[np.argsort(-(points**2).sum(axis=1), kind="stable")[:SMALLEST_SAMPLE]])
        links, _ = weigh(law, comparison.masked, None, Sample(rows, len(rows)), None, units)
        far = links.rows, links.truth
    return reading(found, comparison.original.n, far, units)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are linked above one half, and the largest probability."""
    detail, way, whose = reading.detail, "", people(reading.value, n)
    if detail["sampled"]:
        high = reading.value or (reading.interval or (0.0, 1.0))[1]
        whose = f"{percent(detail['share'])} of {detail['random']:,} random rows"
        way = (
            f" ({detail['over']:,} people, with the {detail['rows'] - detail['random']:,} farthest "
            f"ones looked at): of all {detail['of']:,} rows at most {percent(high)}"
        )
    elif detail["together"] is None:
        way = ", one row at a time"
    if detail["units_above"]:  # of people with several rows
        whose = people(detail["share"], n) if not detail["sampled"] else whose
        whose += f", of {detail['units_above']:,} different ones,"
    return (
        f"An intruder who holds the original file and knows the method links {whose} with a "
        f"probability above one half{way}; the largest probability of one record is "
        f"{percent(detail['largest'])}."
    )


MEASURE = Measure(
    key="linked_over_half",
    title="Linked over one half",
    side="risk",
    unit="share of records",
    question="For how many released records is the true original more likely than all others "
    "together, to an intruder who holds the whole original file and knows the method and its "
    "parameters, but not the key?",
    sentence=sentence,
    source="Bayes' rule on the method's law, as for worst-case linkage: the larger share of a row "
    "at a time and of all rows together; of random rows "
    "the upper end of the 95 % interval (Clopper and Pearson 1934), or 0 where none of them and of "
    "the farthest people's rows is above one half",
    compute=compute,
    of_released=True,
    of_units=True,
    view=View(on={"report": 99, "worst cases": 2}),
)
