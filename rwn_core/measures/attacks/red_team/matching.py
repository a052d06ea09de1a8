"""Matching attack: all rows assigned to people by values, ranks and intervals of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.sizes import LARGEST_ASSIGNMENT
from rwn_core.measures.attacks.red_team.files import Files, Names
from rwn_core.measures.attacks.red_team.finding import (
    Finding,
    NameCounts,
    count_names,
    link_finding,
)
from rwn_core.measures.attacks.red_team.merge import column_hashes
from rwn_core.measures.attacks.red_team.places import knowledge, ranked, standardized

KEY = "matching"


def attack(files: Files) -> list[Finding | NameCounts]:
    """Link all rows to people, and name what a person's row shows."""
    from scipy.optimize import linear_sum_assignment

    found: list[Finding | NameCounts] = []
    if files.n > LARGEST_ASSIGNMENT:
        return found
    for known, what in knowledge(files):
        for title, cost in _costs(files, known):
            _, person = linear_sum_assignment(cost)
            words = f"giving all rows to people by {title} of {what}"
            found.append(
                link_finding(KEY, words, _right(files, person), files.n, files.random_share)
            )
            if known != files.names:
                row = np.argsort(person)
                for secret in files.secrets:
                    shown = files.column(files.rows, secret)[row]
                    found += count_names(files, secret, shown, (KEY, words))
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


def _right(files: Files, person: Integers) -> float:
    """Return the expected number of correct links; equal records are interchangeable."""
    same_row = np.unique(column_hashes(files.rows).sum(axis=1), return_inverse=True)[1]
    same_person = np.unique(column_hashes(files.truth).sum(axis=1), return_inverse=True)[1]
    # how many of the equal rows, and of the equal people, are of each unit
    rows, people = (
        sparse.csr_array((np.ones(files.n), (classes, unit)))
        for classes, unit in ((same_row, files.unit[files.owner]), (same_person, files.unit))
    )
    chances = sparse.csr_array(rows @ people.T)[same_row, same_person[person]]
    sizes = np.bincount(same_row)[same_row] * np.bincount(same_person)[same_person[person]]
    return float((np.asarray(chances).ravel() / sizes).sum())
