"""Linkability: two parts of a record that lead to the same released row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.guessing import (
    Closest,
    attacked_people,
    control_sample,
    guess_reading,
)
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading, View
from rwn_core.measures.sentence import beyond_a_guess


def halves(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two disjoint sets of variables, taken in turn."""
    return names[::2], names[1::2]


def coincidences(parts: tuple[Closest, Closest], people: Microdata) -> Floats:
    """Return P(both parts of each person have the same nearest row), shape (people,)."""
    one, two = parts
    width = int(max(one.rows.max(), two.rows.max())) + 1
    first, second = np.zeros((people.n, width), bool), np.zeros((people.n, width), bool)
    first[:, one.rows] = one.ties(one.people(people))
    second[:, two.rows] = two.ties(two.people(people))
    both = (first & second).sum(axis=1)
    return np.asarray(both / (first.sum(axis=1) * second.sum(axis=1)))


def compute(comparison: Comparison) -> Reading:
    """Return the risk that two parts of a record are linked, beyond the control."""
    names = tuple(variable.name for variable in comparison.original.schema.released)
    if len(names) < 2:
        raise NotApplicable("Linkability needs at least two variables.")
    one, two = comparison.halves or halves(names)
    parts = (Closest(comparison, one), Closest(comparison, two))
    chosen, control = attacked_people(comparison), control_sample(comparison)
    chances = coincidences(parts, comparison.original.take(chosen))
    outside = None if control is None else coincidences(parts, control)
    random = 1.0 / len(released_rows(comparison.original, comparison.masked))
    about: dict[str, Any] = {"parts": [list(one), list(two)], "stated": bool(comparison.halves)}
    rates = None if outside is None else (float(outside.sum()), len(outside))
    rows = guess_reading((float(chances.sum()), len(chances)), rates, random, **about)
    if comparison.unit is None or comparison.units is None:
        return rows
    # a unit is linked if any of its records is, by chance and outside, too
    units = np.unique(comparison.units[chosen], return_inverse=True)[1]
    missed, size = np.ones(int(units.max()) + 1), np.bincount(units)
    np.multiply.at(missed, units, 1.0 - chances)

    def of_units(rate: float) -> float:
        return float((1.0 - (1.0 - rate) ** size).mean())

    if outside is not None:
        rates = of_units(float(outside.mean())) * len(outside), len(outside)
    success = float((1.0 - missed).sum()), len(missed)
    found = guess_reading(
        success, rates, of_units(random), **about, unit_words=comparison.unit.words
    )
    return found if found.value >= rows.value else rows


_success = beyond_a_guess("Two halves of a record meet in one released row")


def _sentence(reading: Reading, n: int) -> str:
    """Say the risk, what an attack is of, and the halves that were chosen."""
    said, unit_words = _success(reading, n), reading.detail.get("unit_words")
    if unit_words is not None:
        said += f" An attack is of all rows of one of the {unit_words}, and one row is enough."
    if not reading.detail.get("stated"):
        return said
    one, two = (", ".join(names) for names in reading.detail["parts"])
    return f"{said} Halves as stated: {one} | {two}."


MEASURE = Measure(
    key="linkability",
    title="Linkability",
    side="risk",
    unit="risk beyond control",
    question="How often do two halves of a person's variables lead an intruder to the same "
    "released row, more often than for people who are not in the file?",
    sentence=_sentence,
    source="WP216 (2014), linkability; prior work: Giomi et al. 2023; without a control group, "
    "beyond a random guess",
    compute=compute,
    of_released=True,
    against_control=True,
    view=View(charts=("guessing_attacks",), label="linkability", on={"report": 30, "guesses": 2}),
)
