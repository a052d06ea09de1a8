"""Donors: the record that gives each cell its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.errors import ParameterError
from rwn_core.neighbors import Drawing, Neighborhoods
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.parallel.threads import in_parts, thread_count
from rwn_core.randomness import SecretKey, uniforms

_STORED_DRAWS = 256_000_000  # bytes of random numbers kept from one of many settings to the next
_BYTES_A_CELL = 260  # about 24 uniform numbers and 17 steps of the record chain


class StoredDraws:
    """The random numbers of some keys, kept for the next setting.

    Of `many` keys as many as fit, from the first on; else the last one's.
    """

    def __init__(
        self, microdata: Microdata, records: NDArray[np.int64], *, many: bool = False
    ) -> None:
        self.records, self.streams = records, random_streams(microdata)
        needed = max(len(records) * len(self.streams) * _BYTES_A_CELL, 1)
        self._entries = _STORED_DRAWS // needed if many else None
        self._kept: dict[str, Draws] = {}

    def for_key(self, key: SecretKey) -> Draws:
        """The random numbers of a key."""
        if key.identity in self._kept:
            return self._kept[key.identity]
        draws = Draws(key, self.records, self.streams)
        if self._entries is None:
            self._kept = {key.identity: draws}
        elif len(self._kept) < self._entries:
            self._kept[key.identity] = draws
        return draws

    def of_table(self, microdata: Microdata) -> StoredDraws:
        """The same for other slices of these records: the same object where no stream changes."""
        if random_streams(microdata) == self.streams:
            return self
        return StoredDraws(microdata, self.records, many=self._entries is not None)


CHUNK = 65_536  # records drawn at a time
_FAR = 2**31 - 1
_TOGETHER = 16_384  # blocks of random numbers made in one call: more would leave the fast memory

NO_DONOR = -1  # the donor of a cell that becomes missing


class Draws:
    """Hold the random numbers of some records: whether, and how far down the ranks.

    Cell (i, j) holds one uniform number u and the record chain T_1 = 1,
    T_(s+1) = floor(T_s / U_s) + 1. It is modified if u < q, and its donor is then the member
    of rank T, the last T_s that the neighborhood's size admits. That is uniform over the
    members for every size, and a growing neighborhood changes a donor as rarely as it can.

    Parameters
    ----------
    key : SecretKey
    records : ndarray of int64, shape (m,)
    streams : sequence of int, length p
        One for each column; columns of one group share a stream.
    """

    def __init__(self, key: SecretKey, records: NDArray[np.int64], streams: Sequence[int]) -> None:
        self.records = np.asarray(records, dtype=np.int64)
        self.streams = tuple(streams)
        self._key = key
        self._blocks = 0
        self._uniform: list[NDArray[np.float64]] = []
        self._chain = [np.ones((len(self.records), len(self.streams)), dtype=np.int32)]

    @property
    def modify(self) -> NDArray[np.float64]:
        """The uniform number that decides whether a cell is modified, shape (m, p)."""
        return self._step(0)

    def ranks(self, sizes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The rank of each cell's donor, shape (m, p)."""
        limit = sizes.astype(np.int32)[:, None]
        chosen = self._chain[0].copy()
        step = 1
        while True:
            if step == len(self._chain):
                self._chain.append(self._next())
            inside = self._chain[step] <= limit
            if not inside.any():
                return chosen
            np.copyto(chosen, self._chain[step], where=inside)
            step += 1

    def from_stored(
        self, neighborhoods: Neighborhoods, q: NDArray[np.float64], threads: int | None = None
    ) -> NDArray[np.int64]:
        """The donors of these records in a stored table, shape (m, p)."""
        from rwn_core.neighbors.draw_kernel import draw_rows

        table, rows = neighborhoods.table, neighborhoods.rows(self.records)
        streams, chances = np.array(self.streams, dtype=np.int64), np.array(q, dtype=np.float64)
        donors = np.empty((len(rows), len(streams)), np.int64)
        drawn = (self._key.words, self.records, streams, chances, rows)
        found = (table.offsets, table.records, neighborhoods.sizes, donors)

        def draw(first: int, last: int) -> None:
            draw_rows(*drawn, *found, first, last)

        in_parts(draw, len(donors), donors.size, thread_count(threads))
        return donors

    def weighted(
        self,
        neighborhoods: Neighborhoods,
        rows: NDArray[np.int64],
        q: NDArray[np.float64],
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        """Return the donors of these records where they are not equally likely, shape (m, p)."""
        from rwn_core.neighbors.draw_kernel import draw_by_layers

        keys = np.ascontiguousarray(self._key.words.reshape(8, -1).T)
        streams, table = np.array(self.streams, dtype=np.int64), neighborhoods.table
        if isinstance(table, AllDonors):
            q = np.asarray(q, dtype=np.float64)
            return table.draw(keys, self.records, streams, q, threads=threads)
        donors = np.empty((len(rows), len(streams)), np.int64)
        chances = np.asarray(q, dtype=np.float64)
        offsets, records, shares = table.offsets, table.records, neighborhoods.shares
        assert shares is not None  # as `draw_donors` has checked

        def draw(first: int, last: int) -> None:
            draw_by_layers(
                keys,
                self.records,
                streams,
                chances,
                rows,
                offsets,
                records,
                shares,
                donors,
                first,
                last,
            )

        in_parts(draw, len(donors), donors.size, thread_count(threads))
        return donors

    def drawing(self, q: NDArray[np.float64]) -> Drawing:
        """The same randomness, for a search that draws as it goes."""
        return Drawing(key=self._key, streams=self.streams, q=q)

    @property
    def has_one_key(self) -> bool:
        """True if one key serves all records, as compiled code needs it."""
        return self._key.words.ndim == 1

    def _next(self) -> NDArray[np.int32]:
        ratio = np.floor(self._chain[-1] / self._step(len(self._chain))) + 1
        return np.asarray(np.minimum(ratio, _FAR), dtype=np.int32)

    def _step(self, step: int) -> NDArray[np.float64]:
        while step >= len(self._uniform):
            self._uniform += self._block(self._blocks)
            self._blocks += 1
        return self._uniform[step]

    def _block(self, block: int) -> list[NDArray[np.float64]]:
        streams = list(dict.fromkeys(self.streams))
        at_once = max(1, _TOGETHER // max(len(self.records), 1))
        parts = [
            self._uniforms(streams[first : first + at_once], block)
            for first in range(0, len(streams), at_once)
        ]
        drawn = np.concatenate(parts, axis=1)
        columns = [streams.index(stream) for stream in self.streams]
        return [np.ascontiguousarray(step[columns].T) for step in drawn]

    def _uniforms(self, streams: Sequence[int], block: int) -> NDArray[np.float64]:
        """The numbers of a few streams in one call, shape (8, streams, m)."""
        m = len(self.records)
        records = np.tile(self.records, len(streams))
        numbers = np.repeat(np.array(streams, dtype=np.int64), m)
        return uniforms(self._key, records, numbers, block).reshape(-1, len(streams), m)


def check_probability(q: object) -> None:
    """Refuse a modification probability outside [0, 1]."""
    number = isinstance(q, int | float | np.integer | np.floating) and not isinstance(q, bool)
    if not number or not 0 <= float(q) <= 1:  # type: ignore[arg-type]
        raise ParameterError("q must be a probability: a number from 0 to 1.")


def random_streams(microdata: Microdata) -> tuple[int, ...]:
    """The stream of each released column: its position, or that of the first of its group."""
    first: dict[str, int] = {}
    streams = []
    for position, variable in enumerate(microdata.schema.released):
        group = variable.group
        streams.append(position if group is None else first.setdefault(group, position))
    return tuple(streams)


def masked_columns(microdata: Microdata) -> NDArray[np.bool_]:
    """Which released columns the schema lets a method mask, shape (p,)."""
    released = microdata.schema.released
    if not released:
        raise ParameterError(
            "Every variable is a direct identifier, and identifiers are never released; give at "
            "least one variable another role."
        )
    chosen = np.array([variable.masked for variable in released])
    if not chosen.any():
        raise ParameterError("No variable is chosen for masking; choose at least one.")
    return chosen


def draw_donors(
    neighborhoods: Neighborhoods,
    draws: Draws,
    q: NDArray[np.float64],
    *,
    threads: int | None = None,
) -> NDArray[np.int64]:
    """Draw the donors of the records that `draws` holds.

    Parameters
    ----------
    neighborhoods : Neighborhoods
        Of all n records, or at least of these.
    draws : Draws
        Of m of the records and p columns.
    q : ndarray of float64, shape (p,)
        Modification probability of each column, from 0 to 1.
    threads : int, optional
        RWN_THREADS or all processors by default; it changes the time, never the donors.

    Returns
    -------
    ndarray of int64, shape (m, p)
        The donor of each cell; the record itself where the value is kept, and NO_DONOR where a
        value is to be replaced and the neighborhood is empty.

    Raises
    ------
    IndexError
        A record that draws has no neighborhood among these.

    References
    ----------
    Perry, Matloff, Tendick 2022, section 5, step 3.
    """
    if neighborhoods.equally_likely and isinstance(draws, Draws) and draws.has_one_key:
        if neighborhoods.is_stored:
            return draws.from_stored(neighborhoods, q, threads)
        from rwn_core.neighbors.search import search_donors

        return search_donors(neighborhoods, draws.drawing(q), threads)[
            neighborhoods.rows(draws.records)
        ]
    rows = neighborhoods.rows(draws.records)
    if not neighborhoods.equally_likely:
        return draws.weighted(neighborhoods, rows, q, threads)
    sizes = neighborhoods.sizes[rows]
    ranks = draws.ranks(sizes)
    some = sizes > 0
    if some.all():
        donors = neighborhoods.donors(rows, ranks)
    else:
        donors = np.full(ranks.shape, NO_DONOR, dtype=np.int64)
        donors[some] = neighborhoods.donors(rows[some], ranks[some])
    return np.where(draws.modify < q, donors, draws.records[:, None])


def copy_from_donors(microdata: Microdata, donors: NDArray[np.int64]) -> Microdata:
    """Fill every released column from its donors: the masked table.

    Parameters
    ----------
    microdata : Microdata
        The original, with n records.
    donors : ndarray of int64, shape (n, p)
        One column for each released variable, in order; -1 where the value becomes missing.

    Returns
    -------
    Microdata
        Row-aligned with the original and of the same types; direct identifiers are left out.
        A whole-number or truth column that loses values becomes its type with missing values.

    Raises
    ------
    IndexError
        A donor is no record of the table.
    """
    columns, lowest = {}, donors.min(axis=0, initial=0)
    for variable, given, least in zip(microdata.schema.released, donors.T, lowest, strict=True):
        values = microdata.array(variable.name)
        if least < 0:
            columns[variable.name] = _with_lost(values, given)
        else:
            plain = isinstance(values, np.ndarray)
            columns[variable.name] = values[given] if plain else values.take(given)
    return Microdata(pd.DataFrame(columns, copy=False), released_schema(microdata.schema))


def copy_columns(microdata: Microdata, donors: Mapping[str, NDArray[np.int64]]) -> Microdata:
    """Fill some variables from the donors of each record, shape (n,); the others stay."""
    own = np.arange(microdata.n)
    columns = [donors.get(variable.name, own) for variable in microdata.schema.released]
    return copy_from_donors(microdata, np.column_stack(columns))


def released_schema(schema: Schema) -> Schema:
    """The schema of a release: without direct identifiers and what depends on them."""
    whole = len(schema.released) == len(schema.variables)
    if whole and not schema.edit_rules and schema.population is None:
        return schema
    names = {variable.name for variable in schema.released}
    question = schema.question
    if question is not None and not {question.response, *question.predictors} <= names:
        question = None
    return Schema(variables=schema.released, question=question, file=schema.file)


def _with_lost(values: Any, donors: NDArray[np.int64]) -> Any:
    """The donors' values, some of them missing, in a type that can be."""
    lost, column = donors < 0, pd.Series(values)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
        column = column.astype(pd.api.types.pandas_dtype(_with_missing(column.dtype)))
    return column.take(np.where(lost, 0, donors)).reset_index(drop=True).mask(lost)


def _with_missing(dtype: np.dtype[Any]) -> str:
    """Name the type of the same whole numbers or truth values that can also be missing."""
    return "boolean" if dtype.kind == "b" else dtype.name.replace("u", "U").replace("int", "Int")
