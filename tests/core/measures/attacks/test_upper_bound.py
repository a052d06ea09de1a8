"""Who is told the people of some rows links at least what the others can: an upper bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import rounded, steps_of
from rwn_core.masking import NBRS2015, PRAM, RWN, AdditiveNoise, mask
from rwn_core.measures.attacks import likelihood, upper_bound
from rwn_core.measures.attacks.likelihood import likelihoods
from rwn_core.measures.attacks.upper_bound import UpperBound
from rwn_core.measures.attacks.worst_case import WorstCase, worst_case
from rwn_core.measures.comparison import Comparison

N, TOLD, SEEDS = 120, 40, 6
NAMES = ("x", "y", "sex")


def table(n: int = N, *, missing: bool = False) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(1), "y": rng.normal(size=n)})
    frame["sex"] = rng.choice(["f", "m"], n)
    if missing:
        frame.loc[rng.random(n) < 0.15, ["x"]] = np.nan
    return Microdata.from_frame(frame)


def released(data: Microdata, params, seed: int, share: float = 0.0) -> Comparison:
    release, steps = mask(data, params, seed=seed), steps_of(data, share)
    return Comparison(
        original=data, masked=rounded(release.masked, steps), law=release.law.rounded(steps)
    )


def told(comparison: Comparison, people: int = TOLD) -> UpperBound:
    return upper_bound.upper_bound(comparison.law, comparison, NAMES, people=people)


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
    names = [v.name for v in releases[0].masked.schema.released]
    whole = [worst_case(each) for each in releases]
    assert all(each.earned for each in whole)
    bounds = [upper_bound.upper_bound(c.law, c, names, people=TOLD).share for c in releases]
    return bounds, [each.success for each in whole]


def holds(bounds: list[float], whole: list[float]) -> bool:
    """Whether the one is at least the other, within three standard errors of its sample."""
    mean = np.mean(whole)
    error = np.sqrt(max(mean * (1 - mean), 0.01) / (SEEDS * TOLD))
    return bool(np.mean(bounds) >= mean - 3 * error)


@pytest.mark.parametrize("case", CASES)
def test_who_is_told_links_at_least_as_much_as_who_is_not(case):
    assert holds(*shares(case))


def _other_rows(law, masked, rows, names, people):
    return likelihood_of(law, masked, np.roll(rows, 1), names, people)


def _sample_alone(law, masked, rows, names, people):
    alone = mask(law.original.take(people), RWN(epsilon=0.5, k=10), seed=1).law
    return likelihood_of(alone, masked, rows, names)


likelihood_of = upper_bound.posteriors


def test_neighborhoods_of_the_people_told_alone_are_no_bound(monkeypatch):
    monkeypatch.setattr(upper_bound, "posteriors", _sample_alone)
    assert not holds(*shares("alone"))


def comes_true() -> bool:
    """Whether as many rows are linked rightly as he who is told believes; ties share."""
    data, params, _ = CASES["alone"]
    people = np.sort(np.random.default_rng(3).choice(N, TOLD, replace=False))
    believed, right = [], []
    for seed in range(SEEDS):
        each = released(data, params, seed)
        belief = upper_bound.posteriors(each.law, each.masked, people, NAMES, people).toarray()
        first = belief >= belief.max(axis=0) * (1 - 1e-9)
        believed += [belief.max(axis=0)]
        right += [np.diag(first) / first.sum(axis=0)]
    share = np.mean(believed)
    error = np.sqrt(share * (1 - share) / (SEEDS * TOLD))
    return bool(abs(np.mean(right) - share) <= 3 * error)


def test_what_is_believed_comes_true(monkeypatch):
    assert comes_true()
    monkeypatch.setattr(upper_bound, "posteriors", _other_rows)
    assert not comes_true()


def test_who_is_told_all_is_the_worst_case():
    comparison = released(table(), RWN(epsilon=0.5, k=10), 1)
    bound, found = told(comparison, N), worst_case(comparison)
    assert bound.row_by_row == pytest.approx(found.links.success, abs=1e-12)
    assert (bound.at_once, bound.weighed) == (found.at_once, found.weighed)
    assert bound.at_most == bound.share == found.at_most == found.success


def test_the_upper_end_of_the_share_by_hand():
    """P = .05 of 1,500: center (75 + 1.92) / 1503.84, half-width .01113."""
    bound = UpperBound(people=1500, of=20_000, row_by_row=0.05, at_once=0.04, weighed=None)
    assert bound.at_most == pytest.approx(0.05115 + 0.01109, abs=2e-5)


def test_a_bound_below_what_is_known_is_raised_to_it():
    comparison = released(table(), RWN(epsilon=0.5, k=10), 1)
    links = worst_case(comparison).links
    low = UpperBound(people=1500, of=20_000, row_by_row=0.0, at_once=0.0, weighed=0.0)
    found = WorstCase(links=links, linked=None, at_once=None, weighed=None, bound=low)
    assert found.at_most == found.success == links.success
    assert found.detail["standing"] == "at least"
    assert found.detail["told"] == {"people": 1500, "share": 0.0}


LAWS = {
    "lost rows": (table(missing=True), NBRS2015(epsilon=0.2, q=0.5)),
    "kept in part": (table(missing=True), RWN(epsilon=0.5, k=5, q=0.5)),
    "searched": (table(2100), RWN(epsilon=0.1, k=3, q=0.8)),
    "without donors": (table(missing=True), AdditiveNoise(size=0.5)),
}


@pytest.mark.parametrize("case", LAWS)
def test_likelihoods_of_some_records_are_those_of_all(case, monkeypatch):
    comparison = released(*LAWS[case], 3)
    for pairs in (likelihood.LARGEST_DENSE, 0):  # as plain arrays, and counted
        if comparison.original.n == N or not pairs:
            monkeypatch.setattr(likelihood, "LARGEST_DENSE", max(pairs, 1))
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
