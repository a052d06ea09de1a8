"""Probabilistic linkage: agreement of the keys with Fellegi-Sunter weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.data.variable import Kind
from rwn_core.measures.comparison import Comparison, numbers, released_rows, require_same_records
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled
from rwn_core.measures.statistics.key_variables import cell_codes, key_names
from rwn_core.measures.statistics.nearest_points import evenly, spread_sample

STEPS = 200
_EDGE = 1e-6  # probabilities stay off 0 and 1, where a weight would be infinite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Fellegi-Sunter parameters."""

    # matched, unmatched: shape (v,): m and u: probability that a variable agrees for a match, and
    # for another pair
    matched: Floats
    unmatched: Floats
    share: float  # share of pairs that match

    @property
    def agree(self) -> Floats:
        """log2(m / u) of each variable."""
        return np.log2(self.matched / self.unmatched)

    @property
    def disagree(self) -> Floats:
        """log2((1 - m) / (1 - u)) of each variable."""
        return np.log2((1 - self.matched) / (1 - self.unmatched))

    def total(self, agreement: Booleans) -> Floats:
        """Return the weight of agreement patterns, shape (..., v) to (...)."""
        return np.asarray(np.where(agreement, self.agree, self.disagree).sum(axis=-1))


def fit(patterns: Booleans, counts: Floats, share: float) -> Weights:
    """Estimate the weights by EM (Jaro 1989) from the number of pairs of each agreement pattern."""
    # the share of matches is known: one in each row
    agrees = patterns.astype(np.float64)
    total = counts.sum()
    unmatched = np.clip(counts @ agrees / total, _EDGE, 1 - _EDGE)
    matched = np.clip(np.maximum(0.9, 1 - (1 - unmatched) / 2), _EDGE, 1 - _EDGE)
    for _ in range(STEPS):
        one = share * _likelihood(agrees, matched)
        two = (1 - share) * _likelihood(agrees, unmatched)
        belong = one / (one + two)
        weight = counts * belong
        new = np.clip(weight @ agrees / max(weight.sum(), 1e-300), _EDGE, 1 - _EDGE)
        others = counts * (1 - belong)
        unmatched = np.clip(others @ agrees / max(others.sum(), 1e-300), _EDGE, 1 - _EDGE)
        moved = float(np.abs(new - matched).max())
        matched = new
        if moved < 1e-10:
            break
    return Weights(matched=matched, unmatched=unmatched, share=share)


def _likelihood(agrees: Floats, chance: Floats) -> Floats:
    logs = agrees @ np.log(chance) + (1 - agrees) @ np.log1p(-chance)
    return np.exp(np.maximum(logs, -600))


NEAR = 0.25  # standard deviations within which two numbers agree
MOST_KEYS = 12


def _agree(comparison: Comparison, name: str, rows: Integers) -> Booleans:
    original, masked = comparison.original, comparison.masked
    if original.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        before, after = cell_codes(comparison, [name])
        same = after[rows] == before[:, 0]
        return np.asarray(same & (after[rows] >= 0))
    values = original.values(name)
    known = values[~np.isnan(values)]
    tolerance = NEAR * float(known.std(ddof=1)) if len(known) > 1 else 0.0
    with np.errstate(invalid="ignore"):
        return np.abs(numbers(original, masked, name)[rows][:, None] - values) <= tolerance


def compute(comparison: Comparison) -> Reading:
    """Return the share of released records that score best with their source; ties share."""
    n = comparison.original.n
    require_same_records(comparison.original, comparison.masked)
    keys = key_names(comparison)[:MOST_KEYS]
    leaving = released_rows(comparison.original, comparison.masked)
    rows = spread_sample(leaving)
    rows = evenly(rows, min(len(rows), max(1, ATTACKED_PAIRS // n)))
    # the agreement pattern of every pair, one bit per key; missing agrees with nothing
    pattern = np.zeros((len(rows), n), dtype=np.int64)
    for bit, name in enumerate(keys):
        pattern |= _agree(comparison, name, rows).astype(np.int64) << bit
    present = np.bincount(pattern.ravel(), minlength=1 << len(keys))
    seen = np.flatnonzero(present)
    bits = (seen[:, None] >> np.arange(len(keys)) & 1).astype(bool)
    weights = fit(bits, present[seen].astype(np.float64), 1.0 / n)
    table = np.full(1 << len(keys), -np.inf)
    table[seen] = np.round(weights.total(bits), 9)
    score = table[pattern]
    best = score.max(axis=1, keepdims=True)
    first = score == best
    own = first[np.arange(len(rows)), rows].astype(np.int64)
    if comparison.units is not None:
        own = (first & (comparison.units == comparison.units[rows, np.newaxis])).sum(axis=1)
    right = own / first.sum(axis=1)
    detail: dict[str, Any] = {
        "names": list(keys),
        "matched": weights.matched,
        "unmatched": weights.unmatched,
        "agree": weights.agree,
        "disagree": weights.disagree,
        "score": right,
        "records": rows,
        "sampled": len(rows) < len(leaving),
        "of": len(leaving),
    }
    return Reading(value=float(right.mean()), baseline=comparison.random_share, detail=detail)


MEASURE = Measure(
    key="probabilistic_linkage",
    title="Probabilistic linkage",
    side="risk",
    unit="share of records",
    question="How often does linking by weighted agreement of the key variables find the true "
    "source of a released record?",
    sentence=filled("Weighing which of {keys} agree finds {people}."),
    source="Fellegi and Sunter 1969, weights by the EM algorithm of Jaro 1989; numbers agree "
    "within 0.25 standard deviations",
    compute=compute,
    of_released=True,
    of_units=True,
    view=View(on={"report": 99, "scenarios": 4, "attacks": 3}),
)
