"""Say whether one release gives valid intervals by itself, and what its analysts may do with it.

Let Q hold the probability that each record's values of a slice come from each other record, with
rows and columns of sum 1, and let f be any function of the slice's variables. Given the original,
the mean of f over a release has the mean of the original for its expectation, and the variance

    (sum_l f_l^2 - sum_i (Q f)_i^2) / n^2  <=  (variance of f with divisor n) / n

by the inequality of Cauchy and Schwarz, since (Q f) and f have the same sum. The masking adds at
most the variance of an independent sample, so twice the variance is enough, whatever kernel, width
and q were: standard errors times the square root of 2. It is attained where every record is as
likely a donor as any other. Estimators that solve equations of such means follow to first order.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

from rwn_core.data.belonging import belonging
from rwn_core.data.belonging.gate import dependence
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import Belong
from rwn_core.laws.law import Law
from rwn_core.masking.sliced_method import BALANCED

FACTOR = math.sqrt(2)
"""By which a robust standard error of a balanced release covers sampling and masking."""
FEWEST_RECORDS = 60


def valid_intervals(original: Microdata, law: Law | None, records: int) -> dict[str, Any]:
    """Judge a release of so many records by the law that drew it, in public facts only.

    Returns
    -------
    dict
        `records`; `refusal`, empty where intervals inside a slice hold, else "drift", "clustered",
        "series" or "few"; `found`, the kinds of rows together that the data show; `stated`, what
        the steward says of them, or empty; and `slices`, the variables that take their values from
        one donor. Those that no record modifies stay with the row, so that they are one slice.
    """
    stated = original.schema.rows
    answer: dict[str, Any] = {
        "records": records,
        "slices": [],
        "refusal": "drift",
        "found": [str(of) for of in belonging(original).kinds],
        "stated": "" if stated is None else str(stated.of),
    }
    found = getattr(law, "neighborhoods", None)  # of donors
    if law is None or found is None:
        return answer
    if found.kernel.balance == 1 and found.imbalance <= BALANCED:
        answer["refusal"] = _refusal(original, records)
    return answer | {"slices": _slices_without_drift(original, law)}


def _slices_without_drift(original: Microdata, law: Law) -> list[list[str]]:
    """Return the slices of which every value is drawn as often, and what no record modifies."""
    drawn = [list(unit) for unit in law.units() if law.modification(unit[0])]
    moved = set(chain.from_iterable(drawn))
    unmoved = [v.name for v in original.schema.released if v.name not in moved]
    imbalances = {name: each.neighborhoods.imbalance for name, each in law.later.items()}
    drifting = {name for name, imbalance in imbalances.items() if not imbalance <= BALANCED}
    slices = [names for names in drawn if names[0] not in drifting]
    if unmoved:  # it stays with the row
        slices.append(unmoved)
    return slices


def _refusal(original: Microdata, records: int) -> str:
    """Return why no interval of a balanced release holds; empty where they do."""
    together = dependence(original)
    if together is not None:
        return "series" if together is Belong.SERIES else "clustered"
    return "few" if records < FEWEST_RECORDS else ""
