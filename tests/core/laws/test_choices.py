"""What a record does with its category: matrices written out, draws by hand, laws of blocks."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws import block_law, transition_law
from rwn_core.laws.block_law import BlockLaw, block_pairs, block_transition, law_within_blocks
from rwn_core.laws.transition_law import (
    Levels,
    Redraw,
    Transition,
    chosen_anew,
    chosen_by,
    one_pool,
    value_numbers,
    within_strata,
)
from rwn_core.laws.transition_matrix import (
    check_transition,
    disjoint_share,
    invariant,
    is_singular,
    mixed_matrix,
    privacy_epsilon,
    second_stage,
    successive_share,
)
from rwn_core.laws.unit_law import FROM_FILE, STILL_MISSING

NAN = np.nan


def test_matrices_by_hand() -> None:
    matrix, v = np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0.8, 0.2])
    assert mixed_matrix(0.5, v).tolist() == [[0.9, 0.1], [0.4, 0.6]]
    # released shares are 0.7 and 0.3
    np.testing.assert_allclose(second_stage(matrix, v), [[6 / 7, 1 / 7], [2 / 3, 1 / 3]])
    epsilon, each = privacy_epsilon(matrix)
    np.testing.assert_allclose(each, np.log([1.5, 2.0]))
    assert epsilon == pytest.approx(np.log(2))
    assert privacy_epsilon(np.array([[1.0, 0.0], [0.5, 0.5]]))[0] == np.inf
    found = privacy_epsilon(np.array([[1.0, 0.0], [1.0, 0.0]]))[1]  # nobody gets the second
    assert found.tolist() == [0.0, 0.0]
    assert [is_singular(matrix), is_singular(np.full((2, 2), 0.5))] == [False, True]


def test_shares_of_swaps_by_hand() -> None:
    assert [disjoint_share(swaps, 6) for swaps in (0, 1, 3)] == [0.0, 0.4, 1.2]
    assert [successive_share(swaps, 5) for swaps in (0, 1, 2)] == [0.0, 0.5, 0.75]
    assert (disjoint_share(0, 1), successive_share(0, 1)) == (0.0, 0.0)
    with pytest.raises(ParameterError, match="not enough records for that many disjoint pairs"):
        disjoint_share(3, 5)


def test_what_is_no_matrix_of_chances_is_refused() -> None:
    for matrix in ([[1.0, 0.0]], [1.0], np.empty((0, 0)), [[[1.0]]]):
        with pytest.raises(ParameterError, match="must be square"):
            check_transition(np.array(matrix))
    for row in ([0.5, 0.5 + 1e-6], [-0.5, 1.5], [0.2, 0.2], [NAN, 1.0]):
        with pytest.raises(ParameterError, match="probabilities whose sum is 1"):
            check_transition(np.array([row, [0.5, 0.5]]))
    check_transition(np.array([[0.0, 1.0], [1 / 3, 2 / 3 + 1e-12]]))


LEVELS = Levels(
    own=np.array([2, 0, 2, 3, 0, 2, 1]), codes=np.array([0, 2]), counts=np.array([2, 3])
)
"""Two levels, 0 and 2; the numbers 1 and 3 are none."""


def written(choice: Redraw) -> np.ndarray:
    """Each record's chances, all numbers in turn."""
    n, wide = len(choice.keep), choice.pools.shape[1]
    found = choice.weights @ choice.pools
    found[np.arange(n), LEVELS.own[:n]] += choice.keep
    assert found.shape == (n, wide)
    return np.asarray(found)


def expected(matrix: np.ndarray) -> np.ndarray:
    rows = np.eye(4)
    rows[np.ix_([0, 2], [0, 2])] = matrix
    return rows[LEVELS.own]


def test_levels_that_occur() -> None:
    assert (LEVELS.size, LEVELS.shares.tolist()) == (2, [0.4, 0.6])
    apart = chosen_by(LEVELS, np.eye(2), False, 1.0)  # a record without a level stays as it is
    assert apart.keep.tolist() == [0, 0, 0, 1, 0, 0, 1]
    assert apart.weights.toarray().argmax(axis=1)[apart.keep == 0].tolist() == [1, 0, 1, 0, 1]
    none = np.empty(0, dtype=np.int64)
    nobody = Levels(own=np.array([0, 0]), codes=none, counts=none)
    assert (nobody.size, nobody.shares.tolist()) == (0, [])
    for choice in (chosen_anew(nobody, 0.5, "even", True, 1.0),
                   chosen_by(nobody, np.empty((0, 0)), False, 1.0)):  # fmt: skip
        assert choice.keep.tolist() == [1.0, 1.0]
        assert choice.weights.nnz == 0


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("second", [False, True])
def test_what_is_drawn_is_the_matrix_written_out(second: bool, alpha: float) -> None:
    v, one = LEVELS.shares, np.eye(2)
    given = np.array([[0.75, 0.25], [0.5, 0.5]])

    def partly(matrix: np.ndarray) -> np.ndarray:
        return expected(alpha * matrix + (1 - alpha) * one)

    full = invariant(given, v) if second else given
    np.testing.assert_allclose(written(chosen_by(LEVELS, given, second, alpha)), partly(full))
    for spread, pool in (("even", np.array([0.5, 0.5])), ("margins", v)):
        matrix = 0.7 * one + 0.3 * pool
        full = invariant(matrix, v) if second and spread == "even" else matrix
        found = written(chosen_anew(LEVELS, 0.3, spread, second, alpha))
        np.testing.assert_allclose(found, partly(full), atol=1e-12)
    still = chosen_anew(LEVELS, 0.0, "even", second, alpha)
    np.testing.assert_allclose(written(still), expected(one))


def test_each_stratum_has_the_levels_and_shares_of_its_own() -> None:
    strata = np.array([0, 0, 1, 0, 1, 0, 0])
    choice = within_strata(
        LEVELS, strata, lambda some: chosen_anew(some, 0.5, "margins", True, 1.0)
    )
    found = written(choice)
    # in the first a 0 and two 2s, in the second one of each
    rows = [[1 / 6, 0, 5 / 6, 0], [4 / 6, 0, 2 / 6, 0], [1 / 4, 0, 3 / 4, 0], [0, 0, 0, 1],
            [3 / 4, 0, 1 / 4, 0], [1 / 6, 0, 5 / 6, 0], [0, 1, 0, 0]]  # fmt: skip
    np.testing.assert_allclose(found, rows)


def test_draws_go_through_what_is_kept_and_then_through_the_pools() -> None:
    pools = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    weights = sparse.csr_array(np.array([[0.25, 0.25], [0.25, 0.25], [0.0, 0.0], [0.0, 0.5]]))
    weights.eliminate_zeros()
    choice = Redraw(keep=np.array([0.5, 0.5, 1.0, 0.5]), weights=weights, pools=pools)
    own = np.array([1, 2, 0, 2])

    def drawn(first: float, second: float) -> list[int]:
        return choice.drawn(own, np.array([[first] * 4, [second] * 4])).tolist()

    assert drawn(0.49, 0.9) == [1, 2, 0, 2]
    assert drawn(0.6, 0.4) == [0, 0, 0, 1]
    assert drawn(0.6, 0.6) == [2, 2, 0, 1]
    assert drawn(0.8, 0.4) == [1, 1, 0, 1]
    assert drawn(0.999999, 1.0) == [1, 1, 0, 1]
    assert choice.matrix(own, np.array([0, 1, 2])).tolist() == [
        [1.0, 0.0, 0.0], [0.125, 0.75, 0.125], [0.0, 0.5, 0.5],
    ]  # fmt: skip


def part_of(data: Microdata, share: float, **options: object) -> Transition:
    own = value_numbers(data, ("g",))
    choice = one_pool(share, own, np.ones(data.n, bool))
    return Transition(original=data, unit=("g",), choice=choice, **options)  # type: ignore[arg-type]


def test_what_a_changed_category_promises() -> None:
    data = Microdata.from_frame(pd.DataFrame({"g": list("aaab")}))
    half = part_of(data, 0.5)  # rows 7/8 1/8 and 3/8 5/8
    assert half.row_epsilon() == pytest.approx(np.log(5))
    assert half.privacy == FROM_FILE
    stated = part_of(data, 0.5, declared=True)
    assert stated.privacy.epsilon == pytest.approx(np.log(5))
    assert stated.privacy.because == "may become any of its values, whatever it was"
    # people outside change like those of the file who have their value
    others = Microdata.from_frame(pd.DataFrame({"g": list("ba")}))
    assert half.chances(data, np.array([0]), others).tolist() == [[0.375, 0.875]]
    weak = part_of(data, 0.8)  # rows 0.8 0.2 and 0.6 0.4
    assert weak.row_epsilon() == pytest.approx(np.log(2))
    told = part_of(data, 0.5, keeps_value_counts=True).privacy
    assert told == (np.inf, "keeps the count of every value, which one person changes")
    none = part_of(data, 0.0, declared=True).privacy
    assert none == (np.inf, "has values that some records cannot release")
    gap = Microdata.from_frame(pd.DataFrame({"g": ["a", "a", "b", None]}))
    assert part_of(gap, 0.5).privacy == STILL_MISSING
    # records with one value may differ: the worst of all of them counts
    own = value_numbers(data, ("g",))
    some = Transition(
        original=data, unit=("g",), choice=one_pool(0.5, own, own >= 0), by_value=False
    )
    apart = np.array([0.5, 0.25, 0.5, 0.5])
    lower = replace(some.choice, keep=1 - apart, weights=sparse.csr_array(apart[:, np.newaxis]))
    # the second record releases b with 1/16, the last with 5/8
    assert replace(some, choice=lower).row_epsilon() == pytest.approx(np.log(10))


def test_matrices_are_looked_at_a_few_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Microdata.from_frame(pd.DataFrame({"g": list("aaabbcdd")}))
    whole = part_of(data, 0.5).row_epsilon()
    monkeypatch.setattr(transition_law, "AT_ONCE", 1)
    assert part_of(data, 0.5).row_epsilon() == whole


def test_too_many_chances_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Microdata.from_frame(pd.DataFrame({"g": list("aaab")}))
    monkeypatch.setattr(transition_law, "LISTED_PAIRS", 8)
    part_of(data, 0.5).table()
    monkeypatch.setattr(transition_law, "LISTED_PAIRS", 7)
    with pytest.raises(NotApplicable, match="At most 7 chances of values are listed"):
        part_of(data, 0.5).table()


@pytest.fixture(scope="module")
def people() -> Microdata:
    frame = pd.DataFrame({"b": list("uvuvuvv"), "x": [1.0, 2.0, 4.0, 2.0, 9.0, NAN, 5.5]})
    return Microdata.from_frame(frame.assign(y=[0.5, 1.0, 1.0, 2.0, 3.0, 1.0, 0.0], z=1.5))


BLOCKS, SELECTED = np.array([0, 1, 0, 1, 0, -1, 1]), np.array([3, 2])


def members() -> np.ndarray:
    """P(each record is the donor of each) over all choices and orders of s records of a block."""
    found = np.eye(7)
    for block, some in ((0, [0, 2, 4]), (1, [1, 3, 6])):
        found[some] = 0.0
        orders = [(o, p) for o in permutations(some) for p in permutations(range(SELECTED[block]))]
        for order, places in orders:
            donor = dict(zip(some, some, strict=True))
            for here, there in enumerate(places):
                donor[order[here]] = order[there]
            for record, giver in donor.items():
                found[record, giver] += 1 / len(orders)
    return found


def test_donors_within_blocks_are_those_of_all_permutations(people: Microdata) -> None:
    law = BlockLaw(people, ("x", "y"), ("b",), BLOCKS, SELECTED)
    np.testing.assert_allclose(law.probabilities.toarray(), members(), atol=1e-12)
    assert (law.units(), law.q.tolist()) == ([("x", "y"), ("b",), ("z",)], [0.0, 1.0, 1.0, 0.0])
    assert (law.neighborhoods, law.empty.tolist(), law.keeps_value_counts("x")) == (None, [], True)
    found = law.moments()
    own = people.matrix(["x", "y"])
    known = [0, 1, 2, 3, 4, 6]
    means = members()[np.ix_(known, known)] @ own[known]
    squares = members()[np.ix_(known, known)] @ own[known] ** 2
    assert found.names == ("x", "y", "z")
    assert (found.means[:, 2].tolist(), found.variances[:, 2].tolist()) == ([1.5] * 7, [0.0] * 7)
    places = [0, 1]
    np.testing.assert_allclose(found.means[np.ix_(known, places)], means, atol=1e-12)
    np.testing.assert_allclose(
        found.variances[np.ix_(known, places)], squares - means**2, atol=1e-12
    )
    assert np.isnan(found.means[5, 0])
    assert not found.totals.any()
    assert block_pairs(BLOCKS) == 18
    # who knows what makes the blocks knows the law, and nobody else
    block, other = (Microdata.from_frame(people.frame[[name]]) for name in "bx")
    assert law.restricted_to(block).q.tolist() == [0.0]
    with pytest.raises(NotApplicable, match="variables that make the blocks"):
        law.restricted_to(other)


def test_values_within_blocks_have_the_chances_of_their_donors(
    people: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (people, ("x", "y"), ("b",), BLOCKS, SELECTED)
    donors = law_within_blocks(*given)
    assert isinstance(donors, BlockLaw)
    part = block_transition(people, ("x", "y"), BLOCKS, SELECTED)
    rows = np.arange(7)
    np.testing.assert_allclose(part.chances(people, rows), members().T, atol=1e-12)
    np.testing.assert_allclose(part.retained, np.diag(members()), atol=1e-12)
    assert (part.keeps_value_counts, part.by_value) == (True, False)
    monkeypatch.setattr(block_law, "ATTACKED_PAIRS", 18)
    assert isinstance(law_within_blocks(*given), BlockLaw)
    monkeypatch.setattr(block_law, "ATTACKED_PAIRS", 17)
    values = law_within_blocks(*given)
    assert values is not None
    assert values.units() == donors.units()
    monkeypatch.setattr(block_law, "LISTED_PAIRS", 14)  # two blocks, seven pairs of values
    assert law_within_blocks(*given) is not None
    monkeypatch.setattr(block_law, "LISTED_PAIRS", 13)
    assert law_within_blocks(*given) is None
