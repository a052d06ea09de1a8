"""Certified linkage and measures under a soft kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from rwn_core import MEASURES, Microdata, Question, Reading, Role, SecretKey
from rwn_core.data.rounding import given_steps, rounded
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.law import Law
from rwn_core.masking import RWN, SoftRWN, mask
from rwn_core.masking.method import Masked
from rwn_core.measures.attacks.certificate import linkage_bounds, ratios_of_release
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.certified_linkage import log_likelihood
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.neighbors.all_donors import AllDonors
from rwn_core.neighbors.kernel import Kernel
from rwn_core.neighbors.soft_lists import list_neighbors
from rwn_core.neighbors.soft_neighborhoods import scale, soft_neighborhoods
from tests.check_values import check_values
from tests.core.measures.attacks.attribute_tables import released
from tests.holding import hold
from tests.oracles.whole_file_beliefs import whole_file_beliefs
from tests.tables import described as described_table

MEASURE = MEASURES["certified_linkage"]
ENTRIES = check_values("kernel")
SOFT = SoftRWN(kernel="exponential", bandwidth="absolute", width=4.0, cap=1.0, own=True)


def compared(data: Microdata, params: Any = SOFT, seed: int = 1) -> Comparison:
    return released(data, params, seed)


def read(comparison: Comparison) -> Reading:
    found = MEASURE.read(comparison)
    assert isinstance(found, Reading), found
    return found


def refused(comparison: Comparison) -> str:
    found = MEASURE.read(comparison)
    assert isinstance(found, NotApplicable)
    assert found.reason.count(". ") == 0
    assert found.reason.endswith(".")
    return found.reason


def normal(n: int = 60, seed: int = 0, **more: Any) -> Microdata:
    values = np.random.default_rng(seed).normal(size=(n, 3))
    return Microdata.from_frame(pd.DataFrame(values, columns=["a", "b", "c"]).assign(**more))


def described(data: Microdata, **variables: Mapping[str, Any]) -> Microdata:
    schema = data.schema
    for name, values in variables.items():
        schema = schema.replace_variable(name, **values)
    return data.with_schema(schema)


def in_blocks(data: Microdata, params: RWN = SOFT, seed: int = 1) -> Comparison:
    """The release of a small table with the law of a large one: no pair is stored."""
    found = AllDonors.of_points(params.points(data), params.ball.kernel).neighborhoods()
    law = CellLaw(data, found, np.full(len(data.schema.released), params.q))
    return Comparison(original=data, masked=mask(data, params, seed=seed).masked, law=law)


def exact(comparison: Comparison) -> NDArray[np.float64]:
    return whole_file_beliefs(np.exp(log_likelihood(comparison)))


def test_two_records_by_hand() -> None:
    """Two variables, each sqrt(2) sd apart: d = 2 and 1 / (1 + exp(-4 d / h)) at h = 4."""
    data = Microdata.from_frame(pd.DataFrame({"a": [0.0, 1.0], "b": [5.0, 7.0]}))
    law = mask(data, SOFT, seed=1).law
    found = read(Comparison(original=data, masked=data, law=law))
    assert found.value == pytest.approx(1 / (1 + math.exp(-2.0)), rel=1e-8)
    assert found.baseline == 0.5


def test_CERT_1_the_rows_of_six_records() -> None:
    given = ENTRIES["CERT-1"]
    points = np.array(given["input"]["W"], dtype=np.float64)
    kernel = Kernel(shape="exponential", width=2, bandwidth="absolute", cap=1.0, own=True)
    data = Microdata.from_frame(pd.DataFrame(points, columns=["a", "b"]))
    donors = [np.array(given["input"][f"donors of column {j}"]) - 1 for j in (1, 2)]
    shown = {name: points[donor, j] for j, (name, donor) in enumerate(zip("ab", donors))}  # noqa: B905
    masked = Microdata.from_frame(pd.DataFrame(shown), data.schema)
    lists = scale(kernel, list_neighbors(points, kernel.bandwidth_k))
    law = CellLaw(data, soft_neighborhoods(kernel, lists), np.ones(2))
    found = read(Comparison(original=data, masked=masked, law=law))
    bounds = np.array(given["expected"]["bound by release"]).max(axis=1)
    np.testing.assert_allclose(found.detail.bounds, bounds, rtol=0, atol=1e-7)
    assert found.value == pytest.approx(bounds.mean(), abs=1e-7)


def test_CERT_4_no_exact_belief_is_above_the_bound() -> None:
    """Tables with a rare level, an outlier and a clone, by all pairs and in blocks."""
    for seed in range(8):
        frame = normal(6, seed, g=["x"] * 5 + ["rare"]).frame.drop(columns="c")
        frame.loc[4, "a"], frame.loc[1] = 9.0, frame.loc[0]
        kernel, balance = ("exponential", "gaussian")[seed % 2], float(seed % 3 == 0)
        params = SoftRWN(kernel=kernel, cap=0.5, own=True, balance=balance)
        comparison = compared(Microdata.from_frame(frame), params, seed)
        assert (exact(comparison).max(axis=1) <= read(comparison).detail.bounds + 1e-12).all()
        data = normal(6, seed, g=["x"] * 5 + ["rare"])
        parts, small = in_blocks(data, SOFT, seed), compared(data, SOFT, seed)
        bounds = read(parts).detail.bounds
        assert (exact(small).max(axis=1) <= bounds).all()
        # the ratios of one release are at least those that hold for every release
        assert (bounds >= read(small).detail.bounds * (1 - 1e-6)).all()
        assert exact(small).max(axis=1).mean() <= read(parts).value


def test_CERT_3_records_of_one_household_are_no_cover() -> None:
    data = described(normal(7, h=[1, 1, 1, 2, 3, 4, 5]), h={"role": Role.HOUSEHOLD})
    members = np.array([[1, 1, 1, 0, 0, 0, 0], *np.eye(7)[3:].tolist()])
    for seed in range(8):
        comparison = compared(data, SOFT, seed)
        found = read(comparison)
        assert found.detail.unit == "h"
        assert found.baseline == 0.2
        assert ((exact(comparison) @ members.T).max(axis=1) <= found.detail.bounds + 1e-12).all()


def test_CERT_6_a_law_with_zeros_no_law_one_slice_and_lists_are_refused() -> None:
    data = normal()
    assert "even kernel" in refused(compared(data, RWN(k=5)))
    for params in (SoftRWN(kernel="exponential"), SoftRWN(kernel="gaussian", cap=1.0)):
        assert "own = false" in refused(compared(data, params))
    assert "law" in refused(Comparison(original=data, masked=data))
    one = {name: {"group": "all"} for name in "abc"}
    assert "one slice" in refused(compared(described(data, **one)))
    # a constant variable of its own is no second slice
    constant = described(normal(k=[1.0] * 60), **one)
    assert "one slice" in refused(compared(constant))
    listed = SoftRWN(kernel="exponential", own=True)
    assert "Above 2,000" in refused(compared(normal(2001), listed))


def test_the_unmasked_file_is_no_release_of_the_law() -> None:
    data = normal()
    changed = data.frame.assign(a=data.frame["a"] + 0.5)
    law = mask(data, SOFT, seed=1).law
    other = Microdata.from_frame(changed, data.schema)
    refused(Comparison(original=data, masked=other, law=law))
    # its own values are possible, and are bounded as such
    itself = read(Comparison(original=data, masked=data, law=law))
    assert itself.value >= read(compared(data)).value


def test_a_second_release_ends_the_bound_of_the_first() -> None:
    """The belief of both is above the bound of one somewhere, and below that of the product."""
    above = 0
    everyone = np.tile(np.arange(6, dtype=np.int32), (6, 1))
    for seed in range(10):
        data = normal(6, seed)
        one, other = compared(data, SOFT, seed), compared(data, SOFT, seed + 100)
        both = log_likelihood(one) + log_likelihood(other)
        beliefs = whole_file_beliefs(np.exp(both))
        above += int((beliefs.max(axis=1) > read(one).detail.bounds).any())
        together = linkage_bounds(both, ratios_of_release(both, everyone), everyone)
        assert (beliefs <= together + 1e-12).all()
    assert above


def test_random_rows_of_a_large_table_estimate_the_bound() -> None:
    """What a screen shows: the whole original covers the rows that are drawn."""
    rng = np.random.default_rng(3)
    data = Microdata.from_frame(pd.DataFrame(rng.normal(size=(2300, 2)), columns=["a", "b"]))
    shown = SOFT.preview(data, most=400)
    release = shown.release(SecretKey.from_seed(1))
    some = Comparison.of_some(data, shown.records).with_masked(release.masked, release.law)
    found, whole = read(some), read(compared(data))
    assert found.value == pytest.approx(whole.value, rel=0.15)
    assert found.detail.bounds == pytest.approx(whole.detail.bounds[shown.records], rel=1e-5)
    assert found.baseline == whole.baseline == 1 / 2300
    assert (found.detail.sampled, whole.detail.sampled) == (400, None)


@pytest.mark.parametrize("way", [compared, in_blocks])
def test_an_outlier_is_named_with_a_bound_near_one_and_units_change_nothing(
    way: Callable[..., Comparison],
) -> None:
    data = normal(g=["x"] * 59 + ["rare"])
    other = Microdata.from_frame(data.frame.assign(a=data.frame["a"] * 1e6), data.schema)
    assert read(way(other)).value == pytest.approx(read(way(data)).value, rel=1e-3)
    frame = data.frame.copy()
    frame.loc[17, ["a", "b", "c"]] = 40.0
    found = read(way(Microdata.from_frame(frame), replace(SOFT, width=2.0)))
    assert found.detail.largest > 0.9
    assert found.detail.bounds.argmax() == 17
    assert found.value < found.detail.largest


SETTINGS = {
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
    homes, sex = [f"h{number // 2}" for number in range(n)], np.where(rng.random(n) < 0.5, "m", "f")
    frame = pd.DataFrame({"home": homes, "weight": rng.integers(1, 4, n) * 1.0})
    frame["age"], frame["sex"] = rng.integers(20, 70, n), sex
    frame["income"], frame["wealth"] = income, wealth
    frame["ill"] = np.where(rng.random(n) < 0.2, "yes", "no")
    frame["job"] = rng.choice(["a", "b", "c", None], n)
    roles = {"home": "household", "weight": "sampling weight", "age": "key", "sex": "key"}
    roles |= {"income": "confidential", "ill": "confidential"}
    data = described_table(frame, [("age", "sex"), ("income", "wealth")], **roles)
    question = Question(response="income", predictors=("age", "sex"))
    return data.with_schema(replace(data.schema, question=question))


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


@pytest.mark.parametrize("params", [SETTINGS["exponential with own"], OUTSIDE])
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
    return [prepared.release(SecretKey.from_seed(seed)) for seed in range(400)]


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


def membership(releases: list[Masked], law: Law) -> float:
    """Return the same of the households, and of the records, with a value of their own."""
    home = table().frame["home"].to_numpy()
    scores = []
    for unit, appears, own in (
        (home, *fingerprints(law, np.unique(home, return_inverse=True)[1])),
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


def misclassification(releases: list[Masked], law: Law) -> float:
    comparison = Comparison(original=table(), masked=releases[0].masked, law=law)
    said = MEASURES["misclassification"].compute(comparison).detail
    home = comparison.units[:, None] == comparison.units  # any row of the household is right
    keys = list(map(tuple, table().frame[["age", "sex"]].to_numpy()))
    same = np.array([[one == other for other in keys] for one in keys])
    differences = []
    for each in releases:
        shows = same[:, each.donors[:, place("age")]]  # [t, r]: row r has the keys of record t
        right = (shows & home).sum(axis=1)
        differences.append((right - np.array(said.truth) * shows.sum(axis=1)).sum())
    return scored(np.array(differences))


CHECKS = (membership, misclassification)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_the_law_says_happens_in_400_releases(check, name: str) -> None:
    assert abs(check(drawn(name), law_of(SETTINGS[name]))) < 4


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_law_of_another_setting_is_refuted(check: Callable[[list[Masked], Law], float]) -> None:
    """Planted faults: the law of an even kernel, and of own donors left out."""
    name = "exponential with own"
    even = RWN(k=8, q=0.9)
    others = [even, replace(SETTINGS[name], own=False), replace(SETTINGS[name], width=1.5)]
    assert max(abs(check(drawn(name), law_of(other))) for other in others) > 4
