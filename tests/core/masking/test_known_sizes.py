"""What another process is told of a release, so that it need not search for the neighborhoods."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import NBRS2015, RWN, Microaggregation
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.randomness import SecretKey

KEY = SecretKey.from_seed(3)
N = LARGEST_DENSE + 100


def table(n: int = N) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=["x", "y"])
    return Microdata.from_frame(frame.assign(g=rng.choice(list("abc"), n), h=np.arange(n) // 3))


@pytest.mark.parametrize("params", [RWN(epsilon=0.4, k=5, q=0.7), NBRS2015(epsilon=0.5)], ids=str)
@pytest.mark.parametrize("way", ["prepare", "preview"])
def test_the_law_is_the_same_without_a_search(params, way: str) -> None:
    data = table()
    made = getattr(params, way)(data)
    assert made.known is None, "nothing was searched yet"
    release = made.release(KEY)
    known = pickle.loads(pickle.dumps(made.known))
    again = params.prepare(table()).with_search_state(known)
    assert again.law.neighborhoods.sizes.tolist() == release.law.neighborhoods.sizes.tolist()
    for name in ("x", "y", "g"):
        mine, expected = again.law.table(name)[0], release.law.table(name)[0]
        assert abs(mine - expected).max() < 1e-15
    np.testing.assert_array_equal(again.law.rows_unchanged(), release.law.rows_unchanged())


def test_where_not_everybody_may_be_a_neighbor_nothing_is_told() -> None:
    data = table()
    apart = data.with_schema(data.schema.replace_variable("h", role=Role.HOUSEHOLD))
    others = [
        RWN(k=2, outside_household=True).prepare(apart),
        RWN(k=2, neighbors="sample", m=8).prepare(data),
        RWN(k=2).prepare(table(50)),
        Microaggregation(k=3).prepare(data),
    ]
    for made in others:
        made.release(KEY)
        assert made.known is None
    assert others[-1].with_search_state(None) is others[-1]
