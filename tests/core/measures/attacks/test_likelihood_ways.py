"""The intruder's likelihood against a product over cells written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.laws.cell_law import CellLaw
from rwn_core.masking import RWN, mask
from rwn_core.measures.attacks import posterior
from rwn_core.neighbors import find_neighborhoods
from rwn_core.neighbors.metric import coordinates
from tests.core.measures.attacks.intruder_examples import table


def written_out(law: CellLaw, masked: Microdata) -> np.ndarray:
    """Log likelihood of each original (rows) for each released row (columns), cell by cell."""
    n, m = law.original.n, masked.n
    total = np.zeros((n, m))
    for name in law.original.names:
        own = law.original.frame[name].tolist()
        released = masked.frame[name].tolist()
        q = law.modification(name)
        for i in range(n):
            members = law.neighborhoods.members(i)
            for r in range(m):
                alike = [same(own[member], released[r]) for member in members]
                p = (1 - q) * same(own[i], released[r]) + q * sum(alike) / len(alike)
                total[i, r] += np.log(p) if p > 0 else -np.inf
    return total


def same(one: object, two: object) -> bool:
    return one == two or (pd.isna(one) and pd.isna(two))


@pytest.mark.parametrize(
    ("p", "epsilon", "k", "q"),
    [(2, 9.0, 1, 1.0), (2, 0.5, 3, 0.4), (4, 1.5, 2, 1.0), (12, 4.5, 5, 0.02), (3, 0.0, 2, 0.0)],
)
def test_it_is_the_product_over_cells(p: int, epsilon: float, k: int, q: float):
    generator = np.random.default_rng(p)
    data = table(generator, 23, p)
    params = RWN(epsilon=epsilon, k=k, q=q)
    law = params.law(data, find_neighborhoods(coordinates(data), k=k, epsilon=epsilon))
    frame = mask(data, params, seed=3).masked.frame.copy()
    frame.loc[0, "x1"] = 99.0  # no original has it: nobody can have released this row
    masked = Microdata.from_frame(frame, data.schema)
    scaled, logs = posterior.likelihoods(law, masked, np.arange(23))
    with np.errstate(divide="ignore"):
        found = np.log(scaled.toarray()) + logs
    np.testing.assert_allclose(np.exp(found), np.exp(written_out(law, masked)), rtol=1e-10)
    assert np.isneginf(logs[0])
    assert not scaled.toarray()[:, 0].any()


def test_a_hundred_small_factors_do_not_vanish() -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(60, 130)).round(5))
    data = Microdata.from_frame(frame.rename(columns=lambda j: f"x{j}"))
    params = RWN(epsilon=1e6, q=1.0)  # everybody else may give: 59 to the power -130
    law = params.law(data, find_neighborhoods(coordinates(data), k=None, epsilon=1e6))
    release = mask(data, params, seed=1)
    gave = np.array([[i in donors for donors in release.donors] for i in range(60)])
    scaled, logs = posterior.likelihoods(law, release.masked, np.arange(60))
    np.testing.assert_allclose(scaled.toarray(), ~gave)  # nobody keeps a value of his own
    np.testing.assert_allclose(logs, -130 * np.log(59))
