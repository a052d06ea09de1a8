"""Posteriors of a released row: weighing, likelihoods, and the worst case."""

from __future__ import annotations

from ast import literal_eval
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, Comparison, Microdata, SecretKey, coordinates
from rwn_core.errors import NotApplicable
from rwn_core.laws import donor_lists
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables, Lists
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.attacks import posterior
from rwn_core.measures.attacks.posterior import (
    SMALLEST_SAMPLE,
    attacked_units,
    likelihoods,
    link,
    posteriors,
)
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.neighbors import LARGEST_DENSE, find_neighborhoods
from rwn_core.neighbors.search import Search
from tests.core.measures.attacks.attribute_tables import released
from tests.core.measures.attacks.intruder_examples import number, table

KEYS = {"bodyfat": ("age", "weight", "height"), "pima": ("pregnant", "bmi", "age")}


def test_ATT_1_likelihoods_and_posteriors(e1_law, e1_rows, check_values):
    law = e1_law(0.5)
    for text, expected in check_values["ATT-1"].items():
        masked = e1_rows([literal_eval(text)])
        scaled, logs = likelihoods(law, masked, np.arange(1))
        found = scaled.toarray()[:, 0] * np.exp(logs[0])
        np.testing.assert_allclose(found, [number(p) for p in expected["L"]], atol=1e-14)
        belief = posteriors(law, masked, np.arange(1)).toarray()[:, 0]
        np.testing.assert_allclose(belief, [number(p) for p in expected["post"]], atol=1e-14)


SETTINGS = [
    ("bodyfat", None, 0.0, 5, 1.0),
    ("bodyfat", "keys", 2.0, 5, 1.0),
    ("bodyfat", "keys", 4.0, 5, 0.5),
    ("pima", "keys", 2.0, 5, 1.0),
    ("pima", None, 2.5, 25, 0.8),
]
"""Table, attacked variables, epsilon, k, q: settings of each table."""


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: "-".join(map(str, setting)))
def test_analytic_success_is_the_realized_one(request, setting):
    """Rao-Blackwell: what the intruder expects is what he gets, within 3 standard errors."""
    name, keys, epsilon, k, q = setting
    data = request.getfixturevalue(name)
    names = KEYS[name] if keys else None
    prepared = RWN(k=1).preview(data).with_levers(epsilon=epsilon, k=k, q=q)
    differences = []
    for release in range(4):
        masked = prepared.release(SecretKey.from_seed(1000 + release))
        found = link(masked.law, masked.masked, names, work=10**9)
        differences.append(found.top1 - found.best)
    difference = np.concatenate(differences)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) <= max(3 * error, 1e-9)


def test_a_wrong_law_is_refuted(bodyfat):
    """The same comparison with q misstated fails: the agreement above is no accident."""
    made = released(bodyfat, RWN(epsilon=4.0, k=5, q=1.0), 3)
    wrong = CellLaw(bodyfat, made.law.neighborhoods, np.full(bodyfat.p, 0.5))
    found = link(wrong, made.masked)
    difference = found.top1 - found.best
    assert abs(difference.mean()) > 3 * difference.std(ddof=1) / np.sqrt(len(difference))


def test_a_sample_of_a_large_file_is_stated(pima):
    made = released(pima, RWN(epsilon=1.0, k=5))
    whole = link(made.law, made.masked, work=10**9)
    some = link(made.law, made.masked, work=400 * pima.n)
    assert (whole.sampled, some.sampled) == (False, True)
    assert (len(some.rows), some.total_rows) == (400, pima.n)
    assert some.success == pytest.approx(whole.success, abs=0.05)
    np.testing.assert_allclose(some.best, whole.best[some.rows])


def test_identical_records_share_their_link():
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 5.0], "b": ["u", "u", "u", "v"]})
    data = Microdata.from_frame(frame)
    law = RWN(k=2, q=0.5).prepare(data).release(SecretKey.from_seed(1)).law
    found = link(law, data)
    # the fourth record may have released such a row too, with probability 1/4
    assert found.best[:3] == pytest.approx([1 / 3.25] * 3)
    assert found.top1[:3] == pytest.approx([1 / 3] * 3)
    assert found.candidates.tolist() == [4, 4, 4, 1]  # which their neighbors do not reach


def test_a_row_that_no_original_can_release(e1_law, e1_rows):
    found = link(e1_law(1.0), e1_rows([[99.0, 0.0], [0.0, 0.0]]))
    assert (found.best[0], found.first[0], found.candidates[0]) == (0, -1, 0)
    assert found.truth[0] == found.top5[0] == 0
    with pytest.raises(NotApplicable, match="no variables to link by"):
        link(e1_law(1.0), e1_rows([[0.0, 0.0]]), ["nowhere"])


LARGE_DATA = {
    "Method 1": {"neighbors": "sample", "m": 80},
    "Method 1, fresh": {"neighbors": "sample", "m": 80, "fresh": True},
    "Method 2": {"neighbors": "pairs", "m": 30},
    "Method 3": {"neighbors": "partition", "u": 3},
}


@pytest.mark.parametrize("options", LARGE_DATA.values(), ids=LARGE_DATA)
def test_the_methods_for_large_data_carry_their_law(bodyfat, options):
    """Given the random candidates: every donor is possible, and the success is the realized."""
    params, differences = RWN(epsilon=1.5, k=5, q=0.9, **options), []
    for seed in range(4):
        release = mask(bodyfat, params, seed=seed)
        members = release.law.probabilities.toarray() > 0
        np.fill_diagonal(members, True)
        assert members[np.arange(bodyfat.n)[:, None], release.donors].all()
        found = link(release.law, release.masked, KEYS["bodyfat"])
        differences.append(found.top1 - found.best)
        for name in ("age", "siri"):
            law = release.law.table(name)[0]
            np.testing.assert_allclose(np.asarray(law.sum(axis=1)).ravel(), 1.0)
    difference = np.concatenate(differences)
    assert abs(difference.mean()) <= 3 * difference.std(ddof=1) / np.sqrt(len(difference))


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


N = LARGEST_DENSE + 100
ROWS = np.arange(0, N, 50)


@pytest.fixture(scope="module")
def data() -> Microdata:
    """Ties, missing values, a category; two of the numbers share a donor."""
    return table(np.random.default_rng(8), N, 4).with_slices([("x1", "x3")])


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
    for name in ("rows", "best", "truth", "top1", "top5", "first", "candidates"):
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


SEEDS = 4
CASES = {
    # table, k, rounded to so many standard deviations: one row at a time, all at once
    "bodyfat 50": ("bodyfat", 50, 0.0, 0.732, 0.908),
    "pima 25": ("pima", 25, 0.0, 0.680, 0.845),
    "bodyfat 10, rounded": ("bodyfat", 10, 0.5, 0.628, 0.767),
}


@pytest.mark.parametrize("case", CASES)
def test_the_whole_file_at_once_links_more_where_it_did_not_count(case, request):
    name, k, share, before, after = CASES[case]
    data = request.getfixturevalue(name)
    readings = [
        MEASURES["bayes_linkage"].compute(released(data, RWN(epsilon=0.0, k=k), seed, share))
        for seed in range(SEEDS)
    ]
    alone = np.mean([reading.detail.row_by_row for reading in readings])
    best = np.mean([reading.detail.at_once for reading in readings])
    error = np.sqrt(after * (1 - after) / (SEEDS * data.n))
    assert alone == pytest.approx(before, abs=3 * error)
    assert best == pytest.approx(after, abs=3 * error)
    assert abs(alone - after) > 3 * error  # row by row only would be caught
    assert {reading.detail.attack for reading in readings} <= {"file", "weighed"}
    assert all(reading.value >= reading.detail.at_once for reading in readings)
    assert {reading.detail.standing for reading in readings} == {"worst"}


def test_E1_by_hand_and_by_trying_all_assignments(e1, e1_law, e1_rows):
    """Rows 2 and 3 are equal, as are 1 and 4: they change places at random."""
    law = e1_law(0.5)
    masked = e1_rows([[0, 0], [1, 0], [1, 0], [0, 0], [10, 0], [11, 1]])
    found = worst_case(Comparison(original=e1, masked=masked, law=law))
    # products of the possible links of 1 to 4: 1 and 4 take (0, 0) twice, 2 and 3 (1, 0) twice
    likelihood = posteriors(law, masked, np.arange(6)).toarray().T
    orders = np.array(list(permutations(range(6))))
    weights = likelihood[np.arange(6), orders].prod(axis=1)
    right = (orders[np.isclose(weights, weights.max())] == np.arange(6)).mean()
    assert found.matched == pytest.approx(right) == pytest.approx(4 / 6)
    expected = (9 / 23 * 2 + 8 / 17 * 2 + 3 / 4 + 4 / 5) / 6
    assert found.links.success == pytest.approx(expected)
    assert found.success == pytest.approx(4 / 6)
    assert (found.detail.attack, found.earned) == ("file", True)


PARAMS = {
    "kept in part": RWN(epsilon=2.0, k=5, q=0.5),
    "2015": NBRS2015(epsilon=2.0, q=0.5),
    "uninformative": RWN(epsilon=50.0, k=5),
}


@pytest.mark.parametrize("params", PARAMS.values(), ids=PARAMS)
def test_with_missing_values_and_other_laws(params):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60).round(0)})
    frame["sex"] = rng.choice(["f", "m"], 60)
    frame.loc[rng.random(60) < 0.15, ["x"]] = np.nan
    comparison = released(Microdata.from_frame(frame), params)
    found = worst_case(comparison)
    assert found.earned
    assert found.success == max(found.links.success, found.matched, found.joint_success)
    assert sorted(found.linked) == list(range(60))
    of_some = worst_case(comparison, ["x"])
    assert of_some.earned
    assert worst_case(comparison, ["x"]) is of_some  # computed once


@pytest.fixture
def too_large(monkeypatch):
    """No block of more than two records is assigned."""
    monkeypatch.setattr("rwn_core.measures.attacks.assignment.LARGEST_ASSIGNMENT", 2)


def test_above_the_affordable_size_it_is_at_least_and_an_estimate(request, too_large):
    name, k, share, before, after = CASES["bodyfat 50"]
    data = request.getfixturevalue(name)
    comparison = released(data, RWN(epsilon=0.0, k=k), 1, share)
    for key in ("bayes_linkage", "intruder_levels"):
        measure = MEASURES[key]
        reading = measure.compute(comparison)
        words = measure.sentence(reading, data.n)
        assert reading.value == reading.detail.row_by_row
        assert reading.detail.standing == "at least"
        assert "at least" in words
        assert "an estimate" in words
        assert "worst" not in words + measure.reading_title(reading)
    found = MEASURES["bayes_linkage"].compute(comparison).detail
    assert found.row_by_row == pytest.approx(before, abs=0.05)
    assert found.estimate == pytest.approx(after, abs=0.08)
    assert found.estimate > found.row_by_row + 0.05


def test_a_sample_of_rows_is_at_least(pima):
    comparison = released(pima, RWN(epsilon=2.0, k=5), 1)
    found = worst_case(comparison, work=200 * pima.n)
    assert found.links.sampled
    assert (found.matched, found.joint_success, found.earned) == (None, None, False)


def test_a_title_claims_a_worst_case_only_where_it_is_one():
    measure = MEASURES["bayes_linkage"]
    assert measure.title_for(1500) == measure.title == "Worst-case linkage"
    assert measure.title_for(1501) == measure.at_least == "Linkage, at least"
    assert measure.reading_title(NotApplicable("No law.")) == measure.title
    assert MEASURES["correlation"].title_for(10**6) == MEASURES["correlation"].title


ROWS_OF_IDENTICAL_RECORDS = np.arange(0, N, 40)


@pytest.fixture(scope="module", params=["all in the distance", "one outside"])
def data_of_identical_records(request) -> Microdata:
    """About ten records of each kind; one variable may count for nothing in the distance."""
    numbers = np.random.default_rng(11)
    kinds = numbers.integers(0, 6, (N // 10, 3))[numbers.integers(0, N // 10, N)]
    frame = pd.DataFrame(kinds.astype(float), columns=["a", "b", "c"])
    if request.param == "all in the distance":
        return Microdata.from_frame(frame)
    data = Microdata.from_frame(frame.assign(c=numbers.integers(0, 4, N)))
    return data.with_weights({"c": 0.0})


@pytest.fixture(scope="module", params=[1.0, 0.6, 0.0])
def release(request, data_of_identical_records):
    return mask(data_of_identical_records, RWN(epsilon=0.7, k=4, q=request.param), seed=2)


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


def test_every_record_releases_a_row_as_its_own_donors_have_it(data_of_identical_records, release):
    (_, cells), q = release.law.components()[0], release.law.modification("a")
    donors, values = members_of(cells), data_of_identical_records.frame.to_numpy(float)
    shown = release.masked.frame.to_numpy(float)[ROWS_OF_IDENTICAL_RECORDS]
    expected = np.ones((N, len(ROWS_OF_IDENTICAL_RECORDS)))
    for record in range(N):
        for unit in range(3):
            have = values[donors[record], unit][:, None] == shown[:, unit]
            own = values[record, unit] == shown[:, unit]
            expected[record] *= (1 - q) * own + q * have.mean(axis=0)
    scaled, logs = likelihoods(release.law, release.masked, ROWS_OF_IDENTICAL_RECORDS)
    np.testing.assert_allclose(scaled.toarray() * np.exp(logs), expected, rtol=1e-12, atol=0)
    assert (expected > 0).sum() > 5 * len(ROWS_OF_IDENTICAL_RECORDS) or q == 0
