"""Tables as Python users have them: data frames of any library become microdata at the front door.

A data frame is taken as `Microdata.from_frame` does, with a guessed schema: its variables are
neither keys nor confidential until a schema says so.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import checks_form, kind_words
from rwn_core.errors import ParameterError

_P = ParamSpec("_P")
_R = TypeVar("_R")
_TABLES = ("microdata", "original", "masked", "holdout")


def as_microdata(table: Any, schema: Schema | None = None) -> Microdata:
    """Return a data frame of pandas, polars, pyarrow or another library as microdata.

    >>> as_microdata(pd.DataFrame({"x": [1.0, 2.0]}))
    Microdata(2 records x 1 variables)
    """
    if isinstance(table, Microdata):
        return table if schema is None else table.with_schema(schema)
    if isinstance(table, pd.DataFrame):
        return Microdata.from_frame(table, schema)
    import narwhals as nw

    try:
        frame = nw.from_native(table)
        collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except TypeError:
        raise ParameterError(
            f"A table must be a data frame or Microdata, not {kind_words(table)}; "
            "rwn.read(path) reads a file, and pandas.DataFrame(...) makes a data frame."
        ) from None
    return Microdata.from_frame(collected.to_pandas(), schema)


def takes_tables(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a public function take data frames, and refuse what is no table or no method."""
    return checks_form(function, _take)


def _take(given: dict[str, Any], known: Signature) -> None:
    """Put microdata in the place of data frames."""
    original: Microdata | None = None
    for name, value in given.items():
        if name in _TABLES and not (name == "masked" and hasattr(value, "masked")):
            if value is None and known.parameters[name].default is None:
                continue
            given[name] = _taken(value, original if name == "masked" else None)
            original = original or given[name]
        elif name == "params" and (isinstance(value, type) or not hasattr(value, "prepare")):
            raise ParameterError(
                "A method must be given with its parameters, such as rwn.RWN(epsilon=2.0, k=5), "
                f"not as {kind_words(value)}; rwn.METHODS lists all."
            )


def _taken(value: object, original: Microdata | None) -> Microdata:
    """A table; a masked one is described as the original is, if it has its variables."""
    if original is None or isinstance(value, Microdata):
        return as_microdata(value)
    released = tuple(v for v in original.schema.variables if v.is_released)
    table = as_microdata(value)
    if table.names != tuple(variable.name for variable in released):
        return table
    return Microdata.from_frame(table.frame, Schema(variables=released))
