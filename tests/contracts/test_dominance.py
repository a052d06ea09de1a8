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

from copy import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rwn_core.data.variable import Kind
from rwn_core.masking import METHODS, unrounded
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import link, posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.statistics.key_variables import confidential_names, key_names
from tests.contracts.dominance_attacks import (
    Linkage,
    Worst,
    attacked,
    beaten,
    worst_attribute,
    worst_linkage,
)
from tests.contracts.dominance_cases import LARGER, SLICES, TABLES, Case, cases

WORST: Worst = (worst_linkage, worst_attribute)


def test_the_cases_cover_what_they_should():
    assert len(cases()) >= 40
    plain = [unrounded(case.params) for case in cases()]
    assert {params.method for params, _ in plain} == set(METHODS)
    assert {case.table for case in cases()} == set(TABLES)
    for table in TABLES:
        some = [case for case in cases() if case.table == table]
        assert {case.slices for case in some} == set(SLICES)
        settings = [unrounded(case.params) for case in some]
        assert {getattr(params, "q", None) for params, _ in settings} >= {1.0, 0.5}
        assert {getattr(params, "k", None) for params, _ in settings} >= {5, 50}
        assert {bool(precision) for _, precision in settings} == {True, False}
        assert any(getattr(params, "neighbors", None) == "sample" for params, _ in settings)


def test_no_ordinary_attack_beats_the_worst_case():
    better = [line for case in cases() for line in beaten(case, WORST)]
    assert not better, "\n".join(better)


def test_the_methods_of_neighborhoods_claim_a_worst_case_everywhere():
    for case in cases():
        if unrounded(case.params)[0].method in ("rwn", "nbrs2015"):
            comparison = attacked(case)[0]
            assert set(worst_linkage(comparison)) == {"keys", "all"}
            assert len(worst_attribute(comparison)) == len(confidential_names(comparison))


def test_there_is_something_to_beat():
    """Ordinary attacks succeed somewhere, else the rule would hold for nothing."""
    best: dict[str, float] = {}
    for case in cases():
        for each in (*attacked(case)[1], *attacked(case)[2]):
            best[each.attack] = max(best.get(each.attack, 0.0), each.success)
    assert min(best.values()) > 0.15, best


def row_by_row(comparison: Comparison) -> Linkage:
    """A weak intruder: forgets that every record is the source of one row only."""
    law, masked = comparison.law, comparison.masked
    return {"keys": link(law, masked, key_names(comparison)).success,
            "all": link(law, masked).success}  # fmt: skip


def deaf_to_rounding(comparison: Comparison) -> Comparison:
    """A release in the eyes of who compares exact values with rounded ones."""
    law: Any = copy(comparison.law)
    law.original, law.precision, law._tables = comparison.original, {}, {}
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
        truth, shown = original.frame[secret], masked.frame[secret].to_numpy()
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
    small: list[Case] = [case for case in cases() if case.table not in LARGER]
    assert any(beaten(case, FAULTS[fault]) for case in small)
