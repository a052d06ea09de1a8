"""The law of the 2015 method, a mixture over whole rows, against its releases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking import NBRS2015, mask
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from tests.check_values import check_values

PARAMS = NBRS2015(epsilon=1.0, q=0.6, record_selection="bernoulli")


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 24) * 1.0, "y": rng.integers(0, 3, 24) * 1.0})
    frame.loc[[5, 11]] = [[40.0, 40.0], [-40.0, 9.0]]  # two records without a neighbor
    return Microdata.from_frame(frame)


@pytest.fixture(scope="module")
def law(data) -> RowMixtureLaw:
    return RowMixtureLaw(data, PARAMS.neighborhoods(data), np.ones(2, bool), PARAMS.q)


def test_likelihoods_of_all_rows_sum_to_one(data, law):
    rows = [(x, y) for x in (*np.unique(data.values("x")), np.nan) for y in
            (*np.unique(data.values("y")), np.nan)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["x", "y"])
    scaled, logs = likelihoods(law, Microdata(frame, data.schema), np.arange(len(rows)))
    total = scaled.toarray() @ np.exp(logs)
    np.testing.assert_allclose(total, 1.0, atol=1e-12)


def test_a_lost_row_betrays_the_records_without_neighbors(data, law):
    masked = mask(data, PARAMS, seed=1).masked.frame
    masked.loc[0] = np.nan
    belief = posteriors(law, Microdata(masked, data.schema), np.arange(1)).toarray()[:, 0]
    assert np.flatnonzero(belief).tolist() == [5, 11]
    assert belief[5] == pytest.approx(0.5)


def test_at_full_selection_it_is_the_product_law(data):
    from rwn_core.laws.cell_law import CellLaw
    from rwn_core.neighbors import find_neighborhoods
    from rwn_core.neighbors.metric import coordinates

    neighborhoods = find_neighborhoods(coordinates(data), k=3)
    one = RowMixtureLaw(data, neighborhoods, np.ones(2, bool), 1.0)
    two = CellLaw(data, neighborhoods, np.ones(2))
    rows = np.arange(data.n)
    np.testing.assert_allclose(
        posteriors(one, data, rows).toarray(), posteriors(two, data, rows).toarray(), atol=1e-14
    )


def test_variables_that_are_not_masked_stay(data):
    law = RowMixtureLaw(data, PARAMS.neighborhoods(data), np.array([True, False]), 0.6)
    table, values = law.table("y")
    assert None not in values
    np.testing.assert_allclose(table.toarray().max(axis=1), 1.0)
    masked = data.frame
    masked.loc[5, "x"] = np.nan
    belief = posteriors(law, Microdata(masked, data.schema), np.array([5])).toarray()[:, 0]
    assert np.flatnonzero(belief).tolist() == [5]  # its own y tells the two lost records apart


def test_M1_1_donors_that_are_not_equally_likely():
    from scipy import sparse

    from rwn_core.laws.cell_law import CellLaw
    from rwn_core.neighbors import find_neighborhoods

    expected = [float(Fraction(each)) for each in check_values("risk")["M1-1"]["expected"]["k2"]]
    frame = pd.DataFrame({"x": np.arange(6.0) ** 2})
    data = Microdata.from_frame(frame)
    neighborhoods = find_neighborhoods(data.matrix(["x"]), k=5)
    shares = np.zeros((6, 6))
    for record in range(6):
        shares[record, neighborhoods.members(record)] = expected
    law = CellLaw(data, neighborhoods, np.ones(1), sparse.csr_array(shares))
    table, values = law.table("x")
    assert values == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    np.testing.assert_allclose(table.toarray(), shares)
