"""Tables below the pictures: those of the measures that have a reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.measures import measures_of

Table = dict[str, Any]


def measure_tables(
    place: str, readings: Mapping[str, rwn.Reading | rwn.NotApplicable], n: int
) -> list[Table]:
    """The tables that the measures of a place have of n records; none without a reading."""
    made = [
        make(reading, n)
        for key in measures_of(place)
        if isinstance(reading := readings.get(key), rwn.Reading)
        for make in rwn.MEASURES[key].view.tables
    ]
    return [table for table in made if table is not None]
