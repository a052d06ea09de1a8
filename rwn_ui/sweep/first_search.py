"""The search that the form begins with: about sixty settings, with rounding and slices."""

from __future__ import annotations

from typing import Any

import rwn_core as rwn
from rwn_core.data.rounding import Steps, given_steps, steps_by_name
from rwn_core.data.slices import Slices
from rwn_core.masking import LeverRange
from rwn_core.reporting.scenario import Search
from rwn_core.tuning import USUAL, Grid, Plan
from rwn_core.tuning.slice_presets import preset_slices
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session

STEP = 0.5  # standard deviations: steps that a release of whole numbers already feels
TRAVEL = "related_3"
"""The preset of slices that is tried where each variable stands alone."""
_SHORT, _LONG = (3, 10, 40), (3, 5, 10, 20, 40)


def first_search(session: Session) -> Search:
    """About sixty settings within the sliders' ranges; eight releases of each."""
    # Beside the precision and the slices that stand on Tune, one coarser precision and one usual
    # choice of slices are tried, where the table and the method have them.
    table, precision, slices = prepared(session), _precision(session), _slices(session)
    ways = len(precision) * len(slices)
    axes: dict[str, tuple[Any, ...]] = {}
    for lever in session.params.levers:
        ends = table.prepared.ranges[lever.name]
        if lever.name == session.params.strength:
            count = 6 if ways == 1 else 5
            axes[lever.name] = _even(ends, table.quick_end(session.params, lever.name), count)
        elif lever.off is not None:
            axes[lever.name] = (session.levers[lever.name],)  # as on Tune, mostly off
        elif lever.whole_number:
            tried = _LONG if ways == 1 else _SHORT
            axes[lever.name] = tuple(v for v in tried if v <= ends.high) or (ends.high,)
        else:
            half = () if ways == 4 else ((ends.low + ends.high) / 2,)
            axes[lever.name] = (*half, ends.high)
    # matrices are no values between commas: they are tried from a scenario
    axes |= {name: (value,) for name, value in session.options if not _is_matrix(value)}
    grid = Grid(
        axes=axes,
        method=(session.method,),
        precision=tuple(map(dict, precision)),
        slices=tuple(slices),
    )
    measures = tuple(dict.fromkeys((*session.policy.measures, *USUAL)))
    return Search(grid=grid, plan=Plan(measures=measures, seed=session.seed))


def _is_matrix(value: Any) -> bool:
    return isinstance(value, tuple) and not all(isinstance(name, str) for name in value)


def _precision(session: Session) -> list[Steps]:
    """The steps on Tune; where nothing is rounded, steps of half a standard deviation, too."""
    coarse = steps_by_name(given_steps(session.data, STEP))
    return [session.precision] if session.precision else list(dict.fromkeys([(), coarse]))


def _slices(session: Session) -> list[Slices]:
    """The slices on Tune; where each variable stands alone, a usual choice, too."""
    if session.slices or not rwn.METHODS[session.method].uses_slices:
        return [session.slices]
    return list(dict.fromkeys([(), preset_slices(session.data, TRAVEL)]))


def _even(ends: LeverRange, high: float, count: int) -> tuple[float, ...]:
    """So many values from the low end to another, on the slider's steps."""
    part = max((high - ends.low) / (count - 1), ends.step)
    numbers = (round(number * part / ends.step) for number in range(count))
    return tuple(round(ends.low + number * ends.step, 10) for number in numbers)
