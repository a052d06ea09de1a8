"""The masking draws as it says, and the battery that says so rejects wrong mechanisms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core import RWN, Microdata, SecretKey, coordinates, find_neighborhoods, mask
from tests.conformance import battery
from tests.conformance.faults import FAULTS, Machine

RELEASES = 1500
_normal = np.random.default_rng(3).normal(size=(60, 4)) * [1.0, 1.0, 1.0, 9.0]
DESIGNS = {
    "continuous": battery.Design(table=_normal, k=5, epsilon=1.5, q=0.6),
    "full of ties": battery.Design(table=np.round(_normal / [1, 1, 1, 9]), k=5, epsilon=1.2, q=0.6),
    "k alone": battery.Design(table=_normal, k=3, epsilon=0.0, q=0.25),
}


@pytest.fixture(scope="module")
def keys(key_base):
    return battery.replicate_keys(key_base, RELEASES)


@pytest.fixture(scope="module")
def draws(keys):
    return battery.replicate_draws(keys, *_normal.shape)


def microdata(design: battery.Design) -> Microdata:
    return Microdata.from_frame(pd.DataFrame(design.table, columns=list("abcd")))


def machine(design: battery.Design, draws) -> Machine:
    points = coordinates(microdata(design))
    found = find_neighborhoods(points, k=design.k, epsilon=design.epsilon)
    rng = np.random.default_rng(11)
    return Machine(design=design, points=points, neighborhoods=found, draws=draws, rng=rng)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_masking_is_not_refuted_and_is_that_of_the_public_call(name, keys, draws):
    """What the battery reads is what `mask` writes, release by release."""
    design = DESIGNS[name]
    sources = machine(design, draws).run()
    result = battery.verdicts(sources, design.members(), design.q)
    assert min(result.values()) >= battery.ALPHA, result
    params = RWN(k=design.k, epsilon=design.epsilon, q=design.q)
    for key, expected in zip(keys[:10], sources, strict=False):
        release = mask(microdata(design), params, seed=SecretKey(key))
        np.testing.assert_array_equal(release.donors, expected)
        for place, column in enumerate("abcd"):
            values = design.table[expected[:, place], place]
            np.testing.assert_array_equal(release.masked.values(column), values)


def test_planted_faults_are_refuted_and_each_test_of_the_battery_refutes_one(draws):
    made = machine(DESIGNS["continuous"], draws)
    members = made.design.members()
    q = made.design.q
    failed = {name: set(battery.refuted(fault(made), members, q)) for name, fault in FAULTS.items()}
    assert [name for name, tests in failed.items() if not tests] == []
    assert set().union(*failed.values()) == {test.__name__ for test in battery.BATTERY}
    right = {
        "with members": made.with_members(made.points),
        "with draws": made.with_draws(),
        "with unit": made.with_unit(made.rng.random(draws.modify.shape)),
    }
    for way, sources in right.items():  # without its fault, each way to run is right
        assert not battery.refuted(sources, members, q), way
