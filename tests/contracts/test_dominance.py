"""No ordinary attack beats the worst case, whatever the method and what travels together.

Each case is one release. Compared are shares of right answers about the same people: what the
worst-case linkage (by the keys, or by all variables) and the attribute attack (for each
confidential variable) read of that release, and what ordinary attacks with the same or less
knowledge truly get right in it. The worst case may fall short by three binomial standard errors of
the ordinary attack's success, sqrt(p (1 - p) / people): its own number is the expectation of that
release, which is less uncertain. Where a measure claims no worst case, none is held against it.
Seeds are fixed, so that a failure stays until it is understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import rwn_core as rwn
from rwn_core import MEASURES, Comparison, Kind, Microdata, Reading, Role, Schema
from rwn_core.data.rounding import rounded
from rwn_core.masking import METHODS, NBRS2015, RWN, Method, Rounded, at_levers, mask, unrounded
from rwn_core.masking.lever import neutral_levers
from rwn_core.measures.attacks.posterior import link, posteriors
from rwn_core.measures.risk.worst_linkage import distance_success
from rwn_core.measures.statistics.key_variables import confidential_names, key_names, only
from rwn_core.measures.statistics.nearest_points import unweighted_metric
from tests.oracles.exact_assignments import sinkhorn

SEED = 11
PART = 250  # records of a large demo table
STEP = 0.5  # standard deviations that a rounded number is a multiple of
ALONG = (0.1, 0.4)  # shares of the way along the lever of a method's strength


def holes() -> Microdata:
    """Numbers and categories, one cell in twelve missing."""
    rng = np.random.default_rng(8)
    n = 300
    shared = rng.normal(size=n)
    frame = pd.DataFrame({f"x{j}": shared + rng.normal(size=n) for j in range(4)}).round(2)
    frame["age"] = rng.integers(18, 80, n).astype(float)
    frame["town"] = rng.choice(list("abcde"), n)
    frame["ill"] = np.where(frame["x0"] + rng.normal(size=n) > 0.3, "yes", "no")
    frame = frame.mask(rng.random(frame.shape) < 1 / 12)
    role = {"ill": "confidential", "x0": "confidential", "x1": "key", "age": "key", "town": "key"}
    kinds = {name: "categorical" if name in ("town", "ill") else "continuous" for name in frame}
    variables = (rwn.Variable(name=n, kind=k, role=role.get(n, "other")) for n, k in kinds.items())
    return Microdata.from_frame(frame, Schema(variables=tuple(variables)))


@cache
def table(name: str) -> Microdata:
    """One of the tables."""
    if name == "holes":
        return holes()
    data = rwn.load_demo(name)
    if data.n <= PART:
        return data
    return data.take(np.sort(np.random.default_rng(SEED).choice(data.n, PART, replace=False)))


TABLES = ("bodyfat", "pima", "cps1988", "holes")
LARGER = ("pima", "cps1988")
SLICES: Mapping[str, Mapping[Role, str]] = {
    "each alone": {},
    "two slices": {Role.KEY: "k", Role.CONFIDENTIAL: "o", Role.OTHER: "o"},
    "three slices": {Role.KEY: "k", Role.CONFIDENTIAL: "c", Role.OTHER: "o"},
    "whole rows": {Role.KEY: "k", Role.CONFIDENTIAL: "k", Role.OTHER: "k"},
}
"""Which variables travel together: the group of each role."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One release to attack, by whatever method, rounded or not."""

    table: str
    slices: str
    params: Any

    @property
    def words(self) -> str:
        """What a failure says."""
        return f"{self.table}, {self.slices}, {self.params}"

    @property
    def original(self) -> Microdata:
        """The table with its slices."""
        return sliced(self.table, self.slices)


def along(kind: type[Method], data: Microdata, shares: Sequence[float]) -> list[Method]:
    """A method at shares of the way along the lever of its strength; none if it refuses a table."""
    start = kind(**neutral_levers(kind))
    try:
        lever = start.prepare(data).ranges[kind.strength]
    except rwn.ParameterError:
        return []
    whole = next(each.whole_number for each in kind.levers if each.name == kind.strength)
    values = [lever.low + share * (lever.high - lever.low) for share in shares]
    return [
        at_levers(start, {kind.strength: round(value) if whole else round(value, 3)})
        for value in values
    ]


@cache
def sliced(name: str, slices: str) -> Microdata:
    """A table whose variables travel together by their roles."""
    data = table(name)
    group = SLICES[slices]
    variables = (replace(each, group=group.get(each.role)) for each in data.schema.variables)
    return Microdata(data.frame, Schema(variables=tuple(variables)))


@cache
def steps(name: str) -> dict[str, float]:
    """Half a standard deviation of each number, in one digit."""
    data = table(name)
    numbers = data.schema.numeric_names
    return {each: float(f"{STEP * data.frame[each].std():.1g}") for each in numbers}


def released(case: Case) -> Comparison:
    """A release beside its original, with its law."""
    plain, precision = unrounded(case.params)
    release = mask(case.original, plain, seed=SEED, precision=precision)
    return Comparison(original=case.original, masked=release.masked, law=release.law)


def _rwn() -> Iterator[Case]:
    """Every table, slices, q and k, half of them of the larger tables; every second one rounded."""
    grid = product(enumerate(TABLES), enumerate(SLICES), enumerate((1.0, 0.5)), enumerate((5, 50)))
    for (a, name), (b, slices), (c, q), (d, k) in grid:
        if name in LARGER and (a + b + c + d) % 2:
            continue
        params: Any = RWN(q=q, k=k)
        if (b // 2 + c + d) % 2:
            params = Rounded(params=params, precision=steps(name))
        yield Case(table=name, slices=slices, params=params)


def _others() -> Iterator[Case]:
    """The 2015 method, and neighbors from a sample, the same for all or fresh for each."""
    radius = {"bodyfat": 3.0, "pima": 1.5, "cps1988": 0.7, "holes": 1.5}
    for number, (name, slices) in enumerate(product(TABLES, SLICES)):
        params: Any = NBRS2015(epsilon=radius[name], q=(1.0, 0.5)[number % 2])
        if number % 3 == 0:
            params = Rounded(params=params, precision=steps(name))
        yield Case(table=name, slices=slices, params=params)
    for number, name in enumerate(TABLES):
        params = RWN(k=5, neighbors="sample", m=100, fresh=number % 2 == 1)
        yield Case(table=name, slices=("each alone", "whole rows")[number // 2], params=params)


def _every_method() -> Iterator[Case]:
    """Whatever method there is, at two positions of the lever of its strength."""
    for kind, slices in product(METHODS.values(), ("each alone", "whole rows")):
        for params in along(kind, sliced("bodyfat", slices), ALONG):  # none if it takes no groups
            yield Case(table="bodyfat", slices=slices, params=params)


@cache
def cases() -> tuple[Case, ...]:
    """All of them."""
    return (*_rwn(), *_others(), *_every_method())


@cache
def by_day() -> tuple[Case, ...]:
    """One in three, every neighborhood of a sample, and every second place of every method."""
    some = [
        each
        for at, each in enumerate((*_rwn(), *_others()))
        if at % 3 == 2 or getattr(each.params, "neighbors", None) == "sample"
    ]
    return (*some, *(each for at, each in enumerate(_every_method()) if at % 4 in (0, 3)))


LANES = [by_day, pytest.param(cases, marks=pytest.mark.nightly)]
Lane = Callable[[], tuple[Case, ...]]


REACH = 0.1  # standard deviations, and quartile distances, within which a number is learned
OF_VALUE = 0.05  # the same, of the own value, unless the middle half lies on both sides of 0
ERRORS = 3.0
WEIGHED = 1000  # records of a table whose beliefs are scaled as plain arrays
Linkage = dict[str, float]
"""Share of right links by what is known: "keys" or "all"."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A simple attack: what it knows ("keys" or "all"), its people, its share of right answers."""

    attack: str
    knows: str
    success: float
    people: int

    @property
    def floor(self) -> float:
        """The least that the worst case must reach: three binomial standard errors less.

        With half a right answer and half a wrong one more, so that an error is never 0.
        """
        share = (self.success * self.people + 0.5) / (self.people + 1)
        return float(self.success - ERRORS * np.sqrt(share * (1 - share) / max(self.people, 1)))


@cache
def reading(key: str, comparison: Comparison) -> Reading | None:
    """What a measure reads of a release, once for all who ask; None where it has no answer."""
    answer = MEASURES[key].read(comparison, bare=True)
    return answer if isinstance(answer, Reading) else None


def value(key: str, comparison: Comparison) -> float:
    """A measure's number; 0 where it has none."""
    answer = reading(key, comparison)
    return 0.0 if answer is None else answer.value


def worst_linkage(comparison: Comparison) -> Linkage:
    """The worst case on any screen, by the keys and by all variables, where one is claimed."""
    if reading("intruder_levels", comparison) is None:
        return {}
    return {"keys": value("intruder_levels", comparison), "all": value("bayes_linkage", comparison)}


def worst_attribute(comparison: Comparison) -> NDArray[np.float64]:
    """The attribute attack's success, for each confidential variable."""
    answer = reading("attribute_inference", comparison)
    return np.empty(0) if answer is None else np.asarray(answer.detail.informed)


Worst = tuple[Callable[[Comparison], Linkage], Callable[[Comparison], NDArray[np.float64]]]


def linkers(comparison: Comparison) -> list[Found]:
    """Every ordinary linkage of the catalogue, and the one by distance on the keys."""
    n = comparison.original.n
    keys = key_names(comparison)
    levels = reading("intruder_levels", comparison)
    if levels is None:
        return []
    known = dict(zip(levels.detail.levels, levels.detail.success, strict=True))
    by_keys = {"distance": distance_success(comparison, keys), "keys alone": known["L2"] or 0.0}
    for key in ("probabilistic_linkage", "whole_file_linkage"):
        by_keys[key] = value(key, comparison)
    by_all = {"distance_linkage": value("distance_linkage", comparison)}
    if n <= WEIGHED:
        by_keys["scaled beliefs"] = scaled_beliefs(comparison, keys)
        by_all["scaled beliefs"] = scaled_beliefs(comparison, None)
    moved = reading("mahalanobis_linkage", comparison)
    if moved is not None:  # a share of the complete records, and nobody links the others so
        by_all["mahalanobis_linkage"] = moved.value * moved.detail.of / n
    return [
        Found(attack=attack, knows=knows, success=success, people=n)
        for knows, some in (("keys", by_keys), ("all", by_keys | by_all))
        for attack, success in some.items()
    ]


def scaled_beliefs(comparison: Comparison, names: Sequence[str] | None) -> float:
    """Who scales what he believes of the whole file, and names the likeliest source of a row."""
    rows = np.arange(comparison.original.n)
    belief = posteriors(comparison.law, comparison.masked, rows, names).toarray()
    together = sinkhorn(belief, steps=50)
    first = together >= together.max(axis=0) * (1 - 1e-6)
    return float(np.mean(np.diag(first) / first.sum(axis=0)))


class Readers:
    """Whoever knows the keys and reads a confidential variable, by values alone."""

    def __init__(self, comparison: Comparison) -> None:
        self.original, self.masked = comparison.original, comparison.masked
        self.secrets = confidential_names(comparison)
        self.keys = tuple(k for k in key_names(comparison) if k not in self.secrets)
        # he rounds what he knows as the release does
        self.people = rounded(self.original, comparison.law.precision)

    def right(self, secret: str) -> NDArray[np.bool_]:
        """Whether each row shows each person's value, shape (people with a value, rows)."""
        truth, shown = (table.frame[secret] for table in (self.original, self.masked))
        known = truth.notna().to_numpy()
        if self.original.schema.variable(secret).kind is Kind.CATEGORICAL:
            return truth[known].to_numpy()[:, None] == shown.to_numpy()
        values = shown.to_numpy(dtype=float, na_value=np.nan)
        truths = truth[known].to_numpy(dtype=float)
        low, high = np.quantile(truths, (0.25, 0.75))
        reach = np.full(len(truths), REACH * min(float(truth.std()), high - low))
        if not low < 0 < high:
            reach = np.minimum(reach, OF_VALUE * np.abs(truths))
        return np.abs(values - truths[:, None]) <= reach[:, None] * (1 + 1e-9)

    def nearest(self, secret: str) -> NDArray[np.bool_]:
        """The rows nearest by the keys, for each person with a value."""
        original, masked = (only(table, self.keys) for table in (self.original, self.masked))
        small = Comparison(original=original, masked=masked)
        metric = unweighted_metric(small)
        points, rows = metric.points(only(self.people, self.keys)), metric.points(masked)
        squared = cdist(points[self.known(secret)], rows, "sqeuclidean")
        return squared <= squared.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-18

    def alone(self, secret: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Count the rows that share each person's keys, and mark those with unique keys."""
        people = self.people.frame[list(self.keys)]
        codes = [_same(people[key], self.masked.frame[key]) for key in self.keys]
        known = self.known(secret)
        single = ~people.duplicated(keep=False).to_numpy()
        return np.logical_and.reduce(codes)[known], single[known]

    def known(self, secret: str) -> NDArray[np.bool_]:
        """Who has a value."""
        return self.original.frame[secret].notna().to_numpy()


def _same(people: Any, rows: Any) -> NDArray[np.bool_]:
    """Which rows show a person's value of one key; missing is a value too."""
    equal = people.to_numpy()[:, None] == rows.to_numpy()
    return equal | (people.isna().to_numpy()[:, None] & rows.isna().to_numpy())


def readers(comparison: Comparison) -> list[Found]:
    """Every ordinary way to read a confidential variable."""
    made = Readers(comparison)
    found = []
    for secret in made.secrets:
        right = made.right(secret)
        near = made.nearest(secret)
        shows, single = made.alone(secret)
        rows = shows.sum(axis=1)
        truly = np.where(single & (rows > 0), (shows & right).sum(axis=1) / np.maximum(rows, 1), 0)
        shares = {
            "nearest": ((near & right).sum(axis=1) / near.sum(axis=1)).mean(),
            "true matches": truly.mean(),
            "any row": right.mean(),
        }
        if made.original.schema.variable(secret).kind is Kind.CATEGORICAL:
            named = made.masked.frame[secret].mode().iloc[0]
            truth = made.original.frame[secret]
            shares["majority"] = (truth[made.known(secret)] == named).mean()
        found += [
            Found(attack=attack, knows=secret, success=float(share), people=len(right))
            for attack, share in shares.items()
        ]
    return found + inference(comparison, made)


def inference(comparison: Comparison, made: Readers) -> list[Found]:
    """The catalogue's own nearest row, where right means the same: for categories."""
    secret = made.secrets[0]
    if made.original.schema.variable(secret).kind is not Kind.CATEGORICAL:
        return []
    answer = reading("inference", comparison)
    assert answer is not None
    detail = answer.detail
    return [Found(attack="inference", knows=secret, success=detail.attack, people=detail.attacks)]


@cache
def attacked(case: Case) -> tuple[Comparison, list[Found], list[Found]]:
    """A release, and what ordinary attacks find in it; made once."""
    comparison = released(case)
    if comparison.law is None:  # no worst case is claimed
        return comparison, [], []
    return comparison, linkers(comparison), readers(comparison)


def beaten(case: Case, worst: Worst) -> list[str]:
    """The ordinary attacks that do better than a worst case."""
    comparison, by_linking, by_reading = attacked(case)
    linked = worst[0](comparison)
    read_ = worst[1](comparison)
    reached = linked | dict(zip(confidential_names(comparison), read_.tolist(), strict=False))
    return [
        f"{case.words}: {each.attack} ({each.knows}) {each.success:.3f} > {reached[each.knows]:.3f}"
        for each in by_linking + by_reading
        if each.knows in reached and reached[each.knows] < each.floor
    ]


WORST: Worst = (worst_linkage, worst_attribute)


@pytest.mark.parametrize("lane", [by_day, cases])
def test_the_cases_are_of_all_methods_and_tables(lane: Lane):
    assert len(lane()) >= 40
    assert {unrounded(case.params)[0].method for case in lane()} == set(METHODS)
    assert {case.table for case in lane()} == set(TABLES)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("lane", [by_day, cases])
def test_the_cases_of_a_table_cover_what_they_should(lane: Lane, table: str):
    some = [case for case in lane() if case.table == table]
    assert {case.slices for case in some} == set(SLICES)
    settings = [unrounded(case.params) for case in some]
    assert {getattr(params, "q", None) for params, _ in settings} >= {1.0, 0.5}
    assert {getattr(params, "k", None) for params, _ in settings} >= {5, 50}
    assert {bool(precision) for _, precision in settings} == {True, False}
    assert any(getattr(params, "neighbors", None) == "sample" for params, _ in settings)


@pytest.mark.parametrize("lane", LANES)
def test_no_ordinary_attack_beats_the_worst_case(lane: Lane):
    better = [line for case in lane() for line in beaten(case, WORST)]
    assert not better, "\n".join(better)


@pytest.mark.parametrize("lane", LANES)
def test_the_methods_of_neighborhoods_claim_a_worst_case_everywhere(lane: Lane):
    for case in lane():
        if unrounded(case.params)[0].method in ("rwn", "nbrs2015"):
            comparison = attacked(case)[0]
            assert set(worst_linkage(comparison)) == {"keys", "all"}
            assert len(worst_attribute(comparison)) == len(confidential_names(comparison))


def test_there_is_something_to_beat():
    """Ordinary attacks succeed somewhere, else the rule would hold for nothing."""
    best: dict[str, float] = {}
    for case in by_day():
        for each in (*attacked(case)[1], *attacked(case)[2]):
            best[each.attack] = max(best.get(each.attack, 0.0), each.success)
    assert min(best.values()) > 0.15, best


def row_by_row(comparison: Comparison) -> Linkage:
    """A weak intruder: forgets that every record is the source of one row only."""
    law, masked = comparison.law, comparison.masked
    return {
        "keys": link(law, masked, key_names(comparison)).success,
        "all": link(law, masked).success,
    }


def deaf_to_rounding(comparison: Comparison) -> Comparison:
    """A release in the eyes of who compares exact values with rounded ones."""
    law: Any = copy(comparison.law)
    law.original = comparison.original
    law.precision = {}
    law._tables = {}
    return comparison.with_masked(comparison.masked, law)


def unrounded_linkage(comparison: Comparison) -> Linkage:
    """A weak intruder: does not know that values were rounded."""
    return worst_linkage(deaf_to_rounding(comparison))


def rates(comparison: Comparison) -> list[dict[str, float]]:
    """How often each strategy is right, for each confidential variable."""
    found: list[dict[str, float]] = MEASURES["attribute_inference"].compute(comparison).detail.rates
    return found


def unrounded_attribute(comparison: Comparison) -> NDArray[np.float64]:
    """The same, when beliefs are all that he goes by."""
    believed = ("majority", "source", "donor", "surest")
    known = rates(deaf_to_rounding(comparison))
    return np.array([max(each[key] for key in believed) for each in known])


def sources_only(comparison: Comparison) -> NDArray[np.float64]:
    """A weak intruder: takes every row for its source's own."""
    return np.array([max(each["majority"], each["source"]) for each in rates(comparison)])


def random_guess(comparison: Comparison) -> NDArray[np.float64]:
    """A weak intruder: guesses by his belief, and is right with the mean belief in the truth."""
    original, masked = comparison.original, comparison.masked
    secrets = confidential_names(comparison)
    keys = [key for key in key_names(comparison) if key not in secrets]
    belief = posteriors(comparison.law, masked, np.arange(masked.n), keys).toarray()
    belief /= np.maximum(belief.sum(axis=1, keepdims=True), 1e-300)
    shares = []
    for secret in secrets:
        truth = original.frame[secret]
        shown = masked.frame[secret].to_numpy()
        if original.schema.variable(secret).kind is Kind.CATEGORICAL:
            right = truth.to_numpy()[:, None] == shown
        else:
            right = np.abs(truth.to_numpy()[:, None] - shown) <= 0.1 * float(truth.std())
        shares.append(float((belief * right).sum() / truth.notna().sum()))
    return np.array(shares)


FAULTS: dict[str, Worst] = {
    "row by row only": (row_by_row, worst_attribute),
    "rounding ignored by the linker": (unrounded_linkage, worst_attribute),
    "rounding ignored by the reader": (worst_linkage, unrounded_attribute),
    "no donor belief": (worst_linkage, sources_only),
    "random guess": (worst_linkage, random_guess),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_weak_intruder_is_beaten(fault: str):
    """Planted faults: each loses to an ordinary attack somewhere."""
    small: list[Case] = [case for case in by_day() if case.table not in LARGER]
    assert any(beaten(case, FAULTS[fault]) for case in small)
