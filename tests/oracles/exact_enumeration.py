"""The intruder's exact success over all possible rows, for tables small enough to list them."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from rwn_core.errors import NotApplicable
from rwn_core.laws.law import Law

LARGEST_SUPPORT = 200_000


def all_likelihoods(law: Law) -> NDArray[np.float64]:
    """Every possible row's probability for every record, shape (n, rows); cells independent."""
    tables = [law.table(unit[0])[0].toarray() for unit in law.units()]
    if prod(table.shape[1] for table in tables) > LARGEST_SUPPORT:
        raise NotApplicable("Too many different rows are possible to list them all.")
    rows = [
        np.prod([table[:, value] for table, value in zip(tables, values, strict=True)], axis=0)
        for values in product(*(range(table.shape[1]) for table in tables))
    ]
    return np.column_stack(rows)


def expected_success(law: Law) -> float:
    """R_MAP over all releases: (1/n) sum over rows of the largest likelihood."""
    likelihood = all_likelihoods(law)
    return float(likelihood.max(axis=0).sum() / len(likelihood))
