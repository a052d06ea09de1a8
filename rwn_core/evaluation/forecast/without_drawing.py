"""What to expect of one setting that is made ready: by its law, or by what its method knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import Adder
from rwn_core.evaluation.forecast.forecast import Forecast, forecast_of
from rwn_core.evaluation.forecast.row_mixture_sums import mixed_cells, mixed_sums
from rwn_core.evaluation.forecast.sums_of_moments import cells_of_moments, sums_of_moments
from rwn_core.laws.expectations import Expectations
from rwn_core.laws.law import Law, independent_cells
from rwn_core.laws.moments import Moments
from rwn_core.laws.row_mixture import SelectedRows, selected_rows
from rwn_core.masking import Prepared

NO_FORECAST = (
    "A forecast is for a method that draws each cell independently, among neighbors that do not "
    "depend on the key, or that changes each variable by itself; draw releases instead."
)


def forecast_prepared(prepared: Prepared) -> Forecast:
    """What to expect of a setting that is made ready.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError
    """
    law = prepared.law
    if law is not None:
        return forecast_moments(law)
    about = prepared.expectations
    if about is None:
        raise ParameterError(NO_FORECAST)
    return _without_law(about)


def forecast_moments(law: Law) -> Forecast:
    """What to expect of a release whose law is known, with the moments of every cell.

    Parameters
    ----------
    law : Law
        Of independent cells.

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError
        The cells of a record depend on each other.
    """
    try:
        own = law.moments()
        if own is not None:
            return _without_neighborhoods(law, own)
        rows = selected_rows(law)
        if rows is not None:
            return _of_selected_rows(rows)
        cells = independent_cells(law)
    except NotApplicable:
        raise ParameterError(NO_FORECAST) from None
    columns = Columns.of(cells.original)
    adder = Adder(columns, np.asarray(cells.q)[None])
    starts, records = cells.neighborhoods.pairs()
    sizes = cells.neighborhoods.sizes[None]
    whole = slice(0, cells.original.n)
    mean, variance = adder.cells(adder.near(starts, records, sizes, whole)[0], whole)
    moments = (columns.center + columns.unit * mean[0], columns.unit**2 * variance[0])
    return forecast_of(columns, adder.total(starts, records, sizes), 0, moments)


def _without_neighborhoods(law: Law, moments: Moments) -> Forecast:
    columns, cells = Columns.of(law.original), law.components()[0].cells
    sums = sums_of_moments(columns, cells, law.rows_unchanged(), moments)
    return forecast_of(columns, sums, 0, cells_of_moments(columns, moments), law.units())


def _without_law(about: Expectations) -> Forecast:
    columns, moments = Columns.of(about.original), about.moments
    sums = sums_of_moments(columns, about, about.rows_unchanged(), moments)
    units = [(name,) for name in columns.released]
    made = forecast_of(columns, sums, 0, cells_of_moments(columns, moments), units)
    return replace(made, releases=about.releases)


def _of_selected_rows(law: SelectedRows) -> Forecast:
    columns = Columns.of(law.drawn.original)
    sums, adder = mixed_sums(columns, [law])
    return forecast_of(columns, sums, 0, mixed_cells(columns, law, adder))
