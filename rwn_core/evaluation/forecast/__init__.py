"""What to expect of a setting before any release is drawn: closed forms of the cell law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import Adder
from rwn_core.evaluation.forecast.forecast import Forecast, forecast_of
from rwn_core.evaluation.forecast.row_mixture_sums import mixed_sums
from rwn_core.evaluation.forecast.without_drawing import (
    NO_FORECAST,
    forecast_moments,
    forecast_prepared,
)
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law, independent_cells
from rwn_core.laws.row_mixture import selected_rows
from rwn_core.masking import Method, Prepared, family, lever_values

__all__ = ["Forecast", "forecast", "forecast_moments", "forecast_sample", "forecast_scan"]

PAIRS = 1_000_000  # neighbors that a sample's forecast adds up
_PILOT = 50  # records that tell how many neighbors there are


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
    return forecast_prepared(params.prepare(microdata))


def forecast_scan(
    microdata: Microdata,
    settings: Sequence[Method],
    *,
    prepared: Prepared | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Forecast]:
    """Say what to expect of many settings: one neighbor table and one pass for all of them.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of Method
        All of one family: they differ in their levers only. With one radius for all records, and
        everybody a possible neighbor.
    prepared : Prepared, optional
        This table, made ready for that family, with neighbors stored as far as any setting needs
        them; made by default.
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises ends the work.

    Returns
    -------
    list of Forecast
        In the order of the settings, without the moments of single cells.

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
    _refuse_unlike(settings)
    ready = prepared or settings[0].prepare(microdata, settings=settings)
    if _by_itself(ready):
        return _one_by_one(ready, settings)
    known = _known_laws(ready, settings)
    columns, nothing = Columns.of(microdata), (np.empty((0, len(microdata.numeric_names))),) * 2
    rows = [law for each in known if (law := selected_rows(each)) is not None]
    if rows:
        _refuse_apart([law.drawn for law in rows])
        sums, _ = mixed_sums(columns, rows, progress)
        return [forecast_of(columns, sums, which, nothing) for which in range(len(rows))]
    laws = _neighborhood_laws(known)
    adder = Adder(columns, np.array([law.q for law in laws]))
    # settings that differ in q alone share their neighborhoods
    each = [law.neighborhoods.sizes.tobytes() for law in laws]
    different = list(dict.fromkeys(each))
    which = np.array([different.index(one) for one in each])
    sizes = np.array([laws[each.index(one)].neighborhoods.sizes for one in different])
    starts, records = replace(laws[0].neighborhoods, sizes=sizes.max(axis=0)).pairs()
    sums = adder.total(starts, records, sizes, which, progress)
    return [forecast_of(columns, sums, which, nothing) for which in range(len(laws))]


def forecast_sample(
    microdata: Microdata, settings: Sequence[Method], *, pairs: int = PAIRS
) -> tuple[list[Forecast], Microdata]:
    """What to expect of some records of a table that is too large for a quick scan of all.

    Parameters
    ----------
    microdata : Microdata
        More than 2,000 records.
    settings : sequence of Method
        As for `forecast_scan`. The widest decides how many records are looked at.
    pairs : int
        Pairs of a record and a neighbor that may be added up.

    Returns
    -------
    list of Forecast
        Of so many random records, in the order of the settings: all if they are few enough. Their
        neighbors are sought among all.
    Microdata
        These records as they are, to compare with: the luck of the sample cancels.

    Raises
    ------
    ParameterError
        Also if the neighbors do not fit into memory.
    """
    moved = microdata.take(np.random.default_rng(0).permutation(microdata.n))
    _refuse_unlike(settings)

    def first(count: int) -> Prepared:
        records = np.arange(min(count, moved.n))
        return settings[0].prepare(moved, settings=settings, records=records)

    pilot = first(_PILOT)
    if _by_itself(pilot):  # no neighbors are sought, so that all records are quick
        return _one_by_one(pilot, settings), moved
    known = _known_laws(pilot, settings)
    found = [law.neighborhoods.sizes for law in known if law.neighborhoods is not None]
    mean = np.max(found, axis=0).mean()
    prepared = first(max(_PILOT, int(pairs / max(mean, 1.0))))
    scan = forecast_scan(moved, settings, prepared=prepared)
    return scan, moved.take(prepared.records)


def _by_itself(prepared: Prepared) -> bool:
    """Whether the method changes values without neighborhoods."""
    law = prepared.law
    return law is None or law.neighborhoods is None


def _one_by_one(prepared: Prepared, settings: Sequence[Method]) -> list[Forecast]:
    return [forecast_prepared(prepared.with_levers(**lever_values(params))) for params in settings]


def _known_laws(prepared: Prepared, settings: Sequence[Method]) -> list[Law]:
    """The law of every setting, from neighbors that are ranked once."""
    known = [prepared.with_levers(**lever_values(params)).law for params in settings]
    return [law for law in known if law is not None]


def _neighborhood_laws(known: Sequence[Law]) -> list[CellLaw]:
    """The laws of independent cells, whose neighbors are stored together."""
    laws = [independent_cells(law) for law in known]
    _refuse_apart(laws)
    return laws


def _refuse_apart(laws: Sequence[CellLaw]) -> None:
    """Refuse settings whose neighbors are not stored together."""
    if len({id(law.neighborhoods.table) for law in laws}) > 1:
        raise ParameterError(
            "The neighbors of these settings do not fit into memory together; forecast fewer of "
            "them, or a sample of the records."
        )


def _refuse_unlike(settings: Sequence[Method]) -> None:
    """Refuse settings without a forecast, or of which one is not reached by another's levers."""
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
