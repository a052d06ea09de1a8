"""Rank swapping as its sources describe it, and without the faults of other programs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RankSwapping, at_levers, mask

N = 1000
WAYS = {"p": 0.1, "r0": 0.9, "k0": 0.2}


@pytest.fixture(scope="module")
def normal() -> Microdata:
    """A thousand different normal numbers, whose ranks are known."""
    return Microdata.from_frame(pd.DataFrame({"x": np.random.default_rng(0).normal(size=N)}))


def moves(data: Microdata, method: RankSwapping, seed: int = 0) -> np.ndarray:
    """By how many ranks each value moved."""
    masked = mask(data, method, seed=seed).masked
    own = np.sort(data.values("x"))
    ranks = [np.searchsorted(own, table.values("x")) for table in (data, masked)]
    return ranks[1] - ranks[0]


@pytest.mark.parametrize(("p", "most"), [(0.01, 9), (0.05, 49)])
def test_no_value_moves_farther_than_in_the_run_of_the_original(normal, p, most):
    found = [np.abs(moves(normal, RankSwapping(p=p), seed)).max() for seed in range(20)]
    assert max(found) == most


@pytest.mark.parametrize("form", ["moore", "mu_argus"])
@pytest.mark.parametrize("p", [0.002, 0.1, 1.0])
def test_values_change_places_in_pairs_and_no_farther_than_the_fraction(normal, form, p):
    method = RankSwapping(p=p, form=form)
    moved = moves(normal, method)
    assert np.count_nonzero(moved) % 2 == 0
    assert np.abs(moved).max() <= p * N
    if form == "moore":
        assert np.abs(moved).max() < p * N
    masked = mask(normal, method, seed=0).masked
    np.testing.assert_array_equal(np.sort(masked.values("x")), np.sort(normal.values("x")))
    rank = np.argsort(np.argsort(normal.values("x")))
    other = rank + moved  # an exchange: who has my value has given me his
    np.testing.assert_array_equal(other[np.argsort(rank)[other]], rank)


def test_P_1_a_fraction_is_a_fraction_and_a_percentage_is_refused(normal):
    for wrong in ({"p": 5}, {"top": 5.0}, {"bottom": 10}, {"r0": 95}):
        with pytest.raises(ParameterError, match=r"fraction.*not a percentage: write 0.05"):
            RankSwapping(**wrong)
    assert np.abs(moves(normal, RankSwapping(p=1.0))).max() > 500  # what P = 5 does elsewhere


def test_P_1_groups_have_their_exact_size(normal):
    masked = mask(normal, RankSwapping(p=0.05, top=0.05, bottom=0.05), seed=1).masked
    own, released = normal.values("x"), masked.values("x")
    order = np.argsort(own)
    for group in (order[:50], order[-50:]):
        np.testing.assert_allclose(released[group], own[group].mean(), rtol=1e-12)
    middle = order[50:-50]
    np.testing.assert_array_equal(np.sort(released[middle]), np.sort(own[middle]))


def test_the_aimed_correlation_is_reached_and_more(normal):
    """A run of the original at r0 = 0.95 gave 0.982, with top and bottom groups of 5 percent."""
    found = []
    for seed in range(20):
        method = RankSwapping(r0=0.95, top=0.05, bottom=0.05)
        masked = mask(normal, method, seed=seed).masked
        found.append(np.corrcoef(normal.values("x"), masked.values("x"))[0, 1])
    assert 0.978 < np.mean(found) < 0.986
    assert min(found) > 0.95


def test_three_ways_to_say_how_far_of_which_the_largest_counts():
    plain, aimed = RankSwapping(), RankSwapping(r0=0.9)
    assert (plain.p, plain.r0, plain.k0) == (0.05, 1.0, 0.0)
    assert (aimed.p, aimed.r0, aimed.k0) == (0.0, 0.9, 0.0)
    assert RankSwapping(p=0.0).p == 0.0
    assert at_levers(aimed, {"r0": 1.0}) == RankSwapping(p=0.0)  # every slider at its end: nothing
    ranked = np.array([9.0, 8.0, 5.0, 4.0, 1.0])
    alone = {one: RankSwapping(**{one: v}).fraction(ranked, 0, 5) for one, v in WAYS.items()}
    assert RankSwapping(**WAYS).fraction(ranked, 0, 5) == max(alone.values())
    assert len(set(alone.values())) == 3
