"""Donors: the record that gives each cell its value; and the two ends of all masking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Variable
from rwn_core.errors import ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.moved_names import MovedAttribute
from rwn_core.neighbors import DrawRequest, Neighborhoods, NeighborTable
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.record_draws import uniforms_of_columns
from rwn_core.parallel.threads import current_work, in_parts
from rwn_core.randomness import SecretKey

NO_DONOR = -1  # the donor of a cell that becomes missing


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The key, the records and the streams that random numbers are drawn from.

    Cell (i, j) has one uniform number u and the record chain T_1 = 1,
    T_(s+1) = floor(T_s / U_s) + 1. It is modified if u < q, and its donor is then the member
    of rank T, the last T_s that the neighborhood's size admits. That is uniform over the
    members for every size, and a growing neighborhood changes a donor as rarely as it can.

    Attributes
    ----------
    key : SecretKey
    records : ndarray of int64, shape (m,)
    streams : sequence of int, length p
        One for each column; columns of one group share a stream.
    """

    key: SecretKey
    records: Integers
    streams: Sequence[int]

    modify = MovedAttribute("rwn_core.draw_donors")
    ranks = MovedAttribute("rwn_core.draw_donors")


def random_streams(microdata: Microdata) -> tuple[int, ...]:
    """The stream of each released column: its position, or that of the first of its group."""
    first: dict[object, int] = {}
    streams = []
    for place, variable in enumerate(microdata.schema.released):
        streams.append(first.setdefault(place if variable.group is None else variable.group, place))
    return tuple(streams)


def masked_columns(microdata: Microdata) -> Booleans:
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


def draw_donors(neighborhoods: Neighborhoods, draws: Draws, q: Floats) -> Integers:
    """Draw the donors of the records that `draws` holds.

    Parameters
    ----------
    neighborhoods : Neighborhoods
        Of all n records, or at least of these.
    draws : Draws
        Of m of the records and p columns.
    q : ndarray of float64, shape (p,)
        Modification probability of each column, from 0 to 1.

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
    table = neighborhoods.table
    # the keys of all records, shape (1, 8) or (m, 8), the streams and the probabilities
    keys = np.ascontiguousarray(draws.key.words.reshape(8, -1).T)
    streams, chances = np.array(draws.streams, dtype=np.int64), np.array(q, dtype=np.float64)
    if isinstance(table, AllDonors):
        return table.draw(keys, draws.records, streams, chances)
    rows = neighborhoods.rows(draws.records)
    if not neighborhoods.is_stored:
        with current_work().quiet():  # once more, without storing members
            drawing = DrawRequest(key=draws.key, streams=draws.streams, q=q)
            return table.search.run(drawing).donors[rows]  # type: ignore[attr-defined,no-any-return]
    from rwn_core.neighbors.draw_kernel import draw_rows

    donors = np.empty((len(draws.records), len(streams)), np.int64)
    weights = np.empty(0) if neighborhoods.shares is None else neighborhoods.shares
    of_each = (keys, draws.records, streams, chances, rows)
    of_table = (neighborhoods.sizes, table.offsets, table.records, weights)
    in_parts(partial(draw_rows, *of_each, *of_table, donors), len(donors), donors.size)
    return donors


def copy_from_donors(microdata: Microdata, donors: Integers) -> Microdata:
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
    columns = {}
    lowest = donors.min(axis=0, initial=0)
    for variable, given, least in zip(microdata.schema.released, donors.T, lowest, strict=True):
        values = microdata.array(variable.name)
        if least < 0:  # some become missing, in a type that can be
            lost = given < 0
            column = pd.Series(values)
            if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iub":
                column = column.convert_dtypes()
            taken = column.take(np.where(lost, 0, given)).reset_index(drop=True)
            columns[variable.name] = taken.mask(lost)
        else:
            columns[variable.name] = values.take(given)
    return Microdata.from_columns(columns, released_schema(microdata.schema))


def copy_columns(microdata: Microdata, donors: Mapping[str, Integers]) -> Microdata:
    """Fill some variables from the donors of each record, shape (n,); the others stay."""
    own = np.arange(microdata.n)
    columns = [donors.get(variable.name, own) for variable in microdata.schema.released]
    return copy_from_donors(microdata, np.column_stack(columns))


def released_schema(schema: Schema) -> Schema:
    """The schema of a release: without direct identifiers and what depends on them."""
    all_released = len(schema.released) == len(schema.variables)
    says_more = schema.edit_rules or schema.population is not None or schema.rows is not None
    if all_released and not says_more:
        return schema
    return described(schema, schema.released)


def described(schema: Schema, variables: tuple[Variable, ...]) -> Schema:
    """The schema of some variables that are published, with its question if they answer it."""
    names = {variable.name for variable in variables}
    question = schema.question
    if question is not None and not {question.response, *question.predictors} <= names:
        question = None
    use = None if schema.use is None else schema.use.of_variables(names)
    return Schema(
        variables=variables, question=question, file=schema.file, use=use, record=schema.record
    )


def unmasked(original: Microdata) -> tuple[Microdata, CellLaw]:
    """Return the released variables as they are, and the law that changes no cell."""
    n = original.n
    p = len(original.schema.released)
    ones = np.ones(n, dtype=np.int64)
    next_ = np.roll(np.arange(n, dtype=np.int32), -1)
    table = NeighborTable(offsets=np.arange(n + 1), records=next_, squared=np.zeros(n), k=1)
    neighborhoods = Neighborhoods(table=table, sizes=ones, within=0 * ones, radius=np.zeros(n), k=1)
    return copy_columns(original, {}), CellLaw(original, neighborhoods, np.zeros(p))


def shuffled_donors(original: Microdata, key: SecretKey) -> Integers:
    """Draw a random order for each released variable, shape (n, p); one for each slice."""
    draws = uniforms_of_columns(key, original.n, random_streams(original))
    return np.column_stack([np.argsort(drawn, kind="stable") for drawn in draws])
