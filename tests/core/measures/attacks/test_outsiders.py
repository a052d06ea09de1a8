"""People outside of the file, and what no attack exceeds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.sizes import ATTACKED_PAIRS
from rwn_core.evaluation.audit import compare
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.measures.attacks import attribute_guesses, posterior, worst_case
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.attribute_guesses import AttributeAttack
from rwn_core.measures.attacks.non_members import NonMembers, NonMembersOneByOne, non_members
from rwn_core.measures.attacks.posterior import Sample, likelihoods, posteriors, weigh
from rwn_core.measures.attacks.worst_case import InformedIntruder, UpperBound
from rwn_core.measures.statistics.intervals import mean_at_most
from tests.core.measures.attacks.attribute_tables import released
from tests.oracles.soft_weights import balanced_by_projections, capped_row, log_kernel
from tests.tables import described

NAMES = ("x", "y", "s")
PARAMS = {
    "rwn": rwn.RWN(epsilon=0.9, k=2, q=0.7),
    "nearest": rwn.RWN(k=3),
    "mixture": rwn.NBRS2015(epsilon=0.9, q=0.6, record_selection="bernoulli"),
}


def table(n: int, seed: int, slices: list[str]) -> rwn.Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (n, 3)) * 1.0, columns=list(NAMES))
    frame.loc[0] = [9.0, 9, 9]  # nobody is near
    return described(frame, slices=slices)


def with_one_more(data: rwn.Microdata, outside: rwn.Microdata, person: int, params: rwn.RWN) -> Law:
    """The law of the file that one person outside has joined, on the scale of the file."""
    metric = rwn.Metric.fit(data)
    points = np.vstack((metric.points(data), metric.points(outside)[[person]]))
    frame = pd.concat([data.frame, outside.frame.iloc[[person]]], ignore_index=True)
    if params.method == "rwn":
        near = rwn.find_neighborhoods(points, k=params.k, epsilon=params.epsilon)
        return CellLaw(rwn.Microdata(frame, data.schema), near, np.full(3, params.q))
    near = rwn.find_neighborhoods(points, epsilon=params.epsilon, strict=True)
    return RowMixtureLaw(rwn.Microdata(frame, data.schema), near, np.ones(3, bool), params.q)


@pytest.mark.parametrize("slices", [[], [["x", "s"]], [NAMES]])
@pytest.mark.parametrize("method", PARAMS)
def test_a_row_shows_people_outside_as_often_as_defined(method, slices):
    """The posterior of each person who is added to the file."""
    data, outside = table(14, 1, slices), table(5, 2, slices)
    release = rwn.mask(data, PARAMS[method], seed=3)
    rows = np.arange(14)
    asked = NonMembers(compare(data, release), release.law, outside, ["x", "y"])
    found = asked.beliefs(rows, ["s"])
    for person in range(outside.n):
        law = with_one_more(data, outside, person, PARAMS[method])
        expected = beliefs(law, release.masked, rows, ["x", "y"], ["s"], np.array([14]))
        for one, other in ((found.source, expected.source), (found.donor[0], expected.donor[0])):
            np.testing.assert_allclose(one.toarray()[person], other.toarray()[0], atol=1e-12)


def test_somebody_with_the_keys_of_a_person_in_the_file_halves_the_belief():
    """Whole rows: of two twins, one inside and one outside, a row shows either as likely."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list(NAMES))
    data = described(frame, slices=[NAMES])
    release = rwn.mask(data, rwn.RWN(epsilon=1e3), seed=1)  # everybody is everybody's neighbor
    double = int(release.donors[0, 0])
    twin = rwn.Microdata(frame.iloc[[double]].reset_index(drop=True), data.schema)
    asked = NonMembers(compare(data, release), release.law, twin, ["x", "y"])
    rows = np.flatnonzero(release.donors[:, 0] == double)
    shown = asked.beliefs(rows, ["s"]).donor[0].toarray()
    # the twin himself might be the source, who shows his double, and the double, who shows him
    assert shown == pytest.approx(0.5, abs=1e-9)


def table_of_non_members(n: int, seed: int) -> rwn.Microdata:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, n) * 1.0
    g = rng.choice(["u", "v"], n)
    frame = pd.DataFrame({"s": rng.choice(["yes", "no"], n), "g": g, "x": x})
    return described(frame, s="confidential", g="key", x="key").with_weights({"s": 0.0})


def test_adding_people_one_by_one_is_the_same_for_an_even_kernel():
    data, outside = table_of_non_members(20, 1), table_of_non_members(8, 2)
    release = rwn.mask(data, PARAMS["rwn"], seed=3)
    comparison = compare(data, release, holdout=outside)
    rows = np.arange(data.n)
    law = release.law
    found = NonMembersOneByOne(comparison, law, outside, ["x", "g"]).beliefs(rows, ["s", "g"])
    awaited = NonMembers(comparison, law, outside, ["x", "g"]).beliefs(rows, ["s", "g"])
    np.testing.assert_allclose(found.source.toarray(), awaited.source.toarray(), atol=1e-12)
    for one, other in zip(found.donor, awaited.donor, strict=True):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-12)


@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_beliefs_under_a_soft_kernel_follow_bayes_rule(balance):
    """The weights of the file with the person, on the scale of the file without."""
    data, outside = table_of_non_members(20, 1), table_of_non_members(5, 2)
    params = rwn.SoftRWN(kernel="gaussian", q=0.7, cap=0.3, balance=balance)
    release = rwn.mask(data, params, seed=3)
    comparison = compare(data, release, holdout=outside)
    asked = non_members(comparison, release.law, outside, ["x", "g"])
    assert isinstance(asked, NonMembersOneByOne)
    found = asked.beliefs(np.arange(20), ["s"]).source.toarray()
    metric = rwn.Metric.fit(data)
    for place in range(outside.n):
        both = np.vstack((metric.points(data), metric.points(outside)[[place]]))
        away = np.sqrt(((both[:, None] - both) ** 2).sum(axis=2))
        logs = np.array(log_kernel(away, "gaussian", 1.0, nearest=10))
        weights = np.array([capped_row(row, 0.3)[0] for row in logs])
        if balance:
            weights = balanced_by_projections(np.exp(logs), 0.3, rounds=3_000)
        frame = pd.concat([data.frame, outside.frame.iloc[[place]]], ignore_index=True)
        chances = np.ones((20, 21))  # of each row, from each person
        for name in ("x", "g"):
            same = release.masked.frame[name].to_numpy()[:, None] == frame[name].to_numpy()
            chances *= 0.3 * same + 0.7 * same @ weights.T
        expected = chances[:, -1] / chances.sum(axis=1)
        np.testing.assert_allclose(found[place], expected, atol=1e-6)


def test_a_large_file_asks_about_fewer_people_outside(monkeypatch):
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"x": rng.normal(size=220), "s": rng.choice(["yes", "no"], 220)})
    everybody = described(frame, x="key", s="confidential").with_weights({"s": 0.0})
    data, held = everybody.take(np.arange(100)), everybody.take(np.arange(100, 220))
    asked = []
    tried = AttributeAttack._outside

    def noted(self, people, parts):
        asked.append((people.n, parts != ()))
        return tried(self, people, parts)

    monkeypatch.setattr(AttributeAttack, "_outside", noted)
    for limit in (10**9, 20_000, 500):
        monkeypatch.setattr(attribute_guesses, "ATTACKED_PAIRS", limit)
        rwn.MEASURES["attribute_inference"].compute(released(data, rwn.RWN(k=5), holdout=held))
    # by nearest rows and predictions all are asked; of a handful posteriors say nothing
    assert [asked[i] for i in (0, 1, 3)] == [(120, True), (120, False), (120, False)]
    assert attribute_guesses.FEWEST <= asked[2][0] < 120
    assert asked[2][1]
    assert len(asked) == 4


def test_a_radius_for_each_record_has_none_for_people_outside():
    data = table_of_non_members(20, 7)
    release = rwn.mask(data, rwn.RWN(epsilon=np.full(20, 0.9), k=1), seed=1)
    with pytest.raises(rwn.NotApplicable, match="radius for each record"):
        NonMembers(compare(data, release), release.law, table_of_non_members(3, 8), ["x"])


N, SEEDS = 120, 4


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two or more parts of a small file."""
    monkeypatch.setattr(worst_case, "SIZES", (60, 30))


def table_of_upper_bound(n: int = N, *, missing: bool = False) -> rwn.Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(1), "y": rng.normal(size=n)})
    frame["sex"] = rng.choice(["f", "m"], n)
    if missing:
        frame.loc[rng.random(n) < 0.15, ["x"]] = np.nan
    return rwn.Microdata.from_frame(frame)


def told(comparison: rwn.Comparison) -> tuple[InformedIntruder, UpperBound]:
    """Who links with the parts told, and what he links."""
    names = [v.name for v in comparison.masked.schema.released]
    made = InformedIntruder(comparison.law, comparison, names)
    n = comparison.original.n
    every = Sample(np.arange(n), max(1, ATTACKED_PAIRS // n))
    weigh(comparison.law, comparison.masked, names, every, made.add_rows)
    return made, made.upper_bound()


GROUPED = table_of_upper_bound().with_slices((("x", "sex"),))
CATEGORIES = {
    name: np.random.default_rng(at).choice(list("abcdef"), N) for at, name in enumerate("ghi")
}
CASES = {
    "alone": (table_of_upper_bound(), rwn.RWN(epsilon=0.5, k=10), 0.0),
    "grouped": (GROUPED, rwn.RWN(epsilon=0.5, k=25, q=0.7), 0.0),
    "rounded": (table_of_upper_bound(missing=True), rwn.RWN(epsilon=0.0, k=10), 0.5),
    "2015": (table_of_upper_bound(), rwn.NBRS2015(epsilon=0.5, q=0.6), 0.0),
    "noise": (table_of_upper_bound(), rwn.AdditiveNoise(size=0.5), 0.0),
    "changed": (rwn.Microdata.from_frame(pd.DataFrame(CATEGORIES)), rwn.PRAM(change=0.3), 0.0),
}


def shares(case: str) -> tuple[list[float], list[float]]:
    """What is linked who is told, and what in the whole file, over some releases."""
    data, params, share = CASES[case]
    releases = [released(data, params, seed, share) for seed in range(SEEDS)]
    whole = [worst_case.worst_case(each) for each in releases]
    assert all(each.earned for each in whole)
    bounds = [told(each)[1] for each in releases]
    assert all(bound.parts > 1 for bound in bounds)
    return [bound.share for bound in bounds], [each.success for each in whole]


def holds(bounds: list[float], whole: list[float]) -> bool:
    """Whether the one is at least the other, within three standard errors of its sample."""
    mean = np.mean(whole)
    error = np.sqrt(max(mean * (1 - mean), 0.01) / (SEEDS * N))
    return bool(np.mean(bounds) >= mean - 3 * error)


@pytest.mark.parametrize("case", CASES)
def test_who_is_told_links_at_least_as_much_as_who_is_not(case):
    assert holds(*shares(case))


def test_parts_that_are_not_told_rightly_are_no_bound(monkeypatch):
    look = InformedIntruder.add_rows

    def look_at_other_rows(self, belief, rows):
        look(self, belief, np.roll(rows, 1))

    monkeypatch.setattr(InformedIntruder, "add_rows", look_at_other_rows)
    assert not holds(*shares("alone"))


@pytest.mark.parametrize("case", ["grouped", "2015", "noise"])
def test_beliefs_are_those_of_bayes_among_the_people_of_a_part(case):
    """Row by row, by one search for each part."""
    data, params, share = CASES[case]
    comparison = released(data, params, 1, share)
    made, bound = told(comparison)
    of = made._levels[0]
    best = []
    names = [v.name for v in comparison.masked.schema.released]
    for row in np.flatnonzero(made._free):
        people = np.flatnonzero(of == of[row])
        belief = posteriors(comparison.law, comparison.masked, np.array([row]), names, people)
        best.append(belief.max())
    assert bound.row_by_row == pytest.approx(np.mean(best), abs=1e-12)
    # rows that lost all of their values are not in the file that leaves
    tried = np.setdiff1d(np.arange(N), np.flatnonzero(made._free))
    lost = np.flatnonzero(comparison.masked.frame.isna().all(axis=1))
    assert bound.rows == len(best) == N - len(np.union1d(tried, lost))
    assert (len(lost) > 0) == (case == "2015")
    assert len(np.setdiff1d(tried, lost)) <= N // 4
    assert bound.parts == of.max() + 1


def test_who_is_told_nothing_is_the_worst_case(monkeypatch):
    """One part, of all: all that is left is the sample of rows."""
    monkeypatch.setattr(worst_case, "SIZES", (N,))
    comparison = released(table_of_upper_bound(), rwn.RWN(epsilon=0.5, k=10), 1)
    made, bound = told(comparison)
    found = worst_case.worst_case(comparison)
    assert bound.parts == 1
    assert bound.row_by_row == pytest.approx(found.links.best[made._free].mean(), abs=1e-12)
    together = max(found.joint_success / found.links.success, 1.0)
    assert bound.joint_gain == pytest.approx(together, abs=1e-12)
    # the upper end is that of the rows, and more by what they tell together
    best = np.concatenate(made._best)
    assert bound.upper_confidence_limit == mean_at_most(best, N) > bound.row_by_row
    low = UpperBound(parts=9, rows=9, row_by_row=0.0, upper_confidence_limit=0.0, joint_gain=1.0)
    hand = replace(low, row_by_row=0.05, upper_confidence_limit=0.06, joint_gain=1.1)
    assert (hand.share, hand.at_most) == pytest.approx((0.055, 0.066))
    # a bound below what is known is raised to it
    links = found.links
    raised = worst_case.WorstCase(links=links, linked=None, matched=None, together=None, bound=low)
    assert raised.at_most == raised.success == links.success
    assert raised.detail.standing == "at least"
    assert (raised.detail.parts, raised.detail.linked_by_parts) == (9, 0.0)


LARGE = 2400


def test_between_its_bounds_lies_what_all_rows_tell_together(monkeypatch):
    """Of a table whose rows are not assigned, but weighed together; the lower is read first."""
    monkeypatch.setattr(worst_case, "SIZES", (400,))
    calls = []
    monkeypatch.setattr(worst_case, "weigh", lambda *a, **k: calls.append(1) or weigh(*a, **k))
    large = released(table_of_upper_bound(LARGE), rwn.RWN(epsilon=0.2, k=15), 1)
    measure = rwn.MEASURES["bayes_linkage"]
    first = measure.read(large, begin=True, bare=True)
    assert first.detail.at_most is None
    whole = measure.read(large, bare=True)
    assert whole.value == first.value < whole.detail.at_most
    assert calls == [1]
    found = worst_case.worst_case(large)
    assert not found.earned
    assert found.success <= found.joint_success <= found.at_most <= 2 * found.success
    assert found.bound.parts > 4


LAWS = {
    "lost rows": (table_of_upper_bound(missing=True), rwn.NBRS2015(epsilon=0.2, q=0.5)),
    "kept in part": (table_of_upper_bound(missing=True), rwn.RWN(epsilon=0.5, k=5, q=0.5)),
    "searched": (table_of_upper_bound(2100), rwn.RWN(epsilon=0.1, k=3, q=0.8)),
    "without donors": (table_of_upper_bound(missing=True), rwn.AdditiveNoise(size=0.5)),
}


@pytest.mark.parametrize("case", LAWS)
def test_likelihoods_of_some_records_are_those_of_all(case, monkeypatch):
    comparison = released(*LAWS[case], 3)
    rows, people = np.arange(0, 100, 3), np.arange(2, 118, 4)
    for pairs in (posterior.LARGEST_DENSE, 1):  # as plain arrays, and counted
        if comparison.original.n > N and pairs > 1:
            continue
        monkeypatch.setattr(posterior, "LARGEST_DENSE", pairs)
        whole, logs = likelihoods(comparison.law, comparison.masked, rows)
        some, other = likelihoods(comparison.law, comparison.masked, rows, None, people)
        expected = whole.toarray()[people] * np.exp(logs)
        with np.errstate(invalid="ignore"):
            found = np.where(np.isfinite(other), some.toarray() * np.exp(other), 0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
        assert expected.any()
