"""Linkability: two parts of a record that lead to the same released row."""

from __future__ import annotations

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures.attacks.guessing import (
    Closest,
    attacked_people,
    control_sample,
    guess_reading,
)
from rwn_core.measures.comparison import Comparison, released_rows
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.sentence import beyond_a_guess


def halves(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two disjoint sets of variables, taken in turn."""
    return names[::2], names[1::2]


def coincidences(parts: tuple[Closest, Closest], people: Microdata) -> float:
    """Return the expected number of people with the same nearest row for both parts."""
    one, two = parts
    width = int(max(one.rows.max(), two.rows.max())) + 1
    first, second = np.zeros((people.n, width), bool), np.zeros((people.n, width), bool)
    first[:, one.rows] = one.ties(one.people(people))
    second[:, two.rows] = two.ties(two.people(people))
    both = (first & second).sum(axis=1)
    return float((both / (first.sum(axis=1) * second.sum(axis=1))).sum())


def compute(comparison: Comparison) -> Reading:
    """Return the risk that two parts of a record are linked, beyond the control."""
    names = tuple(variable.name for variable in comparison.original.schema.released)
    if len(names) < 2:
        raise NotApplicable("Linkability needs at least two variables.")
    one, two = comparison.halves or halves(names)
    parts = (Closest(comparison, one), Closest(comparison, two))
    people = comparison.original.take(attacked_people(comparison))
    control = control_sample(comparison)
    return guess_reading(
        (coincidences(parts, people), people.n),
        None if control is None else (coincidences(parts, control), control.n),
        1.0 / len(released_rows(comparison.original, comparison.masked)),
        parts=[list(one), list(two)],
        stated=bool(comparison.halves),
    )


_success = beyond_a_guess("Two halves of a record meet in one released row")


def _sentence(reading: Reading, n: int) -> str:
    """Say the risk, and the halves that were chosen."""
    if not reading.detail.get("stated"):
        return _success(reading, n)
    one, two = (", ".join(names) for names in reading.detail["parts"])
    return f"{_success(reading, n)} Halves as stated: {one} | {two}."


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
)
