"""Which donor a row came from: beliefs of all rows, dense or by columns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rwn_core import NBRS2015, RWN, Microdata, mask
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.measures.attacks import attribute_attack, posterior
from rwn_core.measures.attacks.assignment import _inside, all_rows, blocks, scaled
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.belief_columns_kernel import largest_shares
from rwn_core.measures.attacks.likeliest_value import ReleasedValues, Tolerance
from rwn_core.measures.attacks.posterior import entries, largest, of_units, shares_of, times
from rwn_core.measures.attacks.worst_case import shares_given_part
from rwn_core.neighbors import find_neighborhoods
from tests.oracles.donor_enumeration import SmallFile
from tests.tables import described

N, M = 60, 25


@pytest.fixture
def shares() -> np.ndarray:
    """Of 60 records, for 25 rows: many alike, and nobody's in the last column."""
    rng = np.random.default_rng(3)
    made = np.where(rng.random((N, M)) < 0.3, rng.integers(1, 6, (N, M)) / 8, 0.0)
    made[:, -1] = 0
    return made


def test_shares_of_columns_are_those_of_plain_arrays(shares) -> None:
    best, first = largest_shares(*entries(sparse.csc_array(shares)))
    np.testing.assert_array_equal(best, shares.max(axis=0))
    np.testing.assert_array_equal(first[:-1], shares.argmax(axis=0)[:-1])  # the first of equals
    assert first[-1] == -1
    own = np.random.default_rng(1).integers(N, size=M)
    found = shares_of(sparse.csc_array(shares), own)
    np.testing.assert_array_equal(found, shares[own, np.arange(M)])
    assert 0 < np.count_nonzero(found) < M
    # one who is believed of with 0 comes before nobody
    one = np.array([0, 1]), np.array([4], np.int32), np.zeros(1)
    assert largest_shares(*one)[1] == [4]


@pytest.mark.parametrize("groups", [N, 7, 1])
def test_sums_and_pairs_of_groups_are_those_of_plain_arrays(shares, groups) -> None:
    rng = np.random.default_rng(groups)
    group, expected = rng.integers(groups, size=N), np.zeros((N, M))
    np.add.at(expected, group, shares)
    found = largest(of_units(sparse.csc_array(shares / N), group))[0] * N
    np.testing.assert_allclose(found, expected.max(axis=0), rtol=1e-15)
    # pairs of one block, put in an order
    square, order = np.where(rng.random((N, N)) < 0.4, rng.random((N, N)), 0.0), rng.permutation(N)
    found = _inside(sparse.csc_array(square), group, order)
    expected = np.where(group[:, np.newaxis] == group, square, 0.0)[order][:, order]
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    for column in np.split(found.indices, found.indptr[1:-1]):
        assert (np.diff(column) > 0).all()


def test_who_is_told_the_part_shares_it_out_there(shares) -> None:
    rng = np.random.default_rng(5)
    part, own = rng.integers(4, size=N), rng.integers(N, size=M)
    own[0], part[own[0]] = 0, 4  # nobody but itself
    shares[own[0], 0] = 0
    inside = np.where(part[:, np.newaxis] == part[own], shares, 0.0)
    total = inside.sum(axis=0)
    told, pairs = shares_given_part(sparse.csc_array(shares), part, own)
    some = total > 0
    np.testing.assert_allclose(told[some], inside.max(axis=0)[some] / total[some], rtol=1e-15)
    assert not told[~some].any()
    assert pairs == np.count_nonzero(inside)
    assert not some[0]


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_beliefs_in_donors(bodyfat, monkeypatch, q: float) -> None:
    made = mask(bodyfat, RWN(epsilon=3.0, k=10, q=q), seed=2)
    rows, people = np.arange(bodyfat.n), np.arange(0, bodyfat.n, 3)
    found: list[Any] = []
    for always_or_never in (-1.0, 2.0):
        monkeypatch.setattr(attribute_attack, "DENSE", always_or_never)
        asked = (made.law, made.masked, rows, ("age", "weight", "height"), ("siri",), people)
        found.append(beliefs(*asked).donor[0].toarray())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-15)
    assert 0 < np.count_nonzero(found[0]) < found[0].size


@pytest.mark.parametrize(("share", "reach"), [(0.6, 0.0), (0.03, 2.0)])
def test_the_value_with_most_mass_within_reach_is_named(share: float, reach: float) -> None:
    """By all pairs; whether most values have a mass, or so few that only they are looked at."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 60, 150).astype(float)
    values[::20] = np.nan
    released = ReleasedValues(np.arange(150) // 2, values, Tolerance(reach))
    weights = rng.integers(1, 5, (50, 75)) * (rng.random((50, 75)) < share) / 4
    weights[7] = 0.0  # of whom nothing is known
    truth = values[2 * weights.argmax(axis=1) + 1]
    found = released.named(sparse.csr_array(weights)).right(truth, released.near)
    known = ~np.isnan(values)
    for person in range(50):
        each = np.repeat(weights[person], 2)
        said = np.unique(values[known & (each > 0)])
        near = np.array([each[np.abs(values - v) <= reach].sum() for v in said])
        right = np.abs(said[near == near.max(initial=0)] - truth[person]) <= reach
        assert found[person] == right.mean() if said.size else np.isnan(found[person])
    assert 0 < np.nanmean(found) < 1
    assert np.isnan(found[7])


def test_columns_are_multiplied_and_zeros_are_not_stored() -> None:
    matrix = sparse.csc_array(np.array([[1.0, 2.0], [0.0, 1e-300]]))
    product = times(matrix, np.array([3.0, 1e-300]))
    np.testing.assert_array_equal(product.toarray(), [[3.0, 2e-300], [0.0, 0.0]])
    assert (product.nnz, matrix.nnz) == (2, 3)


def share(likelihood: NDArray[np.float64]) -> float | None:
    belief = sparse.csc_array(likelihood.T)
    found = all_rows(belief, blocks(belief))
    return None if found is None else found[0]


def by_all_matchings(likelihood: NDArray[np.float64], named: NDArray[np.int64]) -> float:
    """How many names agree with the matchings of a tiny file, by going through all of them."""
    n, total, right = len(likelihood), 0.0, 0.0
    for order in permutations(range(n)):
        chance = float(np.prod(likelihood[np.arange(n), list(order)]))
        total, right = total + chance, right + chance * float(np.mean(named == np.array(order)))
    return right / total


def test_the_share_is_that_of_all_matchings():
    """Likelihoods of rows (first) and originals, all possible."""
    rng = np.random.default_rng(1)
    for n in np.repeat([2, 4, 6], 10):
        likelihood = rng.random((n, n)) ** 2 + 0.01
        belief = sparse.csc_array(likelihood.T)
        named = scaled(belief, blocks(belief)).toarray().T.argmax(axis=1)
        assert share(likelihood) == pytest.approx(by_all_matchings(likelihood, named), abs=0.015)


def test_by_hand(monkeypatch):
    assert share(np.eye(3)) == 1.0
    assert share(np.ones((2, 2))) == pytest.approx(0.5, abs=0.005)
    # matchings: 0.9 x 0.6 = .54 and 0.1 x 0.4 = .04, so that both rows are right in 27 of 29
    assert share(np.array([[0.9, 0.1], [0.4, 0.6]])) == pytest.approx(27 / 29, abs=0.005)
    assert share(np.array([[0.0, 1.0], [1.0, 1.0]])) is None  # the truth is no matching
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.ATTACKED_PAIRS", 3)
    assert share(np.ones((2, 2))) is None  # too many pairs


NAMES = ("x", "y", "z", "s")
UNITS = (
    [["x"], ["y"], ["z"], ["s"]],
    [["x", "s"], ["y"], ["z"]],
    [["x", "y"], ["z", "s"]],
    [["x", "y", "s"], ["z"]],
    [["x", "y", "z", "s"]],
    [["x", "y", "z"], ["s"]],
)


@dataclass
class Case:
    """A law of the program and the same law written out."""

    law: Law
    exact: SmallFile
    keys: tuple[str, ...]
    table: Microdata

    def check(self) -> int:
        """Compare beliefs about every row that may come about; how many there are."""
        expected = self.exact.beliefs([NAMES.index(key) for key in self.keys], NAMES.index("s"))
        frame = pd.DataFrame(np.nan, index=range(len(expected)), columns=list(NAMES))
        for row, known in enumerate(expected):
            for key, value in zip(self.keys, known, strict=True):
                frame.loc[row, key] = np.nan if value is None else value
        masked = Microdata(frame, self.table.schema)
        rows, people = np.arange(len(frame)), np.arange(self.table.n)
        found = beliefs(self.law, masked, rows, self.keys, ["s"], people)
        for place, part in enumerate((found.source, found.donor[0])):
            exact = np.array([both[place] for both in expected.values()], dtype=np.float64)
            np.testing.assert_allclose(part.toarray().T, exact, atol=1e-12)
        return len(expected)


def small_table(rng: np.random.Generator, units: list[list[str]], masked: list[bool]) -> Microdata:
    n = int(rng.integers(3, 7))
    values = rng.integers(0, 3, (n, 4)).astype(float)
    values[rng.random((n, 4)) < 0.1] = np.nan
    values[:2, :] = [[0.0, 0, 0, 0], [1, 1, 1, 2]]  # no variable is constant
    frame = pd.DataFrame(values, columns=list(NAMES))
    each = list(zip(masked, units, strict=True))
    slices = [unit for able, unit in each if able and len(unit) > 1]
    kept = [name for able, unit in each if not able for name in unit]
    return described(frame, slices, kept, x="key", y="key", z="key", s="confidential")


def chances(rng: np.random.Generator, members: np.ndarray, equal: bool) -> dict[int, Fraction]:
    if not len(members):
        return {}
    weights = [1] * len(members) if equal else rng.integers(1, 5, len(members)).tolist()
    return {int(m): Fraction(w, sum(weights)) for m, w in zip(members, weights, strict=True)}


def case(seed: int) -> Case:
    """A random table, setting and knowledge."""
    rng = np.random.default_rng(seed)
    units = UNITS[int(rng.integers(len(UNITS)))]
    masked = [bool(each) for each in rng.random(len(units)) < 0.85]
    masked[int(rng.integers(len(units)))] = True
    table = small_table(rng, units, masked)
    q, points = Fraction(1, int(rng.integers(1, 3))), rng.random((table.n, 2)) * 3
    whole, equal = bool(rng.random() < 0.4), bool(rng.random() < 0.6)
    able = np.array([each for name in NAMES for each, u in zip(masked, units, strict=True)
                     if name in u])  # fmt: skip
    if whole:
        near = find_neighborhoods(points, epsilon=1.2, strict=True)  # some records are alone
    else:
        near = find_neighborhoods(points, k=int(rng.integers(1, table.n)), epsilon=None)
    shares = [chances(rng, near.members(i), equal or whole) for i in range(table.n)]
    if whole:
        law: Law = RowMixtureLaw(table, near, able, float(q))
    else:
        modification = np.where(able, float(q), 0.0)
        law = CellLaw(table, near, modification, None if equal else matrix(shares))
    if rng.random() < 0.4:
        law = law.rounded({"x": 2.0, "s": 2.0})
    known = tuple(name for name in ("x", "y", "z") if rng.random() < 0.7) or ("x",)
    return Case(law, small_file(law, units, masked, shares, q, whole), known, table)


def matrix(shares: list[dict[int, Fraction]]) -> sparse.csr_array:
    people = range(len(shares))
    return sparse.csr_array([[float(each.get(member, 0)) for member in people] for each in shares])


def small_file(law, units, masked, shares, q, whole) -> SmallFile:
    values = law.original.matrix(list(NAMES))  # rounded, where the release is
    rows = [tuple(None if np.isnan(v) else float(v) for v in row) for row in values]
    columns = [[NAMES.index(name) for name in unit] for unit in units]
    return SmallFile(rows=rows, units=columns, masked=masked, shares=shares, q=q, whole=whole)


def test_a_hundred_small_tables_are_believed_of_exactly():
    kinds = set()
    for seed in range(100):
        made = case(seed)
        assert made.check() > 0
        exact = made.exact
        kinds.add((len(exact.units), exact.whole, exact.q == 1, made.law.precision != {}))
    assert len(kinds) > 15


@pytest.mark.parametrize(
    ("params", "slices"),
    [
        (RWN(k=4, q=0.6), [["x", "s"]]),
        (NBRS2015(epsilon=1.2, q=0.6), []),
        (NBRS2015(epsilon=1.2, q=0.6), [NAMES]),
        (RWN(epsilon=1.0, k=2), []),
    ],
)
def test_a_large_table_is_believed_of_as_a_small_one(params, slices, monkeypatch):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.integers(0, 6, (60, 4)) * 1.0, columns=list(NAMES))
    frame.loc[3] = [40.0, -40, 40, 2]
    frame.loc[rng.random(60) < 0.1, ["y"]] = np.nan
    table = described(frame, slices)
    release = mask(table, params, seed=2, precision={"z": 2.0})
    asked, few = (np.arange(60), ["x", "y", "z"], ["s"]), np.array([3, 8, 41])
    small = beliefs(release.law, release.masked, *asked, few)
    monkeypatch.setattr(posterior, "LARGEST_DENSE", 0)
    law = mask(table, params, seed=2, precision={"z": 2.0}).law
    large = beliefs(law, release.masked, *asked, few)
    for one, other in ((small.source, large.source), (small.donor[0], large.donor[0])):
        np.testing.assert_allclose(other.toarray(), one.toarray(), atol=1e-14)
        assert one.nnz


def test_a_way_that_no_row_came_about_in_adds_nothing(bodyfat) -> None:
    """The 2015 method at q = 1 keeps no record: nothing is known of that way, and nothing fails."""
    work = mask(bodyfat.with_slices([bodyfat.names]), NBRS2015(epsilon=6.0, q=1.0), seed=1)
    everybody = np.arange(bodyfat.n)
    found = beliefs(work.law, work.masked, everybody, ("age", "weight"), ("siri",), everybody)
    named = found.donor[0].toarray().argmax(axis=0)
    some = work.donors[:, 0] >= 0
    # whole rows name their donors
    assert (named[some] == work.donors[some, 0]).mean() > 0.95
