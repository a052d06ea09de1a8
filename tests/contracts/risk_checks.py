"""Checks of stated facts about linkage, attribute gain, slices, rounding and attacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import rwn_core as rwn
from rwn_core.data.rounding import rounded_values
from rwn_core.evaluation.lessons import intruder
from rwn_core.evaluation.lessons.densities import points_of
from rwn_core.measures.attacks.posterior import link
from rwn_core.measures.statistics.intervals import excess_risk
from tests.contracts.release_checks import bodyfat, people, readings, releases


def worst_case(epsilon: float, k: int, low: float, high: float) -> bool:
    """The worst-case linkage of bodyfat lies between these shares, on average."""
    return low <= readings(rwn.RWN(epsilon=epsilon, k=k), ("bayes_linkage",), n=4).mean() <= high


def three_attacks(epsilon: float, k: int, stated: Sequence[float]) -> bool:
    """Linkage row by row, by the assignment and given all rows, within a point."""
    data, found = bodyfat(), []
    for seed in range(1, 9):
        release = rwn.mask(data, rwn.RWN(epsilon=epsilon, k=k), seed=seed)
        detail = rwn.audit(data, release, measures=["bayes_linkage"])["bayes_linkage"].detail
        found.append([detail.row_by_row, detail.at_once, detail.joint])
    return bool(np.abs(np.mean(found, axis=0) - np.array(stated) / 100).max() < 0.011)


def distance_linkage(low: float, high: float) -> bool:
    """Nine in ten releases of bodyfat at epsilon 2, k 5 have a distance linkage between these."""
    found = readings(rwn.RWN(epsilon=2.0, k=5), ("distance_linkage",), n=60)
    rounded = np.round(100 * found)
    return bool(((rounded >= low) & (rounded <= high)).mean() >= 0.9)


def slices_row(slices: str, linked: float, found: float, change: float) -> bool:
    """A row of the table of slices: linkage and true matches in percent, change of correlations."""
    keys = ("bayes_linkage", "true_matches", "correlation")
    one, other, third = readings(rwn.RWN(epsilon=6.0, k=5), keys, slices).mean(axis=0)
    return bool(
        abs(100 * one - linked) < 0.6
        and abs(100 * other - found) < 1
        and abs(third - change) < 0.01
    )


def rounding_row(step: float, k: int, linked: float, change: float) -> bool:
    """A cell of the table of steps: linkage in percent, change of correlations (medians of 8)."""
    keys = ("bayes_linkage", "correlation")
    one, other = np.median(readings(rwn.RWN(epsilon=2.0, k=k), keys, step=step), axis=0)
    return bool(abs(100 * one - linked) < 1.5 and abs(other - change) < 0.0015)


def rounds(value: float, step: float, to: float) -> bool:
    """A value is released as this multiple of the step."""
    return bool(rounded_values(np.array([value]), step)[0] == to)


def more_releases_link_more(same_key: bool) -> bool:
    """A second release lets the intruder link more rows, by the product of both likelihoods."""
    data = points_of("normal", 80)
    law = rwn.RWN(k=20).prepare(data).law
    donors = np.asarray(law.probabilities.toarray())
    codes = [np.unique(data.values(name), return_inverse=True) for name in ("x", "y")]
    one, two = (
        releases(data, rwn.RWN(k=20), 1) * 2 if same_key else releases(data, rwn.RWN(k=20), 2)
    )

    def likelihood(table: rwn.Microdata) -> NDArray[np.float64]:
        result = np.ones((data.n, data.n))
        for (values, code), name in zip(codes, ("x", "y"), strict=True):
            cells = np.zeros((data.n, len(values)))
            np.add.at(cells.T, code, donors.T)
            result *= cells[:, np.searchsorted(values, table.values(name))]
        return result  # of each original (row) for each released record (column)

    def linked(weight: NDArray[np.float64]) -> float:
        return float((weight.max(axis=0) / weight.sum(axis=0)).mean())

    first, second = likelihood(one), likelihood(two)
    again = first if same_key else first * second
    return linked(again) > linked(first) + 0.02


def unmasked_gain(confidential: str, at_most: float) -> bool:
    """The unmasked file of people keeps this limit on attribute gain."""
    data = people()
    if confidential == "constant":
        data = rwn.Microdata.from_frame(data.frame.assign(ill="no"), data.schema)
    unmasked = rwn.mask(data, rwn.RWN(k=1, q=0.0), seed=1)
    reading = rwn.audit(data, unmasked, measures=["attribute_gain"])["attribute_gain"]
    return not isinstance(reading, rwn.Reading) or reading.value <= at_most


def excess(formula: Callable[[float, float], float]) -> bool:
    """What is learned beyond a control group: a third learn, one guess in five is right."""
    rng = np.random.default_rng(1)
    lucky = rng.random((2, 200_000)) < 0.2
    attack = np.mean(lucky[0] | (rng.random(200_000) < 1 / 3))
    found = formula(float(attack), float(lucky[1].mean()))
    return abs(found - 1 / 3) < 0.01 and math.isclose(found, excess_risk(attack, lucky[1].mean()))


def candidates(known: int, low: float, high: float, k: int = 5) -> bool:
    """Originals that remain possible for a row of bodyfat at k, by known variables (mean)."""
    data = bodyfat()
    made = rwn.RWN(epsilon=0.0, k=k).prepare(data).release(rwn.SecretKey.from_seed(1))
    left = link(made.law, made.masked, intruder.known_order(data)[:known]).candidates
    return low <= float(np.median(left)) <= high
