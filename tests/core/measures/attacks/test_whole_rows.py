"""The worst-case intruder against the 2015 method, whose rows are kept or masked as a whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.masking import NBRS2015, mask
from rwn_core.measures.attacks.likeliest_value import EXACT
from rwn_core.measures.attacks.predicate import Condition, Predicate, answer
from rwn_core.measures.risk.key_classes import same_share
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.measures.risk.repeated_releases import (
    bhattacharyya,
    simulated_donors,
)

DRAWS = 4000


@pytest.fixture(scope="module")
def data() -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 24) * 1.0, "y": rng.integers(0, 3, 24) * 1.0})
    frame.loc[[5, 11]] = [[40.0, 40.0], [-40.0, 9.0]]  # two records without a neighbor
    frame.loc[7] = [1.5, 0.5]  # values of its own, that others may take
    return Microdata.from_frame(frame)


@pytest.fixture(scope="module", params=["count", "bernoulli"])
def params(request) -> NBRS2015:
    return NBRS2015(epsilon=1.0, q=0.6, record_selection=request.param)


@pytest.fixture(scope="module")
def law(data) -> RowMixtureLaw:
    return mask(data, NBRS2015(epsilon=1.0, q=0.6, record_selection="bernoulli"), seed=1).law


@pytest.fixture(scope="module")
def drawn(law) -> tuple[np.ndarray, np.ndarray]:
    """Values of simulated releases, shape (DRAWS, n, 2), NaN where lost."""
    generator = np.random.default_rng(2)
    donors = np.stack([simulated_donors(law, generator) for _ in range(DRAWS)])
    values = law.original.matrix(["x", "y"])
    padded = np.vstack((values, np.full((1, 2), np.nan)))
    return padded[donors[:, :, 0], 0], padded[donors[:, :, 1], 1]


def near(shares: np.ndarray, chances: np.ndarray) -> bool:
    error = np.sqrt(chances * (1 - chances) / DRAWS)
    return bool((np.abs(shares - chances) <= 5 * error + 1e-12).all())


def test_the_simulation_keeps_or_masks_whole_rows(law, drawn):
    x, y = drawn
    assert (np.isnan(x) == np.isnan(y)).all()
    assert near(np.isnan(x).mean(axis=0), np.where(law.neighborhoods.sizes, 0.0, law.row_share))
    own = law.original.matrix(["x", "y"])
    intact = (x == own[:, 0]) & (y == own[:, 1])
    assert near(intact.mean(axis=0), law.rows_unchanged())


def test_membership_knows_that_columns_of_a_row_depend(data, law, drawn):
    appears, own = fingerprints(law)
    assert own[[5, 7, 11]].tolist() == [2, 2, 2]
    x, y = drawn
    for record in (5, 7, 11):
        seen = (x == data.values("x")[record]) | (y == data.values("y")[record])
        assert near(seen.any(axis=1).mean(), appears[record])
    assert appears[5] == pytest.approx(0.4)  # nobody's neighbor: only its own row shows it


def test_queries_know_it_too(data, law, drawn):
    predicate = Predicate(conditions=(Condition(name="x", sign="at least", value=1.2),))
    fits = data.values("y") == data.values("y")[7]
    x, y = drawn
    asked = x >= 1.2
    chances = predicate.chances(law)
    assert near(asked.mean(axis=0), chances)
    answered = (asked & (y == data.values("y")[7])).mean(axis=0)
    assert near(answered, chances * predicate.tells(law, "y", fits))
    counts = np.bincount(asked.sum(axis=1), minlength=25)[:25] / DRAWS
    assert near(counts, answer(law, predicate)[0])


def test_bhattacharyya_of_whole_rows_is_an_upper_bound(law):
    """Against the definition, over all rows that can be."""
    values = [law.table(name)[0].toarray() for name in ("x", "y")]
    drawn = [law.given(selected=True).table(name)[0].toarray() for name in ("x", "y")]
    own = [law.given(selected=False).table(name)[0].toarray() for name in ("x", "y")]

    def rows(parts):
        wide = [np.zeros_like(v) for v in values]
        for place, part in enumerate(parts):
            wide[place][:, : part.shape[1]] = part
        return (wide[0][:, :, None] * wide[1][:, None, :]).reshape(24, -1)

    whole = 0.4 * rows(own) + 0.6 * rows(drawn)
    lost = np.zeros((24, 1))
    lost[law.empty] = 0.6
    whole = np.hstack((whole, lost))
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    exact = np.sqrt(whole) @ np.sqrt(whole).T
    assert (bhattacharyya(law) >= exact - 1e-9).all()


def test_an_empty_neighborhood_discloses_nothing(law):
    values = np.zeros(24)
    share = same_share(law.probabilities, values, EXACT)
    assert share[5] == share[11] == 0
    assert np.delete(share, [5, 11]).min() == 1


def test_a_neighborhood_is_homogeneous_by_the_weights_of_its_members():
    """Under a soft kernel all records are members; those far away have no weight to speak of."""
    # by hand: weights .5, .3, .2 hide as much as 1 / .38 records, and .8 of them have the value
    members = sparse.csr_array(np.array([[0, 0.5, 0.3, 0.2], [0] * 4, [0] * 4, [0] * 4]))
    found = same_share(members, np.array([1.0, 1.0, 1.0, 2.0]), EXACT)
    assert found.tolist() == pytest.approx([(1 + 0.8 / 0.38) / (1 + 1 / 0.38), 0, 0, 0])
