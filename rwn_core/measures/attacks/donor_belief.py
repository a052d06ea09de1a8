"""Posterior of the donor of one value of each released row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.microdata import Microdata
from rwn_core.data.value_codes import codes_together
from rwn_core.laws.law import Law
from rwn_core.measures.attacks.likelihood import LARGEST_DENSE, Way, ways
from rwn_core.measures.attacks.scaled_columns import leveled, times

DENSE = 0.02  # share of all products that are not 0, from which on zeros are multiplied too


class Beliefs(NamedTuple):
    """Posteriors of some released rows and some people.

    Attributes
    ----------
    source : sparse array of float64, shape (people, m)
        P(row r comes from person t | its keys).
    donor : list of sparse array of float64, shape (people, m)
        For each confidential variable P(row r shows person t's own value | its keys).
    """

    source: sparse.csc_array
    donor: list[sparse.csc_array]


def beliefs(
    law: Law,
    masked: Microdata,
    rows: Integers,
    keys: Sequence[str],
    secrets: Sequence[str],
    people: Integers,
) -> Beliefs:
    """Return the posteriors of some rows for an intruder who knows all keys."""
    # a_r: row r's keys that share the donor with the secret (maybe none); w_il: P(record l gives
    # that unit's values to a row of record i); pi_i: posterior of the source by all keys. Row r
    # shows t's value with probability sum_i pi_i w_it [t has a_r] / sum_l w_il [l has a_r]. With
    # several ways (the 2015 method), way and source are inferred together.
    parts = ways(law, masked, rows, keys)
    matrices, _ = leveled([way.part for way in parts])
    total = np.sum([np.asarray(matrix.sum(axis=0)).ravel() for matrix in matrices], axis=0)
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    joint = [times(matrix, factor) for matrix in matrices]
    source = sum(joint[1:], joint[0])
    asked = _Asked(masked, rows, people)
    donor: dict[Hashable, sparse.csc_array] = {}
    cache_keys = [_cache_key(law, parts, keys, secret) for secret in secrets]
    for secret, same in zip(secrets, cache_keys, strict=True):
        if same in donor:
            continue
        beside = keys_sharing_donor(law, keys, secret)
        shown = [
            _shown(way, each, beside, secret, asked) for way, each in zip(parts, joint, strict=True)
        ]
        donor[same] = sum(shown[1:], shown[0]).tocsc()
    all_people = np.array_equal(people, np.arange(source.shape[0]))
    asked_of = source if all_people else source.tocsr()[people]
    return Beliefs(asked_of.tocsc(), [donor[same] for same in cache_keys])


class _Asked(NamedTuple):
    """Rows and people of a posterior."""

    masked: Microdata
    rows: Integers
    people: Integers


def _cache_key(law: Law, parts: Sequence[Way], keys: Sequence[str], secret: str) -> Hashable:
    """Return the cache key of a posterior: secrets with equal keys share it."""
    own = any(way.cells.donors is None for way in parts)
    chances = tuple(way.cells.modification(secret) for way in parts)
    return secret if own else (keys_sharing_donor(law, keys, secret), chances)


def keys_sharing_donor(law: Law, keys: Sequence[str], secret: str) -> tuple[str, ...]:
    """Return the keys that take their values from the secret's donor."""
    unit = next(unit for unit in law.units() if secret in unit)
    return tuple(name for name in unit if name in set(keys))


def _shown(
    way: Way, source: sparse.csc_array, beside: tuple[str, ...], secret: str, asked: _Asked
) -> sparse.csc_array:
    """Return P(row r comes about in this way and shows person t's value), shape (people, m)."""
    masked, rows, people = asked
    cells, q = way.cells, way.cells.modification(secret)
    if cells.donors is None:  # a row shows its source's value, or no record's
        kept = sparse.diags_array(cells.retained(secret)[people])
        return sparse.csc_array(kept @ source.tocsr()[people])
    if way.lost:  # missing values have no donor, and what is not masked is the source's own
        return sparse.csc_array(source.tocsr()[people]) * float(q == 0)
    shown = _given(cells, _per_chance(cells, source, beside, masked, rows), q, people)
    if not beside:
        return shown
    own, released = codes_together(cells.original, masked, beside, rows)
    entries = sparse.coo_array(shown)
    person, row = entries.coords
    has = own[people[person]] == released[row]
    return sparse.csc_array((entries.data[has], (person[has], row[has])), shape=shown.shape)


def _per_chance(
    cells: Law, source: sparse.csc_array, beside: tuple[str, ...], masked: Microdata, rows: Integers
) -> sparse.csc_array:
    """Divide the belief in each source by its chance to release a row's values of some keys."""
    if not beside or not source.nnz:  # in this way none of the rows came about
        return source
    own, released = codes_together(cells.original, masked, beside, rows)
    assert cells.donors is not None  # or no key shares the secret's donor
    column = np.repeat(released, np.diff(source.indptr))
    given = cells.donors.table(own, cells.modification(beside[0]))
    if np.prod(given.shape, dtype=float) <= LARGEST_DENSE:
        given = given.toarray()  # read many times faster than a sparse one
    chance = np.asarray(given[source.indices, np.maximum(column, 0)]).ravel()
    share = np.divide(source.data, chance, out=np.zeros_like(chance), where=chance > 0)
    return sparse.csc_array((share, source.indices, source.indptr), shape=source.shape)


def _given(cells: Law, source: sparse.csc_array, q: float, people: Integers) -> sparse.csc_array:
    """Return the sum over i of w_it times the belief in source i, shape (people, m)."""
    assert cells.donors is not None  # as its caller has seen
    received = cells.donors.received(people)
    if _is_dense(received, source):
        share = q * (received.toarray().T @ source.toarray())
        if q != 1:
            share += (1 - q) * source.toarray()[people]
        return _listed(share)
    copied = received.T @ source
    if q == 1:
        return copied.tocsc()
    kept = (1 - q) * source.tocsr()[people]
    return (kept + q * copied).tocsc()


def _is_dense(received: sparse.csc_array, source: sparse.csc_array) -> bool:
    """True if dense products are faster than sparse ones."""
    (n, people), m = received.shape, source.shape[1]
    if max(n * people, n * m, people * m) > LARGEST_DENSE:
        return False
    return bool(received.nnz * source.nnz > DENSE * people * m * n**2)


def _listed(matrix: Floats) -> sparse.csc_array:
    """Return a dense array of few zeros as a sparse one."""
    height, width = matrix.shape
    records, starts = np.tile(np.arange(height), width), height * np.arange(width + 1)
    listed = sparse.csc_array((matrix.T.ravel(), records, starts), shape=matrix.shape)
    listed.eliminate_zeros()
    return listed
