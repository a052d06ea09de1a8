"""Values of a record's donors, counted in one look: those of plain counting, unit by unit."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from rwn_core.laws.asked_values_kernel import count_together, multiply_together
from rwn_core.laws.donor_lists import Lists
from rwn_core.measures.attacks import pair_likelihood_kernel
from rwn_core.measures.attacks.pair_likelihood_kernel import RARE, WORTH, likely_pairs
from tests.core.neighbors.callable_kernels import callable_here

N, DONORS, ROWS = 900, 250, 40
LEVELS = (2, 3, 5, 6, 150, 700, 700)  # of each unit
count_together, multiply_together = callable_here(count_together, multiply_together)


@pytest.fixture(params=[True, False], ids=["itself among them", "others alone"])
def lists(request) -> Lists:
    """Random donors of some records."""
    generator = np.random.default_rng(3)
    records = np.arange(0, N, 60)
    members = []
    for record in records:
        others = generator.permutation(np.delete(np.arange(N), record))
        own = [record] if request.param else []
        members.append(np.concatenate((others[: generator.integers(1, 2 * DONORS)], own)))
    sizes = np.array([len(each) for each in members])
    begin, totals = np.cumsum(sizes) - sizes, sizes - float(request.param)
    joined = np.concatenate(members).astype(np.int32)
    return Lists(records, begin, sizes, joined, np.empty(0), totals, request.param)


def coded(q: float) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Each record's value of every unit, and that of some rows."""
    generator = np.random.default_rng(4)
    values = [generator.integers(0, levels, N) for levels in LEVELS]
    return [(own, generator.choice(own, ROWS), q) for own in values]


def asked_for(units, donors: float = DONORS):
    order = np.arange(N, dtype=np.int32)
    listed = SimpleNamespace(order=order, typical=float(donors))
    return pair_likelihood_kernel._asked(units, np.arange(ROWS), listed)


def test_units_are_looked_up_share_a_place_or_have_their_own():
    counted = asked_for(coded(1.0)).together
    places = counted.places.shape[1]
    looked_up = len({int(np.searchsorted(counted.base, at, "right")) for at, _ in counted.holders})
    assert looked_up == 2
    assert 0 < places < len(LEVELS) - looked_up  # some share one
    alone = [np.all(counted.places[:, at] < counted.base[-1]) for at in range(places)]
    assert 0 < sum(alone) < places
    assert len(counted.holders) * RARE < 2 * DONORS
    assert len(counted.added) > 0
    few = asked_for(coded(1.0), WORTH).together  # with so few donors nothing is worth sharing
    assert (few.places.shape[1], len(few.added)) == (len(LEVELS), 0)


@pytest.mark.parametrize("donors", [WORTH, 60, DONORS, 10 * N])
def test_counts_and_products_are_those_of_plain_counting(lists, donors):
    units = coded(0.7)
    asked = asked_for(units, donors)
    counts, marks = np.zeros(asked.together.room, np.int32), np.zeros(N, np.int32)
    chances, products = np.empty(max(LEVELS) + 8), np.empty(ROWS)
    for index, record in enumerate(lists.records):
        begin, size = lists.begin[index], lists.sizes[index]
        donors_of_it = [d for d in lists.members[begin : begin + size] if d != record]
        count_together(lists, index, asked.together, counts, marks)
        expected = np.ones(ROWS)
        for unit, (own, released, q) in enumerate(units):
            plain = Counter(own[donors_of_it].tolist())
            for row, value in enumerate(released):
                place = asked.together.base[unit] + asked.released[unit, row]
                assert counts[place] == plain[value]
                kept = (1 - q) * (own[record] == value)
                expected[row] *= kept + q * (plain[value] / len(donors_of_it))
        multiply_together(asked, record, lists.totals[index], counts, chances, products)
        np.testing.assert_allclose(products, expected, rtol=1e-12)
        assert not counts.any()


@pytest.mark.parametrize("many", [1, 8, 10**6], ids=["never", "by donors or pairs", "always"])
def test_in_which_way_records_are_counted_changes_no_bit(lists, many, monkeypatch):
    usual = likely_pairs(lists, asked_for(coded(0.7)), 0, len(lists.records))
    monkeypatch.setitem(likely_pairs.py_func.__globals__, "MANY", many if many > 1 else 0)
    (other,) = callable_here(likely_pairs)
    found = other(lists, asked_for(coded(0.7)), 0, len(lists.records))
    for one, two in zip(by_pair(usual), by_pair(found), strict=True):
        np.testing.assert_array_equal(one, two)


def by_pair(pairs) -> list[np.ndarray]:
    order = np.lexsort((pairs.record, pairs.row))
    return [each[order] for each in pairs]
