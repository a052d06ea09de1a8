"""Laws of transition matrices and of rank swaps."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from rwn_core import PRAM, Microdata, NotApplicable, ParameterError, RankSwapping
from rwn_core.laws.rank_swaps import descending, moore_partners, mu_argus_partners, whole_part
from rwn_core.laws.transition_law import Transition, one_pool, value_numbers
from rwn_core.laws.transition_matrix import (
    disjoint_share,
    invariant,
    mixed_matrix,
    privacy_epsilon,
    second_stage,
    successive_share,
)
from tests.check_values import check_values
from tests.tables import described

ROWS = np.arange(6)


@pytest.fixture
def data() -> Microdata:
    frame = pd.DataFrame({"g": list("aaabbc"), "x": [1.0, 2.0, 3.0, 3.0, 4.0, 9.0]})
    return described(frame)


def places_after(swaps: int) -> np.ndarray:
    """Where each of six records is, for all orders of them, of which the first are paired."""
    found = []
    for order in permutations(range(6)):
        place = np.arange(6)
        for pair in range(swaps):
            one, other = order[2 * pair], order[2 * pair + 1]
            place[one], place[other] = other, one
        found.append(place)
    return np.array(found)


def after_successive(codes: np.ndarray, swaps: int) -> np.ndarray:
    """P(record i has value v) when each pair of records is as likely, swap after swap."""
    n = len(codes)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    step = np.zeros((n, n))
    for one, other in pairs:
        moved = np.eye(n)
        moved[[one, other]] = moved[[other, one]]
        step += moved / len(pairs)
    return np.linalg.matrix_power(step, swaps) @ np.eye(codes.max() + 1)[codes]


def transition(data: Microdata, unit: tuple[str, ...], share: float) -> Transition:
    own = value_numbers(data, unit)
    return Transition(original=data, unit=unit, choice=one_pool(share, own, np.ones(data.n, bool)))


@pytest.mark.parametrize("swaps", [0, 1, 2, 3])
def test_swaps_are_as_likely_as_counting_says(data, swaps):
    codes = value_numbers(data, ("g",))
    for share, exact in (
        (disjoint_share(swaps, 6), np.eye(3)[codes[places_after(swaps)]].mean(axis=0)),
        (successive_share(swaps, 6), after_successive(codes, swaps)),
    ):
        law = transition(data, ("g",), share)
        table, values = law.table()
        np.testing.assert_allclose(table.toarray(), exact, atol=1e-12)
        np.testing.assert_allclose(law.retained, exact[ROWS, codes], atol=1e-12)
        np.testing.assert_allclose(law.chances(data, ROWS), exact[:, codes].T, atol=1e-12)
        assert values == ["a", "b", "c"]


@pytest.mark.parametrize("swaps", [0, 1, 3])
def test_moments_are_those_of_all_releases(data, swaps):
    data = described(data.frame.assign(y=[5.0, -1.0, 2.0, 2.0, 0.5, 7.0]))
    released = data.matrix(["x", "y"])[places_after(swaps)]  # releases, records, variables
    moments = transition(data, ("x", "y"), disjoint_share(swaps, 6)).moments()
    np.testing.assert_allclose(moments.means, released.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments.variances, released.var(axis=0), atol=1e-12)
    apart = released - released.mean(axis=0)
    together = np.einsum("rij,rik->jk", apart, apart) / len(released)
    np.testing.assert_allclose(moments.together, together, atol=1e-12)


def test_a_few_variables_of_a_unit_are_seen_by_themselves(data):
    both = transition(data, ("g", "x"), 0.6)
    codes = value_numbers(data, ("g",))
    alone = transition(data, ("g",), 0.6)
    part = both.restricted_to(frozenset(("g",)))
    np.testing.assert_allclose(part.retained, alone.retained)
    np.testing.assert_allclose(part.table()[0].toarray(), alone.table()[0].toarray())
    assert np.all(both.retained <= part.retained + 1e-12)
    assert not np.allclose(both.retained, part.retained)
    assert codes.max() == 2
    with pytest.raises(NotApplicable):
        both.table()


def test_rounded_values_have_the_sum_of_their_chances(data):
    law = transition(data, ("x",), 0.6)
    coarse = law.rounded({"x": 5.0, "nobody": 1.0})
    table, values = coarse.table()
    assert values == [0.0, 5.0, 10.0]
    exact = law.table()[0].toarray() @ np.array(
        [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    )
    np.testing.assert_allclose(table.toarray(), exact)
    assert law.rounded({"nobody": 1.0}) is law


def test_people_outside_change_like_those_with_their_values(data):
    law = PRAM(change=0.4).prepare(data).law
    people = Microdata(pd.DataFrame({"g": ["b", "z"], "x": [1.0, 2.0]}), data.schema)
    found = law.unit_chances(("g",), data, ROWS, people)
    inside = law.unit_chances(("g",), data, ROWS)
    np.testing.assert_allclose(found[:, 0], inside[:, 3])
    assert not found[:, 1].any()  # nobody of the file can tell how such a value would change


ENTRIES = check_values("risk")
SHARES = np.array([3, 2, 1]) / 6


def test_SWAP_1_random_swapping():
    given = ENTRIES["SWAP-1"]["expected"]
    for swaps in (1, 2):
        matrix = mixed_matrix(disjoint_share(swaps, 6), SHARES)
        np.testing.assert_allclose(matrix, given[f"disjoint_Q{swaps}"], rtol=1e-9)
        np.testing.assert_allclose(SHARES @ matrix, SHARES, atol=1e-15)
    matrix = mixed_matrix(successive_share(2, 6), SHARES)
    np.testing.assert_allclose(matrix, given["composed_Q2"], rtol=1e-9)
    np.testing.assert_allclose(SHARES @ matrix, SHARES, atol=1e-15)
    assert privacy_epsilon(matrix)[0] == pytest.approx(given["eps_composed_Q2"], rel=1e-9)
    assert (disjoint_share(0, 1), successive_share(0, 1)) == (0.0, 0.0)
    with pytest.raises(ParameterError, match="not enough records"):
        disjoint_share(4, 6)


def test_PRAM_1_stages_and_epsilon():
    given, inputs = ENTRIES["PRAM-1"]["expected"], ENTRIES["PRAM-1"]["input"]
    matrix, v = np.array(inputs["P"]), np.array(inputs["v"])
    np.testing.assert_allclose(v @ matrix, given["vP"], rtol=1e-9)
    np.testing.assert_allclose(second_stage(matrix, v), given["Q"], rtol=1e-9)
    both = invariant(matrix, v)
    np.testing.assert_allclose(both, given["R"], rtol=1e-9)
    np.testing.assert_allclose(v @ both, v, atol=1e-12)
    np.testing.assert_allclose(0.5 * both + 0.5 * np.eye(3), given["Rstar_half"], rtol=1e-9)
    epsilon, by_category = privacy_epsilon(matrix)
    assert epsilon == pytest.approx(given["epsilon"], rel=1e-9)
    np.testing.assert_allclose(by_category, given["epsilon_by_released_category"], rtol=1e-9)


def test_two_stages_keep_the_shares_whatever_the_matrix():
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 40):
        for _ in range(20):
            matrix = rng.dirichlet(np.full(size, 0.3), size)
            v = rng.dirichlet(np.full(size, 0.5))
            assert np.abs(v @ invariant(matrix, v) - v).max() < 1e-12
    # a level that nobody gets has no posterior
    matrix = np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(second_stage(matrix, np.array([0.5, 0.5]))[1], [0, 1])


NAN = np.nan


def test_partners_by_hand():
    uniform = np.array([0.0, 0.9, 0.5, 0.0, 0.99, 0.0, 0.0])
    # 0 takes 1, the first of 1 and 2; 2 takes 4, the second of 3 and 4; 3 takes 5; 6 is alone
    assert moore_partners(3, uniform).tolist() == [1, 0, 4, 5, 2, 3, 6]
    assert moore_partners(2, uniform).tolist() == [1, 0, 3, 2, 5, 4, 6]
    assert moore_partners(1, uniform).tolist() == list(range(7))
    assert moore_partners(0, uniform).tolist() == list(range(7))
    assert moore_partners(9, np.full(4, 0.999)).tolist() == [3, 2, 1, 0]
    # of the other form: 0 aims at 1 + 0; 2 at 3 + 1; 3 at 4, and finds 5 after it; 6 is the last
    assert mu_argus_partners(3, uniform).tolist() == [1, 0, 4, 5, 2, 3, 6]
    # shares of counts are unharmed by rounding
    assert [whole_part(x) for x in (0.29 * 100, 28.999, 29.0, 0.0, 1 - 1e-10)] == [29, 28, 29, 0, 1]


def slow_mu_argus(reach: int, uniform: np.ndarray) -> list[int]:
    n = len(uniform)
    partner = list(range(n))
    for place in range(n - 1):
        if reach and partner[place] == place:
            aim = min(place + 1 + int(reach * uniform[place]), n - 1)
            order = [*range(aim, place, -1), *range(aim + 1, min(n - 1, place + reach) + 1)]
            free = [other for other in order if partner[other] == other]
            if free:
                partner[place], partner[free[0]] = free[0], place
    return partner


def test_the_nearest_free_rank_before_the_aim_or_else_after_it():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 7, 12):
        for reach in (0, 1, 2, 5, 20):
            for _ in range(10):
                uniform = rng.random(n)
                assert mu_argus_partners(reach, uniform).tolist() == slow_mu_argus(reach, uniform)


def test_the_range_of_ranks_that_is_asked_for():
    ranked = np.array([10.0, 8.0, 6.0, 2.0, 0.0])  # the middle has variance 56 / 9, mean 16 / 3
    r0, k0 = np.sqrt(2 * 56 / 9 * 0.5) / 10, np.sqrt(8 / 3) * 0.25 * 16 / 3 / 10
    for given, values, first, last, expected in (
        ((0.0, 0.5, 0.0), ranked, 1, 4, r0),
        ((0.0, 1.0, 0.25), ranked, 1, 4, k0),
        ((0.0, 1.0, 0.25), -ranked[::-1], 1, 4, k0),
        ((0.9, 0.5, 0.25), ranked, 1, 4, 0.9),
        ((0.0, 0.0, 0.0), ranked, 0, 5, np.sqrt(2 * 13.76) / 10),
        ((0.2, 0.0, 9.0), np.full(3, 4.0), 0, 3, 0.2),
        ((0.3, 0.0, 9.0), ranked, 2, 2, 0.3),
    ):
        params = RankSwapping(**dict(zip(("p", "r0", "k0"), given, strict=True)))
        assert params.fraction(values, first, last) == pytest.approx(expected)


def test_the_largest_come_first_and_ties_as_they_fall():
    values = np.array([2.0, NAN, 5.0, 2.0, 1.0])
    assert descending(values, np.array([0.9, 0, 0.5, 0.1, 0.3])).tolist() == [2, 3, 0, 4]
    assert descending(values, np.zeros(5)).tolist() == [2, 0, 3, 4]


@cache
def enumerated(
    n: int, reach: int, taken: frozenset[int] = frozenset(), place: int = 0
) -> np.ndarray:
    """The chances of pairs by following each case to its end."""
    if place == n:
        return np.zeros((n, n))
    if place in taken:
        return enumerated(n, reach, taken, place + 1)
    free = [j for j in range(place + 1, min(place + reach, n)) if j not in taken]
    if not free:
        found = enumerated(n, reach, taken, place + 1).copy()
        found[place, place] += 1
        return found
    found = np.zeros((n, n))
    for other in free:
        part = enumerated(n, reach, taken | {other}, place + 1).copy()
        part[place, other] += 1
        part[other, place] += 1
        found += part / len(free)
    return found


def test_partners_are_drawn_with_the_chances_of_all_cases():
    generator, exact = np.random.default_rng(3), enumerated(14, 5)
    draws = np.array([moore_partners(5, generator.random(14)) for _ in range(3000)])
    error = 4 * np.sqrt(exact * (1 - exact) / 3000) + 1e-9
    simulated = np.array([np.bincount(column, minlength=14) for column in draws.T]) / 3000
    assert (np.abs(simulated - exact) <= error).all()
    assert not (np.abs(simulated - enumerated(14, 6)) <= error).all()
