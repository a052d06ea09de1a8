"""The worst case of a large table: counted pair by pair, in parts, and never all pairs at once."""

from __future__ import annotations

import numpy as np
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.laws import donor_lists
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.attacks import posterior
from rwn_core.measures.attacks.posterior import SMALLEST_SAMPLE, attacked_units, likelihoods, link
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.neighbors.search import Search
from tests.core.measures.attacks.intruder_examples import table

N = LARGEST_DENSE + 100
ROWS = np.arange(0, N, 50)


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Ties, missing values, a category; two of the numbers share a donor."""
    found = table(np.random.default_rng(8), N, 4)
    group = {"x1": "pair", "x3": "pair"}
    variables = [
        type(v)(name=v.name, kind=v.kind, group=group.get(v.name)) for v in found.schema.variables
    ]
    return Microdata(found.frame, Schema(variables=tuple(variables)))


def by_tables(law, masked, names=None) -> np.ndarray:
    """The likelihood of some rows as a product of columns of the law's tables."""
    total = np.ones((N, len(ROWS)))
    for unit in attacked_units(law, names):
        whole, columns = law.likelihood_columns(unit, masked, ROWS)
        total *= np.where(columns >= 0, whole.toarray()[:, columns], 0.0)
    return total


@pytest.mark.parametrize("names", [None, ["sex"], ["x1", "x2"]])
@pytest.mark.parametrize(
    "params",
    [RWN(epsilon=1.0, k=4), RWN(epsilon=2.5, q=0.7), RWN(k=3, q=0.0)],
    ids=["small", "large", "nothing modified"],
)
def test_likelihoods_are_products_of_the_tables(data, params, names):
    release = mask(data, params, seed=1)
    frame = release.masked.frame.copy()
    frame.loc[50, "x1"] = 99.0  # nobody has it
    masked = Microdata(frame, data.schema)
    scaled, logs = likelihoods(release.law, masked, ROWS, names)
    expected = by_tables(release.law, masked, names)
    np.testing.assert_allclose(scaled.toarray() * np.exp(logs), expected, rtol=1e-12, atol=0)
    assert np.isneginf(logs).tolist() == (expected.max(axis=0) == 0).tolist()
    assert scaled.has_sorted_indices
    assert scaled.nnz == np.count_nonzero(expected)


def test_whole_rows_of_a_large_table(data):
    release = mask(data, NBRS2015(epsilon=1.5, q=0.6), seed=2)
    law = release.law
    scaled, logs = likelihoods(law, release.masked, ROWS)
    kept, drawn = (by_tables(law.given(selected=each), release.masked) for each in (False, True))
    expected = (1 - law.row_share) * kept + law.row_share * drawn
    present = ~release.masked.frame.isna().all(axis=1).to_numpy()[ROWS]
    found = scaled.toarray() * np.exp(logs)
    np.testing.assert_allclose(found[:, present], expected[:, present], rtol=1e-12)


def test_parts_change_nothing(data, monkeypatch):
    release = mask(data, RWN(epsilon=2.0, k=4), seed=3)
    whole = link(release.law, release.masked)
    monkeypatch.setattr(posterior, "ATTACKED_PAIRS", 5000)
    monkeypatch.setattr(donor_lists, "BLOCK", 10_000)
    monkeypatch.setattr(donor_lists, "STORED_NUMBERS", 0)
    law = release.params.law(data, release.law.neighborhoods)
    parts = link(law, release.masked)
    for name in ("rows", "best", "truth", "top1", "top5", "same", "first", "candidates"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


@pytest.mark.parametrize("work", [20_000, 200_000, 3_000_000])
def test_the_sample_is_that_of_the_whole_count(data, work, monkeypatch):
    """Counting may stop early only where the smallest sample is taken in any case."""
    monkeypatch.setattr(donor_lists, "BLOCK", 10_000)
    release = mask(data, RWN(epsilon=2.0, k=4), seed=3)
    fewest = min(float(some @ share) for some, share in release.law.supports(data.names))
    rows = max(SMALLEST_SAMPLE, int(work / fewest))
    assert len(link(release.law, release.masked, work=work).rows) == min(N, rows)


def test_pairs_are_never_held_whole(data, monkeypatch):
    release = mask(data, RWN(epsilon=1.0, k=4), seed=3)
    mixture = mask(data, NBRS2015(epsilon=1.5, q=0.6), seed=2)
    monkeypatch.setattr(Search, "fill", lambda *_: pytest.fail("all members are stored"))
    monkeypatch.setattr(DonorTables, "matrix", property(lambda _: pytest.fail("all pairs")))
    assert 0 < link(release.law, release.masked).success < 1
    assert 0 < link(mixture.law, mixture.masked).success < 1
