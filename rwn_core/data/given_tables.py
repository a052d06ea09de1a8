"""Tables as Python users have them: data frames of any library become microdata at the front door.

A data frame is taken as `Microdata.from_frame` does, with a guessed schema: its variables are
neither keys nor confidential until a schema says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import pandas as pd

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
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
            f"A table must be a data frame or Microdata, not {_what(table)}; rwn.read(path) reads "
            "a file, and pandas.DataFrame(...) makes a data frame."
        ) from None
    return Microdata.from_frame(collected.to_pandas(), schema)


def _what(value: Any) -> str:
    kind = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"the class {kind}" if isinstance(value, type) else f"a {kind}"


def takes_tables(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a public function take data frames, and refuse what is no table or no method."""
    known = signature(function)

    @wraps(function)
    def taken(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            given = known.bind(*args, **kwargs)
        except TypeError as why:
            names = ", ".join(known.parameters)
            raise ParameterError(
                f"{function.__name__} was called with other arguments than it has ({why}); it "
                f"takes: {names}."
            ) from None
        original: Microdata | None = None
        for name, value in given.arguments.items():
            if name in _TABLES and not (name == "masked" and hasattr(value, "masked")):
                if value is None and known.parameters[name].default is None:
                    continue
                given.arguments[name] = _taken(value, original if name == "masked" else None)
                original = original or given.arguments[name]
            elif name == "params":
                _check_method(value)
        return function(*given.args, **given.kwargs)

    return taken


def _taken(value: Any, original: Microdata | None) -> Microdata:
    """A table; a masked one is described as the original is, if it has its variables."""
    if original is None or isinstance(value, Microdata):
        return as_microdata(value)
    released = tuple(v for v in original.schema.variables if v.is_released)
    table = as_microdata(value)
    if table.names != tuple(variable.name for variable in released):
        return table
    return Microdata.from_frame(table.frame, Schema(variables=released))


def _check_method(params: Any) -> None:
    if isinstance(params, type) or not hasattr(params, "prepare"):
        raise ParameterError(
            f"A method must be given with its parameters, such as rwn.RWN(epsilon=2.0, k=5), not "
            f"as {_what(params)}; rwn.METHODS lists all."
        )
