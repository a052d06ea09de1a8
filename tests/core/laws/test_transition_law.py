"""The law of swapped and changed categories, against all releases that there may be."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.transition_law import Transition, one_pool, value_numbers
from rwn_core.laws.transition_matrix import disjoint_share, successive_share
from rwn_core.masking import PRAM, RandomSwapping

ROWS = np.arange(6)


@pytest.fixture
def data() -> Microdata:
    frame = pd.DataFrame({"g": list("aaabbc"), "x": [1.0, 2.0, 3.0, 3.0, 4.0, 9.0]})
    return Microdata.from_frame(frame)


def after_disjoint(codes: np.ndarray, swaps: int) -> np.ndarray:
    """P(record i has value v) over all orders of the records, of which the first are paired."""
    found, n = np.zeros((len(codes), codes.max() + 1)), len(codes)
    orders = list(permutations(range(n)))
    for order in orders:
        place = np.arange(n)
        for pair in range(swaps):
            one, other = order[2 * pair], order[2 * pair + 1]
            place[one], place[other] = other, one
        found[np.arange(n), codes[place]] += 1
    return found / len(orders)


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
        (disjoint_share(swaps, 6), after_disjoint(codes, swaps)),
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
    """Every order of the records, of which the first are paired, is one release."""
    data = Microdata.from_frame(data.frame.assign(y=[5.0, -1.0, 2.0, 2.0, 0.5, 7.0]))
    own, places = data.matrix(["x", "y"]), []
    for order in permutations(range(6)):
        place = np.arange(6)
        for pair in range(swaps):
            one, other = order[2 * pair], order[2 * pair + 1]
            place[one], place[other] = other, one
        places.append(place)
    released = own[np.array(places)]  # releases, records, variables
    moments = transition(data, ("x", "y"), disjoint_share(swaps, 6)).moments()
    np.testing.assert_allclose(moments.means, released.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments.variances, released.var(axis=0), atol=1e-12)
    apart = released - released.mean(axis=0)
    together = np.einsum("rij,rik->jk", apart, apart) / len(places)
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
    rare = RandomSwapping(share=1.0, rarer_than=2, variables="g").prepare(keyed(data)).law
    with pytest.raises(NotApplicable, match="more than their own"):
        rare.unit_chances(("g",), data, ROWS, people)


def keyed(data: Microdata) -> Microdata:
    from dataclasses import replace

    from rwn_core.data.variable import Role

    variables = [replace(v, role=Role.KEY) if v.name == "g" else v for v in data.schema.variables]
    return data.with_schema(replace(data.schema, variables=tuple(variables)))
