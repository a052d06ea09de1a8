"""What to expect of a setting before any release is drawn: closed forms of the cell law."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.evaluation.forecast.columns import Columns
from rwn_core.evaluation.forecast.expected_sums import Adder
from rwn_core.evaluation.forecast.forecast import Forecast, forecast_of
from rwn_core.masking import RWN
from rwn_core.mechanism.cell_law import CellLaw
from rwn_core.mechanism.row_mixture import RowMixtureLaw
from rwn_core.neighbors import NeighborTable, neighbor_table
from rwn_core.neighbors.radius import one_radius

__all__ = ["Forecast", "forecast", "forecast_moments", "forecast_sample", "forecast_scan"]

PAIRS = 1_000_000  # neighbors that a sample's forecast adds up
_PILOT = 50  # records that tell how many neighbors there are


def forecast(microdata: Microdata, params: RWN) -> Forecast:
    """What to expect of a setting, without drawing a release.

    Parameters
    ----------
    microdata : Microdata
    params : RWN

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
    >>> round(float(forecast(table, RWN(k=1, q=1.0)).means["x"]), 12)
    0.666666666667
    """
    return forecast_moments(params.law(microdata, params.neighborhoods(microdata)))


def forecast_moments(law: CellLaw) -> Forecast:
    """What to expect of a release whose law is known, with the moments of every cell.

    Parameters
    ----------
    law : CellLaw
        Of independent cells.

    Returns
    -------
    Forecast

    Raises
    ------
    ParameterError
        The cells of a record depend on each other.
    """
    if isinstance(law, RowMixtureLaw):
        raise ParameterError(
            "A forecast is for a method that draws each cell independently; the 2015 method masks "
            "whole records, so draw releases instead."
        )
    columns = Columns.of(law.original)
    adder = Adder(columns, np.asarray(law.q)[None])
    starts, records = law.neighborhoods.pairs()
    sizes = law.neighborhoods.sizes[None]
    whole = slice(0, law.original.n)
    mean, variance = adder.cells(adder.near(starts, records, sizes, whole)[0], whole)
    cells = (columns.center + columns.unit * mean[0], columns.unit**2 * variance[0])
    return forecast_of(columns, adder.total(starts, records, sizes), 0, cells)


def forecast_scan(
    microdata: Microdata,
    settings: Sequence[RWN],
    *,
    table: NeighborTable | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Forecast]:
    """What to expect of many settings: one neighbor table and one pass for all of them.

    Parameters
    ----------
    microdata : Microdata
    settings : sequence of RWN
        All with the same scale and encoding, one radius for all records, and everybody a
        possible neighbor.
    table : NeighborTable, optional
        Of this table's points in that scale, reaching as far as any setting; found by default.
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
    >>> scan = forecast_scan(table, [RWN(k=k) for k in (1, 2)])
    >>> [round(float(one.means["x"]), 12) for one in scan]
    [1.5, 3.0]
    """
    if not settings:
        return []
    laws, starts, records = _laws(microdata, settings, table)
    columns = Columns.of(microdata)
    adder = Adder(columns, np.array([law.q for law in laws]))
    # settings that differ in q alone share their neighborhoods
    different = list(dict.fromkeys(id(law.neighborhoods) for law in laws))
    which = np.array([different.index(id(law.neighborhoods)) for law in laws])
    sizes = np.array(
        [laws[list(which).index(at)].neighborhoods.sizes for at in range(len(different))]
    )
    sums = adder.total(starts, records, sizes, which, progress)
    nothing = (np.empty((0, len(columns.names))),) * 2
    return [forecast_of(columns, sums, place, nothing) for place in range(len(laws))]


def forecast_sample(
    microdata: Microdata, settings: Sequence[RWN], *, pairs: int = PAIRS
) -> tuple[list[Forecast], Microdata]:
    """What to expect of some records of a table that is too large for a quick scan of all.

    Parameters
    ----------
    microdata : Microdata
        More than 2,000 records.
    settings : sequence of RWN
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
    points = settings[0].points(moved)
    k, epsilon = _widest(settings)
    pilot = _neighbors_of_first(points, _PILOT, k, epsilon)
    each = max(int(pilot.offsets[-1]) / pilot.n, 1.0)
    table = _neighbors_of_first(points, max(_PILOT, int(pairs / each)), k, epsilon)
    return forecast_scan(moved, settings, table=table), moved.take(np.arange(table.n))


def _neighbors_of_first(
    points: NDArray[np.float64], count: int, k: int | None, epsilon: float | None
) -> NeighborTable:
    """The ranked others of the first records."""
    from rwn_core.neighbors.tree_search import index_of, neighborhoods_of_some
    from rwn_core.parallel.threads import Watch, thread_count

    records = np.arange(min(count, len(points)))
    watch = Watch(threads=thread_count(None), progress=None)
    return neighborhoods_of_some(index_of(points, None), points, records, k, epsilon, watch)


def _widest(settings: Sequence[RWN]) -> tuple[int | None, float | None]:
    """The largest k and the largest epsilon."""
    k = max((one.k for one in settings if one.k is not None), default=None)
    radii = [float(one.epsilon) for one in settings if one.epsilon is not None]  # type: ignore[arg-type]  # checked by the scan
    return k, max(radii, default=None)


def _laws(
    microdata: Microdata, settings: Sequence[RWN], table: NeighborTable | None
) -> tuple[list[CellLaw], NDArray[np.int64], NDArray[np.int32]]:
    """The law of every setting, and the ranked neighbors out to the widest of them."""
    if len({(params.scale, params.encoding) for params in settings}) > 1:
        raise ParameterError("All settings of a scan must have the same scale and encoding.")
    if not all(params.scheme.exact and one_radius(params.epsilon or 0.0) for params in settings):
        raise ParameterError("A scan needs one radius for all records and neighbors=exact.")
    reaches = [
        (params.k, None if params.epsilon is None else float(params.epsilon))  # type: ignore[arg-type]  # one_radius has checked it
        for params in settings
    ]
    k, epsilon = _widest(settings)
    if table is None:
        table = neighbor_table(settings[0].points(microdata), k=k, epsilon=epsilon)
    narrowed = {reach: table.narrow(k=reach[0], epsilon=reach[1]) for reach in set(reaches)}
    laws = [
        params.law(microdata, narrowed[reach])
        for params, reach in zip(settings, reaches, strict=True)
    ]
    starts, records = table.narrow(k=k, epsilon=epsilon).pairs()
    return laws, starts, records
