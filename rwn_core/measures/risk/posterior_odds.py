"""Posterior odds: how likely a released category is the true one, category by category."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import codes_like, value_codes
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import percent

_LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)


def category_chances(law: Law, name: str, units: Integers | None = None) -> tuple[Floats, Integers]:
    """Return P(a released category is true) of each level, and how many records have it."""
    # With `units`, true is a category that any record of the row's unit has.
    # With t the transition matrix and v the shares of the original, the odds of level k are t_kk
    # v_k / sum over l != k of t_lk v_l; each record's own law stands for its level's row of t. Both
    # have the shape (V,); a level that no record has is 0.
    codes, values = value_codes(law.original, name)
    table, columns = law.table(name)
    place = {value: number for number, value in enumerate(columns)}
    chances = table.tocsc()[:, [place[value] for value in values]]
    shown = np.asarray(chances.sum(axis=0)).ravel()
    cells = chances.tocoo()
    right = codes[cells.row] == cells.col
    if units is not None:
        has = np.zeros((int(units.max()) + 1, len(values)), dtype=bool)
        has[units, codes] = True
        right = has[units[cells.row], cells.col]
    true = np.bincount(cells.col, weights=cells.data * right, minlength=len(values))
    count = np.bincount(codes, minlength=len(values))
    return np.divide(true, shown, out=np.zeros(len(values)), where=shown > 0), count


def compute(comparison: Comparison) -> Reading:
    """Return the largest chance, of all variables, that a rarest category is true."""
    law = comparison.required_law()
    names = [v.name for v in law.original.schema.released if v.kind in _LEVELS]
    parts = {name: found for name in names if (found := _of_variable(comparison, law, name))}
    if not parts:
        raise NotApplicable(
            "No variable has categories, two or more, that are released one by one."
        )
    worst = max(parts, key=lambda name: parts[name]["rarest"])
    detail: dict[str, Any] = {
        "worst": worst,
        "variables": {name: {**part} for name, part in parts.items()},
    }
    base = float(parts[worst]["shares"].min())
    return Reading(value=parts[worst]["rarest"], baseline=base, detail=detail)


def _of_variable(comparison: Comparison, law: Law, name: str) -> dict[str, Any] | None:
    """Return chances and odds of each category and of each row; None where there are none."""
    try:
        chances, count = category_chances(law, name, comparison.units)
    except NotApplicable:  # variables that change together have no table each
        return None
    levels = np.array([value is not None for value in value_codes(law.original, name)[1]])
    if levels.sum() < 2:
        return None
    rarest = count == count[levels].min()
    shown = codes_like(law.original, comparison.masked, name)
    odds = [None if chance >= 1 else float(chance / (1 - chance)) for chance in chances[levels]]
    return {
        "chances": chances[levels],
        "odds": odds,
        "shares": count[levels] / count.sum(),
        "rarest": float(np.clip(chances[levels & rarest].max(), 0.0, 1.0)),
        "row_chances": np.where(shown >= 0, chances[shown], 0.0),
    }


def sentence(reading: Reading, n: int) -> str:
    """Say how likely a released rare category is true."""
    return (
        f"A released record with the rarest category of {reading.detail['worst']} truly has it "
        f"with probability {percent(reading.value)}, and {percent(reading.baseline or 0.0)} of all "
        "people do."
    )


MEASURE = Measure(
    key="posterior_odds",
    title="A rare category is the true one",
    side="risk",
    unit="probability",
    question="If a released record shows the rarest category of a variable, how likely is that "
    "category the person's own?",
    sentence=sentence,
    source="Gouweleeuw, Kooiman, Willenborg, de Wolf 1998: posterior odds t_kk v_k / sum of "
    "t_lk v_l, here as a probability, of the worst variable",
    compute=compute,
)
