"""Tied slices: published values, the exact law of a row, and the draw that follows it."""

import hashlib
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import rwn_core as rwn
from rwn_core import Comparison, SecretKey, SoftRWN
from rwn_core.laws import tied_law
from rwn_core.laws.lists import Lists
from rwn_core.laws.tie_kernel import (
    DonorScores,
    Tie,
    Ways,
    draw_tied,
    tied_logs,
    tied_pair_logs,
    weigh_scores,
)
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from rwn_core.parallel.threads import work
from tests.check_values import check_values
from tests.oracles import tied_slices
from tests.oracles.whole_file_beliefs import whole_file_beliefs
from tests.tables import described

TIED = SoftRWN(tie=True, cap=0.5)
SLICED = [("age", "weight", "height"), ("neck", "chest")]


@cache
def table_of_six(seed: int) -> rwn.Microdata:
    """Numbers, some tied, and a category, in slices that differ by the seed."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 6).astype(np.float64)})
    frame["b"] = rng.normal(size=6).round(1)
    frame["c"] = rng.lognormal(size=6).round(2)
    frame["d"] = rng.permutation(["x", "x", "y", "z", "z", "z"])
    return described(frame, ([("a", "b")], [("b", "d")], [], [("a", "c", "d")])[seed % 4])


ALL = np.arange(6)
DRAWN = Ways(without=False, own=False)


def lists_of_weights(weights: Any) -> Lists:
    """All records as the donors of each, with these weights."""
    n = len(weights)
    members = np.tile(np.arange(n, dtype=np.int32), n)
    flat = np.array(weights, dtype=np.float64).ravel()
    return Lists(np.arange(n), n * np.arange(n), np.full(n, n), members, flat, np.ones(n), False)


def arrays_of(scores: Any, loadings: Any, classes: int, bins: int) -> Tie:
    """The tables of units of one column each, ordered by their scores."""
    points = tied_law.class_points(classes, 1)
    tables = np.array([tied_law.checkerboard(points, np.array(each), bins).T for each in loadings])
    ranks = np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1).astype(np.int32)
    sums = np.concatenate((np.zeros_like(tables[:, :1]), np.cumsum(tables, axis=1)), axis=1)
    return Tie(ranks, tables, sums)


def published(id_: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs and answers of one check value."""
    entry = check_values("tied")[id_]
    return entry["input"], entry["expected"]


def test_COUP_1_and_2_points_and_tables() -> None:
    for id_, factors in (("COUP-1", 1), ("COUP-2", 2)):
        given, expected = published(id_)
        points = tied_law.class_points(given["G"], factors)
        loading = np.atleast_1d(np.array(given["loading"]))
        wanted = np.array(expected["points"]).reshape(points.shape)
        np.testing.assert_allclose(points, wanted, rtol=0, atol=1e-10)
        table = tied_law.checkerboard(points, loading, given["B"])
        np.testing.assert_allclose(table, expected["T"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("id_", ["COUP-3", "COUP-6"])
def test_COUP_3_and_6_the_law_of_a_row(id_: str) -> None:
    given, expected = published(id_)
    values = np.array(given["values"], dtype=np.float64)
    units = [np.array(unit) - 1 for unit in given["units"]]
    scores = np.array([values[:, unit[0]] for unit in units])
    arrays = arrays_of(scores, given["loadings"], given["G"], given["B"])
    rows = np.array([each["row"] for each in expected["rows"]])
    coded = []
    for unit in units:
        together = np.concatenate((values[:, unit], rows[:, unit]))
        codes = np.unique(together, axis=0, return_inverse=True)[1].ravel()
        coded.append((codes[:6], codes[6:]))
    logs = np.zeros((6, len(rows)))
    numbers = tied_law._slots(coded)
    tied_logs(lists_of_weights(given["weights"]), arrays, numbers, DRAWN, logs, 0, 6)
    wanted = [each["by_source"] for each in expected["rows"]]
    np.testing.assert_allclose(np.exp(logs).T, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("fault", ["", "drawn apart"])
@pytest.mark.parametrize("own", [False, True])
def test_two_slices_by_bins_have_the_law_that_they_have_by_classes(own: bool, fault: str) -> None:
    """Lists of some donors, values of several donors apart, and rows that nobody can release."""
    rng = np.random.default_rng(7)
    n = 40
    arrays = arrays_of(rng.normal(size=(2, n)), [[0.5], [0.9]], 128, 64)
    weights = rng.dirichlet(np.full(n, 0.3), size=n)
    weights[weights < 0.01] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    lists = lists_of_weights(weights)._replace(sizes=np.where(np.arange(n) % 3 == 0, 4, n))
    coded = tied_law._slots([(rng.integers(0, 9, n), rng.integers(-1, 9, n)) for _ in range(2)])
    one, other = arrays.tables
    together = one @ other.T / 128
    if fault:
        together = np.full_like(together, together.mean())
    columns = 1 if own else n
    by_classes, by_bins = np.zeros((2, n, columns))
    tied_logs(lists, arrays, coded, Ways(without=False, own=own), by_classes, 0, n)
    tied_pair_logs(lists, arrays, coded, together, own, by_bins, 0, n)
    possible = by_classes > -np.inf
    assert 0 < possible.sum() < possible.size
    assert ((by_bins > -np.inf) == possible).all()
    apart = np.abs(by_bins[possible] - by_classes[possible]).max()
    assert (apart > 0.1) if fault else (apart < 1e-11)


def test_one_slice_alone_is_attacked_by_the_weights_of_its_neighborhoods() -> None:
    law = setting(0).prepare(table_of_six(0)).law
    masked = rwn.mask(table_of_six(0), setting(0), seed=3).masked
    for names in (["c"], ["a", "b"]):
        found, logs = likelihoods(law, masked, ALL, names)
        by_classes = np.exp(law.tied.logs([tuple(names)], masked, ALL).T)
        np.testing.assert_allclose(found.toarray() * np.exp(logs), by_classes, atol=1e-12)


def test_COUP_4_the_draw() -> None:
    given, expected = published("COUP-4")
    scores = np.array(given["values"], dtype=np.float64).T
    arrays = arrays_of(scores, given["loadings"], given["G"], given["B"])
    for case, answer in zip(given["cases"], expected["answers"], strict=True):
        donors = np.zeros((6, 3), np.int64)
        classes, numbers = np.full(6, case["cls"] - 1), np.full((3, 6), case["uniform"])
        draw_tied(lists_of_weights(given["weights"]), arrays, classes, numbers, donors, 0, 6)
        assert donors[case["source"] - 1, case["unit"] - 1] + 1 == answer["donor"]


def test_COUP_5_and_7_what_is_needed_and_what_is_made() -> None:
    given, expected = published("COUP-5")
    values = np.ascontiguousarray(np.array(given["values"], dtype=np.float64).T)
    arrays = arrays_of(values, given["loadings"], given["G"], given["B"])
    lists = lists_of_weights(given["weights"])
    mean, variance, bins = np.empty((3, 6)), np.empty((3, 6)), np.empty((3, 6, given["B"]))
    weigh_scores(lists, arrays.ranks, values, DonorScores(mean, variance, bins), 0, 6)
    made = [one @ table for one, table in zip(bins, arrays.tables, strict=True)]
    for place, (one, other) in enumerate([(0, 1), (0, 2), (1, 2)]):
        within = (made[one] * made[other]).mean() - (mean[one] * mean[other]).mean()
        assert within == pytest.approx(expected["within"][place], abs=1e-10)
    _, expected = published("COUP-7")
    scores = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    weigh_scores(lists, arrays.ranks, scores, DonorScores(mean, variance, bins), 0, 6)
    needed, weights, missing = tied_law.needed_correlations(scores, mean, variance)
    np.testing.assert_allclose(needed, expected["needed"], atol=1e-8)
    np.testing.assert_allclose(weights, expected["weight"], atol=1e-8)
    np.testing.assert_allclose(missing, expected["missing_covariance"], atol=1e-8)
    np.testing.assert_allclose(
        tied_law.fit_loadings(needed, weights)[:, 0], expected["loadings"], rtol=0, atol=1e-8
    )


def test_COUP_8_the_direction_of_a_slice() -> None:
    given, expected = published("COUP-8")
    values = np.array(given["values"])
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    direction = tied_law.canonical_direction(scaled[:, :2], scaled[:, 2:])
    np.testing.assert_allclose(direction, expected["direction"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(scaled[:, :2] @ direction, expected["scores"], rtol=0, atol=1e-9)


def setting(seed: int) -> SoftRWN:
    """A kernel that differs by the seed."""
    return SoftRWN(
        tie=True,
        tie_factors=1 + seed % 2,
        kernel=("gaussian", "exponential")[seed % 3 == 0],
        own=seed % 3 == 0,
        cap=(0.3, 0.5, 1.0)[seed % 3],
        width=0.6,
        balance=float(seed % 5 == 0),
    )


def all_rows(law: tied_law.TiedLaw) -> tuple[rwn.Microdata, list[tuple[int, ...]]]:
    """Every combination of one donor a unit, as a released table, and the donors."""
    units = law.units()
    original = law.original
    combinations = list(product(range(original.n), repeat=len(units)))
    given = dict(zip(units, np.array(combinations).T, strict=True))
    columns = {
        name: original.frame[name].to_numpy()[donors]
        for names, donors in given.items()
        for name in names
    }
    frame = pd.DataFrame(columns)[list(original.names)]
    return rwn.Microdata(frame, original.schema), combinations


@pytest.mark.parametrize("seed", range(12))
def test_row_laws_sum_to_1_and_margins_are_the_weights(seed: int) -> None:
    data = table_of_six(seed)
    params = setting(seed)
    law = params.prepare(data).law
    weights = law.probabilities.toarray()
    tied = law.tied
    rows, combinations = all_rows(tied)
    chances = np.exp(tied.logs(law.units(), rows, np.arange(rows.n)).T)
    contents = [
        list(map(tuple, data.frame[list(names)].to_numpy().tolist())) for names in law.units()
    ]
    shown = [tuple(own[d] for own, d in zip(contents, each, strict=True)) for each in combinations]
    distinct = {row: place for place, row in enumerate(shown)}
    places = np.array(list(distinct.values()))
    np.testing.assert_allclose(chances[:, places].sum(axis=1), 1.0, rtol=0, atol=1e-12)
    for unit, own in enumerate(contents):
        for content in set(own):
            some = [place for row, place in distinct.items() if row[unit] == content]
            has = np.array([each == content for each in own])
            found = chances[:, some].sum(axis=1)
            np.testing.assert_allclose(found, weights[:, has].sum(axis=1), rtol=0, atol=1e-12)
    if seed:
        return
    # the same by loops, of which no line is shared
    points = tied_slices.one_factor(128)
    tables = [
        tied_slices.checkerboard(points, float(each), 64) for each in tied.fitted.loadings[:, 0]
    ]
    orders = [np.argsort(rank).tolist() for rank in tied.tie.ranks]
    slow = tied_slices.row_law(weights[0].tolist(), orders, tables, contents)
    for row, place in distinct.items():
        assert chances[0, place] == pytest.approx(slow[row], abs=1e-10)


def refuted(count: np.ndarray, chances: np.ndarray) -> bool:
    """True if the counts are not those of the law, rare combinations taken together."""
    expected = chances.ravel() * count.sum()
    often = expected >= 5
    seen = np.append(count.ravel()[often], count.ravel()[~often].sum())
    awaited = np.append(expected[often], expected[~often].sum())
    statistic = ((seen - awaited) ** 2 / np.maximum(awaited, 1e-9)).sum()
    return bool(chi2.sf(statistic, len(awaited) - 1) < 1e-6)


def test_draws_follow_the_law_and_not_that_of_other_ties() -> None:
    """With 1,200 draws each of the planted ties is refuted at one in a million."""
    columns = {"a": [1, 2, 3, 4, 5, 7], "b": [2, 1, 4, 3, 6, 5], "c": [9, 5, 6, 3, 2, 1]}
    data = described(pd.DataFrame(columns))
    law = TIED.prepare(data).law
    rows = np.array(list(product(range(6), repeat=3)))
    lists = lists_of_weights(law.probabilities.toarray())
    numbers = tied_law._slots([(ALL, column) for column in rows.T])

    def chances(loadings: Any) -> np.ndarray:
        arrays = arrays_of(law.tied.tie.ranks, loadings, 128, 64)
        logs = np.zeros((6, len(rows)))
        tied_logs(lists, arrays, numbers, DRAWN, logs, 0, 6)
        return np.exp(logs[0]).reshape(6, 6, 6)

    def drawn(seed: int, records: np.ndarray) -> np.ndarray:
        return law.tied.drawn(records, law.tied.numbers(SecretKey.from_seed(seed), records))

    # as a release draws
    assert (TIED.prepare(data).release(SecretKey.from_seed(7)).donors == drawn(7, ALL)).all()
    count = np.zeros((6, 6, 6))  # how often the first record has each combination of donors
    for seed in range(1_200):
        count[tuple(drawn(seed, ALL[:1])[0])] += 1
    loadings = law.tied.fitted.loadings
    assert not refuted(count, chances(loadings))
    assert refuted(count, chances(0 * loadings))  # drawn apart
    assert refuted(count, chances(0.7 * loadings))  # tied less
    assert refuted(count, chances(loadings * [[1], [-1], [1]]))  # one slice the other way round


def test_beliefs_in_donors_go_by_the_sources_and_by_the_weights_of_the_slice() -> None:
    """Where a person stands in the order of a secret slice only those know who know the secret."""
    data = table_of_six(2)
    law = TIED.prepare(data).law
    masked = rwn.mask(data, TIED, seed=5).masked
    keys = ("a", "b")
    secret = "c"
    found = beliefs(law, masked, ALL, keys, (secret,), ALL)
    weights = law.probabilities.toarray()
    arrays = law.tied.tie
    units = law.tied.fitted.units
    orders = [np.argsort(rank).tolist() for rank in arrays.ranks]
    tables = [arrays.tables[unit].T.tolist() for unit in range(len(units))]
    for row in range(6):
        expected = np.zeros(6)
        total = 0.0
        for source in range(6):
            given = {
                names[0]: np.array(tied_slices.class_chances(weights[source], order, table))
                for names, order, table in zip(units, orders, tables, strict=True)
            }
            np.testing.assert_allclose(given[secret].mean(axis=0), weights[source], atol=1e-12)
            likely = np.ones(128)
            for name in keys:
                same = (data.frame[name] == masked.frame[name].iloc[row]).to_numpy()
                likely = likely * given[name][:, same].sum(axis=1)
            expected += likely.sum() * weights[source]
            total += likely.sum()
        shown = found.donor[0].toarray()[:, row]
        np.testing.assert_allclose(shown, expected / total, rtol=0, atol=1e-9)


def test_no_row_unchanged_and_fitting_rows_by_enumeration() -> None:
    data = table_of_six(3)
    law = setting(3).prepare(data).law
    tied: tied_law.TiedLaw = law.tied
    chances = np.exp(tied.logs(law.units(), data, ALL).T)
    np.testing.assert_allclose(tied.rows_unchanged(), np.diag(chances), rtol=1e-12)
    rows, _ = all_rows(tied)
    every = np.exp(tied.logs(law.units(), rows, np.arange(rows.n)).T)
    frame = rows.frame.drop_duplicates()
    distinct = every[:, frame.index.to_numpy()]
    asked = {"a": data.frame["a"] >= 1, "b": data.frame["b"] > 0}
    some = ((frame["a"] >= 1) & (frame["b"] > 0)).to_numpy()
    found = tied.fitting({name: each.to_numpy(np.float64) for name, each in asked.items()})
    np.testing.assert_allclose(found, distinct[:, some].sum(axis=1), rtol=1e-10)
    # P(some row shows a unique number of a record)
    alone = [
        np.where(~data.frame.duplicated(list(names), keep=False), ALL, -1) for names in law.units()
    ]
    for person in range(6):
        has = np.zeros(len(frame), bool)
        for names, own in zip(law.units(), alone, strict=True):
            if own[person] >= 0:
                same = frame[list(names)] == data.frame.loc[person, list(names)]
                has |= same.all(axis=1).to_numpy()
        missing = 1.0 - distinct[:, has].sum(axis=1)
        assert tied.showing(alone, 6)[person] == pytest.approx(1 - missing.prod(), abs=1e-9)
    # the last records have no value of their own
    none = [np.where(ALL < 4, each, -1) for each in alone]
    np.testing.assert_allclose(tied.showing(none, 6)[:4], tied.showing(alone, 6)[:4], rtol=1e-12)
    assert tied.showing(none, 6)[4:].tolist() == [0.0, 0.0]
    # a row that nobody can release has no source
    strange = rwn.Microdata(data.frame.assign(b=np.linspace(100.0, 101.0, 6)), data.schema)
    assert np.isinf(tied.logs([("b",)], strange, ALL)).all()


def test_permuting_records_permutes_the_law() -> None:
    data = rwn.load_demo("bodyfat").with_slices(SLICED)
    order = np.random.default_rng(1).permutation(data.n)
    masked = rwn.mask(data, SoftRWN(tie=True), seed=1).masked
    rows = np.arange(0, data.n, 10)
    one = posteriors(SoftRWN(tie=True).prepare(data).law, masked, rows).toarray()
    moved = SoftRWN(tie=True).prepare(data.take(order)).law
    np.testing.assert_allclose(posteriors(moved, masked, rows).toarray(), one[order], atol=1e-9)


@pytest.mark.parametrize("setting", [SoftRWN(tie=True, balance=1.0), SoftRWN(tie=True, own=True)])
def test_same_bytes_over_threads_and_parts(setting: SoftRWN) -> None:
    data = rwn.load_demo("bodyfat").with_slices(SLICED)
    key = SecretKey.from_seed(3)
    found = set()
    for threads in (1, 2, 5):
        with work(threads=threads):
            donors = setting.prepare(data).release(key).donors
        found.add(hashlib.sha256(donors.tobytes()).hexdigest())
    assert len(found) == 1
    some = np.arange(3, 200, 7)
    part = setting.prepare(data, records=some).release(key)
    assert (part.donors == donors[some]).all()
    apart = replace(setting, tie=False).prepare(data).release(key)
    assert (apart.donors != donors).any()


def test_likelihood_of_a_part_of_the_keys_adds_up_over_the_rest() -> None:
    data = table_of_six(4)  # a and b share a donor
    law = TIED.prepare(data).law
    rows, _ = all_rows(law.tied)
    every = np.exp(law.tied.logs(law.units(), rows, np.arange(rows.n)).T)
    frame = rows.frame.drop_duplicates()
    same = ((frame["a"] == frame["a"].iloc[0]) & (frame["c"] == frame["c"].iloc[0])).to_numpy()
    expected = every[:, frame.index.to_numpy()][:, same].sum(axis=1)
    found, top = likelihoods(law, rows, np.array([0]), ("a", "c"))
    np.testing.assert_allclose(found.toarray()[:, 0] * np.exp(top[0]), expected, atol=1e-12)


def test_variables_that_are_not_masked_stay() -> None:
    data = described(rwn.load_demo("bodyfat").frame, unmasked=["age"])
    age = data.frame["age"].to_numpy()
    release = rwn.mask(data, SoftRWN(tie=True), seed=1)
    assert (release.masked.frame["age"].to_numpy() == age).all()
    belief = posteriors(release.law, release.masked, ALL).toarray()
    for row in ALL:
        assert (belief[age != age[row], row] == 0).all()
    assert isinstance(release.law.tied.fitted, tied_law.FittedTie)


def test_a_search_tries_tied_slices() -> None:
    space = rwn.Space(setting=rwn.Setting(params=SoftRWN(balance=1.0)), tie=True)
    assert {each.params.tie for each in space.starts(rwn.load_demo("bodyfat"))} == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_the_certificate_of_a_release_bounds_exact_beliefs(seed: int) -> None:
    setting = SoftRWN(
        tie=True, kernel="exponential", bandwidth="absolute", own=True, cap=1.0, width=1.5
    )
    data = table_of_six(seed)
    release = rwn.mask(data, setting, seed=seed)
    logs = release.law.tied.logs(release.law.units(), release.masked, ALL)
    beliefs_of_file = whole_file_beliefs(np.exp(logs))
    bounds = rwn.audit(data, release, measures=["certified_linkage"])["certified_linkage"]
    assert (beliefs_of_file.max(axis=1) <= bounds.detail.bounds + 1e-12).all()


def test_people_outside_are_attacked_by_the_law_of_the_file_with_each_of_them():
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"a": draw.normal(size=100), "b": draw.normal(size=100)})
    frame["s"] = np.where(frame["a"] + draw.normal(size=100) > 0, "yes", "no")
    everybody = described(frame, [("b", "s")], a="key", b="key", s="confidential")
    inside, held = everybody.take(np.arange(70)), everybody.take(np.arange(70, 100))
    release = rwn.mask(inside, SoftRWN(tie=True), seed=1)
    person = held.take(np.array([0]))
    law = release.law.with_people(person).tied
    assert law.original.n == 71
    assert sorted(law.tie.ranks[0].tolist()) == list(range(71))
    compared = Comparison(original=inside, masked=release.masked, law=release.law, holdout=held)
    found = rwn.MEASURES["attribute_inference"].compute(compared).detail
    assert found.control is not None
