"""Which donor a row came from: posteriors and beliefs, by rows and by columns."""

from ast import literal_eval
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse

from rwn_core import MEASURES, NBRS2015, RWN, Microdata, coordinates, mask
from rwn_core.errors import NotApplicable
from rwn_core.laws import donor_lists
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.law import Law
from rwn_core.laws.lists import Lists
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.measures.attacks import attribute_attack, posterior
from rwn_core.measures.attacks.assignment import _inside, all_rows, blocks, scaled
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.belief_columns_kernel import largest_shares
from rwn_core.measures.attacks.likeliest_value import ReleasedValues, Tolerance
from rwn_core.measures.attacks.posterior import entries, largest, of_units, shares_of, times
from rwn_core.measures.attacks.worst_case import shares_given_part, worst_case
from rwn_core.neighbors import LARGEST_DENSE, find_neighborhoods
from rwn_core.neighbors.search import Search
from tests import tables
from tests.core.measures.attacks.attribute_tables import number, released
from tests.oracles.donor_enumeration import SmallFile
from tests.tables import described


def test_ATT_1_likelihoods_and_posteriors(e1_law, e1_rows, check_values):
    law = e1_law(0.5)
    for text, expected in check_values["ATT-1"].items():
        masked = e1_rows([literal_eval(text)])
        scaled, logs = posterior.likelihoods(law, masked, np.arange(1))
        found = scaled.toarray()[:, 0] * np.exp(logs[0])
        np.testing.assert_allclose(found, [number(p) for p in expected["L"]], atol=1e-14)
        belief = posterior.posteriors(law, masked, np.arange(1)).toarray()[:, 0]
        np.testing.assert_allclose(belief, [number(p) for p in expected["post"]], atol=1e-14)


def test_a_sample_of_a_large_file_is_stated(pima):
    made = released(pima, RWN(epsilon=1.0, k=5))
    whole = posterior.link(made.law, made.masked, work=10**9)
    some = posterior.link(made.law, made.masked, work=400 * pima.n)
    assert (whole.sampled, some.sampled) == (False, True)
    assert (len(some.rows), some.total_rows) == (400, pima.n)
    assert some.success == pytest.approx(whole.success, abs=0.05)
    np.testing.assert_allclose(some.best, whole.best[some.rows])
    found = worst_case(made, work=200 * pima.n)
    assert found.links.sampled
    assert (found.matched, found.joint_success, found.earned) == (None, None, False)


def test_identical_records_share_their_link_and_nobody_has_what_none_can_release(e1_law, e1_rows):
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 5.0], "b": ["u", "u", "u", "v"]})
    data = Microdata.from_frame(frame)
    found = posterior.link(RWN(k=2, q=0.5).prepare(data).law, data)
    # the fourth record may have released such a row too, with probability 1/4
    assert found.best[:3] == pytest.approx([1 / 3.25] * 3)
    assert found.top1[:3] == pytest.approx([1 / 3] * 3)
    assert found.candidates.tolist() == [4, 4, 4, 1]  # which their neighbors do not reach
    found = posterior.link(e1_law(1.0), e1_rows([[99.0, 0.0], [0.0, 0.0]]))
    assert (found.best[0], found.first[0], found.candidates[0]) == (0, -1, 0)
    assert found.truth[0] == found.top5[0] == 0
    with pytest.raises(NotApplicable, match="no variables to link by"):
        posterior.link(e1_law(1.0), e1_rows([[0.0, 0.0]]), ["nowhere"])


@pytest.mark.parametrize(
    "options",
    [
        {"neighbors": "sample", "m": 80},
        {"neighbors": "sample", "m": 80, "fresh": True},
        {"neighbors": "pairs", "m": 30},
        {"neighbors": "partition", "u": 3},
    ],
)
def test_the_methods_for_large_data_carry_their_law(bodyfat, options):
    """Given the random candidates: every donor is possible, and the success is the realized."""
    differences = []
    for seed in range(4):
        release = mask(bodyfat, RWN(epsilon=1.5, k=5, q=0.9, **options), seed=seed)
        members = release.law.probabilities.toarray() > 0
        np.fill_diagonal(members, True)
        assert members[np.arange(bodyfat.n)[:, None], release.donors].all()
        found = posterior.link(release.law, release.masked, ("age", "weight", "height"))
        differences.append(found.top1 - found.best)
    difference = np.concatenate(differences)
    assert abs(difference.mean()) <= 3 * difference.std(ddof=1) / np.sqrt(len(difference))


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


N = LARGEST_DENSE + 100
ROWS = np.arange(0, N, 50)


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Ties, missing values, a category; two of the numbers share a donor."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=["x0", "x1", "x2", "x3"])
    frame = frame.round({"x1": 1, "x3": 1}).assign(sex=rng.choice(["f", "m"], N))
    frame.loc[rng.random(N) < 0.2, "x0"] = np.nan
    return described(frame, [("x1", "x3")])


def by_tables(law, masked, names=None) -> np.ndarray:
    """The likelihood of some rows as a product of columns of the law's tables."""
    total = np.ones((N, len(ROWS)))
    for unit in posterior.attacked_units(law, names):
        whole, columns = law.likelihood_columns(unit, masked, ROWS)
        total *= np.where(columns >= 0, whole.toarray()[:, columns], 0.0)
    return total


@pytest.mark.parametrize(
    ("params", "names"),
    [
        (RWN(epsilon=1.0, k=4), None),
        (RWN(epsilon=2.5, q=0.7), ["x1", "x2"]),
        (RWN(k=3, q=0.0), ["sex"]),
    ],
    ids=["small", "large", "nothing modified"],
)
def test_likelihoods_are_products_of_the_tables(data, params, names):
    release = mask(data, params, seed=1)
    frame = release.masked.frame.copy()
    frame.loc[50, "x1"] = 99.0  # nobody has it
    masked = Microdata(frame, data.schema)
    scaled, logs = posterior.likelihoods(release.law, masked, ROWS, names)
    expected = by_tables(release.law, masked, names)
    np.testing.assert_allclose(scaled.toarray() * np.exp(logs), expected, rtol=1e-12, atol=0)
    assert np.isneginf(logs).tolist() == (expected.max(axis=0) == 0).tolist()
    assert scaled.has_sorted_indices
    assert scaled.nnz == np.count_nonzero(expected)


def test_whole_rows_of_a_large_table(data):
    release = mask(data, NBRS2015(epsilon=1.5, q=0.6), seed=2)
    law = release.law
    scaled, logs = posterior.likelihoods(law, release.masked, ROWS)
    kept, drawn = (by_tables(law.given(selected=each), release.masked) for each in (False, True))
    expected = (1 - law.row_share) * kept + law.row_share * drawn
    present = ~release.masked.frame.isna().all(axis=1).to_numpy()[ROWS]
    found = scaled.toarray() * np.exp(logs)
    np.testing.assert_allclose(found[:, present], expected[:, present], rtol=1e-12)


def test_parts_change_nothing(data, monkeypatch):
    release = mask(data, RWN(epsilon=2.0, k=4), seed=3)
    names = ["x1", "x2", "sex"]
    whole = posterior.link(release.law, release.masked, names)
    monkeypatch.setattr(posterior, "ATTACKED_PAIRS", 5000)
    monkeypatch.setattr(donor_lists, "BLOCK", 10_000)
    monkeypatch.setattr(donor_lists, "STORED_NUMBERS", 0)
    law = release.params.law(data, release.law.neighborhoods)
    parts = posterior.link(law, release.masked, names)
    for name in ("rows", "best", "truth", "top1", "top5", "first", "candidates"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_the_sample_is_that_of_the_whole_count(data, monkeypatch):
    """Counting may stop early only where the smallest sample is taken in any case."""
    monkeypatch.setattr(donor_lists, "BLOCK", 10_000)
    release = mask(data, RWN(epsilon=2.0, k=4), seed=3)
    fewest = min(float(some @ share) for some, share in release.law.supports(data.names))
    for work in (20_000, 200_000, 3_000_000):
        rows = max(posterior.SMALLEST_SAMPLE, int(work / fewest))
        assert len(posterior.link(release.law, release.masked, work=work).rows) == min(N, rows)


def test_pairs_are_never_held_whole(data, monkeypatch):
    release = mask(data, RWN(epsilon=1.0, k=4), seed=3)
    mixture = mask(data, NBRS2015(epsilon=1.5, q=0.6), seed=2)
    monkeypatch.setattr(Search, "fill", lambda *_: pytest.fail("all members are stored"))
    monkeypatch.setattr(DonorTables, "matrix", property(lambda _: pytest.fail("all pairs")))
    assert 0 < posterior.link(release.law, release.masked).success < 1
    assert 0 < posterior.link(mixture.law, mixture.masked).success < 1


@pytest.mark.parametrize("params", [NBRS2015(epsilon=2.0, q=0.5), RWN(epsilon=50.0, k=5)])
def test_with_missing_values_and_other_laws(params):
    comparison = released(tables.table("holes"), params)
    found = worst_case(comparison)
    assert found.earned
    assert found.success == max(found.links.success, found.matched, found.joint_success)
    assert sorted(found.linked) == list(range(80))
    of_some = worst_case(comparison, ["x"])
    assert of_some.earned
    assert worst_case(comparison, ["x"]) is of_some  # computed once


def test_above_the_affordable_size_it_is_at_least_and_an_estimate(bodyfat, monkeypatch):
    """No block of more than two records is assigned."""
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 2)
    comparison = released(bodyfat, RWN(epsilon=0.0, k=50), 1)
    for key in ("bayes_linkage", "intruder_levels"):
        measure = MEASURES[key]
        reading = measure.compute(comparison)
        words = measure.sentence(reading, bodyfat.n)
        assert reading.value == reading.detail.row_by_row
        assert reading.detail.standing == "at least"
        assert "at least" in words
        assert "an estimate" in words
        assert "worst" not in words + measure.reading_title(reading)
    found = MEASURES["bayes_linkage"].compute(comparison).detail
    assert found.row_by_row == pytest.approx(0.732, abs=0.05)
    assert found.estimate == pytest.approx(0.908, abs=0.08)
    assert found.estimate > found.row_by_row + 0.05


def test_a_title_claims_a_worst_case_only_where_it_is_one():
    measure = MEASURES["bayes_linkage"]
    assert measure.title_for(1500) == measure.title == "Worst-case linkage"
    assert measure.title_for(1501) == measure.at_least == "Linkage, at least"
    assert measure.reading_title(NotApplicable("No law.")) == measure.title
    assert MEASURES["correlation"].title_for(10**6) == MEASURES["correlation"].title


ROWS_OF_IDENTICAL_RECORDS = np.arange(0, N, 40)


def identical_records(of_distance: bool) -> Microdata:
    """About ten records of each kind; one variable may count for nothing in the distance."""
    numbers = np.random.default_rng(11)
    kinds = numbers.integers(0, 6, (N // 10, 3))[numbers.integers(0, N // 10, N)]
    frame = pd.DataFrame(kinds.astype(float), columns=["a", "b", "c"])
    if of_distance:
        return Microdata.from_frame(frame)
    data = Microdata.from_frame(frame.assign(c=numbers.integers(0, 4, N)))
    return data.with_weights({"c": 0.0})


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


@pytest.mark.parametrize(("of_distance", "q"), [(True, 1.0), (True, 0.0), (False, 0.6)])
def test_every_record_releases_a_row_as_its_own_donors_have_it(of_distance, q):
    data = identical_records(of_distance)
    release = mask(data, RWN(epsilon=0.7, k=4, q=q), seed=2)
    donors = members_of(release.law.components()[0][1])
    values = data.frame.to_numpy(float)
    shown = release.masked.frame.to_numpy(float)[ROWS_OF_IDENTICAL_RECORDS]
    expected = np.ones((N, len(ROWS_OF_IDENTICAL_RECORDS)))
    for record in range(N):
        for unit in range(3):
            have = values[donors[record], unit][:, None] == shown[:, unit]
            own = values[record, unit] == shown[:, unit]
            expected[record] *= (1 - q) * own + q * have.mean(axis=0)
    scaled, logs = posterior.likelihoods(release.law, release.masked, ROWS_OF_IDENTICAL_RECORDS)
    np.testing.assert_allclose(scaled.toarray() * np.exp(logs), expected, rtol=1e-12, atol=0)
    assert (expected > 0).sum() > 5 * len(ROWS_OF_IDENTICAL_RECORDS) or q == 0


RECORDS, M = 60, 25


@pytest.fixture
def shares() -> np.ndarray:
    """Of 60 records, for 25 rows: many alike, and nobody's in the last column."""
    rng = np.random.default_rng(3)
    made = np.where(rng.random((RECORDS, M)) < 0.3, rng.integers(1, 6, (RECORDS, M)) / 8, 0.0)
    made[:, -1] = 0
    return made


def test_shares_of_columns_are_those_of_plain_arrays(shares) -> None:
    best, first = largest_shares(*entries(sparse.csc_array(shares)))
    np.testing.assert_array_equal(best, shares.max(axis=0))
    np.testing.assert_array_equal(first[:-1], shares.argmax(axis=0)[:-1])  # the first of equals
    assert first[-1] == -1
    own = np.random.default_rng(1).integers(RECORDS, size=M)
    found = shares_of(sparse.csc_array(shares), own)
    np.testing.assert_array_equal(found, shares[own, np.arange(M)])
    assert 0 < np.count_nonzero(found) < M
    # a person with probability 0 ranks before no other person
    one = np.array([0, 1]), np.array([4], np.int32), np.zeros(1)
    assert largest_shares(*one)[1] == [4]


@pytest.mark.parametrize("groups", [RECORDS, 7, 1])
def test_sums_and_pairs_of_groups_are_those_of_plain_arrays(shares, groups) -> None:
    rng = np.random.default_rng(groups)
    group = rng.integers(groups, size=RECORDS)
    expected = np.zeros((RECORDS, M))
    np.add.at(expected, group, shares)
    found = largest(of_units(sparse.csc_array(shares / RECORDS), group))[0] * RECORDS
    np.testing.assert_allclose(found, expected.max(axis=0), rtol=1e-15)
    # pairs of one block, put in an order
    square = np.where(rng.random((RECORDS, RECORDS)) < 0.4, rng.random((RECORDS, RECORDS)), 0.0)
    order = rng.permutation(RECORDS)
    found = _inside(sparse.csc_array(square), group, order)
    expected = np.where(group[:, np.newaxis] == group, square, 0.0)[order][:, order]
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    for column in np.split(found.indices, found.indptr[1:-1]):
        assert (np.diff(column) > 0).all()


def test_who_is_told_the_part_shares_it_out_there(shares) -> None:
    rng = np.random.default_rng(5)
    part, own = rng.integers(4, size=RECORDS), rng.integers(RECORDS, size=M)
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
    n = len(likelihood)
    total = 0.0
    right = 0.0
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


def matrix(shares: list[dict[int, Fraction]]) -> sparse.csr_array:
    people = range(len(shares))
    return sparse.csr_array([[float(each.get(member, 0)) for member in people] for each in shares])


def small_file(law, units, masked, shares, q, whole) -> SmallFile:
    values = law.original.matrix(list(NAMES))  # rounded, where the release is
    rows = [tuple(None if np.isnan(v) else float(v) for v in row) for row in values]
    columns = [[NAMES.index(name) for name in unit] for unit in units]
    return SmallFile(rows=rows, units=columns, masked=masked, shares=shares, q=q, whole=whole)


def random_case(seed: int) -> Case:
    """A random table, setting and knowledge."""
    rng = np.random.default_rng(seed)
    units = UNITS[int(rng.integers(len(UNITS)))]
    masked = [bool(each) for each in rng.random(len(units)) < 0.85]
    masked[int(rng.integers(len(units)))] = True
    table = small_table(rng, units, masked)
    q = Fraction(1, int(rng.integers(1, 3)))
    points = rng.random((table.n, 2)) * 3
    whole, equal = bool(rng.random() < 0.4), bool(rng.random() < 0.6)
    by_name = [
        each for name in NAMES for each, unit in zip(masked, units, strict=True) if name in unit
    ]
    able = np.array(by_name)
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


def test_a_hundred_small_tables_are_believed_of_exactly():
    kinds = set()
    for seed in range(100):
        made = random_case(seed)
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
    asked = (np.arange(60), ["x", "y", "z"], ["s"])
    few = np.array([3, 8, 41])
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
