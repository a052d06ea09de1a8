"""Posteriors of a released row: weighing, likelihoods, and the worst case."""

from __future__ import annotations

from ast import literal_eval

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, Microdata, coordinates
from rwn_core.errors import NotApplicable
from rwn_core.laws import donor_lists
from rwn_core.laws.donor_lists import DonorTables, Lists
from rwn_core.masking import NBRS2015, RWN, mask
from rwn_core.measures.attacks import posterior
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.neighbors import LARGEST_DENSE, find_neighborhoods
from rwn_core.neighbors.search import Search
from tests import tables
from tests.core.measures.attacks.attribute_tables import number, released
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
