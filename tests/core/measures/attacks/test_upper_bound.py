"""Who is told a row's part of the file links at least what the others can: an upper bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.masking import NBRS2015, PRAM, RWN, AdditiveNoise, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks import posterior, worst_case
from rwn_core.measures.attacks.posterior import likelihoods, posteriors, row_sample, weigh
from rwn_core.measures.attacks.worst_case import InformedIntruder, UpperBound
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.intervals import mean_at_most

N, SEEDS = 120, 6
SIZES = (60, 30)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two or more parts of a small file."""
    monkeypatch.setattr(worst_case, "SIZES", SIZES)


def table(n: int = N, *, missing: bool = False) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(1), "y": rng.normal(size=n)})
    frame["sex"] = rng.choice(["f", "m"], n)
    if missing:
        frame.loc[rng.random(n) < 0.15, ["x"]] = np.nan
    return Microdata.from_frame(frame)


def released(data: Microdata, params, seed: int, share: float = 0.0) -> Comparison:
    release, steps = mask(data, params, seed=seed), given_steps(data, share)
    return Comparison(
        original=data, masked=rounded(release.masked, steps), law=release.law.rounded(steps)
    )


def told(comparison: Comparison) -> tuple[InformedIntruder, UpperBound]:
    """Who links with the parts told, and what he links."""
    names = [v.name for v in comparison.masked.schema.released]
    made = InformedIntruder(comparison.law, comparison, names)
    n = comparison.original.n
    every = row_sample(n, n, work=n * n)
    weigh(comparison.law, comparison.masked, names, every, made.add_rows)
    return made, made.upper_bound()


GROUPED = Microdata(table().frame, table().schema.with_slices((("x", "sex"),)))
CATEGORIES = Microdata.from_frame(
    pd.DataFrame({name: np.random.default_rng(at).choice(list("abcdef"), N)
                  for at, name in enumerate(("g", "h", "i"))})
)  # fmt: skip
CASES = {
    "alone": (table(), RWN(epsilon=0.5, k=10), 0.0),
    "grouped": (GROUPED, RWN(epsilon=0.5, k=25, q=0.7), 0.0),
    "rounded": (table(missing=True), RWN(epsilon=0.0, k=10), 0.5),
    "2015": (table(), NBRS2015(epsilon=0.5, q=0.6), 0.0),
    "noise": (table(), AdditiveNoise(size=0.5), 0.0),
    "changed": (CATEGORIES, PRAM(change=0.3), 0.0),
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
    monkeypatch.setattr(InformedIntruder, "add_rows", _look_at_other_rows)
    assert not holds(*shares("alone"))


look = InformedIntruder.add_rows


def _look_at_other_rows(self, belief, rows):
    look(self, belief, np.roll(rows, 1))


@pytest.mark.parametrize("case", ["alone", "grouped", "2015", "noise"])
def test_beliefs_are_those_of_bayes_among_the_people_of_a_part(case):
    """Row by row, by one search for each part."""
    data, params, share = CASES[case]
    comparison = released(data, params, 1, share)
    made, bound = told(comparison)
    of, best = made._levels[0], []
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
    comparison = released(table(), RWN(epsilon=0.5, k=10), 1)
    made, bound = told(comparison)
    found = worst_case.worst_case(comparison)
    assert bound.parts == 1
    assert bound.row_by_row == pytest.approx(found.links.best[made._free].mean(), abs=1e-12)
    together = max(found.joint_success / found.links.success, 1.0)
    assert bound.joint_gain == pytest.approx(together, abs=1e-12)


def test_the_upper_end_is_that_of_the_rows_and_more_by_what_they_tell_together():
    made, bound = told(released(table(), RWN(epsilon=0.5, k=10), 1))
    best = np.concatenate(made._best)
    assert bound.upper_confidence_limit == mean_at_most(best, N) > bound.row_by_row
    hand = UpperBound(
        parts=9, rows=1500, row_by_row=0.05, upper_confidence_limit=0.06, joint_gain=1.1
    )
    assert hand.share == pytest.approx(0.055)
    assert hand.at_most == pytest.approx(0.066)


def test_a_bound_below_what_is_known_is_raised_to_it():
    comparison = released(table(), RWN(epsilon=0.5, k=10), 1)
    links = worst_case.worst_case(comparison).links
    low = UpperBound(parts=9, rows=1500, row_by_row=0.0, upper_confidence_limit=0.0, joint_gain=1.0)
    found = worst_case.WorstCase(links=links, linked=None, matched=None, together=None, bound=low)
    assert found.at_most == found.success == links.success
    assert found.detail.standing == "at least"
    assert (found.detail.parts, found.detail.linked_by_parts) == (9, 0.0)


LARGE = 2400


@pytest.fixture(scope="module")
def large() -> Comparison:
    """A release of a table whose rows are not assigned, but weighed together."""
    return released(table(LARGE), RWN(epsilon=0.2, k=15), 1)


def test_between_its_bounds_lies_what_all_rows_tell_together(large, monkeypatch):
    monkeypatch.setattr(worst_case, "SIZES", (400,))
    found = worst_case.worst_case(large)
    assert not found.earned
    assert found.success <= found.joint_success <= found.at_most <= 2 * found.success
    assert found.bound.parts > 4


def test_the_lower_bound_is_read_first_and_once(large, monkeypatch):
    monkeypatch.setattr(worst_case, "SIZES", (400,))
    fresh = Comparison(original=large.original, masked=large.masked, law=large.law)
    calls = []
    monkeypatch.setattr(worst_case, "weigh", lambda *a, **k: calls.append(1) or weigh(*a, **k))
    measure = MEASURES["bayes_linkage"]
    first = measure.read(fresh, begin=True, bare=True)
    assert first.detail.at_most is None
    whole = measure.read(fresh, bare=True)
    assert whole.value == first.value < whole.detail.at_most
    assert calls == [1]


LAWS = {
    "lost rows": (table(missing=True), NBRS2015(epsilon=0.2, q=0.5)),
    "kept in part": (table(missing=True), RWN(epsilon=0.5, k=5, q=0.5)),
    "searched": (table(2100), RWN(epsilon=0.1, k=3, q=0.8)),
    "without donors": (table(missing=True), AdditiveNoise(size=0.5)),
}


@pytest.mark.parametrize("case", LAWS)
def test_likelihoods_of_some_records_are_those_of_all(case, monkeypatch):
    comparison = released(*LAWS[case], 3)
    for pairs in (posterior.LARGEST_DENSE, 0):  # as plain arrays, and counted
        if comparison.original.n == N or not pairs:
            monkeypatch.setattr(posterior, "LARGEST_DENSE", max(pairs, 1))
            check_some(comparison)


def check_some(comparison: Comparison) -> None:
    rows, people = np.arange(0, 100, 3), np.arange(2, 118, 4)
    whole, logs = likelihoods(comparison.law, comparison.masked, rows)
    some, other = likelihoods(comparison.law, comparison.masked, rows, None, people)
    expected = whole.toarray()[people] * np.exp(logs)
    with np.errstate(invalid="ignore"):
        found = np.where(np.isfinite(other), some.toarray() * np.exp(other), 0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)
    assert expected.any()
