"""Rank swapping as its sources describe it, and without the faults of other programs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.laws.rank_swaps import (
    counted_moore_chances,
    exact_moore_chances,
    moore_partners,
    mu_argus_partners,
)
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
@pytest.mark.parametrize("p", [0.002, 0.013, 0.1, 0.5, 1.0])
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


def test_fractions_of_r0_and_k0():
    ranked = np.array([10.0, 8.0, 5.0, 4.0, 1.0])
    exchanged = ranked[1:4]
    both = 10.0 - 1.0
    assert RankSwapping(p=0.3).fraction(ranked, 1, 4) == 0.3
    r0 = RankSwapping(r0=0.5).fraction(ranked, 1, 4)
    assert r0 == pytest.approx(np.sqrt(2 * exchanged.var() * 0.5) / both)
    k0 = RankSwapping(k0=0.1).fraction(ranked, 1, 4)
    assert k0 == pytest.approx(np.sqrt(8 / 3) * 0.1 * exchanged.mean() / both)
    assert RankSwapping(r0=1.0).fraction(ranked, 0, 5) == 0
    assert RankSwapping(k0=0.1).fraction(np.full(4, 2.0), 0, 4) == 0
    assert RankSwapping(k0=0.1).fraction(np.empty(0), 0, 0) == 0


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
    with pytest.raises(ParameterError, match="together must be below 1"):
        RankSwapping(top=0.5, bottom=0.5)
    with pytest.raises(ParameterError, match="form must be one of"):
        RankSwapping(form="other")  # type: ignore[arg-type]


def test_every_free_partner_is_as_likely():
    rng = np.random.default_rng(4)
    first = np.array([moore_partners(6, rng.random(12))[0] for _ in range(5000)])
    counts = np.bincount(first, minlength=7)
    assert counts[0] == counts[6] == 0
    assert np.all(np.abs(counts[1:6] - 1000) < 4 * np.sqrt(800))
    # the deprecated form prefers no rank at first, but leaves holes that it closes leftward
    second = np.array([mu_argus_partners(6, rng.random(12))[1] for _ in range(5000)])
    later = np.bincount(second, minlength=8)[2:8]
    assert np.abs(later - later.mean()).max() > 4 * np.sqrt(later.mean())


def test_missing_stays_missing_and_ordered_values_and_dates_move():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "x": pd.array(rng.integers(0, 50, 200), dtype="Int64"),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], 200), ["s", "m", "l"], ordered=True),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, 200), "D"),
            "g": rng.choice(["a", "b"], 200),
        }
    ).mask(rng.random((200, 4)) < 0.2)
    data = Microdata.from_frame(frame)
    masked = mask(data, RankSwapping(p=0.3, top=0.1), seed=3).masked
    assert (masked.frame.isna() == data.frame.isna()).to_numpy().all()
    assert -999 not in masked.frame["x"].dropna().tolist()
    for name in ("size", "day"):
        before, after = (table.frame[name].value_counts().to_dict() for table in (data, masked))
        assert before == after
        assert not masked.frame[name].equals(data.frame[name])
    assert masked.frame["g"].equals(data.frame["g"])
    assert RankSwapping().remarks(data, None) == ["released as they are: g"]
    with pytest.raises(ParameterError, match="not g; choose another method"):
        RankSwapping(others="refuse").prepare(data)


def test_too_small_a_fraction_is_remarked(normal):
    few = normal.take(np.arange(20))
    method = RankSwapping(p=0.05)
    assert "less than 2 ranks" in method.remarks(few, None)[0]
    assert mask(few, method, seed=0).masked.frame.equals(few.frame)


def test_the_chances_of_partners_by_hand_and_against_rankings() -> None:
    halves = [[0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    np.testing.assert_allclose(exact_moore_chances(3, 3).toarray(), halves)
    one = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(exact_moore_chances(3, 2).toarray(), one)
    np.testing.assert_allclose(exact_moore_chances(4, 1).toarray(), np.eye(4))
    generator, exact = np.random.default_rng(3), exact_moore_chances(14, 5).toarray()
    np.testing.assert_allclose(exact.sum(axis=1), 1.0)
    draws = [moore_partners(5, generator.random(14)) for _ in range(3000)]
    error = 4 * np.sqrt(exact * (1 - exact) / 3000) + 1e-9
    simulated = np.array([np.bincount(column, minlength=14) for column in np.array(draws).T]) / 3000
    assert (np.abs(simulated - exact) <= error).all()
    wrong = exact_moore_chances(14, 6).toarray()
    assert not (np.abs(simulated - wrong) <= error).all()
    counted = [counted_moore_chances(14, 5, seed).toarray() for seed in range(30)]
    assert (np.abs(np.mean(counted, axis=0) - exact) <= error).all()


def test_the_defaults_of_sdcmicro_are_a_preset(normal: Microdata) -> None:
    """RankSwap(obj): R0 = 0.95, TopPercent = BottomPercent = 5."""
    made = RankSwapping().prepare(normal)
    chosen = made.with_levers(**made.presets["As sdcMicro"])
    assert chosen.params == RankSwapping(r0=0.95, top=0.05, bottom=0.05)
