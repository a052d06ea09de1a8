"""The expected loss along one slider: a curve without a single draw, to hold a draw against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rwn_core.correlations import correlation_matrix
from rwn_core.errors import NotApplicable
from rwn_core.forecast import Forecast, forecast_scan
from rwn_core.masking import RWN
from rwn_core.microdata import Microdata
from rwn_core.neighborhoods import NeighborTable
from rwn_core.reading import Reading


def expected_correlation_change(expected: Forecast, original: NDArray[np.float64]) -> float:
    """Mean absolute difference of the correlations that a setting leads to, and the original's.

    Parameters
    ----------
    expected : Forecast
    original : ndarray of float64, shape (m, m)
        NaN where a correlation is not defined.

    Returns
    -------
    float
        What the setting does. One draw differs by more, since it adds its own noise.

    Raises
    ------
    NotApplicable
        No pair of variables varies.
    """
    first, second = np.triu_indices(len(original), 1)
    change = np.abs(expected.correlations.to_numpy() - original)[first, second]
    defined = ~np.isnan(change)
    if not defined.any():
        raise NotApplicable("No pair of numeric variables varies.")
    return float(change[defined].mean())


def expected_curve(
    microdata: Microdata,
    params: RWN,
    radii: Sequence[float],
    *,
    table: NeighborTable | None = None,
) -> Reading:
    """Expected change of the correlations, and intact cells, for many radii at this k and q.

    Parameters
    ----------
    microdata : Microdata
    params : RWN
        The present setting; one radius for all records.
    radii : sequence of float
        Ascending.
    table : NeighborTable, optional
        See `forecast_scan`.

    Returns
    -------
    Reading
        value: at the present setting; detail: radii, change (per radius), changed (expected
        share of cells that show another value), now (the present radius), expected
        (correlations at the present setting).

    Raises
    ------
    NotApplicable, ParameterError
    """
    names = microdata.numeric_names
    if len(names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    settings = [*(replace(params, epsilon=float(radius)) for radius in radii), params]
    scan = forecast_scan(microdata, settings, table=table)
    original = correlation_matrix(microdata.matrix(names))
    changes = [expected_correlation_change(expected, original) for expected in scan]
    cells = microdata.n * len(microdata.schema.released)
    changed = [1 - float(expected.cells_intact.sum()) / cells for expected in scan]
    now = 0.0 if params.epsilon is None else float(params.epsilon)  # type: ignore[arg-type]  # the scan refuses radii of records
    return Reading(
        value=changes[-1],
        baseline=0.0,
        detail={
            "radii": np.array([float(radius) for radius in radii]),
            "change": np.array(changes[:-1]),
            "changed": np.array(changed[:-1]),
            "now": now,
            "k": params.k,
            "q": params.q,
            "names": list(names),
            "original": original,
            "expected": scan[-1].correlations.to_numpy(),
        },
    )
