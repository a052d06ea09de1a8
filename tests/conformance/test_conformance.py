"""The masking draws as it says, and the battery that says so rejects twenty wrong ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core import RWN, Microdata, SecretKey, coordinates, find_neighborhoods, mask
from tests.conformance.battery import ALPHA, BATTERY, Design, refuted, verdicts
from tests.conformance.faults import FAULTS, Machine, pairwise_distances, scaled_up
from tests.conformance.replicates import replicate_draws, replicate_keys, replicate_sources

RELEASES = 4000
BY_THE_PUBLIC_CALL = 90

_normal = np.random.default_rng(3).normal(size=(60, 4)) * [1.0, 1.0, 1.0, 9.0]
DESIGNS = {
    "continuous": Design(table=_normal, k=5, epsilon=1.5, q=0.6),
    "full of ties": Design(table=np.round(_normal / [1, 1, 1, 9]), k=5, epsilon=1.2, q=0.6),
    "k alone": Design(table=_normal, k=3, epsilon=0.0, q=0.25),
}


def microdata(design: Design) -> Microdata:
    return Microdata.from_frame(pd.DataFrame(design.table, columns=list("abcd")))


def params(design: Design) -> RWN:
    return RWN(k=design.k, epsilon=design.epsilon, q=design.q)


@pytest.fixture(scope="module")
def keys(key_base):
    return replicate_keys(key_base, RELEASES)


@pytest.fixture(scope="module")
def draws(keys):
    return replicate_draws(keys, *_normal.shape)


@pytest.fixture(scope="module")
def machine(draws):
    design = DESIGNS["continuous"]
    points = coordinates(microdata(design))
    return Machine(
        design=design,
        points=points,
        neighborhoods=find_neighborhoods(points, k=design.k, epsilon=design.epsilon),
        draws=draws,
        rng=np.random.default_rng(11),
    )


@pytest.fixture(scope="module")
def failed(machine):
    """The tests of the battery that each planted fault fails."""
    design, members = machine.design, machine.design.members()
    return {fault.__name__: set(refuted(fault(machine), members, design.q)) for fault in FAULTS}


def sources_of(design: Design, draws) -> np.ndarray:
    neighborhoods = find_neighborhoods(
        coordinates(microdata(design)), k=design.k, epsilon=design.epsilon
    )
    return replicate_sources(neighborhoods, draws, design.q)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_masking_is_not_refuted(name, draws, record_property):
    design = DESIGNS[name]
    result = verdicts(sources_of(design, draws), design.members(), design.q)
    record_property("probabilities", result)
    assert min(result.values()) >= ALPHA, result


@pytest.mark.parametrize("name", DESIGNS)
def test_replicates_are_the_public_call_under_as_many_keys(name, keys, draws):
    """What the battery reads is what `mask` writes, release by release."""
    design = DESIGNS[name]
    data, fast = microdata(design), sources_of(design, draws)
    for number in range(BY_THE_PUBLIC_CALL // len(DESIGNS)):
        release = mask(data, params(design), seed=SecretKey(keys[number]))
        np.testing.assert_array_equal(release.donors, fast[number])
        for place, name_ in enumerate("abcd"):
            column = design.table[:, place]
            np.testing.assert_array_equal(
                release.masked.values(name_), column[fast[number][:, place]]
            )


def test_a_planted_fault_is_refuted(failed):
    assert len(failed) == 20
    assert [name for name, tests in failed.items() if not tests] == []


def test_the_faults_are_planted_in_mechanisms_that_pass(machine):
    """Without its fault, each way to run a wrong mechanism is right."""
    design = machine.design
    members, distances = design.members(), pairwise_distances(machine.points, 2)
    unit = machine.rng.random(machine.draws.modify.shape)
    right = {
        "run": machine.run(),
        "with members": machine.with_members(distances),
        "with draws": machine.with_draws(),
        "with ranks": machine.with_draws(ranks=lambda sizes: scaled_up(sizes, unit)),
    }
    for way, sources in right.items():
        assert not refuted(sources, members, design.q), way


def test_the_battery_sees_a_repeated_key(machine):
    """Two releases under one key are one release: the second tells nothing new."""
    design = machine.design
    sources = np.repeat(machine.run()[: RELEASES // 2], 2, axis=0)
    failed = refuted(sources, design.members(), design.q)
    assert "releases_are_independent" in failed


def test_the_battery_sees_one_bad_record_among_sixty(machine):
    """Pooled uniformity is too blunt for it; the worst record is not."""
    design, sources = machine.design, machine.run()
    members = design.members()[0]
    first = sources[:, 0]
    first[first == members[0]] = members[1]
    assert "donors_of_each_record_are_uniform" in refuted(sources, design.members(), design.q)


def test_every_test_of_the_battery_refutes_something(failed):
    """Two of them need faults that are not among the twenty; they have tests of their own."""
    elsewhere = {"releases_are_independent", "hits_are_independent_across_rows"}
    assert set().union(*failed.values()) | elsewhere == {test.__name__ for test in BATTERY}


def test_the_battery_sees_hits_that_rows_share(machine):
    design = machine.design
    n, p = design.table.shape
    modify = machine.draws.modify.reshape(-1, n, p)[:, :1].repeat(n, axis=1)
    sources = np.where(modify < design.q, machine.run(q=1.0), np.arange(n)[:, None])
    failed = refuted(sources, design.members(), design.q)
    assert "hits_are_independent_across_rows" in failed
