"""What to expect along one slider: a curve without a single draw, to hold a draw against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.forecast.statistic import CELLS, CHANGE, Moment
from rwn_core.masking import RWN
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.neighbors import NeighborTable

Axis = Literal["epsilon", "k", "q"]


def along(params: RWN, axis: Axis, values: Sequence[float]) -> list[RWN]:
    """A setting with one of its parameters moved along an axis.

    Raises
    ------
    ParameterError
        A value is refused.
    """
    changes: list[dict[str, Any]]
    changes = [{axis: int(value) if axis == "k" else float(value)} for value in values]
    return [replace(params, **change) for change in changes]


def expected_curve(
    microdata: Microdata,
    params: RWN,
    values: Sequence[float],
    *,
    axis: Axis = "epsilon",
    moment: Moment = CHANGE,
    table: NeighborTable | None = None,
) -> Reading:
    """Forecast a moment for many values of one parameter, the others as they are.

    Parameters
    ----------
    microdata : Microdata
    params : RWN
        The present setting; one radius for all records.
    values : sequence of float
        Of the parameter, ascending.
    axis : {"epsilon", "k", "q"}
    moment : Moment
        By default the mean absolute change of the correlations.
    table : NeighborTable, optional
        See `forecast_scan`.

    Returns
    -------
    Reading
        See `curve`.

    Raises
    ------
    NotApplicable, ParameterError
    """
    scan = forecast_scan(microdata, [*along(params, axis, values), params], table=table)
    return curve(microdata, params, values, scan, axis=axis, moment=moment)


def curve(
    microdata: Microdata,
    params: RWN,
    values: Sequence[float],
    scan: Sequence[Forecast],
    *,
    axis: Axis = "epsilon",
    moment: Moment = CHANGE,
) -> Reading:
    """The same from forecasts at hand: one for each value, and then that of the present setting.

    Returns
    -------
    Reading
        value: at the present setting; baseline: the original's own; detail: axis, values, now
        (the present value), expected (per value), low and high (per value, where 9 of 10
        releases fall in closed form; None where there is none), changed (expected share of
        cells that show another value), words, short words and share of the moment.

    Raises
    ------
    NotApplicable
    """
    if moment == CHANGE and len(microdata.numeric_names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    found = [moment.expected(each, microdata) for each in scan]
    bands = [moment.band(each) for each in scan[:-1]]
    ends = [None if None in bands else np.array([b[end] for b in bands if b]) for end in (0, 1)]
    now = getattr(params, axis)
    return Reading(
        value=found[-1],
        baseline=moment.realized(Comparison(original=microdata, masked=microdata)),
        detail={
            "axis": axis,
            "values": np.array([float(value) for value in values]),
            "now": 0.0 if now is None else float(now),
            "expected": np.array(found[:-1]),
            "low": ends[0],
            "high": ends[1],
            "changed": np.array([1 - CELLS.expected(each, microdata) for each in scan[:-1]]),
            "words": moment.words,
            "short": moment.short,
            "share": moment.share,
            "others": {
                name: getattr(params, name) for name in ("epsilon", "k", "q") if name != axis
            },
        },
    )
