"""Whether the chances of rank swapping are exact, or counted in simulated releases, is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn


@pytest.mark.parametrize(
    ("n", "form", "p", "releases"),
    [
        (30, "moore", 0.3, 0),  # few records: by the ranks that are left
        (400, "moore", 0.02, 0),
        (400, "moore", 0.1, 100),
        (30, "mu_argus", 0.02, 0),  # nothing is within reach
        (30, "mu_argus", 0.3, 100),
    ],
)
def test_releases_are_simulated_only_where_chances_are_not_known(
    n: int, form: str, p: float, releases: int
) -> None:
    numbers = np.random.default_rng(0).normal(size=(n, 2))
    data = rwn.Microdata.from_frame(pd.DataFrame(numbers, columns=["x", "y"]))
    expected = rwn.RankSwapping(p=p, form=form).prepare(data).expectations
    assert expected is not None
    assert expected.releases == releases
