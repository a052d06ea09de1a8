"""Records with the same neighborhood: counted once where their values are the same, too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.laws.donor_lists import Lists
from rwn_core.masking import RWN, mask
from rwn_core.measures.attacks.posterior import likelihoods
from rwn_core.neighbors import LARGEST_DENSE

N = LARGEST_DENSE + 100
ROWS = np.arange(0, N, 40)


@pytest.fixture(scope="module", params=["all in the distance", "one outside"])
def data(request) -> Microdata:
    """About ten records of each kind; one variable may count for nothing in the distance."""
    numbers = np.random.default_rng(11)
    kinds = numbers.integers(0, 6, (N // 10, 3))[numbers.integers(0, N // 10, N)]
    frame = pd.DataFrame(kinds.astype(float), columns=["a", "b", "c"])
    weight = 1.0 if request.param == "all in the distance" else 0.0
    if not weight:
        frame["c"] = numbers.integers(0, 4, N)
    variables = (
        Variable(name="a", kind=Kind.CONTINUOUS),
        Variable(name="b", kind=Kind.CONTINUOUS),
        Variable(name="c", kind=Kind.COUNT, weight=weight),
    )
    return Microdata(frame, Schema(variables=variables))


@pytest.fixture(scope="module", params=[1.0, 0.6, 0.0])
def release(request, data):
    return mask(data, RWN(epsilon=0.7, k=4, q=request.param), seed=2)


def members_of(cells) -> list[np.ndarray]:
    """Each record's possible donors."""
    found: list[np.ndarray] = [np.empty(0, int)] * N
    lists = cells.donors

    def read(some: Lists, first: int, last: int) -> None:
        for index in range(first, last):
            record = lists.order[some.records[index]]
            begin = some.begin[index]
            mine = lists.order[some.members[begin : begin + some.sizes[index]]]
            found[record] = mine[mine != record] if some.itself else mine

    lists.each(read)
    return found


def test_every_record_releases_a_row_as_its_own_donors_have_it(data, release):
    (_, cells), q = release.law.components()[0], release.law.modification("a")
    donors, values = members_of(cells), data.frame.to_numpy(float)
    shown = release.masked.frame.to_numpy(float)[ROWS]
    expected = np.ones((N, len(ROWS)))
    for record in range(N):
        for unit in range(3):
            have = values[donors[record], unit][:, None] == shown[:, unit]
            own = values[record, unit] == shown[:, unit]
            expected[record] *= (1 - q) * own + q * have.mean(axis=0)
    scaled, logs = likelihoods(release.law, release.masked, ROWS)
    np.testing.assert_allclose(scaled.toarray() * np.exp(logs), expected, rtol=1e-12, atol=0)
    assert (expected > 0).sum() > 5 * len(ROWS) or q == 0
