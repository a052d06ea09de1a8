"""What releases leave of the use, and what they lose of the relations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rwn_core.errors import ParameterError
from rwn_core.measures import MEASURES, USE, UTILITY
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.use_left import UseLeft, mean_left
from rwn_core.tuning.evaluate import PreparedTables
from rwn_core.tuning.point import Setting


def use_left(compared: Comparison) -> UseLeft | None:
    """Return what a release leaves of the use; None where nothing can be read."""
    found = MEASURES[USE].read(compared, bare=True)
    return found.detail if isinstance(found, Reading) else None


def middle(several: Sequence[UseLeft | None]) -> UseLeft | None:
    """Return the mean over releases that have an answer; None where none has."""
    known = [each for each in several if each is not None]
    return mean_left(known) if known else None


def several_left(tables: PreparedTables, setting: Setting, keys: Sequence[int]) -> UseLeft | None:
    """Return what releases of a setting leave of the use, as means; None where none has an answer.

    A setting that is refused on the table has none, either.
    """
    with suppress(ParameterError):
        return middle([use_left(tables.compared(setting, key)) for key in keys])
    return None


def lost(left: UseLeft | None) -> float:
    """Return 1 less the least share that is left; 1 where none is known."""
    least = None if left is None else left.least
    return 1.0 if least is None else 1.0 - least


def relations_lost(compared: Comparison) -> float | None:
    """Return what a release loses of the relations; None where there is no answer."""
    found = MEASURES[UTILITY].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else None
