"""A table that has passed the gate: everything after it may trust names, types and values."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.errors import InputError, SchemaError
from rwn_core.schema import Kind, Role, Schema, Variable

LONGEST_NAME = 1000
LARGEST_NUMBER = 1e150  # its square still fits a float64: distances stay finite

_NUMBERS = (Kind.CONTINUOUS, Kind.COUNT)
_T = TypeVar("_T")


class Microdata:
    """Records by variables, with a schema; never changed after the gate.

    Use `Microdata.from_frame`; the constructor trusts what it is given.

    Attributes
    ----------
    schema : Schema
        One variable for each column, in order.
    notices : tuple of str
        What a data steward should know about the table, a sentence each.
    """

    __slots__ = ("_cache", "_frame", "notices", "schema")

    def __init__(self, frame: pd.DataFrame, schema: Schema, notices: tuple[str, ...] = ()) -> None:
        self._frame = frame
        self.schema = schema
        self.notices = notices
        self._cache: dict[Any, Any] = {}

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, schema: Schema | None = None) -> Microdata:
        """Check a pandas frame and take a copy of it.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n, p)
            At least two rows; columns of numbers, booleans, texts, categories or dates. Its
            index is left out, since row names identify records.
        schema : Schema, optional
            One variable for each column; guessed from the column types when left out.

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
        _check_shape(frame)
        _check_names(frame.columns)
        copied = frame.reset_index(drop=True).copy(deep=True)
        copied.attrs = {}
        if schema is None:
            schema = guess_schema(copied)
        elif schema.names != tuple(copied.columns):
            raise SchemaError(_name_difference(schema.names, tuple(copied.columns)))
        notices: list[str] = []
        for variable in schema.variables:
            column = _check_column(copied[variable.name], variable)
            copied[variable.name] = column
            notices += _column_notices(column, variable)
        return cls(copied, schema, tuple(notices))

    def __repr__(self) -> str:
        """Size only: a value never reaches a log."""
        return f"Microdata({self.n} records x {self.p} variables)"

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self._frame)

    @property
    def p(self) -> int:
        """Number of variables."""
        return len(self.schema.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.schema.names

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a pandas frame that copies itself when written to."""
        return self._frame.copy(deep=False)

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """Continuous and count variables that a release holds, in order."""
        return tuple(v.name for v in self.schema.released if v.kind in _NUMBERS)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, types and values, in hex."""
        return self._once("fingerprint", lambda: _fingerprint(self._frame))

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
        return self._once(("values", name), lambda: _read_only(self._numbers(name)))

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
            levels = self._once(("levels", name), lambda: self._levels(name))
        key = ("codes", name, tuple(levels))
        return self._once(key, lambda: self._codes(name, levels)), list(levels)

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Several variables as numbers, shape (n, len(names)), read-only."""
        key = ("matrix", tuple(names))
        return self._once(key, lambda: _read_only(self._columns(names)))

    def take(self, rows: NDArray[np.integer]) -> Microdata:
        """The records of these indices, in this order."""
        frame = self._frame.take(rows).reset_index(drop=True)
        return Microdata(frame, self.schema, self.notices)

    def with_schema(self, schema: Schema) -> Microdata:
        """The same records under another description, checked again."""
        return Microdata.from_frame(self._frame, schema)

    def _once(self, key: Any, make: Callable[[], _T]) -> _T:
        if key not in self._cache:
            self._cache[key] = make()
        result: _T = self._cache[key]
        return result

    def _numbers(self, name: str) -> NDArray[np.float64]:
        variable = self.schema.variable(name)
        column = self._frame[name]
        if variable.kind is Kind.CATEGORICAL:
            raise SchemaError(f"Variable {name} is categorical and has no numbers.")
        if variable.kind is Kind.ORDERED:
            codes, _ = self.codes(name)
            return np.where(codes < 0, np.nan, codes.astype(np.float64))
        if variable.kind is Kind.DATE:
            nanoseconds = pd.to_datetime(column, utc=True).astype("datetime64[ns, UTC]")
            days = nanoseconds.astype("int64").to_numpy() / 86_400e9
            return np.where(column.isna().to_numpy(), np.nan, days)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def _columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        if not names:
            return np.empty((self.n, 0))
        return np.column_stack([self.values(name) for name in names])

    def _levels(self, name: str) -> list[Any]:
        variable = self.schema.variable(name)
        if variable.levels is not None:
            return list(variable.levels)
        column = self._frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            present = set(column.dropna().unique())
            return [level for level in column.cat.categories if level in present]
        return sorted(column.dropna().unique().tolist())

    def _codes(self, name: str, levels: Sequence[Any]) -> NDArray[np.int32]:
        column = self._frame[name]
        index = pd.Index(levels)
        found = index.get_indexer(pd.Index(column.to_numpy(dtype=object)))
        return _read_only(found.astype(np.int32))


def guess_schema(frame: pd.DataFrame) -> Schema:
    """One variable for each column, its kind guessed from the column's type."""
    return Schema(
        variables=tuple(
            Variable(name=str(name), kind=_guess_kind(frame[name])) for name in frame.columns
        )
    )


def _guess_kind(column: pd.Series[Any]) -> Kind:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Kind.ORDERED if dtype.ordered else Kind.CATEGORICAL
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Kind.DATE
    if pd.api.types.is_bool_dtype(dtype):
        return Kind.CATEGORICAL
    if pd.api.types.is_integer_dtype(dtype):
        return Kind.COUNT
    if pd.api.types.is_float_dtype(dtype):
        return Kind.CONTINUOUS
    return Kind.CATEGORICAL


def _check_shape(frame: pd.DataFrame) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise InputError("The table must be a pandas DataFrame.")
    if frame.shape[1] == 0:
        raise InputError("The table has no columns; choose at least one.")
    if len(frame) < 2:
        records = "no records" if len(frame) == 0 else "one record"
        raise InputError(
            f"The table has {records}; masking needs at least two, and more than k of them."
        )


def _check_names(columns: pd.Index[Any]) -> None:
    if isinstance(columns, pd.MultiIndex):
        raise InputError("The table has a header of several rows; give each column one name.")
    for position, name in enumerate(columns, start=1):
        if not isinstance(name, str):
            raise InputError(f"The name of column {position} is not a text; rename it.")
        if not name.strip():
            raise InputError(f"Column {position} has no name; give it one.")
        if len(name) > LONGEST_NAME:
            raise InputError(
                f"The name of column {position} is longer than {LONGEST_NAME} characters; "
                "shorten it."
            )
    for name, times in Counter(columns).items():
        if times > 1:
            places = [str(i) for i, other in enumerate(columns, start=1) if other == name]
            raise InputError(
                f"The column name {name} occurs {times} times (columns {', '.join(places)}); "
                "rename all but one."
            )


def _name_difference(described: tuple[str, ...], found: tuple[str, ...]) -> str:
    for name in found:
        if name not in described:
            return f"The schema does not describe column {name}; add it as a variable."
    for name in described:
        if name not in found:
            return f"The schema describes a variable {name} that the table does not have."
    return "The schema lists the variables in another order than the table; reorder it."


def _check_column(column: pd.Series[Any], variable: Variable) -> pd.Series[Any]:
    name = variable.name
    if variable.role is Role.IDENTIFIER:
        return column
    if column.isna().all():
        raise InputError(f"Column {name} has no values; remove it or set its role to identifier.")
    if column.dtype == object:
        column = _texts(column, name)
    _check_type(column, name)
    if variable.kind in _NUMBERS:
        _check_numbers(column, variable)
    if variable.kind is Kind.DATE and not pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise SchemaError(f"Column {name} holds no dates; give it another kind.")
    if variable.levels is not None:
        _check_levels(column, variable)
    return column


def _texts(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    odd = ~(column.isna() | column.map(lambda value: isinstance(value, str)))
    if odd.any():
        raise InputError(
            f"Column {name} has {int(odd.sum())} values that are neither text nor missing (first "
            f"in row {int(odd.to_numpy().argmax()) + 1}); make the whole column texts or numbers."
        )
    return column


def _check_type(column: pd.Series[Any], name: str) -> None:
    dtype = column.dtype
    fine = (
        pd.api.types.is_bool_dtype(dtype)
        or pd.api.types.is_integer_dtype(dtype)
        or pd.api.types.is_float_dtype(dtype)
        or pd.api.types.is_string_dtype(dtype)
        or pd.api.types.is_datetime64_any_dtype(dtype)
        or isinstance(dtype, pd.CategoricalDtype)
    )
    if not fine:
        raise InputError(
            f"Column {name} has the type {dtype}; convert it to numbers, texts or dates."
        )


def _check_numbers(column: pd.Series[Any], variable: Variable) -> None:
    name = variable.name
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise SchemaError(
            f"Column {name} holds texts and cannot be {variable.kind}; make it categorical."
        )
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    for what, found in (
        ("infinite values", np.isinf(values)),
        (f"numbers beyond {LARGEST_NUMBER:g}", np.abs(values) > LARGEST_NUMBER),
    ):
        if found.any():
            raise InputError(
                f"Column {name} has {what} ({int(found.sum())}, first in row "
                f"{int(found.argmax()) + 1}); replace or remove them."
            )


def _check_levels(column: pd.Series[Any], variable: Variable) -> None:
    known = set(variable.levels or ())
    strange = ~(column.isna() | column.isin(list(known)))
    if strange.any():
        raise SchemaError(
            f"Column {variable.name} has {int(strange.sum())} values outside the levels of the "
            f"schema (first in row {int(strange.to_numpy().argmax()) + 1}); add the levels."
        )


def _column_notices(column: pd.Series[Any], variable: Variable) -> list[str]:
    if variable.role is Role.IDENTIFIER:
        return [f"{variable.name} is a direct identifier: it is left out of every release."]
    notices = []
    missing = int(column.isna().sum())
    different = column.nunique(dropna=True)
    if different == 1 and missing == 0:
        notices.append(f"{variable.name} is constant: it does not count in the distance.")
    if missing:
        notices.append(f"{variable.name} has {missing:,} missing values.")
    if variable.kind is Kind.CATEGORICAL and different > 0.95 * len(column) and different > 20:
        notices.append(
            f"{variable.name} has {different:,} different values in {len(column):,} records: "
            "if it identifies people, set its role to identifier."
        )
    return notices


def _fingerprint(frame: pd.DataFrame) -> str:
    digest = hashlib.sha256()
    for name in frame.columns:
        column = frame[name]
        header = f"{len(name)}:{name}:{column.dtype}:{len(column)};"
        digest.update(header.encode("utf-8", "surrogatepass"))
        codes, uniques = pd.factorize(column, use_na_sentinel=True)
        digest.update(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
        for value in uniques:
            text = repr(value) if not isinstance(value, str) else value
            digest.update(f"{len(text)}:{text};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.view() if array.flags.writeable else array
    array.flags.writeable = False
    return array
