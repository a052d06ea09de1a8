"""Release precision: values rounded to multiples of a step, variable by variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.errors import ParameterError
from rwn_core.microdata import Microdata
from rwn_core.schema import Kind

NUMBERS = (Kind.CONTINUOUS, Kind.COUNT)
_EXACT = 2.0**52  # beyond this many steps a float64 has no fraction left to round


def check_precision(microdata: Microdata, precision: Mapping[str, float]) -> None:
    """Refuse a step that cannot be used, or a variable that has no numbers.

    Raises
    ------
    ParameterError
    """
    for name, step in precision.items():
        if name not in microdata.names or microdata.schema.variable(name).kind not in NUMBERS:
            raise ParameterError(
                f"Only numbers can be rounded; {name} is not a numeric variable of the table."
            )
        number = isinstance(step, int | float | np.integer | np.floating)
        if not number or isinstance(step, bool) or not np.isfinite(step) or not step > 0:
            raise ParameterError(
                f"The release precision of {name} must be a number above 0; leave it out to "
                "release the values as they are."
            )


def rounded_values(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Multiples of a step nearest to some values, halves to the even multiple.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        NaN stays.
    step : float
        Above 0.

    Returns
    -------
    ndarray of float64, shape (n,)
        Written with the digits of the step, so that equal multiples are equal numbers.

    Examples
    --------
    >>> rounded_values(np.array([1.26, 1.24, -0.1]), 0.5).tolist()
    [1.5, 1.0, 0.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = values / step
        result = np.round(multiples) * step
    # where a step is finer than the numbers' own digits there is nothing to round
    result = np.where(np.abs(multiples) < _EXACT, result, values)
    return np.asarray(result + 0.0, dtype=np.float64)  # no negative zero


def rounded(microdata: Microdata, precision: Mapping[str, float]) -> Microdata:
    """A table with some of its variables rounded.

    Parameters
    ----------
    microdata : Microdata
    precision : mapping of str to float
        The step of each rounded variable, in its own unit; above 0.

    Returns
    -------
    Microdata
        Of the same records and types; whole numbers stay whole where the step is whole.

    Raises
    ------
    ParameterError
    """
    if not precision:
        return microdata
    check_precision(microdata, precision)
    frame = microdata.frame
    columns = {
        name: _round_column(microdata, name, precision[name]) if name in precision else frame[name]
        for name in frame.columns
    }
    return Microdata(pd.DataFrame(columns, copy=False), microdata.schema, microdata.notices)


def _round_column(microdata: Microdata, name: str, step: float) -> pd.Series[Any]:
    column = microdata.frame[name]
    values = rounded_values(microdata.values(name), float(step))
    if pd.api.types.is_integer_dtype(column.dtype) and not (values % 1 > 0).any():
        whole = pd.Series(values, index=column.index, name=name)
        return whole.astype("Int64" if np.isnan(values).any() else "int64")
    return pd.Series(values, index=column.index, name=name)
