"""Homogeneity: neighborhoods with a single confidential value."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.likeliest_value import WORDS, Tolerance, named_values, tolerance
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import people
from rwn_core.measures.statistics.key_variables import required_confidential

SHARE = 0.9  # of a neighborhood with one value


def same_share(members: sparse.csr_array, values: Floats, near: Tolerance) -> Floats:
    """Return the share of S_i and i with record i's value, shape (n,); 0 if S_i is empty."""
    # Row i of `members` holds the donor probabilities of S_i, which counts as many members as
    # equally likely ones would hide as much; two missing values are equal.
    n = len(values)
    owner = np.repeat(np.arange(n), np.diff(members.indptr))
    one, two = values[owner], values[members.indices]
    fits = near.right(two, one) | (np.isnan(one) & np.isnan(two))
    largest = np.zeros(n)
    np.maximum.at(largest, owner, members.data)
    weights = members.data / largest[owner]  # equally likely ones have weight 1
    total = np.bincount(owner, weights, n)
    some = total > 0  # a record without neighbors loses its values: nothing tells them
    safe = np.where(some, total, 1.0)
    sizes = safe * safe / np.where(some, np.bincount(owner, weights**2, n), 1.0)
    share = (1 + sizes * np.bincount(owner, weights * fits, n) / safe) / (1 + sizes)
    return np.asarray(np.where(some, share, 0.0), dtype=np.float64)


def compute(comparison: Comparison) -> Reading:
    """Return the share of records with a neighborhood that discloses a confidential value."""
    secrets = required_confidential(comparison)
    law = comparison.law
    if law is None:
        raise NotApplicable("Homogeneity needs the neighborhoods of the method.")
    original = comparison.original
    share = np.empty(len(secrets))
    common = np.empty(len(secrets))
    for number, name in enumerate(secrets):
        values, near = named_values(original, original, name), tolerance(original, name)
        same = same_share(law.probabilities, values, near) >= SHARE
        if comparison.units is not None:  # one record of a unit is enough
            same = (np.bincount(comparison.units, same) > 0)[comparison.units]
        share[number] = same.mean()
        ordered = np.sort(values[~np.isnan(values)])
        reach = near.around(ordered)
        equal = np.searchsorted(ordered, ordered + reach, "right") - np.searchsorted(
            ordered, ordered - reach, "left"
        )
        common[number] = float((equal / original.n >= SHARE).sum() / original.n)
    worst = int(share.argmax())
    detail: dict[str, Any] = {
        "secrets": list(secrets), "share": share, "whole_file": common, "limit": SHARE,
        "worst": worst, "secret": secrets[worst],
        "unit_words": None if comparison.unit is None else comparison.unit.words,
    }  # fmt: skip
    return Reading(value=float(share[worst]), baseline=float(common[worst]), detail=detail)


def sentence(reading: Reading, n: int) -> str:
    """Say how many records are disclosed without any linkage."""
    end = (
        ": no linkage is needed to learn it."
        if reading.value
        else "; other attacks do without that."
    )
    unit_words = reading.detail.get("unit_words")
    who = "household" if unit_words == "households" else "person"
    also = "" if unit_words is None else f", or so it is for another record of the same {who}"
    return (
        f"For {people(reading.value, n)} nearly all possible donors have the record's own value of "
        f"{reading.detail['secret']}{also}{end}"
    )


MEASURE = Measure(
    key="homogeneity",
    title="Homogeneous neighborhoods",
    side="risk",
    unit="share of records",
    question="For how many records do nine of ten in the neighborhood have the record's own "
    "value of the worst confidential variable, so that no linkage is needed to learn it?",
    sentence=sentence,
    source="Machanavajjhala et al. 2007 (homogeneity attack) on the neighborhoods of Perry, "
    f"Matloff, Tendick 2022; the same is {WORDS}",
    compute=compute,
    view=View(on={"report": 99}),
)
