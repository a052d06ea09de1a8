"""Every measure under soft kernels: a reading or a reason; laws agree with 400 releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.data.schema import Question, Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.evaluation.audit import compare
from rwn_core.laws.law import Law
from rwn_core.masking import RWN, SoftRWN
from rwn_core.masking.method import Masked
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.attribute_attack import beliefs
from rwn_core.measures.attacks.value_survival import fragments
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.randomness import SecretKey
from tests.holding import hold

RELEASES = 400
SETTINGS = {
    "gaussian": SoftRWN(kernel="gaussian", width=0.4, q=0.9),
    "balanced": SoftRWN(kernel="gaussian", balance=1.0, width=0.3),
    "exponential with own": SoftRWN(kernel="exponential", own=True, width=0.3, q=0.9),
}
Array = NDArray[np.float64]


@cache
def everybody() -> Microdata:
    """Numbers and categories, some missing, in two slices; households and sampling weights."""
    rng, n = np.random.default_rng(3), 110
    income = rng.lognormal(size=n).round(2)
    wealth = np.where(rng.random(n) < 0.1, np.nan, (3 * income + rng.normal(size=n)).round(1))
    frame = pd.DataFrame(
        {
            "home": [f"h{number // 2}" for number in range(n)],
            "weight": rng.integers(1, 4, n).astype(float),
            "age": rng.integers(20, 70, n),
            "sex": np.where(rng.random(n) < 0.5, "m", "f"),
            "income": income,
            "wealth": wealth,
            "ill": np.where(rng.random(n) < 0.2, "yes", "no"),
            "job": rng.choice(["a", "b", "c", None], n),
        }
    )
    about = {
        "home": (Kind.CATEGORICAL, Role.HOUSEHOLD, None),
        "weight": (Kind.CONTINUOUS, Role.SAMPLING_WEIGHT, None),
        "age": (Kind.COUNT, Role.KEY, "1"),
        "sex": (Kind.CATEGORICAL, Role.KEY, "1"),
        "income": (Kind.CONTINUOUS, Role.CONFIDENTIAL, "2"),
        "wealth": (Kind.CONTINUOUS, Role.OTHER, "2"),
        "ill": (Kind.CATEGORICAL, Role.CONFIDENTIAL, None),
        "job": (Kind.CATEGORICAL, Role.OTHER, None),
    }
    variables = tuple(
        Variable(name=name, kind=kind, role=role, group=group)
        for name, (kind, role, group) in about.items()
    )
    question = Question(response="income", predictors=("age", "sex"))
    return Microdata.from_frame(frame, Schema(variables=variables, question=question))


def table() -> Microdata:
    return everybody().take(np.arange(80))


@cache
def audited(params: RWN) -> Comparison:
    release = params.prepare(table()).release(SecretKey.from_seed(1))
    steps = given_steps(table(), 0.1)
    holdout = everybody().take(range(80, 110))
    made = compare(table(), rounded(release.masked, steps), holdout=holdout)
    return made.with_masked(made.masked, release.law.rounded(steps))


OUTSIDE = replace(SETTINGS["balanced"], outside_household=True)


@pytest.mark.parametrize("params", [*SETTINGS.values(), OUTSIDE], ids=[*SETTINGS, "outside"])
def test_every_measure_is_read_or_says_why_not(params: RWN) -> None:
    """Whatever an even kernel has, a soft one has, of a release that is rounded."""

    def rule(key: str) -> None:
        soft, even = (MEASURES[key].read(audited(each), bare=True) for each in (params, RWN(k=8)))
        if isinstance(soft, Reading):
            assert np.isfinite(soft.value)
        else:
            assert len(soft.reason.split()) >= 5
            assert not isinstance(even, Reading)

    hold(rule, MEASURES)
    if params == OUTSIDE:
        certified = MEASURES["certified_linkage"].read(audited(params))
        assert "Members of a household give each other no values" in str(certified)


# ------------------------------------------------------------ laws against releases


@cache
def drawn(name: str) -> list[Masked]:
    prepared = SETTINGS[name].prepare(table())
    return [prepared.release(SecretKey.from_seed(seed)) for seed in range(RELEASES)]


@cache
def law_of(params: RWN) -> Law:
    return params.prepare(table()).law


def scored(differences: Array) -> float:
    """Return the mean of what should be 0 on average, in standard errors."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() / max(error, 1e-12))


def place(name: str) -> int:
    """Return the position of a released variable."""
    return [variable.name for variable in table().schema.released].index(name)


def of_law(release: Masked, law: Law) -> Comparison:
    return Comparison(original=table(), masked=release.masked, law=law)


def cells(releases: list[Masked], law: Law) -> float:
    """Return the deviation of all cells from their law, as of a standard normal number."""
    total, freedom = 0.0, 0
    for number, variable in enumerate(law.original.schema.released):
        chances, values = law.table(variable.name)
        codes = {value: place for place, value in enumerate(values)}
        shown = table().frame[variable.name].tolist()
        own = np.array([codes[None if pd.isna(value) else value] for value in shown])
        counts = np.zeros(chances.shape)
        for each in releases:
            counts[np.arange(80), own[each.donors[:, number]]] += 1
        expected = chances.toarray() * len(releases)
        often = expected >= 5
        seen = np.column_stack((np.where(often, counts, 0), np.where(often, 0, counts).sum(1)))
        awaited = np.column_stack(
            (np.where(often, expected, 0), np.where(often, 0, expected).sum(1))
        )
        some = awaited > 1e-9
        if seen[~some].any():
            return np.inf
        total += ((seen - awaited)[some] ** 2 / awaited[some]).sum()
        freedom += int(some.sum()) - 80
    return float((total - freedom) / np.sqrt(2 * freedom))


def survival(releases: list[Masked], law: Law) -> float:
    """Return how far fragments of a slice appear more or less often than said."""
    said = sum(fragments(law, unit).appears.sum() for unit in law.units())
    places = [place(unit[0]) for unit in law.units()]
    seen = [sum(len(np.unique(each.donors[:, at])) for at in places) for each in releases]
    return scored(np.array(seen) - said)


def extremes(releases: list[Masked], law: Law) -> float:
    readings = [MEASURES["extremes"].compute(of_law(each, law)) for each in releases[:150]]
    return scored(np.array([np.mean(np.array(r.detail.released) > 0) - r.value for r in readings]))


def membership(releases: list[Masked], law: Law) -> float:
    """Return the same of the households, and of the records, with a value of their own."""
    said = MEASURES["membership"].compute(of_law(releases[0], law)).detail
    home = table().frame["home"].to_numpy()
    scores = []
    for unit, appears, own in (
        (home, said["appears"], said["own_values"]),
        (np.arange(80), *fingerprints(law)),
    ):
        alone = {}
        for names in (["age", "sex"], ["income", "wealth"]):
            groups = table().frame.assign(unit=unit).groupby(names, dropna=False)["unit"]
            alone[place(names[0])] = groups.transform("nunique").to_numpy() == 1
        named = np.isin(unit, unit[np.logical_or.reduce(list(alone.values()))])
        np.testing.assert_array_equal(np.array(own) > 0, named)
        seen = []
        for each in releases:
            shown = np.zeros(80, dtype=bool)
            for at, some in alone.items():
                donors = each.donors[:, at]
                shown |= np.isin(unit, unit[donors[some[donors]]])
            seen.append(shown.sum())
        scores.append(scored(np.array(seen) - np.sum(appears)))
    return max(scores, key=abs)


def queries(releases: list[Masked], law: Law) -> float:
    differences = []
    for each in releases[:150]:
        found = MEASURES["queries"].compute(of_law(each, law))
        differences.append(np.mean(found.detail.same_person) - found.value)
    return scored(np.array(differences))


def linkage(releases: list[Masked], law: Law) -> float:
    """Return how far the posterior of the first guess is from the share that it gets right."""
    differences = []
    for each in releases[:100]:
        found = MEASURES["bayes_linkage"].begin(of_law(each, law))
        differences.append(found.detail["top1"] - np.mean(found.detail["best"]))
    return scored(np.array(differences))


def misclassification(releases: list[Masked], law: Law) -> float:
    said = MEASURES["misclassification"].compute(of_law(releases[0], law)).detail
    keys = list(map(tuple, table().frame[["age", "sex"]].to_numpy()))
    same = np.array([[one == other for other in keys] for one in keys])
    differences = []
    for each in releases:
        shows = same[:, each.donors[:, place("age")]]  # [t, r]: row r has the keys of record t
        differences.append((shows.diagonal() - np.array(said["risk"]) * shows.sum(axis=1)).sum())
    return scored(np.array(differences))


def donors(releases: list[Masked], law: Law) -> float:
    """Return how far the belief that a row shows a person's own value is from how often it does."""
    people, differences = np.arange(80), []
    for each in releases[:100]:
        found = beliefs(law, each.masked, people, ["age", "sex"], ["income", "ill"], people)
        seen = len(each.donors) * 2  # each cell has one donor
        said = sum(np.asarray(donor.sum()) for donor in found.donor)
        own = [
            belief.toarray()[each.donors[:, place(name)], people].sum()
            for belief, name in zip(found.donor, ("income", "ill"), strict=True)
        ]
        squares = [donor.toarray() ** 2 for donor in found.donor]
        assert said == pytest.approx(seen)
        differences.append(sum(own) - sum(each.sum() for each in squares))
    return scored(np.array(differences))


CHECKS: tuple[Callable[[list[Masked], Law], float], ...] = (
    cells, survival, extremes, membership, queries, linkage, misclassification, donors,
)  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_the_law_says_happens_in_400_releases(
    check: Callable[[list[Masked], Law], float], name: str
) -> None:
    assert abs(check(drawn(name), law_of(SETTINGS[name]))) < 4


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_law_of_another_setting_is_refuted(
    check: Callable[[list[Masked], Law], float],
) -> None:
    """Planted faults: the law of an even kernel, and of own donors left out."""
    name = "exponential with own"
    even = RWN(k=8, q=0.9)
    others = [even, replace(SETTINGS[name], own=False), replace(SETTINGS[name], width=1.5)]
    assert max(abs(check(drawn(name), law_of(other))) for other in others) > 4


def test_expected_sizes_of_small_groups() -> None:
    """Of variables that each have a donor of their own."""
    data = table().with_slices([])
    params = SETTINGS["balanced"]
    prepared = params.prepare(data)
    found = []
    for seed in range(RELEASES):
        release = prepared.release(SecretKey.from_seed(seed))
        comparison = Comparison(original=data, masked=release.masked, law=prepared.law)
        found.append(MEASURES["subgroups"].compute(comparison).detail)
    sizes = np.array([each.released for each in found])
    error = sizes.std(axis=0, ddof=1) / np.sqrt(RELEASES)
    expected = found[0].expected
    assert (abs(sizes.mean(axis=0) - expected) < 4 * error).all()
    free = replace(params, balance=0.0, width=2.0).prepare(data).law
    wrong = Comparison(original=data, masked=release.masked, law=free)
    other = MEASURES["subgroups"].compute(wrong).detail.expected
    assert (abs(sizes.mean(axis=0) - other) > 4 * error).any()
