"""Worst-case linkage: an intruder who holds the original file and knows the method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.posterior import Linkage, link
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import people, percent

NORMAL = 1.959963984540054  # 97.5 % point of the normal distribution


def reading(links: Linkage, n: int, names: Sequence[str]) -> Reading:
    """The reading of some links.

    Parameters
    ----------
    links : Linkage
    n : int
        Number of originals.
    names : sequence of str
        The variables the intruder links by.
    """
    interval = None
    if links.sampled:
        error = float(links.best.std(ddof=1) / np.sqrt(len(links.best)))
        error *= np.sqrt(1 - len(links.rows) / links.of)
        interval = (
            max(0.0, links.success - NORMAL * error),
            min(1.0, links.success + NORMAL * error),
        )
    detail: dict[str, Any] = {
        "names": list(names),
        "best": links.best,
        "truth": links.truth,
        "records": links.rows,
        "sampled": links.sampled,
        "of": links.of,
        "top1": float(links.top1.mean()),
        "top5": float(links.top5.mean()),
        "same": float(links.same.mean()),
        "above_half": float((links.truth > 0.5).mean()),
        "above_nine_tenths": float((links.truth > 0.9).mean()),
        "candidates": links.candidates,
    }
    return Reading(value=links.success, baseline=1.0 / n, interval=interval, detail=detail)


def compute(comparison: Comparison, names: Sequence[str] | None = None) -> Reading:
    """Expected share of right links, of all released variables or of some.

    Parameters
    ----------
    comparison : Comparison
    names : sequence of str, optional
        The variables the intruder knows; all by default.
    """
    law = comparison.law
    if law is None:
        raise NotApplicable("The worst case needs the law of the method that made the release.")
    if comparison.masked.n != comparison.original.n:
        raise NotApplicable(
            "The released table has another number of records than the original, so the true "
            "sources are unknown."
        )
    key = ("links", None if names is None else tuple(names))
    links = comparison.here(key, lambda: link(law, comparison.masked, names))
    if names is None:
        names = [variable.name for variable in comparison.original.schema.released]
    return reading(links, comparison.original.n, names)


def sentence(reading: Reading, n: int) -> str:
    """Say how many are linked, and how near the others come."""
    return (
        f"Somebody who holds the original file and knows the method links "
        f"{people(reading.value, n)} rightly; for {percent(reading.detail['top5'])} of all the "
        "right one is among five candidates."
    )


MEASURE = Measure(
    key="bayes_linkage",
    title="Worst-case linkage",
    side="risk",
    better="lower",
    bounds=(0.0, 1.0),
    unit="share of records",
    question="How many released records would an intruder link rightly who holds the whole "
    "original file and knows the method and its parameters, but not the key?",
    sentence=sentence,
    source="Bayes' rule on the cell law of Perry, Matloff, Tendick 2022, section 5",
    compute=compute,
)
