"""The worst case and the ordinary attacks on one release, by what they know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from rwn_core.data.rounding import rounded
from rwn_core.data.variable import Kind
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.worst_linkage import distance_success
from rwn_core.measures.statistics.key_variables import confidential_names, key_names, only
from rwn_core.measures.statistics.nearest_points import unweighted_metric
from tests.contracts.dominance_cases import Case, released
from tests.oracles.exact_assignments import sinkhorn

REACH = 0.1  # standard deviations, and quartile distances, within which a number is learned
OF_VALUE = 0.05  # the same, of the own value, unless the middle half lies on both sides of 0
ERRORS = 3.0
WEIGHED = 1000  # records of a table whose beliefs are scaled as plain arrays
Linkage = dict[str, float]
"""Share of right links by what is known: "keys" or "all"."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What an ordinary attack finds.

    Attributes
    ----------
    attack : str
    knows : str
        "keys" or "all" of the linkers; the confidential variable of the others.
    success : float
        Share of right answers.
    people : int
        Of so many.
    """

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
    n, keys = comparison.original.n, key_names(comparison)
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
        """Rows with a person's keys, and who is alone with his, of the people with a value."""
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
    made, found = Readers(comparison), []
    for secret in made.secrets:
        right, near = made.right(secret), made.nearest(secret)
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
        found += [Found(attack=attack, knows=secret, success=float(share), people=len(right))
                  for attack, share in shares.items()]  # fmt: skip
    return found + inference(comparison, made)


def inference(comparison: Comparison, made: Readers) -> list[Found]:
    """The catalogue's own nearest row, where right means the same: for categories."""
    secret = made.secrets[0]
    if made.original.schema.variable(secret).kind is not Kind.CATEGORICAL:
        return []
    answer = reading("inference", comparison)
    assert answer is not None
    detail = answer.detail
    return [Found(attack="inference", knows=secret, success=detail.attack,
                  people=detail.attacks)]  # fmt: skip


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
    linked, read_ = worst[0](comparison), worst[1](comparison)
    reached = linked | dict(zip(confidential_names(comparison), read_.tolist(), strict=False))
    return [
        f"{case.words}: {each.attack} ({each.knows}) {each.success:.3f} > {reached[each.knows]:.3f}"
        for each in by_linking + by_reading
        if each.knows in reached and reached[each.knows] < each.floor
    ]
