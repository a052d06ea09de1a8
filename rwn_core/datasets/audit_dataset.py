"""Audits the release of a dataset on a random sample of its records, row by row.

Which released row is of which record follows from the release's key alone, because the key decides
the order of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.util import hash_array

from rwn_core.data.arrays import Integers
from rwn_core.data.guess_schema import with_levels
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import UNITS
from rwn_core.data.schema import Question, Schema
from rwn_core.data.variable import Role, checks_form
from rwn_core.datasets.dataset import BATCH, Dataset, check_rows, to_frame
from rwn_core.datasets.dataset_statistics import Advance, counted
from rwn_core.datasets.donors import together
from rwn_core.errors import InputError, ParameterError
from rwn_core.evaluation.audit import Audit, audit
from rwn_core.laws.donors import released_schema
from rwn_core.neighbors.distance import squared_distances
from rwn_core.neighbors.metric import Metric
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.parallel.threads import Progress, work
from rwn_core.randomness import ORDER_STREAM, SecretKey

SAMPLE = 5000  # records
LEAST = 20
_READ = 0.3  # of the work
_APART = "\x1f"  # between the values that number a person together
_SURE = 4  # standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """The options of an audit of a dataset.

    Parameters
    ----------
    key : SecretKey
        That of the release: only it says which record a released row is of.
    schema : Schema, optional
        Of the original's columns; guessed from their types when left out.
    question : Question, optional
        The regression that is to be kept; the schema's by default.
    measures : sequence of str, optional
        Keys; all by default.
    sample : int
        Records that are drawn.
    seed : int
        Which records are drawn.
    """

    key: SecretKey
    schema: Schema | None = None
    question: Question | None = None
    measures: Sequence[str] | None = None
    sample: int = SAMPLE
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the sample."""
        if self.sample < LEAST:
            raise ParameterError(f"sample must be at least {LEAST}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetAudit:
    """The readings of a random sample of a dataset's records.

    Attributes
    ----------
    audit : Audit
        Of the drawn records and their released rows, under no law.
    judged : int
        Records that were drawn.
    n : int
        Records of the dataset.
    left_out : tuple of str
        Variables without a value in the sample.
    apart : bool
        Whether the rows are no nearer to their own records than to others, as under a wrong key.
    """

    audit: Audit
    judged: int
    n: int
    left_out: tuple[str, ...] = ()
    apart: bool = False

    @property
    def words(self) -> str:
        """The size of the sample, and of the dataset."""
        return f"judged on {self.judged:,} of {self.n:,} records"


@checks_form
def audit_dataset(
    original: str | Path,
    masked: str | Path,
    options: AuditOptions,
    progress: Progress | None = None,
) -> DatasetAudit:
    """Read measures on a random sample of a dataset and its release.

    A search of the sample has fewer candidates than a search of the dataset, so it links at
    least as many of these rows by distance. Where the schema has a variable that numbers people,
    or else households, the sample is of these, with all of their rows, and risk is counted in them.

    Parameters
    ----------
    original, masked : str or Path
        Each a folder, a pattern or one file of Parquet. The release has the original's columns
        without direct identifiers, and its rows in the secret order of its key.
    options : AuditOptions
    progress : callable, optional
        Called with the share done, from 0 to 1. What it raises stops the work.

    Returns
    -------
    DatasetAudit

    Raises
    ------
    InputError, SchemaError, ParameterError
    """
    source = Dataset.at(original)
    release = Dataset.at(masked)
    given = options.schema or source.guessed_schema()
    given.require_names([name for name, _ in source.columns])
    names = [variable.name for variable in given.released]
    _refuse_unlike(source, release, names)
    units = _numbering(given)
    door = work(progress=progress)
    with door.part(0.0, _READ):
        advance = counted((2 + len(units) / 2) * source.n)
        # the same records in both, row by row
        chosen = random_rows(source, units, options, advance)
        read = [*dict.fromkeys([*names, *units])]
        before = to_frame(records_at(source, chosen, read, advance))
        places = released_rows(options.key, chosen, source.n)
        after = to_frame(records_at(release, places, names, advance))
    left_out = tuple(name for name in names if before[name].isna().all())
    schema = _schema_of_sample(given, options.question or given.question, units, left_out)
    schema = with_levels(pd.concat([before, after], ignore_index=True), schema)
    check_rows(before, schema, 0)
    data = Microdata(before[list(schema.names)], schema)
    released = Microdata(after[[v.name for v in schema.released]], released_schema(schema))
    with door.part(_READ, 1.0):
        audited = audit(data, released, measures=options.measures)
    return DatasetAudit(
        audit=audited,
        judged=data.n,
        n=source.n,
        left_out=left_out,
        apart=_are_apart(data, released),
    )


def _refuse_unlike(source: Dataset, release: Dataset, names: Sequence[str]) -> None:
    """Refuse a release that has not the released columns and the records of a dataset."""
    types = dict(source.columns)
    wanted = sorted(str((name, types[name])) for name in names)
    if sorted(map(str, release.columns)) != wanted:
        raise InputError(
            "The release must have the columns of the original but for direct identifiers, in the "
            "same types; name these with --drop."
        )
    if release.n != source.n:
        raise InputError("The release and the original have unlike numbers of records.")


def _schema_of_sample(
    given: Schema, question: Question | None, units: Sequence[str], left_out: Sequence[str]
) -> Schema:
    """Return the schema without the variables that have no value, and what is stated of them."""
    if question is not None and {question.response, *question.predictors} & {*left_out}:
        question = None
    described = [v for v in given.variables if v.is_released or v.name in units]
    variables = tuple(v for v in described if v.name not in left_out)
    keeps_units = _states_units(given) and not {*units} & {*left_out}
    return Schema(variables=variables, question=question, rows=given.rows if keeps_units else None)


def _are_apart(data: Microdata, released: Microdata) -> bool:
    """True if rows are about as far from their own records as from other ones."""
    metric = Metric.fit(data)
    both = together(metric.coded(data), metric.coded(released))
    own = np.arange(data.n)
    others = squared_distances(both, data.n + own, np.roll(own, 1))
    nearer = others - squared_distances(both, data.n + own, own)
    return bool(nearer.mean() <= _SURE * nearer.std() / np.sqrt(data.n))


def _states_units(schema: Schema) -> bool:
    """True if the schema says that several rows are of one person or household."""
    return schema.rows is not None and schema.rows.of in UNITS


def _numbering(schema: Schema) -> list[str]:
    """Return the variables that number people, or else households: risk is counted in these."""
    if schema.rows is not None and _states_units(schema):
        return list(schema.rows.by)
    roles = (Role.PERSON, Role.HOUSEHOLD)
    pairs = product(roles, schema.variables)
    return [variable.name for role, variable in pairs if variable.role is role][:1]


def random_rows(
    dataset: Dataset, units: Sequence[str], options: AuditOptions, advance: Advance
) -> Integers:
    """Return the rows of a random sample, ascending, shape (c,).

    With variables that number units these are all rows of random units, about as many.
    """
    n = dataset.n
    share = min(options.sample / dataset.n, 1.0)
    key = f"{options.seed:016d}"[-16:]
    chosen = np.random.default_rng(options.seed).choice(n, round(share * n), replace=False)
    while units and share < 1.0:
        parts = []
        for start in range(0, n, BATCH):
            stop = min(start + BATCH, n)
            numbers = to_frame(dataset.read(start, stop, units))
            alone = [f"row {row}" for row in range(start, stop)]  # a row without a number
            joint = numbers[units[0]].astype(str)
            for name in units[1:]:
                joint = joint + _APART + numbers[name].astype(str)
            names = np.where(numbers.isna().any(axis=1), alone, joint)
            drawn = hash_array(names.astype(object), hash_key=key) / 2.0**64
            parts.append(start + np.flatnonzero(drawn < share))
            advance((stop - start) / 2)
        chosen = np.concatenate(parts)
        if len(chosen) >= LEAST:
            break
        share *= 4  # few units have many rows each
    return np.sort(chosen)


def released_rows(key: SecretKey, records: Integers, n: int) -> Integers:
    """Return the places of some records in a release in secret order, shape (c,)."""
    first, second = two_uniforms(key, records, ORDER_STREAM)
    order = np.argsort(first)
    before = np.zeros(len(records), dtype=np.int64)
    for start in range(0, n, BATCH):
        every = np.arange(start, min(start + BATCH, n), dtype=np.int64)
        draws = two_uniforms(key, every, ORDER_STREAM)
        place = np.searchsorted(first[order], draws[0], side="right")
        before[order] += np.cumsum(np.bincount(place, minlength=len(records) + 1)[:-1])
        for other in np.flatnonzero(np.isin(draws[0], first)).tolist():
            before += (first == draws[0][other]) & (draws[1][other] < second)
    return before


def records_at(
    dataset: Dataset, rows: Integers, names: Sequence[str], advance: Advance
) -> pa.Table:
    """Some columns of some records of a dataset, in the order of `rows`, shape (c,)."""
    order = np.argsort(rows)
    parts = []
    for start in range(0, dataset.n, BATCH):
        stop = min(start + BATCH, dataset.n)
        low, high = np.searchsorted(rows[order], [start, stop])
        if low < high:
            table = dataset.read(start, stop, names)
            parts.append(table.take(pa.array(rows[order][low:high] - start)))
        advance(stop - start)
    back = np.argsort(order)  # the place of each row among the sorted ones
    return pa.concat_tables(parts).combine_chunks().take(pa.array(back))
