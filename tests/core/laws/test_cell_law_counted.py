"""The law of large tables, counted block by block, against the law written out over all pairs."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core import RWN, Neighborhoods, Radii, find_neighborhoods
from rwn_core.data.microdata import Microdata, value_codes
from rwn_core.laws import donor_lists
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.lists import Lists
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.neighbors import LARGEST_DENSE, neighbor_table
from rwn_core.neighbors.search import Search
from tests.tables import described

N = LARGEST_DENSE + 150
STEPS = {"wide": 0.5, "fine": 0.001}


def points(seed: int = 0) -> np.ndarray:
    """A grid with many ties and twins, and some points between its nodes."""
    generator = np.random.default_rng(seed)
    grid = generator.integers(0, 12, (N, 2)).astype(float)
    grid[: N // 3] += generator.normal(size=(N // 3, 2)) / 5
    return grid


def nearly() -> np.ndarray:
    """The same, where some would-be ties are a little farther than the others."""
    return points() * (1 + 3e-9 * np.random.default_rng(3).random((N, 1)))


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Numbers with and without ties, missing values, a category, a group of two variables."""
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"wide": generator.normal(size=N), "fine": generator.normal(size=N)})
    frame["tied"] = generator.integers(0, 5, N) * 1.0
    frame.loc[generator.random(N) < 0.2, "tied"] = np.nan
    frame["one"], frame["two"] = generator.integers(0, 3, N), generator.integers(0, 7, N)
    frame["job"] = generator.choice(["a", "b", None], N)
    return described(frame, [("one", "two")])


Q = np.array([1.0, 0.3, 1.0, 0.6, 0.6, 0.0])
SEARCHES: dict[str, Callable[[], Neighborhoods]] = {
    "radii": lambda: find_neighborhoods(points(), k=2, epsilon=Radii(np.arange(N) % 3 / 2)),
    "hardly beyond the radius": lambda: find_neighborhoods(nearly(), k=4, epsilon=1.0),
    "an open ball": lambda: find_neighborhoods(points(), epsilon=1.0, strict=True),
    "stored": lambda: neighbor_table(points(), k=9, epsilon=1.5).cut(k=5, epsilon=1.0),
}


@pytest.fixture(params=SEARCHES, scope="module")
def found(request) -> Neighborhoods:
    return SEARCHES[request.param]()


@pytest.fixture(params=["held", "searched again"], autouse=True)
def small_blocks(request, monkeypatch):
    """Several blocks, kept or found anew for every question; all records are asked."""
    monkeypatch.setattr(donor_lists, "BLOCK", 20_000)
    monkeypatch.setattr(donor_lists, "QUICK_RECORDS", N)
    if request.param != "held":
        monkeypatch.setattr(donor_lists, "STORED_NUMBERS", 0)


def written_out(law: CellLaw, codes: np.ndarray, q: float) -> sparse.csr_array:
    own = sparse.csr_array((np.ones(N), codes, np.arange(N + 1)), shape=(N, codes.max() + 1))
    return sparse.csr_array((1 - q) * own + q * (law.probabilities @ own))


def test_each_list_is_looked_at_once_and_complete(found):
    listed = DonorTables(found)
    order = listed.order
    seen: list[tuple[int, list[int]]] = []

    def look(lists: Lists, first: int, last: int) -> None:
        for place in range(first, last):
            begin = lists.begin[place]
            record = int(order[lists.records[place]])
            donors = set(order[lists.members[begin : begin + lists.sizes[place]]].tolist())
            seen.append((record, sorted(donors - {record})))

    some = np.arange(3, N, 7)
    for asked in (None, None, some):  # where lists are held, those of the first time
        seen.clear()
        listed.each(look, records=asked)
        wanted = np.arange(N) if asked is None else asked
        assert sorted(record for record, _ in seen) == wanted.tolist()
        assert all(donors == np.sort(found.members(record)).tolist() for record, donors in seen)


@pytest.mark.parametrize("steps", [{}, STEPS], ids=["as it is", "rounded"])
def test_tables_are_members_times_values_and_the_rest_follows_from_them(data, found, steps):
    law = CellLaw(data, found, Q).rounded(steps)
    for name, (supports, chances) in zip(data.names, law.supports(data.names), strict=True):
        table, values = law.table(name)
        codes, wanted_values = value_codes(law.original, name)
        wanted = written_out(law, codes, law.modification(name))
        assert (values, table.shape) == (wanted_values, wanted.shape)
        assert abs(table - wanted).max() <= 1e-13
        assert ((table > 0) != (wanted > 0)).nnz == 0
        assert table.has_canonical_format
        assert (table.data > 0).all()
        np.testing.assert_array_equal(supports, np.asarray((table > 0).sum(axis=0)).ravel())
        np.testing.assert_allclose(chances, np.asarray(table.sum(axis=0)).ravel() / N, atol=1e-14)
    intact = np.ones(N)
    for unit in law.units():
        table, columns = law.likelihood_columns(unit, law.original, np.arange(N))
        kept = np.asarray(table[np.arange(N), columns]).ravel()
        np.testing.assert_allclose(law.retained(*unit), kept, atol=1e-14)
        intact *= kept
    np.testing.assert_allclose(law.rows_unchanged(), intact, atol=1e-14)


def test_columns_of_a_mixture_hold_lost_values():
    """Records without a neighbor lose their values, and some of them had none."""
    table = points()
    table[:4] = [[40.0, 1], [-40.0, 1], [40.0, -40], [60.0, 60]]
    frame = pd.DataFrame({"x": np.arange(N) % 9 * 1.0, "y": np.arange(N) % 4 * 1.0, "z": 1.0})
    frame.loc[[0, 7], "x"] = np.nan
    frame.loc[5, "z"] = 2.0
    data = described(frame)
    for share in (0.4, 1.0):
        found = find_neighborhoods(table, epsilon=1.0, strict=True)
        law = RowMixtureLaw(data, found, np.array([True, True, False]), share)
        assert len(law.empty) == 4
        for name, (supports, chances) in zip("xyz", law.supports(["x", "y", "z"]), strict=True):
            whole = law.table(name)[0]
            np.testing.assert_array_equal(supports, np.asarray((whole > 0).sum(axis=0)).ravel())
            expected = np.asarray(whole.sum(axis=0)).ravel() / N
            np.testing.assert_allclose(chances, expected, atol=1e-14)


def test_unequal_shares(data):
    found = find_neighborhoods(points(), k=6)
    pairs = CellLaw(data, found, Q).probabilities
    weights = np.random.default_rng(5).random(pairs.nnz)
    weights[::7] = 0.0  # no donor, though a member
    shares = sparse.csr_array((weights, pairs.indices, pairs.indptr), shape=(N, N))
    shares = sparse.csr_array(sparse.diags_array(1 / shares.sum(axis=1)) @ shares)
    law = CellLaw(data, found, Q, shares)
    for name in data.names:
        codes, _ = value_codes(data, name)
        expected = written_out(law, codes, law.modification(name)).toarray()
        np.testing.assert_allclose(law.table(name)[0].toarray(), expected, atol=1e-13)
        kept = expected[np.arange(N), codes]
        np.testing.assert_allclose(law.retained(name), kept, atol=1e-13)
    for name, (_, chances) in zip(data.names, law.supports(data.names), strict=True):
        table = law.table(name)[0]
        np.testing.assert_allclose(chances, np.asarray(table.mean(axis=0)).ravel(), atol=1e-14)


def test_a_variable_is_left_alone_once_enough_is_known(data):
    law = CellLaw(data, find_neighborhoods(points(), epsilon=3.0), Q)
    whole = [float(supports @ chances) for supports, chances in law.supports(data.names)]
    enough = 0.3 * max(whole)
    part = [float(supports @ chances) for supports, chances in law.supports(data.names, enough)]
    for some, every in zip(part, whole, strict=True):
        assert min(some, enough) == pytest.approx(min(every, enough))
        assert some <= every * (1 + 1e-12)
    assert part != pytest.approx(whole)


def test_some_records_stand_for_those_of_a_large_table(data, monkeypatch):
    law = CellLaw(data, find_neighborhoods(points(), epsilon=3.0), Q)
    whole = law.supports(data.names)
    monkeypatch.setattr(donor_lists, "QUICK_RECORDS", N // 4)
    for (few, chances), (every, exact) in zip(law.supports(data.names), whole, strict=True):
        assert (few % 4 == 0).all()
        assert few @ chances == pytest.approx(every @ exact, rel=0.1)
        assert chances.sum() == pytest.approx(1.0, abs=0.01)
        if len(exact) < 10:  # of values that many have
            np.testing.assert_allclose(chances, exact, rtol=0.1)


def test_laws_with_the_same_donors_look_for_them_once_and_one_table_needs_no_pairs(
    data, monkeypatch
):
    found = find_neighborhoods(points(), epsilon=1.0, strict=True)
    law = RowMixtureLaw(data, found, np.ones(6, bool), 0.5)
    given = law.given(selected=True)
    assert given.donors is law.rounded(STEPS).donors is law.donors
    monkeypatch.setattr(Search, "fill", lambda *_: pytest.fail("all members are stored"))
    law.table("wide")
    given.rows_unchanged()
    monkeypatch.undo()
    large = described(pd.DataFrame({"x": np.arange(N) % 50 * 1.0, "y": np.arange(N)}))
    params = RWN(epsilon=0.5, k=3)
    alone = params.law(large, params.rule(large).find(large))
    alone.table("x")
    alone.supports(["y"])
    assert not alone.neighborhoods.is_stored
