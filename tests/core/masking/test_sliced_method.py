"""Slices by prediction, and tied, of hard neighborhoods: the draw of RWN, with both laws."""

from dataclasses import fields, replace

import numpy as np
import pytest

import rwn_core as rwn
from rwn_core.laws.chained_slices import ChainLaw
from rwn_core.masking.sliced_method import SlicedMethod
from rwn_core.measures.attacks.posterior import posteriors
from tests.tables import described, frame

HARD = rwn.RWN(epsilon=0.6, k=8)
PREDICTED = (
    replace(HARD, by_prediction=True, later=5),
    replace(HARD, by_prediction=True, later=5, later_balance=False),
)


def survey(n=80):
    people = frame("following", n)[["age", "height", "income"]]
    roles = {"age": "key", "height": "key", "income": "confidential"}
    return described(people, [["age", "height"]], **roles)


def test_both_methods_have_the_levers_of_one_place():
    shared = [each.name for each in fields(SlicedMethod)]
    for method in (rwn.RWN, rwn.SoftRWN):
        assert [each.name for each in fields(method)][-len(shared) :] == shared
        assert not set(method.__annotations__) & set(shared)
    first = [each.name for each in fields(rwn.RWN)][:3]
    assert first == ["epsilon", "k", "q"]
    assert repr(HARD).startswith("RWN(epsilon=0.6, k=8, q=1.0")


@pytest.mark.parametrize("setting", PREDICTED)
def test_the_first_slice_by_prediction_is_that_of_slices_apart(setting):
    data = survey()
    apart, predicted = (rwn.mask(data, each, seed=3) for each in (HARD, setting))
    np.testing.assert_array_equal(apart.donors[:, :2], predicted.donors[:, :2])
    assert (apart.donors[:, 2] != predicted.donors[:, 2]).any()
    law = predicted.law
    rows = np.arange(80)
    assert isinstance(law, ChainLaw)
    own = posteriors(law, predicted.masked, rows).toarray()
    first = posteriors(apart.law, predicted.masked, rows, ["age", "height"]).toarray()
    np.testing.assert_allclose(own, first, atol=1e-12)
    weights = law.later["income"].matrix.toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    if setting.later_balance:
        np.testing.assert_allclose(weights.sum(axis=0), 1.0, atol=1e-6)
    assert (weights[rows, predicted.donors[:, 2]] > 0).all()


@pytest.mark.parametrize("setting", [*PREDICTED, replace(HARD, tie=True)])
def test_every_way_to_prepare_draws_the_same(setting):
    data = survey()
    key = rwn.SecretKey.from_seed(4)
    made = setting.prepare(data).release(key)
    shown = replace(setting, k=3).preview(data).with_levers(k=8).release(key)
    some = setting.prepare(data, settings=[replace(setting, k=9)]).release(key)
    for other in (shown, some):
        np.testing.assert_array_equal(made.donors, other.donors)


def test_each_tied_slice_is_that_of_slices_apart():
    data = survey()
    apart, tied = (rwn.mask(data, each, seed=5) for each in (HARD, replace(HARD, tie=True)))
    law = tied.law.tied
    assert 0 < law.fitted.kept <= 1
    for name in ("age", "income"):
        found = law.table(name)[0].toarray()
        expected = apart.law.table(name)[0].toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)
        codes = np.unique(data.array(name), return_inverse=True)[1]
        chances = np.exp(law.logs_of([name], [(codes, np.arange(codes.max() + 1))]))
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-9)
        values = [apart.law.table(name)[1].index(each) for each in np.unique(data.array(name))]
        np.testing.assert_allclose(chances, expected[:, values], atol=1e-9)
    # donors are members of the neighborhood, and each is drawn about as often as the others
    matrix = apart.law.probabilities.toarray()
    counts = np.zeros((80, 80))
    ready = replace(HARD, tie=True).prepare(data)
    for seed in range(300):
        donors = ready.release(rwn.SecretKey.from_seed(seed)).donors
        counts[np.arange(80), donors[:, 2]] += 1
    assert not counts[matrix == 0].any()
    some = matrix > 0
    statistic = ((counts - 300 * matrix)[some] ** 2 / (300 * matrix[some])).sum()
    degrees = some.sum() - 80
    assert statistic < degrees + 4 * np.sqrt(2 * degrees)
    # planted fault: the same donors with weights that fall along the list
    falling = matrix * np.linspace(1.5, 0.5, 80)
    falling /= falling.sum(axis=1, keepdims=True)
    wrong = ((counts - 300 * falling)[some] ** 2 / (300 * falling[some])).sum()
    assert wrong > degrees + 8 * np.sqrt(2 * degrees)


def test_ties_keep_relations_that_slices_apart_lose():
    data = survey(300)
    setting = rwn.RWN(epsilon=1.5, k=20)

    def correlation(setting):
        ready = setting.prepare(data)
        found = []
        for seed in range(10):
            masked = ready.release(rwn.SecretKey.from_seed(seed)).masked.frame
            found.append(masked["age"].corr(masked["height"]))
        return np.mean(found)

    apart = data.with_slices([])
    data = apart
    own = data.frame["age"].corr(data.frame["height"])
    assert own - correlation(replace(setting, tie=True)) < 0.5 * (own - correlation(setting))


def test_a_dataset_is_not_tied_under_hard_neighborhoods(tmp_path):
    survey().frame.to_parquet(tmp_path / "survey.parquet", index=False)
    for setting, words in (
        (replace(HARD, tie=True), "under soft neighborhoods"),
        (replace(HARD, by_prediction=True), "drawn for all rows together"),
    ):
        with pytest.raises(rwn.ParameterError, match=words):
            rwn.mask_dataset(tmp_path / "survey.parquet", tmp_path / "out", setting)


def test_a_file_that_asked_for_a_chain_by_prediction_is_read_as_by_prediction():
    old = {"k": 5, "chain": True, "near": "prediction", "later": 30}
    expected = rwn.RWN(k=5, by_prediction=True, later=30)
    assert rwn.Setting.of("rwn", old).params == expected
    # and one that listed what it did not use
    assert rwn.Setting.of("rwn", {"k": 5, "chain": False, "near": "all"}).params == rwn.RWN(k=5)
