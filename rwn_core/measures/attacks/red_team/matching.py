"""Matching attack: all rows assigned to people by values, ranks and intervals of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.measures.attacks.red_team.files import Files, Names, knowledge, ranked, standardized
from rwn_core.measures.attacks.red_team.finding import (
    Finding,
    NameCounts,
    count_names,
    link_finding,
)
from rwn_core.measures.attacks.red_team.merge import column_hashes

KEY = "matching"


class Assigned(NamedTuple):
    """An assignment of rows to people: shape (m,) each, the fewer of rows and people."""

    words: str
    row: Integers
    person: Integers


def attack(files: Files) -> list[Finding | NameCounts]:
    """Link all rows to people, and name what a person's row shows."""
    found: list[Finding | NameCounts] = []
    # equal rows, and equal people, have the same number, shape (n,) each
    same = [
        np.unique(column_hashes(table).sum(axis=1), return_inverse=True)[1]
        for table in (files.rows, files.truth)
    ]
    for known, what in knowledge(files):
        for assigned in _assigned(files, known, what):
            person = assigned.person
            # right links; of equal rows and of equal people it matters how many are of each unit
            rows, people = (
                sparse.csr_array((np.ones(files.n), (classes, unit)))
                for classes, unit in zip(same, (files.unit[files.owner], files.unit), strict=True)
            )
            chances = sparse.csr_array(rows @ people.T)[same[0], same[1][person]]
            sizes = np.bincount(same[0])[same[0]] * np.bincount(same[1])[same[1][person]]
            right = float((np.asarray(chances).ravel() / sizes).sum())
            found.append(link_finding(KEY, assigned.words, right, files.n, files.random_share))
            if known != files.names:
                found += _named(files, assigned)
    return found


def names(files: Files) -> list[NameCounts]:
    """Name what a person's row shows; there may be other numbers of rows than of people."""
    found: list[NameCounts] = []
    for known, what in knowledge(files):
        if known != files.names:
            for assigned in _assigned(files, known, what):
                found += _named(files, assigned)
    return found


def _assigned(files: Files, known: Names, what: str) -> Iterator[Assigned]:
    """Yield each way to give rows to people by what is known of them; none for a large file."""
    from scipy.optimize import linear_sum_assignment

    if files.n > LARGEST_ASSIGNMENT:
        return
    for title, cost in _costs(files, known):
        row, person = linear_sum_assignment(cost)
        yield Assigned(f"giving all rows to people by {title} of {what}", row, person)


def _named(files: Files, assigned: Assigned) -> list[NameCounts]:
    """Count what the rows of people name."""
    found: list[NameCounts] = []
    for secret in files.secrets:
        shown = np.full(len(files.people), np.nan)
        shown[assigned.person] = files.column(files.rows, secret)[assigned.row]
        found += count_names(files, secret, shown, (KEY, assigned.words))
    return found


def _costs(files: Files, names: Names) -> Iterator[tuple[str, Floats]]:
    from scipy.spatial.distance import cdist

    people, rows = standardized(files, names)
    yield "distance", np.log1p(cdist(rows, people, "sqeuclidean"))
    people, rows = ranked(files, names)
    apart = cdist(rows, people, "cityblock")
    yield "distance of ranks", apart
    widest = cdist(rows, people, "chebyshev")
    # no rank has moved by more than some width: the least that leaves each row and person one
    width = max(float(widest.min(axis=1).max()), float(widest.min(axis=0).max()))
    yield "intervals of ranks", np.where(widest <= width, apart, apart + 1e3)
