"""A table that has passed the gate: all after it trusts its values, and reads them as numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.fingerprint import factorized, fingerprint
from rwn_core.data.guess_schema import completed, guess_schema, with_levels
from rwn_core.data.role_guesses import standard_file
from rwn_core.data.schema import Schema
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.validation import (
    check_column,
    check_names,
    check_shape,
    table_notices,
    typed_levels,
)
from rwn_core.data.variable import LEVELS, Kind, Role, check_forms
from rwn_core.errors import InputError, ParameterError, SchemaError

_T = TypeVar("_T")
_Notices = tuple[str, ...] | Callable[[], tuple[str, ...]]


def _why_left_out(
    frame: pd.DataFrame, schema: Schema, left_out: Mapping[str, str]
) -> dict[str, str]:
    """Return why columns leave every release: what the reader said, no values, or wrong ones."""
    reasons = {name: why for name, why in left_out.items() if schema.variable(name).is_released}
    for variable in schema.variables:
        name = variable.name
        if variable.is_released and name not in reasons and frame[name].isna().all():
            reasons[name] = "no values"
            continue
        try:
            unused = replace(variable, role=Role.IDENTIFIER, group=None)
            check_column(frame[name], unused if name in reasons else variable)
        except InputError as refusal:
            reasons[name] = str(refusal).removeprefix(f"Column {name} has ").rstrip(".")
    return reasons


class Microdata(Summarized):
    """A table of records by variables, with a schema; nothing is changed once it was checked.

    Use `Microdata.from_frame`; the constructor trusts what it is given.

    Attributes
    ----------
    frame : pandas.DataFrame, shape (n, p)
    schema : Schema
        One variable for each column, in order.
    n : int
        Number of records.
    notices : tuple of str
        What a data steward should know about the table, a sentence each.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> import pandas as pd
    >>> data = rwn.Microdata.from_frame(pd.DataFrame({"age": [30, 41, 55], "pay": [2.1, 3.4, 2.8]}))
    >>> data, data.numeric_names
    (Microdata(3 records x 2 variables), ('age', 'pay'))
    """

    __slots__ = ("_cache", "_notices", "_table", "n", "schema")

    def __init__(
        self,
        frame: pd.DataFrame | Mapping[str, Any],
        schema: Schema = None,  # type: ignore[assignment]  # left out by mistake
        notices: _Notices = (),
    ) -> None:
        if schema is None:
            raise ParameterError("A table is made by rwn.Microdata.from_frame(frame).")
        self._table = frame
        self.n = len(frame if isinstance(frame, pd.DataFrame) else next(iter(frame.values())))
        self.schema = schema
        self._notices = notices
        self._cache: dict[Any, Any] = {}

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, schema: Schema | None = None, *, notices: tuple[str, ...] = ()
    ) -> Microdata:
        """Check a pandas frame and take a copy of it.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n, p)
            At least two rows; columns of numbers, booleans, texts, categories or dates. Its
            index is left out, since row names identify records.
        schema : Schema, optional
            Of the columns that it does not name, variables are guessed from the column types.
        notices : tuple of str
            Notices of the reader of a file, besides those of the table itself.

        Returns
        -------
        Microdata

        Raises
        ------
        InputError
            The table cannot be masked; the message names the column and the count.
        SchemaError
            The schema does not describe this table.

        Examples
        --------
        >>> import pandas as pd
        >>> Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]}))
        Microdata(2 records x 2 variables)
        """
        check_shape(frame)
        check_forms({"schema": schema}, {"schema": Schema | None})
        check_names(frame.columns)
        copied = frame.reset_index(drop=True).copy(deep=True)
        copied.attrs = {}
        return cls.from_own_frame(copied, schema, notices=notices)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], schema: Schema) -> Microdata:
        """Take new columns that were checked, without a copy."""
        made = cls(columns, schema)
        for name in schema.numeric_names:  # without pandas, which is slow
            column = columns[name]
            if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
                made._cache["array", name] = column = column.view()
                column.flags.writeable = False
                if column.dtype == np.float64:
                    made._cache["values", name] = column
        return made

    @classmethod
    def from_own_frame(
        cls,
        frame: pd.DataFrame,
        schema: Schema | None,
        *,
        notices: tuple[str, ...] = (),
        left_out: Mapping[str, str] | None = None,
    ) -> Microdata:
        """Check a new frame and take it without a copy; its rows are numbered from 0."""
        # `left_out`, of a reader of files: why columns are no variables of a release; others with
        # wrong values follow. Without it, they are refused.
        check_shape(frame)
        check_names(frame.columns)
        schema = guess_schema(frame) if schema is None else completed(schema, frame)
        if left_out is None:
            for variable in schema.variables:
                check_column(frame[variable.name], variable)
        else:
            # columns that cannot be used are emptied, and leave every release
            reasons = _why_left_out(frame, schema, left_out)
            if reasons:
                frame[list(reasons)] = np.nan
                schema = schema.releasing(
                    [v.name for v in schema.released if v.name not in reasons]
                )
                words = ", ".join(f"{name} ({why})" for name, why in reasons.items())
                notices = (*notices, f"Left out of every release: {words}.")
        noticed = cache(lambda: (*notices, *table_notices(frame, schema)))  # slow: if asked for
        if schema.edit_rules:  # but a rule that does not fit the values is refused at once
            noticed()
        return cls(frame, with_levels(frame, schema), noticed)

    def __repr__(self) -> str:
        """Size only: a value never reaches a log."""
        return f"Microdata({self.n} records x {self.p} variables)"

    def _summary(self) -> Summary:
        """The variables: a notebook saves what it shows, so that no value is shown."""
        return replace(self.schema._summary(), title=repr(self))

    def __len__(self) -> int:
        """Return the number of records."""
        return self.n

    def __getattr__(self, name: str) -> Any:
        """Say where a method of data frames is."""
        about = f"Microdata has no {name}"
        if hasattr(pd.DataFrame, name):
            about += f"; its data frame does: take data.frame.{name}"
        raise AttributeError(f"{about}.")

    def __getitem__(self, name: object) -> Any:
        """Say where a column is."""
        raise ParameterError("Microdata has no columns itself; take data.frame[name].")

    @property
    def notices(self) -> tuple[str, ...]:
        """Return notices about the table for a data steward, a sentence each."""
        return self._notices() if callable(self._notices) else self._notices

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.schema.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.schema.names

    @property
    def looks_like(self) -> str | None:
        """The official file that the names of the columns are of, as a sentence."""
        official = standard_file(self.names)
        return None if official is None else official.sentence

    @property
    def _frame(self) -> pd.DataFrame:
        """The table; one of columns is made into a frame when it is first needed."""
        if not isinstance(self._table, pd.DataFrame):
            self._table = pd.DataFrame(self._table, copy=False)
        return self._table

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas frame that copies itself when written to."""
        return self._frame.copy(deep=False)

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """Continuous and count variables that a release holds, in order."""
        return self.schema.numeric_names

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, types and values, in hex."""
        return self.cached("fingerprint", lambda: fingerprint(self._frame))

    def array(self, name: str) -> Any:
        """One variable's values as they are: an array of NumPy's, or of pandas' own types."""
        key = "array", name
        if key not in self._cache:
            column = self._frame[name]
            plain = isinstance(column.dtype, np.dtype)
            self._cache[key] = column.to_numpy() if plain else column.array
        return self._cache[key]

    def values(self, name: str) -> NDArray[np.float64]:
        """One variable as numbers.

        Returns
        -------
        ndarray of float64, shape (n,)
            NaN where missing; level numbers 0, 1, ... of an ordered variable, days since
            1970 of a date. Read-only.

        Raises
        ------
        SchemaError
            The variable is categorical.
        """
        known: NDArray[np.float64] | None = self._cache.get(("values", name))
        if known is not None:
            return known
        variable = self.schema.by_name.get(name) or self.schema.variable(name)
        if not variable.is_released:
            direct = variable.role is Role.IDENTIFIER
            what = "a direct identifier" if direct else f"a {variable.role}"
            raise SchemaError(f"Variable {name} is {what} and is not analyzed.")
        if variable.kind is Kind.CATEGORICAL:
            raise SchemaError(f"Variable {name} is categorical and has no numbers.")
        values = self.array(name)
        if variable.kind is Kind.ORDERED:
            codes, _ = self.codes(name)
            values = np.where(codes < 0, np.nan, codes.astype(np.float64))
        elif variable.kind is Kind.DATE:
            # nanoseconds would end in 2262
            column = self._frame[name]
            moments = pd.to_datetime(column, utc=True).astype("datetime64[us, UTC]")
            days = moments.astype("int64").to_numpy() / 86_400e6
            values = np.where(column.isna().to_numpy(), np.nan, days)
        elif isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
            values = values.astype(np.float64)
        else:
            values = self._frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        known = self._cache["values", name] = _read_only(values)
        return known

    def columns(self, names: Sequence[str]) -> list[NDArray[np.float64]]:
        """Several variables as numbers; see `values`."""
        # shape (n,) each
        found = []
        for name in names:
            known = self._cache.get(("values", name))
            found.append(self.values(name) if known is None else known)
        return found

    def codes(
        self, name: str, levels: Sequence[Any] | None = None
    ) -> tuple[NDArray[np.int32], list[Any]]:
        """One variable as level numbers.

        Parameters
        ----------
        name : str
        levels : sequence, optional
            Values in their order; by default those that occur, sorted (in the schema's order
            for an ordered variable).

        Returns
        -------
        codes : ndarray of int32, shape (n,)
            -1 where missing or not among the levels. Read-only.
        levels : list
        """
        if levels is None:
            levels = self.cached(("levels", name), lambda: self._levels(name))
        key = ("codes", name, tuple(levels))
        return self.cached(key, lambda: self._codes(name, levels)), list(levels)

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Several variables as numbers, shape (n, len(names)), read-only."""
        key = "matrix", tuple(names)
        nothing = [np.empty((self.n, 0))]
        return self.cached(key, lambda: _read_only(np.column_stack(self.columns(names) or nothing)))

    def take(self, rows: NDArray[np.integer]) -> Microdata:
        """The records of these indices, in this order."""
        # rows: shape (r,)
        try:
            frame = self._frame.take(rows).reset_index(drop=True)
        except (IndexError, ValueError, TypeError):
            raise ParameterError(
                f"rows must be the numbers of records, from 0 to {self.n - 1:,}."
            ) from None
        return Microdata(frame, self.schema, self._notices)

    def with_schema(self, schema: Schema) -> Microdata:
        """The same records under another description; what it says of the values is checked."""
        check_forms({"schema": schema}, {"schema": Schema})
        if _said_of_values(schema) == _said_of_values(self.schema):
            return self._described(schema)
        old = table_notices(self._frame, self.schema)
        added = tuple(notice for notice in self.notices if notice not in old)
        return Microdata.from_frame(self._frame, schema, notices=added)

    def with_weights(self, weights: Mapping[str | int, float] | Mapping[str, float]) -> Microdata:
        """The same records with other weights in the distance, by name or by number from 1.

        A number counts released variables, in a table where no variable has a number as its name.

        Raises
        ------
        SchemaError
        """
        return self._described(self.schema.with_weights(weights))

    def with_slices(self, slices: Sequence[Sequence[str]]) -> Microdata:
        """The same records with these variables travelling together, and every other one alone.

        Raises
        ------
        ParameterError
        """
        return self._described(self.schema.with_slices(slices))

    def _described(self, schema: Schema) -> Microdata:
        """Share the checked values with a schema that says the same of them."""
        other = Microdata(self._frame, schema, self._notices)
        other._cache = self._cache  # nothing kept there depends on what may differ
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to a worker process without what is merely remembered."""
        return (Microdata, (self._frame, self.schema, self.notices))

    def cached(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Compute what depends on this table's values alone, the first time only."""
        try:
            result: _T = self._cache[key]
        except KeyError:
            result = self._cache[key] = make()
        return result

    def remembered(self, key: Hashable) -> Any:
        """Return what was computed before under a key; None where nothing was."""
        return self._cache.get(key)

    def _levels(self, name: str) -> list[Any]:
        variable = self.schema.variable(name)
        if variable.levels is not None:
            return typed_levels(self._different(name)[1], variable.levels)
        column = self._frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            present = set(column.dropna().unique())
            return [level for level in column.cat.categories if level in present]
        return sorted(self._different(name)[1])

    def _different(self, name: str) -> tuple[NDArray[np.int64], list[Any]]:
        # the numbers have shape (n,)
        return self.cached(("different", name), lambda: factorized(self._frame[name]))

    def _codes(self, name: str, levels: Sequence[Any]) -> NDArray[np.int32]:
        # shape (n,)
        numbers, different = self._different(name)
        positions = {level: position for position, level in enumerate(levels)}
        # the last entry is for number -1, a missing value
        lookup = np.array([positions.get(value, -1) for value in different] + [-1], dtype=np.int32)
        return _read_only(lookup[numbers])


def _said_of_values(schema: Schema) -> tuple[object, ...]:
    """Return the parts of a schema that values are checked against."""
    said = ((v.name, v.kind, v.role, v.confirmed, v.levels) for v in schema.variables)
    return (schema.edit_rules, schema.population, *said)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    # the same shape
    array = array.view() if array.flags.writeable else array
    array.flags.writeable = False
    return array


_LARGEST_NUMBER = 2.0**62


def value_codes(microdata: Microdata, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    """Level numbers of any kind of variable; missing, where it occurs, is the last level."""
    return _known_values(microdata, name)[:2]


_Known = tuple[NDArray[np.int64], list[Any], NDArray[np.float64]]


def _known_values(microdata: Microdata, name: str) -> _Known:
    """Return the level numbers, the levels, and those that are numbers as an array."""
    known: _Known | None = microdata._cache.get(("value codes", name))
    if known is not None:
        return known
    if microdata.schema.by_name[name].kind in LEVELS:
        own, values = microdata.codes(name)
        codes = own.astype(np.int64)
        distinct = np.empty(0)
    else:
        codes, distinct = pd.factorize(microdata.values(name), sort=True)
        values = distinct.tolist()
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        values = [*values, None]
    known = microdata._cache["value codes", name] = codes, values, distinct
    return known


def codes_like(
    original: Microdata, masked: Microdata, name: str, known: _Known | None = None
) -> NDArray[np.int64]:
    """The masked values as level numbers of the original's; -1 for a value it does not have."""
    _, values, distinct = known or _known_values(original, name)
    missing = len(values) - 1 if values[-1] is None else -1
    if original.schema.by_name[name].kind in LEVELS:
        codes, _ = masked.codes(name, values[:-1] if values[-1] is None else values)
        return np.where(masked.frame[name].isna().to_numpy(), missing, codes).astype(np.int64)
    numbers = masked.values(name)
    if not len(distinct):
        return np.where(np.isnan(numbers), missing, -1).astype(np.int64)
    places = np.minimum(np.searchsorted(distinct, numbers), len(distinct) - 1)
    same = distinct[places] == numbers
    return np.where(np.isnan(numbers), missing, np.where(same, places, -1)).astype(np.int64)


def joint_codes(microdata: Microdata, names: tuple[str, ...]) -> NDArray[np.int64]:
    """Level numbers of the values that several variables take together."""
    return numbered(np.column_stack([value_codes(microdata, name)[0] for name in names]))


def numbered(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the rows of a table in ascending order; equal rows get equal numbers."""
    widths = cells.max(axis=0, initial=-1) + 2
    if np.prod(widths, dtype=np.float64) < _LARGEST_NUMBER:  # one number a row sorts faster
        steps = np.cumprod(np.concatenate(([1], widths[:0:-1])))[::-1]
        _, numbers = np.unique((cells + 1) @ steps, return_inverse=True)
    else:
        _, numbers = np.unique(cells, axis=0, return_inverse=True)
    return np.asarray(numbers.ravel(), dtype=np.int64)


def codes_together(
    original: Microdata, masked: Microdata, names: tuple[str, ...], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The values of some variables together as numbers from 0, of an original and some rows."""
    if len(names) == 1:
        known = _known_values(original, *names)
        columns = codes_like(original, masked, *names, known)
        return known[0], np.where(columns <= known[0].max(), columns, -1)[rows]
    own = np.column_stack([value_codes(original, name)[0] for name in names])
    released = np.column_stack([codes_like(original, masked, name) for name in names])
    codes = numbered(np.concatenate((own, released[rows])))
    present = np.zeros(codes.max() + 1, dtype=bool)
    present[codes[: len(own)]] = True
    number = np.where(present, np.cumsum(present) - 1, -1)
    return number[codes[: len(own)]], number[codes[len(own) :]]
