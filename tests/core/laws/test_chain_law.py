"""What measures, policies, and people outside the file read of a release with chained slices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core import MEASURES, Comparison
from rwn_core.data.microdata import codes_together
from rwn_core.evaluation.control_group import control_group
from rwn_core.evaluation.disclosure import Assumptions, disclose_release
from rwn_core.masking import chain
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.non_members import NonMembersOneByOne, non_members
from rwn_core.reporting.judged_release import judged
from rwn_core.tuning.evaluate import evaluate
from rwn_core.tuning.policy import CHAIN_UNJUDGED
from tests.attacked_tables import released
from tests.oracles.chained_rows import row_law
from tests.tables import described, frame, table

CHAINED = rwn.SoftRWN(
    chain=True, kernel="exponential", bandwidth="absolute", own=True, width=2.0, cap=1.0
)
LINKAGE = rwn.Policy(limits=(rwn.Limit(measure="bayes_linkage", at_most=0.05),))
UNJUDGED = "Chained slices keep almost any limit"
N = 120


def survey(n=N, slices=(("age", "height"),)):
    names = ["age", "height", "income", "sport"]
    roles = {"age": "key", "height": "key", "income": "confidential"}
    return described(frame("following", n)[names], slices, **roles)


@pytest.fixture(scope="module")
def compared():
    return released(survey(), CHAINED)


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
    whole = released(survey(slices=[compared.original.names]), replace(CHAINED, chain=False))
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
    data = survey(slices=[["age", "height"], ["sport", "income"]])
    release = rwn.mask(data, replace(CHAINED, order=("age",)), seed=2)
    found = beliefs(release.law, release.masked, rows, ["age", "sport"], ["income"], people)
    weights = release.law.later["income"].matrix.toarray()
    own, shown = codes_together(data, release.masked, ("sport",), rows)
    weights = np.where(own == shown[:, None], weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.donor[0].toarray(), weights.T, atol=1e-12)


def test_the_true_donor_has_the_chance_that_an_intruder_believes():
    ready, hits, expected = CHAINED.prepare(survey()), [], []
    for seed in range(20):
        made = ready.release(rwn.SecretKey.from_seed(seed))
        matrix, donor = made.law.later["income"].matrix, made.donors[:, 2]
        largest = matrix.max(axis=1).toarray().ravel()
        assert (np.asarray(matrix[np.arange(N), donor]) > 0).all()
        assert (largest <= 1 / 20 + 1e-9).all()
        hits.append(np.mean(donor == np.asarray(matrix.argmax(axis=1)).ravel()))
        expected.append(largest.mean())
    spread = np.std(hits) / np.sqrt(20)
    assert abs(np.mean(hits) - np.mean(expected)) < 4 * max(spread, 0.004)


def test_limits_on_linkage_alone_do_not_judge_a_chain(compared):
    data = compared.original
    release = rwn.mask(data, CHAINED, seed=1)
    verdict = judged(data, release, LINKAGE)
    assert verdict.state == "not judged"
    assert dict(verdict.unread) == {"bayes_linkage": CHAIN_UNJUDGED}
    assert "attribute_gain" in judged(data, release, rwn.Policy()).values
    apart = rwn.mask(data, replace(CHAINED, chain=False), seed=1)
    assert judged(data, apart, LINKAGE).values
    # rounding makes no difference
    rough = rwn.mask(data, CHAINED, precision={"age": 5}, seed=1)
    assert judged(data, rough, LINKAGE).state == "not judged"


def test_no_search_looks_for_a_chain_by_linkage_alone():
    data, setting = survey(), rwn.Setting(params=CHAINED)
    plan = rwn.Plan(measures=("bayes_linkage", "association_loss"), releases=1)
    grid = rwn.Grid(axes={"width": (1.0, 2.0), "chain": (True,)}, method="soft_rwn")
    swept = rwn.sweep(data, grid, plan=plan, workers=1)
    assert LINKAGE.judge(swept.points[0]).state == "not judged"
    goal = rwn.Goal(keep=LINKAGE, best="association_loss")
    limits = tuple(rwn.Limit(measure=e, at_most=0.3) for e in ("attribute_gain", "true_matches"))
    gain = rwn.Policy(limits=limits[:1])
    for ask in (
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting), seconds=5),
        lambda: rwn.search(data, LINKAGE, rwn.Space(setting=setting, slices=True), seconds=5),
        lambda: rwn.seek(data, swept, goal, workers=1),
        lambda: rwn.search(data, gain, rwn.Space(chain=True), seconds=5),
    ):
        with pytest.raises(rwn.ParameterError, match=UNJUDGED):
            ask()
    # chains are tried under limits on attributes
    space, small = rwn.Space(chain=True), survey(80)
    assert sum(getattr(each.params, "chain", False) for each in space.starts(small)) >= 2
    assert rwn.search(small, rwn.Policy(limits=limits), space).tried >= 1


def test_risks_are_read_of_a_chain_in_its_precision():
    data = survey()
    assumed = Assumptions(precision={"age": 5.0, "income": 20.0})
    found = disclose_release(data, CHAINED, seed=1, assumed=assumed)
    release = rwn.mask(data, CHAINED, precision=assumed.precision, seed=1)
    own = Comparison(original=data, masked=release.masked, law=release.law)
    expected = MEASURES["bayes_linkage"].read(own).value
    assert found.readings["bayes_linkage"].value >= expected - 1e-9


def test_datasets_are_not_chained(tmp_path):
    survey().frame.to_parquet(tmp_path / "survey.parquet", index=False)
    with pytest.raises(rwn.ParameterError, match="drawn for all rows together"):
        rwn.mask_dataset(tmp_path / "survey.parquet", tmp_path / "out", CHAINED)


def test_a_rounded_chain_is_drawn_once(monkeypatch):
    data, steps, drawn, own = survey(), {"age": 5.0, "height": 2.0}, [], chain.draw_chain
    monkeypatch.setattr(chain, "draw_chain", lambda *about: drawn.append(1) or own(*about))
    rwn.mask(data, CHAINED, precision=steps, seed=1)
    assert len(drawn) == 1
    plan = rwn.Setting(params=CHAINED, precision=tuple(steps.items()))
    evaluate(data, plan, [1], ["bayes_linkage"])
    assert len(drawn) == 2


INSIDE, LATER = 14, 5
KEYS = ["age", "sex"]
SETTING = rwn.SoftRWN(chain=True, own=True, later=LATER, later_balance=False)


def tables(count, seed=2):
    """Yield a table of 14 with ties in the first slice, and one person more."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        age = draw.permutation(np.repeat(np.arange(8), 2)[: INSIDE + 1])
        people = pd.DataFrame({"age": age, "sex": draw.integers(0, 2, INSIDE + 1)})
        people["income"] = draw.permutation(INSIDE + 1) * 1.7 + age
        assert people["income"].is_unique
        everyone = described(people, [KEYS], age="key", sex="key", income="confidential")
        yield everyone.take(np.arange(INSIDE)), everyone.take(np.array([INSIDE]))


def believed(inside, person, setting):
    """Return the release, the law with the person, and beliefs of all rows in source and value."""
    compared = released(inside, setting)
    attacked = non_members(compared, compared.law, person, KEYS)
    assert isinstance(attacked, NonMembersOneByOne)
    found = attacked.beliefs(np.arange(INSIDE), ["income"])
    law = compared.law.with_people(person)
    return compared.masked, law, found.source.toarray()[0], found.donor[0].toarray()[0]


def rows_of(*parts):
    return pd.concat([each.frame[[*KEYS, "income"]] for each in parts]).to_numpy(np.float64)


def test_beliefs_in_a_person_outside_are_those_of_the_file_with_the_person():
    faulty = 0.0
    for inside, person in tables(12):
        masked, law, source, shown = believed(inside, person, SETTING)
        both, slices = rows_of(inside, person), [[0, 1], [2]]
        # chances of the first slice's donors, with the person: by the law of a plain first slice
        chances = law.source.probabilities.toarray()
        sources = [row_law(rows_of(inside), slices, each, LATER, both) for each in chances]
        for row, values in enumerate(rows_of(masked)):
            first = np.array([
                sum(chance for (own, _), chance in each.items() if own == tuple(values[:2]))
                for each in sources
            ])  # fmt: skip
            assert source[row] == pytest.approx(first[-1] / first.sum(), abs=1e-12)
            after = [
                each.get((tuple(values[:2]), (both[-1, 2],)), 0.0) / own
                for each, own in zip(sources, first, strict=True)
                if own > 0
            ]
            # whatever the source; and so it is what an intruder believes of the person's value
            np.testing.assert_allclose(after, shown[row], atol=1e-12)
            # planted fault: a person that is nobody's donor
            faulty = max(faulty, abs(shown[row]))
    assert faulty > 0.1


def balanced(inside, person, donors):
    """Return weights of rows and all records in balance, by turns, from the text of the method."""
    both = rows_of(inside, person)
    points = both[:, :2] / rows_of(inside)[:, :2].std(axis=0, ddof=1)
    shown, m = both[donors], len(both)
    squared = ((points[donors][:, None] - points[None]) ** 2).sum(axis=2)
    same = (shown[:, None, :2] == both[None, :, :2]).all(axis=2)
    squared[same & (same.sum(axis=1, keepdims=True) <= LATER)] = np.inf
    of_row, of_record = (np.sqrt(np.sort(squared, axis=axis).take(LATER - 1, axis=axis))
                         for axis in (1, 0))  # fmt: skip
    floor = 0.05 * np.median(of_row[of_row > 0])
    scales = np.outer(np.maximum(of_row, floor), np.maximum(of_record, floor))
    kernel = np.exp(-2 * squared / scales) + LATER / (100_000 * INSIDE)
    kernel[np.isinf(squared)] = 0.0
    cap = 1 / LATER

    def factors(weights, target):
        """Return each row's factor, with sums of min(cap, factor times weight) at the target."""
        low, high = np.zeros(len(weights)), np.full(len(weights), 1e12)
        for _ in range(90):
            middle = np.sqrt(np.maximum(low, 1e-12) * high)
            enough = np.minimum(cap, middle[:, None] * weights).sum(axis=1) > target
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    columns = np.ones(m)
    for _ in range(200):
        rows = factors(kernel * columns, 1.0)
        columns = factors((kernel * rows[:, None]).T, INSIDE / m)
    rows = factors(kernel * columns, 1.0)
    return np.minimum(cap, rows[:, None] * kernel * columns)


def test_a_balance_with_a_person_added_gives_each_record_equally():
    ((inside, person),) = tables(1)
    setting = replace(SETTING, later_balance=True)
    _, law, _, shown = believed(inside, person, setting)
    weights = law.later["income"].matrix.toarray()
    assert weights.shape == (INSIDE, INSIDE + 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=0), INSIDE / (INSIDE + 1), atol=1e-6)
    donors = rwn.mask(inside, setting, seed=1).donors[:, 0]
    np.testing.assert_allclose(weights, balanced(inside, person, donors), atol=1e-4)
    np.testing.assert_allclose(shown, weights[:, -1], atol=1e-12)


def test_rounding_comes_before_the_slices_of_a_file_with_a_person():
    ((inside, person),) = tables(1, 5)
    release = rwn.mask(inside, SETTING, precision={"age": 2.0}, seed=1)
    law = release.law.with_people(person)
    assert law.original.array("age").max() % 2 == 0
    keys = law.original.frame[KEYS]
    own = np.flatnonzero((keys == keys.iloc[-1]).all(axis=1))
    rows = np.isin(release.donors[:, 0], own)
    # holders of what a rounded row shows are left out
    assert not law.later["income"].matrix.toarray()[rows][:, -1].any()


def test_what_holds_for_everybody_is_no_gain_of_a_chain():
    """A relation that strangers follow, too, is large against the most frequent value alone."""
    data = table("following")
    setting = rwn.SoftRWN(chain=True, own=True, width=1.0, balance=1.0)
    gain = MEASURES["attribute_gain"]
    against_majority = gain.read(released(data, setting)).value
    beyond = gain.read(control_group(released(data, setting), setting, 1))
    assert beyond.detail.control is not None
    assert against_majority > 0.1
    assert beyond.value < against_majority - 0.05
