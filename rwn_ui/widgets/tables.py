"""Tables below the pictures: those of the measures that have a reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import rwn_core as rwn
from rwn_core.measures.measure import Reading

Table = dict[str, Any]


def measure_tables(
    readings: Mapping[str, Reading | rwn.NotApplicable],
    *makers: tuple[str, Callable[[Reading], Table | None]],
) -> list[Table]:
    """The tables of some measures, in this order; none of one without a reading."""
    known = ((readings.get(key), make) for key, make in makers)
    made = (make(reading) for reading, make in known if isinstance(reading, Reading))
    return [table for table in made if table is not None]
