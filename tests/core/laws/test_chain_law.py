"""What measures, certificates and policies read of a release with chained slices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison
from rwn_core.data.microdata import codes_together
from rwn_core.evaluation.disclosure import Assumptions, disclose_release
from rwn_core.evaluation.valid_intervals import valid_intervals
from rwn_core.masking import chain
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.posterior import link
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning.evaluate import evaluate
from rwn_core.tuning.policy import CHAIN_UNJUDGED
from tests.attacked_tables import released
from tests.tables import described

CHAINED = rwn.SoftRWN(
    chain=True, kernel="exponential", bandwidth="absolute", own=True, width=2.0, cap=1.0
)
LINKAGE = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))


def survey(n=120, seed=4):
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 60, n)
    height = (150 + 0.3 * age + draw.normal(0, 5, n)).round(1)
    income = (age * 10 + height + draw.normal(0, 40, n)).round()
    sport = draw.integers(0, 5, n) + (age < 40)
    frame = pd.DataFrame({"age": age, "height": height, "income": income, "sport": sport})
    return described(frame, [["age", "height"]], age="key", height="key", income="confidential")


@pytest.fixture(scope="module")
def compared():
    return released(survey(), CHAINED)


def of_first_slice(compared):
    """The comparison of a release of the first slice alone, by its own law."""
    first = compared.law.source
    return Comparison(original=first.original, masked=compared.masked, law=first)


def test_linkage_is_that_of_the_first_slice(compared):
    # an intruder with all variables has the first slice for evidence, and no more
    own, first = (link(law, compared.masked) for law in (compared.law, compared.law.source))
    np.testing.assert_allclose(own.best, first.best, atol=1e-12)
    np.testing.assert_allclose(own.truth, first.truth, atol=1e-12)
    key = "largest_linkage"
    readings = MEASURES[key].read(compared), MEASURES[key].read(of_first_slice(compared))
    assert readings[0].value == pytest.approx(readings[1].value, abs=1e-12)


def test_certificate_is_that_of_the_first_slice(compared):
    reading = MEASURES["certified_linkage"].read(compared)
    logs = np.log(
        compared.law.source.unit_chances(("age", "height"), compared.masked, np.arange(120))
    )
    least = np.min(logs.T[:, None, :] - logs.T[None, :, :], axis=2)
    bounds = np.exp(logs) / (np.exp(logs) @ np.exp(least).T)
    assert reading.value <= bounds.max(axis=1).mean() + 1e-9
    assert reading.value >= MEASURES["bayes_linkage"].read(compared).value
    assert len(reading.detail.slices) == 3


def test_one_slice_is_still_not_certified():
    data = survey()
    whole = data.with_slices([data.names])
    reading = MEASURES["certified_linkage"].read(released(whole, replace(CHAINED, chain=False)))
    assert isinstance(reading, rwn.NotApplicable)


def test_beliefs_in_donors_of_a_later_slice(compared):
    law, masked, n = compared.law, compared.masked, 120
    rows, people = np.arange(n), np.arange(n)
    found = beliefs(law, masked, rows, ["age", "height"], ["income"], people)
    weights = law.later["income"].matrix.toarray()
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)
    # with a key in the same slice: among its holders
    data = survey().with_slices([["age", "height"], ["sport", "income"]])
    setting = replace(CHAINED, order=("age",))
    release = rwn.mask(data, setting, seed=2)
    found = beliefs(release.law, release.masked, rows, ["age", "sport"], ["income"], people)
    weights = release.law.later["income"].matrix.toarray()
    own, released = codes_together(data, release.masked, ("sport",), rows)
    weights = np.where(own == released[:, None], weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)


def test_the_true_donor_has_the_chance_that_an_intruder_believes():
    data, hits, expected = survey(), [], []
    ready = CHAINED.prepare(data)
    for seed in range(20):
        made = ready.release(rwn.SecretKey.from_seed(seed))
        matrix = made.law.later["income"].matrix
        donor = made.donors[:, 2]
        chance = np.asarray(matrix[np.arange(120), donor]).ravel()
        largest = matrix.max(axis=1).toarray().ravel()
        assert (chance > 0).all()
        assert (largest <= 1 / 20 + 1e-9).all()
        likeliest = np.asarray(matrix.argmax(axis=1)).ravel()
        hits.append(np.mean(donor == likeliest))
        expected.append(largest.mean())
    spread = np.std(hits) / np.sqrt(20)
    assert abs(np.mean(hits) - np.mean(expected)) < 4 * max(spread, 0.004)


def test_intervals_hold_inside_balanced_slices_only():
    data = survey()
    balanced = replace(CHAINED, balance=1.0)
    for setting, slices in ((balanced, 3), (replace(balanced, later_balance=False), 1)):
        release = rwn.mask(data, setting, seed=1)
        found = valid_intervals(data, release.law, 120)
        assert found["refusal"] == ""
        assert len(found["slices"]) == slices
    drifting = rwn.mask(data, CHAINED, seed=1)
    assert valid_intervals(data, drifting.law, 120)["refusal"] == "drift"


def test_means_of_a_later_slice_are_those_of_the_original():
    data, means = survey(), []
    income = data.values("income")
    ready = replace(CHAINED, balance=1.0).prepare(data)
    for seed in range(60):
        made = ready.release(rwn.SecretKey.from_seed(seed))
        means.append(made.masked.values("income").mean())
    error = np.std(means) / np.sqrt(60)
    assert abs(np.mean(means) - income.mean()) < 4 * error
    assert np.var(means) <= 1.6 * income.var() / 120  # at most the sampling variance


def test_limits_on_linkage_alone_do_not_judge_a_chain():
    data = survey()
    release = rwn.mask(data, CHAINED, seed=1)
    verdict = judged(data, release, LINKAGE)
    assert verdict.state == "not judged"
    assert dict(verdict.unread) == {"bayes_linkage": CHAIN_UNJUDGED}
    full = judged(data, release, rwn.Policy())
    assert "attribute_gain" in full.values
    apart = rwn.mask(data, replace(CHAINED, chain=False), seed=1)
    assert judged(data, apart, LINKAGE).values
    # rounding makes no difference
    rough = rwn.mask(data, CHAINED, precision={"age": 5}, seed=1)
    assert judged(data, rough, LINKAGE).state == "not judged"


def test_no_search_looks_for_a_chain_by_linkage_alone():
    data, setting = survey(), rwn.Setting(params=CHAINED)
    for space in (rwn.Space(setting=setting), rwn.Space(setting=setting, slices=True)):
        with pytest.raises(rwn.ParameterError, match="Chained slices keep almost any limit"):
            rwn.search(data, LINKAGE, space, seconds=5)
    plan = rwn.Plan(measures=("bayes_linkage", "association_loss"), releases=1)
    grid = rwn.Grid(axes={"width": (1.0, 2.0), "chain": (True,)}, method="soft_rwn")
    swept = rwn.sweep(data, grid, plan=plan, workers=1)
    assert LINKAGE.judge(swept.points[0]).state == "not judged"
    goal = rwn.Goal(keep=LINKAGE, best="association_loss")
    with pytest.raises(rwn.ParameterError, match="Chained slices keep almost any limit"):
        rwn.seek(data, swept, goal, workers=1)


def test_every_measure_answers_or_says_why(compared):
    for key, measure in MEASURES.items():
        reading = measure.read(compared, begin=True)
        if isinstance(reading, rwn.NotApplicable):
            assert reading.reason, key


def test_risks_are_read_of_a_chain_in_its_precision():
    data = survey()
    assumed = Assumptions(precision={"age": 5.0, "income": 20.0})
    found = disclose_release(data, CHAINED, seed=1, assumed=assumed)
    release = rwn.mask(data, CHAINED, precision=assumed.precision, seed=1)
    own = Comparison(original=data, masked=release.masked, law=release.law)
    expected = MEASURES["bayes_linkage"].read(own).value
    assert found.readings["bayes_linkage"].value >= expected - 1e-9


def test_expectations_have_no_closed_form():
    with pytest.raises(rwn.ParameterError):
        rwn.forecast(survey(), CHAINED)


def test_a_search_tries_chains_under_limits_on_attributes():
    data = survey(n=80)
    limits = [rwn.Limit(measure=key, at_most=0.3) for key in ("attribute_gain", "true_matches")]
    starts = list(rwn.Space(chain=True).starts(data))
    chained = [each for each in starts if getattr(each.params, "chain", False)]
    assert len(chained) >= 2
    with pytest.raises(rwn.ParameterError, match="Chained slices keep almost any limit"):
        rwn.search(data, LINKAGE, rwn.Space(chain=True), seconds=5)
    with pytest.raises(rwn.ParameterError, match="Chained slices keep almost any limit"):
        rwn.search(data, rwn.Policy(limits=limits[:1]), rwn.Space(chain=True), seconds=5)
    found = rwn.search(data, rwn.Policy(limits=tuple(limits)), rwn.Space(chain=True), seconds=10)
    assert found.tried >= 1


def test_datasets_are_not_chained(tmp_path):
    survey().frame.to_parquet(tmp_path / "survey.parquet", index=False)
    with pytest.raises(rwn.ParameterError, match="drawn for all rows together"):
        rwn.mask_dataset(tmp_path / "survey.parquet", tmp_path / "out", CHAINED)


def test_a_rounded_chain_is_drawn_once_and_is_what_two_draws_gave(monkeypatch):
    data, steps, drawn = survey(), {"age": 5.0, "height": 2.0}, []
    twice = CHAINED.prepare(data).release(rwn.SecretKey.from_seed(1)).rounded(steps)
    own = chain.draw_chain
    monkeypatch.setattr(chain, "draw_chain", lambda *about: drawn.append(1) or own(*about))
    once = rwn.mask(data, CHAINED, precision=steps, seed=1)
    assert len(drawn) == 1
    pd.testing.assert_frame_equal(once.masked.frame, twice.masked.frame)
    np.testing.assert_array_equal(once.donors, twice.donors)
    plan = rwn.Setting(params=CHAINED, precision=tuple(steps.items()))
    evaluate(data, plan, [1], ["bayes_linkage"])
    assert len(drawn) == 2
