"""Linked over one half: records linked with a probability above one half."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import people, percent
from rwn_core.measures.statistics.intervals import exact_interval

HALF = 0.5 * (1 + 1e-9)  # of two equal candidates neither is above one half
SHOWN = 10  # records that the detail names


def reading(found: WorstCase, n: int) -> Reading:
    """Return the share of rows with a posterior of the true original above one half."""
    # The larger share of row by row and given all rows. For random rows the value is the upper 97.5
    # % confidence limit, and the detail's "share" is that of the rows.
    links = found.links
    alone, truth = float((links.truth > HALF).mean()), links.truth
    together = None
    if found.together is not None and not links.sampled:
        given_all = found.together.truth[links.rows]
        together = float((given_all > HALF).mean())
        truth = given_all if together > alone else truth
    share = max(alone, together or 0.0)
    value, interval = share, None
    if links.sampled:
        interval = exact_interval(round(share * len(truth)), len(truth))
        value = interval[1]
    worst = np.argsort(-truth, kind="stable")[:SHOWN]
    detail: dict[str, Any] = {
        "share": share,
        "row_by_row": alone,
        "together": together,
        "truth": truth,
        "records": links.rows,
        "records_worst": links.rows[worst],
        "truth_worst": truth[worst],
        "largest": float(truth.max()),
        "rows": len(links.rows),
        "sampled": links.sampled,
        "of": links.total_rows,
    }
    return Reading(value=value, baseline=float(n == 1), interval=interval, detail=detail)


def compute(comparison: Comparison) -> Reading:
    """Return the share of rows with a true original more likely than all others together."""
    return reading(worst_case(comparison, bounded=False), comparison.original.n)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are linked above one half, and the largest probability."""
    detail = reading.detail
    largest = f"; the largest probability of one record is {percent(detail['largest'])}."
    if detail["sampled"]:
        return (
            "An intruder who holds the original file and knows the method links "
            f"{percent(detail['share'])} of {detail['rows']:,} random rows with a probability "
            f"above one half: of all rows at most {percent(reading.value)}{largest}"
        )
    way = "" if detail["together"] is not None else ", one row at a time"
    return (
        f"An intruder who holds the original file and knows the method links "
        f"{people(reading.value, n)} with a probability above one half{way}{largest}"
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
    "at a time and of all rows together; of random rows the upper end of the 95 % interval "
    "(Clopper and Pearson 1934)",
    compute=compute,
    of_released=True,
)
