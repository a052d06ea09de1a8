"""The least width of a soft kernel at which a record still has neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.first_place import first_that
from rwn_core.tuning.point import Setting
from rwn_core.tuning.ways import in_way

_FEWEST = 2.0  # effective neighbors of half of the records


def narrowest(tables: PreparedTables, setting: Setting, values: Sequence[float]) -> float:
    """Return the least of the widths at which half of the records have two neighbors in effect.

    Below it a kernel names one donor, and a balance of what is left converges slowly. Slices and
    ways share it.
    """
    apart = in_way(setting.params, "apart")
    plain = replace(apart, balance=0.0, cap=1.0, width=1.0)
    alike = replace(setting, params=plain, slices=())

    def has_neighbors(place: int) -> bool:
        """True if half of the records have two neighbors in effect at a width."""
        start = tables.start(alike).with_levers(width=values[place])
        law = start.exact_law
        found = None if law is None else law.neighborhoods
        return found is None or float(np.median(found.effective_sizes)) >= _FEWEST

    about = alike, tuple(values)
    if about not in tables.floors:
        place = first_that(has_neighbors, len(values) - 1, near=0)
        tables.floors[about] = values[-1] if place is None else values[place]
    return tables.floors[about]
