"""Slices by prediction: draw and law, and what measures and policies read of them."""

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison
from rwn_core.data.microdata import codes_together, joint_codes
from rwn_core.evaluation.control_group import attribute_difference, control_group
from rwn_core.evaluation.disclosure import Assumptions, disclose_release
from rwn_core.laws.chained_slices import ChainLaw
from rwn_core.masking import chain
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.certificate import certified_share, linkage_bounds
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning.evaluate import evaluate
from rwn_core.tuning.policy import PREDICTION_UNJUDGED
from tests.attacked_tables import released
from tests.check_values import check_values
from tests.tables import described, frame, table

VALUES = check_values("chained")
BALANCED_DRAWS = [115, 214, 171, 53, 177, 56, 97, 180, 6, 11, 88, 237, 57, 50, 37, 139, 231, 122]
PLAIN_DRAWS = [80, 67, 156, 57, 119, 195, 218, 231, 162, 165, 88, 55, 240, 184, 228, 50, 60, 192]


def test_certificate_of_a_chain_is_that_of_its_first_slice_chain_4():
    about = VALUES["CHAIN-4"]
    chances = np.array(about["input"]["chances_of_slice_1"])
    expected = about["expected"]
    ratios = (chances[:, None, :] / chances[None, :, :]).min(axis=2)
    np.testing.assert_allclose(ratios, expected["M"], atol=1e-10)
    logs = np.log(chances[:, np.array(about["input"]["released_from"]) - 1]).T
    near = np.tile(np.arange(5, dtype=np.int32), (5, 1))
    bounds = linkage_bounds(logs, np.log(ratios), near)
    np.testing.assert_allclose(bounds, expected["bounds"], atol=1e-8)
    assert bounds.max(axis=1).mean() == pytest.approx(expected["certified"], abs=1e-8)
    assert certified_share(bounds) <= expected["certified"] + 1e-8


def survey(n=60):
    names = ["age", "height", "income", "sport"]
    return described(frame("following", n)[names], [["age", "height"]])


PREDICTED = rwn.SoftRWN(by_prediction=True, own=True, later=5, order=("age", "sport", "income"))


@pytest.mark.parametrize("balanced", [True, False])
def test_every_row_has_its_law(balanced):
    data = survey()
    release = rwn.mask(data, replace(PREDICTED, later_balance=balanced), seed=1)
    assert isinstance(release.law, ChainLaw)
    assert release.law.telling() == [("age", "height")]
    for name in ("income", "sport"):
        table, values = release.law.table(name)
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
        code = [values.index(each) for each in release.masked.array(name)]
        assert (np.asarray(table[np.arange(60), code]) > 0).all()
    # the donors of a slice are one, and none shows what the row shows already
    donors = release.donors
    assert (donors[:, 0] == donors[:, 1]).all()
    contents = joint_codes(data, ("age", "height"))
    few = np.bincount(contents)[contents[donors[:, 0]]] <= 5
    assert (contents[donors[:, 2]] != contents[donors[:, 0]])[few].all()
    # and an intruder with all variables has the first slice for evidence, and no more
    rows = np.arange(60)
    first = posteriors(release.law.source, release.masked, rows).toarray()
    for names in (None, ["age", "income"], ["sport"]):
        own = posteriors(release.law, release.masked, rows, names).toarray()
        np.testing.assert_allclose(own, first, atol=1e-12)
    part = posteriors(release.law, release.masked, rows, ["age"]).toarray()
    assert abs(part - first).max() > 0.01


def test_a_release_by_prediction_is_not_rounded_afterwards():
    plain = rwn.mask(survey(), PREDICTED, seed=1)
    with pytest.raises(rwn.NotApplicable, match="cannot be rounded afterwards"):
        plain.law.rounded({"age": 10.0, "income": 50.0})


def test_equal_keys_give_equal_bytes():
    data = rwn.load_demo("bodyfat")
    keys = [each.name for each in data.schema.released][1:4]
    data = data.with_slices([keys])
    setting = rwn.SoftRWN(by_prediction=True, balance=1.0, order=(keys[0],), mixed=True)

    def digest(**options):
        donors = rwn.mask(data, setting, seed=11, **options).donors
        return hashlib.sha256(donors.astype("<i8").tobytes()).hexdigest()

    assert digest(threads=1) == digest(threads=2)
    ready = rwn.SoftRWN(by_prediction=True, order=(keys[0],), mixed=True).preview(data)
    moved = ready.with_levers(balance=1.0).release(rwn.SecretKey.from_seed(11))
    assert hashlib.sha256(moved.donors.astype("<i8").tobytes()).hexdigest() == digest()


def test_published_draws_stay():
    """Donors of a later slice for one key: released values are copied from them."""
    data = rwn.load_demo("bodyfat")
    names = [each.name for each in data.schema.released if each.name != "siri"]
    data = data.with_slices([names])
    for balanced, first in ((True, BALANCED_DRAWS), (False, PLAIN_DRAWS)):
        setting = rwn.SoftRWN(by_prediction=True, balance=1.0 * balanced, later_balance=balanced)
        donors = rwn.mask(data, setting, seed=5).donors[:, data.names.index("siri")]
        assert donors[: len(first)].tolist() == first


def test_balanced_later_slices_have_an_end(monkeypatch):
    monkeypatch.setattr("rwn_core.masking.chain.MOST_BALANCED", 50)
    with pytest.raises(rwn.ParameterError, match="balanced for up to 50 records"):
        rwn.mask(survey(), PREDICTED, seed=1)
    assert rwn.mask(survey(), replace(PREDICTED, later_balance=False), seed=1).masked.n == 60


def test_a_later_slice_with_a_secret_and_keys_is_drawn_when_asked_and_names_it():
    data = rwn.load_demo("bodyfat")
    keys = ["age", "weight", "height"]
    others = [each for each in data.names if each not in (*keys, "siri")]
    data = data.with_slices([others, [*keys, "siri"]])
    about = {"kernel": "exponential", "bandwidth": "absolute", "cap": 1.0, "own": True}
    setting = rwn.SoftRWN(**about, balance=1.0, width=2.0, by_prediction=True, order=(others[0],))
    with pytest.raises(rwn.ParameterError, match="or set mixed = true"):
        rwn.mask(data, setting, seed=1)
    asked = replace(setting, mixed=True)
    release = rwn.mask(data, asked, seed=1)
    assert release.law.later.keys() == {*keys, "siri"}
    found = attribute_difference(data, asked, splits=4)
    assert found.value == pytest.approx(0.59, abs=0.06)
    assert any("stand in one row" in each and "59 %" in each for each in asked.cautions())
    assert not any("stand in one row" in each for each in setting.cautions())
    # whatever it holds, what a row says of its source is the first slice
    assert release.law.telling() == [tuple(others)]
    assert rwn.Policy(limits=rwn.Policy().limits[:1]).unjudged(asked)


def test_slices_in_order():
    data = rwn.load_demo("pima").take(np.arange(200))
    roles = {each.name: each.role.value for each in data.schema.released}
    keys = [name for name, role in roles.items() if role == "key"]
    release = rwn.mask(data.with_slices([keys]), rwn.SoftRWN(by_prediction=True), seed=1)
    assert set(release.law.telling()[0]) == set(keys)


BY_PREDICTION = rwn.SoftRWN(
    by_prediction=True, kernel="exponential", bandwidth="absolute", own=True, width=2.0, cap=1.0
)
LINKAGE = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
UNJUDGED = "Slices by prediction keep almost any limit"
N = 120


def chain_survey(n=N, slices=(("age", "height"),)):
    names = ["age", "height", "income", "sport"]
    roles = {"age": "key", "height": "key", "income": "confidential"}
    return described(frame("following", n)[names], slices, **roles)


@pytest.fixture(scope="module")
def compared():
    return released(chain_survey(), BY_PREDICTION)


def test_certificate_is_that_of_the_first_slice(compared):
    reading = MEASURES["certified_linkage"].read(compared)
    logs = np.log(
        compared.law.source.unit_chances(("age", "height"), compared.masked, np.arange(N))
    )
    least = np.min(logs.T[:, None, :] - logs.T[None, :, :], axis=2)
    bounds = np.exp(logs) / (np.exp(logs) @ np.exp(least).T)
    assert reading.value <= bounds.max(axis=1).mean() + 1e-9
    assert reading.value >= MEASURES["bayes_linkage"].read(compared).value
    assert len(reading.detail.slices) == 3
    # one slice is still not certified
    whole = released(
        chain_survey(slices=[compared.original.names]), replace(BY_PREDICTION, by_prediction=False)
    )
    assert isinstance(MEASURES["certified_linkage"].read(whole), rwn.NotApplicable)
    for key, measure in MEASURES.items():  # and every measure answers or says why
        other = measure.read(compared, begin=True)
        assert not isinstance(other, rwn.NotApplicable) or other.reason, key


def test_beliefs_in_donors_of_a_later_slice(compared):
    rows = people = np.arange(N)
    found = beliefs(compared.law, compared.masked, rows, ["age", "height"], ["income"], people)
    weights = compared.law.later["income"].matrix.toarray()
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)
    # with a key in the same slice: among its holders
    data = chain_survey(slices=[["age", "height"], ["sport", "income"]])
    release = rwn.mask(data, replace(BY_PREDICTION, order=("age",)), seed=2)
    found = beliefs(release.law, release.masked, rows, ["age", "sport"], ["income"], people)
    weights = release.law.later["income"].matrix.toarray()
    own, shown = codes_together(data, release.masked, ("sport",), rows)
    weights = np.where(own == shown[:, None], weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)


def test_the_true_donor_has_the_chance_that_an_intruder_believes():
    ready = BY_PREDICTION.prepare(chain_survey())
    hits = []
    expected = []
    for seed in range(20):
        made = ready.release(rwn.SecretKey.from_seed(seed))
        matrix = made.law.later["income"].matrix
        donor = made.donors[:, 2]
        largest = matrix.max(axis=1).toarray().ravel()
        assert (np.asarray(matrix[np.arange(N), donor]) > 0).all()
        assert (largest <= 1 / 20 + 1e-9).all()
        hits.append(np.mean(donor == np.asarray(matrix.argmax(axis=1)).ravel()))
        expected.append(largest.mean())
    spread = np.std(hits) / np.sqrt(20)
    assert abs(np.mean(hits) - np.mean(expected)) < 4 * max(spread, 0.004)


def test_limits_on_linkage_alone_do_not_judge_a_chain(compared):
    data = compared.original
    release = rwn.mask(data, BY_PREDICTION, seed=1)
    verdict = judged(data, release, LINKAGE)
    assert verdict.state == "not judged"
    assert dict(verdict.unread) == {"bayes_linkage": PREDICTION_UNJUDGED}
    assert "attribute_gain" in judged(data, release, rwn.Policy()).values
    apart = rwn.mask(data, replace(BY_PREDICTION, by_prediction=False), seed=1)
    assert judged(data, apart, LINKAGE).values
    # rounding makes no difference
    rough = rwn.mask(data, BY_PREDICTION, precision={"age": 5}, seed=1)
    assert judged(data, rough, LINKAGE).state == "not judged"


def test_no_search_looks_for_a_chain_by_linkage_alone():
    data = chain_survey()
    setting = rwn.Setting(params=BY_PREDICTION)
    plan = rwn.Plan(measures=("bayes_linkage", "association_loss"), releases=1)
    grid = rwn.Grid(axes={"width": (1.0, 2.0), "by_prediction": (True,)}, method="soft_rwn")
    swept = rwn.sweep(data, grid, plan=plan, workers=1)
    assert LINKAGE.judge(swept.points[0]).state == "not judged"
    goal = rwn.Goal(keep=LINKAGE, best="association_loss")
    limits = tuple(rwn.Limit(measure=e, at_most=0.3) for e in ("attribute_gain", "true_matches"))
    gain = rwn.Policy(limits=limits[:1])
    for ask in (
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting), seconds=5),
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting, slices=True), seconds=5),
        lambda: rwn.seek(data, swept, goal, workers=1),
        lambda: rwn.search(data, gain, rwn.Space(by_prediction=True), seconds=5),
    ):
        with pytest.raises(rwn.ParameterError, match=UNJUDGED):
            ask()
    # chains are tried under limits on attributes
    space = rwn.Space(by_prediction=True)
    small = chain_survey(60)
    assert sum(getattr(each.params, "by_prediction", False) for each in space.starts(small)) >= 2
    assert rwn.search(small, rwn.Policy(limits=limits), space).tried >= 1


def test_risks_are_read_of_a_chain_in_its_precision():
    data = chain_survey()
    assumed = Assumptions(precision={"age": 5.0, "income": 20.0})
    found = disclose_release(data, BY_PREDICTION, seed=1, assumed=assumed)
    release = rwn.mask(data, BY_PREDICTION, precision=assumed.precision, seed=1)
    own = Comparison(original=data, masked=release.masked, law=release.law)
    expected = MEASURES["bayes_linkage"].read(own).value
    assert found.readings["bayes_linkage"].value >= expected - 1e-9


def test_datasets_are_not_chained(tmp_path):
    chain_survey().frame.to_parquet(tmp_path / "survey.parquet", index=False)
    with pytest.raises(rwn.ParameterError, match="drawn for all rows together"):
        rwn.mask_dataset(tmp_path / "survey.parquet", tmp_path / "out", BY_PREDICTION)


def test_a_rounded_chain_is_drawn_once(monkeypatch):
    data = chain_survey()
    steps = {"age": 5.0, "height": 2.0}
    drawn = []
    own = chain.draw_chain
    monkeypatch.setattr(chain, "draw_chain", lambda *about: drawn.append(1) or own(*about))
    rwn.mask(data, BY_PREDICTION, precision=steps, seed=1)
    assert len(drawn) == 1
    plan = rwn.Setting(params=BY_PREDICTION, precision=tuple(steps.items()))
    evaluate(data, plan, [1], ["bayes_linkage"])
    assert len(drawn) == 2


INSIDE = 14
KEYS = ["age", "sex"]
SETTING = rwn.SoftRWN(by_prediction=True, own=True, later=5, later_balance=False)


def test_rounding_comes_before_the_slices_of_a_file_with_a_person():
    draw = np.random.default_rng(5)
    age = draw.permutation(np.repeat(np.arange(8), 2)[: INSIDE + 1])
    people = pd.DataFrame({"age": age, "sex": draw.integers(0, 2, INSIDE + 1)})
    people["income"] = draw.permutation(INSIDE + 1) * 1.7 + age
    everyone = described(people, [KEYS], age="key", sex="key", income="confidential")
    inside = everyone.take(np.arange(INSIDE))
    person = everyone.take(np.array([INSIDE]))
    release = rwn.mask(inside, SETTING, precision={"age": 2.0}, seed=1)
    law = release.law.with_people(person)
    assert law.original.array("age").max() % 2 == 0
    keys = law.original.frame[KEYS]
    own = np.flatnonzero((keys == keys.iloc[-1]).all(axis=1))
    rows = np.isin(release.donors[:, 0], own)
    assert rows.any()
    # holders of what a rounded row shows are left out
    assert not law.later["income"].matrix.toarray()[rows][:, -1].any()


def test_what_holds_for_everybody_is_no_gain_of_a_chain():
    """A relation that strangers follow, too, is large against the most frequent value alone."""
    data = table("following")
    setting = rwn.SoftRWN(by_prediction=True, own=True, width=1.0, balance=1.0)
    gain = MEASURES["attribute_gain"]
    alone = gain.read(released(data, setting))
    majority = float((alone.detail.informed - alone.detail.ignorant).max())
    beyond = gain.read(control_group(released(data, setting), setting, 1))
    assert beyond.detail.control is not None
    assert majority > 0.1
    assert beyond.value < majority - 0.05
    # without a control group each person of the file is taken out in turn
    assert alone.value < majority - 0.02
