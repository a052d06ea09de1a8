"""Forecasts: expectations of a release in closed form, before any is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast.expected_sums import Adder, Columns
from rwn_core.evaluation.forecast.forecast import Forecast, forecast_from_sums
from rwn_core.laws.law import Law
from rwn_core.masking import Method, Prepared, family, lever_values
from rwn_core.parallel.threads import Progress, steps, work

__all__ = ["Forecast", "forecast", "forecast_law", "forecast_scan"]

NO_FORECAST = (
    "A forecast is for a method that draws each cell independently, among neighbors that do not "
    "depend on the key; draw releases instead."
)


@takes_tables
def forecast(microdata: Microdata, params: Method) -> Forecast:
    """Say what to expect of a setting, without drawing a release.

    Parameters
    ----------
    microdata : Microdata
    params : Method

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5; the moments follow from independent cells.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 4.0]}))
    >>> from rwn_core.masking import RWN
    >>> round(float(forecast(table, RWN(k=1, q=1.0)).means["x"]), 12)
    0.666666666667
    """
    if not params.has_forecast:
        raise ParameterError(NO_FORECAST)
    return forecast_law(params.prepare(microdata).law)


@takes_tables
def forecast_scan(
    microdata: Microdata,
    settings: Sequence[Method],
    *,
    prepared: Prepared | None = None,
    progress: Progress | None = None,
) -> list[Forecast]:
    """Say what to expect of many settings: one neighbor table and one pass for all of them.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of Method
        All of one family: they differ in their levers only. With one radius for all records, and
        every record a possible neighbor.
    prepared : Prepared, optional
        This table, made ready for that family, with neighbors stored as far as any setting needs
        them; made by default.
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises ends the work.

    Returns
    -------
    list of Forecast
        In the order of the settings.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> import pandas as pd
    >>> table = Microdata.from_frame(pd.DataFrame({"x": [0.0, 1.0, 4.0, 9.0]}))
    >>> from rwn_core.masking import RWN
    >>> scan = forecast_scan(table, [RWN(k=k) for k in (1, 2)])
    >>> [round(float(one.means["x"]), 12) for one in scan]
    [1.5, 1.875]
    """
    if not settings:
        return []
    # refuse settings without a forecast, or of which one is not reached by another's levers
    numbers = [value for one in settings for value in lever_values(one).values()]
    if not all(isinstance(value, int | float | np.number | None) for value in numbers):
        raise ParameterError("A scan needs one radius for all records.")
    if not all(one.has_forecast for one in settings):
        raise ParameterError(NO_FORECAST)
    if len({family(one) for one in settings}) > 1:
        raise ParameterError(
            "All settings of a scan must have the same method, and the same scale, encoding and "
            "weights."
        )
    ready = prepared or settings[0].prepare(microdata, settings=settings)
    with work(progress=progress):
        found = None if ready.law is None else ready.law.neighborhoods
        if found is None or not found.equally_likely:  # it has weights of its own: one by one
            made = []
            for params in steps(settings):
                ready = ready.with_levers(**lever_values(params))  # the same weights, another q
                made.append(forecast_law(ready.law))
            return made
        known = [ready.with_levers(**lever_values(params)).law for params in settings]
        return _forecast_laws([law for law in known if law is not None], microdata)


def forecast_law(law: Law | None) -> Forecast:
    """Forecast a release with a known law of independent cells."""
    if law is None:
        raise ParameterError(NO_FORECAST)
    try:
        return _forecast_laws([law], law.original)[0]
    except NotApplicable as refusal:
        found = law.neighborhoods
        weighted = found is not None and not found.equally_likely
        raise ParameterError(refusal.reason if weighted else NO_FORECAST) from None


def _forecast_laws(known: Sequence[Law], original: Microdata) -> list[Forecast]:
    """Forecast laws with neighborhoods from one table, in one pass."""
    columns = Columns.from_table(original)
    laws = [each.independent for each in known]
    if len({id(each.neighborhoods.table) for each in laws}) > 1:
        raise ParameterError(
            "The neighbors of these settings do not fit into memory together; forecast fewer of "
            "them, or a sample of the records."
        )
    law = laws[0]
    q = np.array([each.q for each in laws])
    sums = Adder(columns, q, [each.neighborhoods for each in laws]).total()
    if law.tied is not None:  # it stands alone, as its weights do
        # what the tie adds to the sums of slices drawn apart
        m, of_numbers = len(columns.names), [columns.released[at] for at in columns.positions]
        of_levels = [columns.released[at] for at in columns.dummy_positions]
        values = np.column_stack((columns.numbers, columns.known, columns.dummies)).T
        added = law.tied.covariances(values, [*of_numbers, *of_numbers, *of_levels])
        own, seen, levels = slice(m), slice(m, 2 * m), slice(2 * m, None)
        sums = replace(
            sums,
            first_seen=sums.first_seen + added[own, seen],
            seen=sums.seen + added[seen, seen],
            second=sums.second + added[own, own],
            noise=sums.noise + added[own, own],
            together=sums.together + added[levels, levels],
        )
    return [forecast_from_sums(columns, sums, setting) for setting in range(len(laws))]
