"""Tables below the pictures: those of the measures that have a reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import rwn_core as rwn

Table = dict[str, Any]


def measure_tables(
    readings: Mapping[str, rwn.Reading | rwn.NotApplicable],
    *makers: tuple[str, Callable[[rwn.Reading], Table | None]],
) -> list[Table]:
    """The tables of some measures, in this order; none of one without a reading."""
    known = ((readings.get(key), make) for key, make in makers)
    made = (make(reading) for reading, make in known if isinstance(reading, rwn.Reading))
    return [table for table in made if table is not None]
