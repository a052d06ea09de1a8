"""The attribute attack: which value is named, and of whom it counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.evaluation.audit import compare
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.attribute_attack import (
    PREDICTIONS,
    STRATEGIES,
    TOGETHER,
    Beliefs,
    Success,
    attack,
)
from rwn_core.measures.attacks.likeliest_value import ReleasedValues, Tolerance


def table(n: int, known: float = 1.0) -> Microdata:
    """One unique key, and a coin that is missing for some."""
    rng = np.random.default_rng(4)
    coin = np.where(rng.random(n) < known, rng.choice(["heads", "tails"], n), None)
    frame = pd.DataFrame({"x": np.arange(n) * 1.0, "s": coin})
    variables = (
        Variable(name="x", kind=Kind.CONTINUOUS, role=Role.KEY),
        Variable(name="s", kind=Kind.CATEGORICAL, role=Role.CONFIDENTIAL, weight=0.0),
    )
    return Microdata.from_frame(frame, Schema(variables=variables))


def attacked(truth: list[float], belief: list[list[float]], released: list[float],
             tolerance: float = 0.0) -> Success:  # fmt: skip
    """The attack on people of whom this is believed, of rows whose keys all differ."""
    weights = sparse.csc_array(np.array(belief))
    group = np.arange(len(released))
    values = ReleasedValues(group, np.array(released), Tolerance(tolerance))
    parts = [(Beliefs(weights, [weights]), group)]
    predicted = [dict.fromkeys(PREDICTIONS, values.named(sparse.csr_array(weights)))]
    rows = np.ones(len(released), np.int64) if weights.shape[0] == len(released) else None
    near = sparse.csr_array(weights)
    return attack(parts, near, [np.array(truth)], [values], predicted, (rows, None))[0]


def test_every_strategy_is_tried():
    found = attacked([1.0, 2.0], [[0.9, 0.1], [0.1, 0.9]], [1.0, 2.0])
    assert set(found.rates) == {key for key in STRATEGIES if not key.endswith(TOGETHER)}
    assert found.rates["donor"] == 1.0
    assert found.rates["majority"] == 0.5  # two values as often, either may be named
    assert found.best == "source"  # the simplest of those that are always right


def test_the_likeliest_value_counts_what_lies_within_reach():
    """Two rows near each other outweigh the likeliest single row."""
    found = attacked([5.05], [[0.4, 0.3, 0.3]], [1.0, 5.0, 5.1], 0.2)
    assert found.rates["donor"] == 1.0
    assert found.rates["surest"] == 0.0


def test_ties_share():
    found = attacked([3.0], [[0.25, 0.25, 0.25, 0.25]], [1.0, 2.0, 3.0, 4.0])
    assert found.rates["donor"] == 0.25
    assert found.rates["surest"] == 0.25


def test_the_surest_row_is_one_that_says_something():
    found = attacked([2.0], [[0.6, 0.3, 0.1]], [np.nan, 2.0, 1.0])
    assert found.rates["surest"] == 1.0


def test_of_whom_nothing_is_believed_the_majority_is_said():
    found = attacked([1.0, 2.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0, 2.0])
    assert found.rates["donor"] == 1.0
    assert found.rates["majority"] == 0.5


def test_nobody_fails_on_people_who_have_no_value():
    found = attacked([1.0, np.nan], [[1.0, 0.0], [0.0, 1.0]], [1.0, np.nan])
    assert found.people == 1
    assert found.rates["donor"] == 1.0
    nobody = attacked([np.nan], [[1.0]], [2.0])
    assert (nobody.people, nobody.rates["donor"]) == (0, 0.0)


@pytest.mark.parametrize(("group", "strategy"), [("a", "source"), (None, "source")])
def test_an_open_release_names_the_simplest_strategy(group, strategy):
    data = table(40)
    variables = tuple(replace(each, group=group) for each in data.schema.variables)
    data = Microdata(data.frame, Schema(variables=variables))
    reading = MEASURES["attribute_inference"].compute(compare(data, mask(data, RWN(k=3, q=0.0),
                                                                         seed=1)))  # fmt: skip
    assert reading.detail.strategies == [strategy]
    assert STRATEGIES[strategy] in MEASURES["attribute_inference"].sentence(reading, 40)
