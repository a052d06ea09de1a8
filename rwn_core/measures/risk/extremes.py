"""Extremes: survival of the largest and smallest original values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.value_survival import appearance, expected_copies
from rwn_core.measures.comparison import Comparison, numbers
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import filled


def _sides(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the largest and the smallest value of every numeric variable and their holders."""
    original = comparison.original if comparison.law is None else comparison.law.original
    extremes = []
    for name in original.numeric_names:
        values = original.values(name)
        known = np.flatnonzero(~np.isnan(values))
        if not known.size or values[known].min() == values[known].max():
            continue
        for side, pick in (("largest", np.nanmax), ("smallest", np.nanmin)):
            extreme = float(pick(values))
            holders = np.flatnonzero(values == extreme)
            extremes.append(
                {"name": name, "side": side, "value": extreme, "record": int(holders[0]),
                 "holders": len(holders)}
            )  # fmt: skip
    if not extremes:
        raise NotApplicable("No numeric variable varies, so there is no extreme value.")
    return extremes


def _by_law(law: Law, extreme: dict[str, Any]) -> dict[str, Any]:
    table, values = law.table(extreme["name"])
    position = values.index(extreme["value"])
    column = table[:, [position]]
    record, may_go = extreme["record"], not law.keeps_value_counts(extreme["name"])
    return {
        "survival": float(np.clip(appearance(column)[0], 0.0, 1.0)) if may_go else 1.0,
        "copies": float(expected_copies(column)[0]),
        "own_row": float(np.clip(table[record, position], 0.0, 1.0)),
    }


def compute(comparison: Comparison) -> Reading:
    """Return the expected share of the original's extreme values that the release shows."""
    law = comparison.law
    extremes = _sides(comparison)
    for extreme in extremes:
        after = numbers(comparison.original, comparison.masked, extreme["name"])
        extreme["released"] = int((after == extreme["value"]).sum())
        if law is None:
            extreme |= {"survival": float(extreme["released"] > 0), "copies": None, "own_row": None}
        else:
            extreme |= _by_law(law, extreme)
    columns = ("name", "side", "value", "record", "holders", "released", "survival", "copies",
               "own_row")  # fmt: skip
    detail: dict[str, Any] = {key: [extreme[key] for extreme in extremes] for key in columns}
    detail["by_law"] = law is not None
    return Reading(value=float(np.mean(detail["survival"])), baseline=1.0, detail=detail)


MEASURE = Measure(
    key="extremes",
    title="Extremes that survive",
    side="risk",
    unit="share of extreme values",
    question="How many of the largest and smallest original values does the release still show?",
    sentence=filled(
        "Of the largest and smallest original values {share} are expected in the release; each is "
        "a real value of a real person, up to the release precision. It assumes somebody who knows "
        "who holds an extreme, and nothing else of anybody."
    ),
    source="Cell law of Perry, Matloff, Tendick 2022, section 5: survival of a value",
    compute=compute,
    view=View(charts=("extreme_values",), on={"report": 10}),
)
