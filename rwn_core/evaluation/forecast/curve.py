"""Expected curve of a statistic along one slider, without a draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.forecast import Forecast, forecast_scan
from rwn_core.evaluation.forecast.statistic import CELLS, CHANGE, Statistic
from rwn_core.masking import Method, Prepared, at_levers, lever_values
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Detail, Reading


def along(params: Any, axis: str, values: Sequence[float]) -> list[Any]:
    """A setting with one of its levers moved along an axis."""
    return [at_levers(params, {axis: value}) for value in values]


@takes_tables
def expected_curve(
    microdata: Microdata,
    params: Method,
    values: Sequence[float],
    *,
    axis: str = "epsilon",
    statistic: Statistic = CHANGE,
    prepared: Prepared | None = None,
) -> Reading[ExpectedCurve]:
    """Forecast a statistic for many values of one parameter, the others as they are.

    Parameters
    ----------
    microdata : Microdata
    params : Method
        The present setting, of a method with a forecast.
    values : sequence of float
        Of the lever, ascending.
    axis : str
        Name of one of the method's levers.
    statistic : Statistic
        By default the mean absolute change of the correlations.
    prepared : Prepared, optional
        See `forecast_scan`.

    Returns
    -------
    Reading
        See `curve`.

    Raises
    ------
    NotApplicable, ParameterError
    """
    scan = forecast_scan(microdata, [*along(params, axis, values), params], prepared=prepared)
    return curve(microdata, params, values, scan, axis=axis, statistic=statistic)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedCurve(Detail):
    """Expected values of a statistic along one lever, at v values.

    Attributes
    ----------
    axis, axis_words : str
        The lever, and its name in words.
    values, expected, changed : ndarray of float64, shape (v,)
        Values of the lever; the statistic expected there, in its unit; the share of changed cells.
    now : float
        The lever's value in the present setting.
    words, short : str
        Names of the statistic.
    share : bool
        Whether it is a share.
    others : mapping of str to float or None
        The other levers.
    """

    axis: str
    axis_words: str
    values: Floats
    now: float
    expected: Floats
    changed: Floats
    words: str
    short: str
    share: bool
    others: Mapping[str, float | None]


def curve(
    microdata: Microdata,
    params: Method,
    values: Sequence[float],
    scan: Sequence[Forecast],
    *,
    axis: str = "epsilon",
    statistic: Statistic = CHANGE,
) -> Reading[ExpectedCurve]:
    """Return the curve from forecasts of each value, and then of the present setting."""
    if statistic == CHANGE and len(microdata.numeric_names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    expected = [statistic.expected(each, microdata) for each in scan]
    now = getattr(params, axis)
    return Reading(
        value=expected[-1],
        baseline=statistic.realized(Comparison(original=microdata, masked=microdata)),
        detail=ExpectedCurve(
            axis=axis,
            axis_words=next(each.words for each in params.levers if each.name == axis),
            values=np.array([float(value) for value in values]),
            now=0.0 if now is None else float(now),
            expected=np.array(expected[:-1]),
            changed=np.array([1 - CELLS.expected(each, microdata) for each in scan[:-1]]),
            words=statistic.words,
            short=statistic.short,
            share=statistic.share,
            others={name: value for name, value in lever_values(params).items() if name != axis},
        ),
    )
