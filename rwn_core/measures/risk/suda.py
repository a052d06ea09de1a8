"""Special uniques (SUDA): records that few key variables single out."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled, percent
from rwn_core.measures.statistics.key_variables import cell_codes, classes, key_names

LARGEST = 3  # key variables of a minimal unique that is looked for
MOST_KEYS = 10


class Special(NamedTuple):
    """Hold what minimal uniques say of each record."""

    score: Floats  # shape (n,)
    smallest: Integers  # shape (n,): the size of its smallest minimal unique; 0 where it has none
    # shape (n, m): the share of the score from minimal uniques with each variable; a row's sum is
    # above 1 where they have several
    shares: Floats


def scores(cells: Integers) -> Special:
    """Return each record's SUDA score with the variables that make it."""
    # Elliot, Manning, Ford 2002; Manning, Haglin, Keane 2008. A minimal unique of size k adds the
    # product of (m - i), i = k, ..., LARGEST. Missing (-1) is a value.
    n, m = cells.shape
    score, smallest, parts = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros((n, m))
    unique: dict[tuple[int, ...], Booleans] = {}
    for size in range(1, min(LARGEST, m) + 1):
        weight = float(np.prod([max(m - i, 1) for i in range(size, LARGEST + 1)]))
        for chosen in combinations(range(m), size):
            group = classes(cells[:, chosen])
            alone = np.bincount(group)[group] == 1
            already = np.zeros(n, dtype=bool)  # singled out by fewer of these variables
            for smaller in combinations(chosen, size - 1) if size > 1 else ():
                already |= unique[smaller]
            alone = alone & ~already
            score += weight * alone
            parts[:, chosen] += weight * alone[:, np.newaxis]
            smallest = np.where(alone & (smallest == 0), size, smallest)
            unique[chosen] = alone | already
    return Special(score, smallest, parts / np.where(score > 0, score, 1.0)[:, np.newaxis])


def dis_scores(cells: Integers, score: Floats, fraction: float) -> Floats:
    """Return each record's DIS-SUDA score: P(a match with a special unique is true), shape (n,)."""
    # The file's data intrusion score is U f / (U f + P (1 - f)), with U unique records, P records
    # in pairs and the sampling fraction f (Elliot 2000; Skinner and Elliot 2002). It is spread over
    # the special uniques as sdcMicro does, by powers of their scores.
    size = np.bincount(classes(cells))[classes(cells)]
    alone, paired, special = int((size == 1).sum()), int((size == 2).sum()), score > 0
    if not special.any() or not alone:
        return np.zeros(len(score))
    overall = alone * fraction / (alone * fraction + paired * (1 - fraction))
    power = score[special] ** (1 + (8 - cells.shape[1]) / 20)
    result = np.zeros(len(score))
    against = (alone / overall - alone) / (power * (1 / power).sum())
    result[special] = 1 / (1 + against)
    return result


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that at most three key variables single out."""
    keys = key_names(comparison)[:MOST_KEYS]
    before_cells, after_cells = cell_codes(comparison, keys)
    before, before_size, before_shares = scores(before_cells)
    leaving = released_rows(comparison.original, comparison.masked)
    original = comparison.original
    fraction = 1 / float(comparison.sampling.record_weights(original, original).mean())
    after, after_size = np.zeros(len(after_cells)), np.zeros(len(after_cells), dtype=np.int64)
    after[leaving], after_size[leaving], after_shares = scores(after_cells[leaving])
    after_dis = np.zeros(len(after))
    after_dis[leaving] = dis_scores(after_cells[leaving], after[leaving], fraction)
    detail: dict[str, Any] = {
        "names": list(keys),
        "score_original": before,
        "score_released": after,
        "dis_original": dis_scores(before_cells, before, fraction),
        "dis_released": after_dis,
        "shares_original": _overall(before, before_shares),
        "shares_released": _overall(after[leaving], after_shares),
        "sizes": list(range(1, LARGEST + 1)),
        "count_original": [int((before_size == s).sum()) for s in range(1, LARGEST + 1)],
        "count_released": [int((after_size == s).sum()) for s in range(1, LARGEST + 1)],
        "worst": np.argsort(-after, kind="stable")[:10],
    }
    return Reading(
        value=float((after_size[leaving] > 0).mean()),
        baseline=float((before_size > 0).mean()),
        detail=detail,
    )


def _overall(score: Floats, shares: Floats) -> Floats:
    """Return each variable's share of the sum of all scores, shape (m,)."""
    return np.asarray(score @ shares / max(float(score.sum()), np.finfo(np.float64).tiny))


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are special, which key makes them so, and what a match is worth."""
    said = filled("Up to three key variables single out {people}")(reading, n)
    dis, shares = np.asarray(reading.detail["dis_released"]), reading.detail["shares_released"]
    if not (dis > 0).any():
        return f"{said}."
    first = int(np.argmax(shares))
    return (
        f"{said}; {reading.detail['names'][first]} has a part in {percent(float(shares[first]))} "
        "of their scores, and a match with one of them is true with probability "
        f"{percent(float(dis[dis > 0].mean()))} on average."
    )


MEASURE = Measure(
    key="suda",
    title="Special uniques",
    side="risk",
    unit="share of records",
    question="How many records do at most three key variables single out?",
    sentence=sentence,
    source="SUDA: Elliot, Manning, Ford 2002; minimal uniques of up to three variables, of the "
    "first ten keys; DIS scores: Elliot 2000",
    compute=compute,
    of_released=True,
    view=View(charts=("key_classes",), label="special uniques", on={"report": 20}),
)
