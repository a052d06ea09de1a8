"""The worst-case intruder asks about people who are not in the file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.masking import NBRS2015, RWN, SoftRWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks import attribute_guesses
from rwn_core.measures.attacks.non_members import (
    NonMembers,
    NonMembersOneByOne,
    non_members,
)
from rwn_core.neighbors.metric import Metric
from tests.oracles.soft_weights import balanced_by_projections, capped_row, log_kernel

PARAMS = {
    "rwn": RWN(epsilon=0.9, k=2, q=0.7),
    "mixture": NBRS2015(epsilon=1.1, q=0.6, record_selection="bernoulli"),
}


def table(n: int, seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.integers(0, 4, n) * 1.0,
            "g": rng.choice(["u", "v"], n),
            "s": rng.choice(["yes", "no"], n),
        }
    )
    roles = {"s": (Kind.CATEGORICAL, Role.CONFIDENTIAL), "g": (Kind.CATEGORICAL, Role.KEY),
             "x": (Kind.CONTINUOUS, Role.KEY)}  # fmt: skip
    variables = tuple(
        Variable(name=name, kind=kind, role=role, weight=0.0 if name == "s" else 1.0)
        for name, (kind, role) in roles.items()
    )
    return Microdata.from_frame(frame[list(roles)], Schema(variables=variables))


def test_adding_people_one_by_one_is_the_same_for_an_even_kernel():
    data, outside = table(20, 1), table(8, 2)
    release = mask(data, PARAMS["rwn"], seed=3)
    comparison, rows = compare(data, release, holdout=outside), np.arange(data.n)
    law = release.law
    found = NonMembersOneByOne(comparison, law, outside, ["x", "g"]).beliefs(rows, ["s", "g"])
    awaited = NonMembers(comparison, law, outside, ["x", "g"]).beliefs(rows, ["s", "g"])
    np.testing.assert_allclose(found.source.toarray(), awaited.source.toarray(), atol=1e-12)
    for one, other in zip(found.donor, awaited.donor, strict=True):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-12)


@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_beliefs_under_a_soft_kernel_follow_bayes_rule(balance):
    """The weights of the file with the person, on the scale of the file without."""
    data, outside = table(20, 1), table(5, 2)
    params = SoftRWN(kernel="gaussian", q=0.7, cap=0.3, balance=balance)
    release = mask(data, params, seed=3)
    comparison = compare(data, release, holdout=outside)
    asked = non_members(comparison, release.law, outside, ["x", "g"])
    assert isinstance(asked, NonMembersOneByOne)
    found = asked.beliefs(np.arange(20), ["s"]).source.toarray()
    metric = Metric.fit(data)
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
    schema = Schema(
        variables=(
            Variable(name="x", kind=Kind.CONTINUOUS, role=Role.KEY),
            Variable(name="s", kind=Kind.CATEGORICAL, role=Role.CONFIDENTIAL, weight=0.0),
        )
    )
    everybody = Microdata.from_frame(frame, schema)
    data, held = everybody.take(np.arange(100)), everybody.take(np.arange(100, 220))
    release = mask(data, RWN(k=5), seed=1)
    asked = []
    for limit in (10**9, 20_000, 500):
        monkeypatch.setattr(attribute_guesses, "ATTACKED_PAIRS", limit)
        reading = MEASURES["attribute_inference"].compute(compare(data, release, holdout=held))
        asked.append(reading.detail.control_people)
    assert asked[0] == 120
    assert attribute_guesses.FEWEST <= asked[1] < 120
    assert asked[2] is None  # a handful says nothing: the majority is what is compared with
    assert reading.baseline == reading.detail.ignorant.mean()


def test_a_radius_for_each_record_has_none_for_people_outside():
    data = table(20, 7)
    release = mask(data, RWN(epsilon=np.full(20, 0.9), k=1), seed=1)
    with pytest.raises(NotApplicable, match="radius for each record"):
        NonMembers(compare(data, release), release.law, table(3, 8), ["x"])
