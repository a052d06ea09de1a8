"""Donors: drawn, choices, lists, and their laws."""

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core import Draws, Kind, copy_from_donors, draw_donors
from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.errors import NotApplicable
from rwn_core.laws import block_law, transition_law
from rwn_core.laws.block_law import BlockLaw, block_pairs, block_transition, law_within_blocks
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.donors import NO_DONOR, masked_columns, random_streams, released_schema
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.laws.transition_law import (
    Levels,
    Redraw,
    Transition,
    chosen_anew,
    chosen_by,
    is_discrete,
    one_pool,
    value_numbers,
    with_numbers,
)
from rwn_core.laws.transition_matrix import invariant, is_singular, privacy_epsilon
from rwn_core.laws.unit_law import FROM_DONORS, FROM_FILE, OR_NOT_AT_ALL, STILL_MISSING, UNMASKED
from rwn_core.masking import NBRS2015, RWN, AdditiveNoise, RandomSample
from rwn_core.neighbors import find_neighborhoods
from rwn_core.randomness import SecretKey, uniforms
from tests.core.laws.cell_probability import probability
from tests.oracles.record_chain import RecordChain
from tests.tables import described

KEY = SecretKey.from_seed(7)


def test_ranks_follow_the_record_chain():
    draws = RecordChain(KEY, np.arange(40), (0, 5))
    for size in (1, 2, 3, 10, 1000, 2**31 - 2):
        ranks = draws.ranks(np.full(40, size))
        for (record, column), rank in np.ndenumerate(ranks):
            place, following, step = 1, 1, 0  # the chain of one cell, step by step
            while following <= size:
                place = following
                step = step + 1
                uniform = uniforms(KEY, np.array([record]), (0, 5)[column], step // 8)[step % 8, 0]
                following = math.floor(place / uniform) + 1
            assert rank == place


def test_an_empty_neighborhood_gives_nobody():
    neighborhoods = find_neighborhoods(np.array([[0.0], [1.0], [9.0]]), epsilon=1.0)
    donors = draw_donors(neighborhoods, Draws(KEY, np.arange(3), (0, 1)), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(donors, [[1, 0], [0, 1], [NO_DONOR, 2]])


def test_variables_of_a_group_share_a_stream_and_columns_are_masked_as_the_schema_says():
    frame = pd.DataFrame({name: range(5) for name in ("id", "a", "b", "c", "d")})
    microdata = described(frame, [("b", "d")], unmasked=["c"], id="identifier")
    assert random_streams(microdata) == (0, 1, 2, 1)
    assert masked_columns(microdata).tolist() == [True, True, False, True]


COLUMNS: dict[str, Any] = {
    **{name: pd.array([1, 2, 3, 4], dtype=name) for name in ("int64", "int8", "uint16")},
    "float64": [1.5, 2.5, np.nan, 4.5],
    "float32": np.array([1.5, 2.5, 3.5, 4.5], dtype="float32"),
    "bool": [True, False, True, True],
    "string": pd.array(["a", "b", None, "d"], dtype="string"),
    "text": ["a", "b", "c", "d"],
    "category": pd.Categorical(["a", "b", "c", "a"]),
    "ordered": pd.Categorical(list("abca"), categories=list("cba"), ordered=True),
    "datetime": pd.date_range("2020-01-01", periods=4),
    "zoned": pd.date_range("2020-01-01", periods=4, tz="Europe/Rome"),
    "Int64": pd.array([1, None, 3, 4], dtype="Int64"),
    "boolean": pd.array([True, None, False, True], dtype="boolean"),
    "Float64": pd.array([1.5, None, 3.5, 4.5], dtype="Float64"),
}
WITH_MISSING = {"int64": "Int64", "int8": "Int8", "uint16": "UInt16", "bool": "boolean"}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_are_copied_with_their_type_and_lost_ones_are_missing(name):
    column = pd.Series(COLUMNS[name], name=name)
    microdata = described(column.to_frame())
    donors = np.array([3, 3, 0, 1])
    copied = copy_from_donors(microdata, donors[:, None]).frame[name]
    pd.testing.assert_series_equal(copied, column.iloc[donors].reset_index(drop=True))
    masked = copy_from_donors(microdata, np.array([[3], [NO_DONOR], [0], [NO_DONOR]]))
    copied = masked.frame[name]
    assert copied.dtype == WITH_MISSING.get(name, column.dtype)
    assert copied.isna().tolist() == [False, True, False, True]
    assert copied.iloc[[0, 2]].tolist() == column.iloc[[3, 0]].tolist()
    if masked.schema.variable(name).kind in (Kind.CATEGORICAL, Kind.ORDERED):
        assert masked.codes(name)[0].tolist().count(-1) == 2
    else:
        assert np.isnan(masked.values(name)).tolist() == [False, True, False, True]
    nothing = copy_from_donors(microdata, np.full((4, 1), NO_DONOR))
    assert nothing.frame[name].isna().all()


def test_a_whole_number_beyond_float_precision_survives():
    large = 2**53 + 1
    data = described(pd.DataFrame({"x": [large, large + 2, 5]}))
    copied = copy_from_donors(data, np.array([[1], [NO_DONOR], [0]])).frame["x"]
    assert copied.tolist()[::2] == [large + 2, large]


def test_a_release_has_no_identifier_no_rule_and_no_question_about_one():
    data = described(pd.DataFrame({"id": [1, 2], "x": [3, 4]}), id="identifier")
    asking = replace(data.schema.asking("x", ("id",)), edit_rules=("x <= 9",))
    released = released_schema(asking)
    assert (released.names, released.question, released.edit_rules) == (("x",), None, ())
    copied = copy_from_donors(data.with_schema(asking), np.array([[1], [0]]))
    assert copied.names == ("x",)


NAN = np.nan


def test_matrices_by_hand():
    matrix = np.array([[0.75, 0.25], [0.5, 0.5]])
    assert privacy_epsilon(np.array([[1.0, 0.0], [0.5, 0.5]]))[0] == np.inf
    found = privacy_epsilon(np.array([[1.0, 0.0], [1.0, 0.0]]))[1]  # nobody gets the second
    assert found.tolist() == [0.0, 0.0]
    assert [is_singular(matrix), is_singular(np.full((2, 2), 0.5))] == [False, True]


LEVELS = Levels(
    own=np.array([2, 0, 2, 3, 0, 2, 1]), codes=np.array([0, 2]), counts=np.array([2, 3])
)
"""Two levels, 0 and 2; the numbers 1 and 3 are none."""


def written(choice: Redraw) -> np.ndarray:
    """Each record's chances, all numbers in turn."""
    n = len(choice.keep)
    wide = choice.pools.shape[1]
    found = choice.weights @ choice.pools
    found[np.arange(n), LEVELS.own[:n]] += choice.keep
    assert found.shape == (n, wide)
    return np.asarray(found)


def expected(matrix: np.ndarray) -> np.ndarray:
    rows = np.eye(4)
    rows[np.ix_([0, 2], [0, 2])] = matrix
    return rows[LEVELS.own]


def test_levels_that_occur():
    assert (len(LEVELS.codes), LEVELS.shares.tolist()) == (2, [0.4, 0.6])
    apart = chosen_by(LEVELS, np.eye(2), False, 1.0)  # a record without a level stays as it is
    assert apart.keep.tolist() == [0, 0, 0, 1, 0, 0, 1]
    assert apart.weights.toarray().argmax(axis=1)[apart.keep == 0].tolist() == [1, 0, 1, 0, 1]
    none = np.empty(0, dtype=np.int64)
    nobody = Levels(own=np.array([0, 0]), codes=none, counts=none)
    assert (len(nobody.codes), nobody.shares.tolist()) == (0, [])
    for choice in (chosen_anew(nobody, 0.5, "even", True, 1.0),
                   chosen_by(nobody, np.empty((0, 0)), False, 1.0)):  # fmt: skip
        assert (choice.keep.tolist(), choice.weights.nnz) == ([1.0, 1.0], 0)


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("second", [False, True])
def test_what_is_drawn_is_the_matrix_written_out(second, alpha):
    v = LEVELS.shares
    one = np.eye(2)
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


def test_draws_go_through_what_is_kept_and_then_through_the_pools():
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


def test_what_a_changed_category_promises():
    data = described(pd.DataFrame({"g": list("aaab")}))
    half = part_of(data, 0.5)  # rows 7/8 1/8 and 3/8 5/8
    assert half.row_epsilon() == pytest.approx(np.log(5))
    assert half.privacy == FROM_FILE
    stated = part_of(data, 0.5, declared=True)
    assert stated.privacy.epsilon == pytest.approx(np.log(5))
    assert stated.privacy.because == "may become any of its values, whatever it was"
    # people outside change like those of the file who have their value
    others = described(pd.DataFrame({"g": list("ba")}))
    assert half.chances(data, np.array([0]), others).tolist() == [[0.375, 0.875]]
    weak = part_of(data, 0.8)  # rows 0.8 0.2 and 0.6 0.4
    assert weak.row_epsilon() == pytest.approx(np.log(2))
    told = part_of(data, 0.5, keeps_value_counts=True).privacy
    assert told == (np.inf, "keeps the count of every value, which one person changes")
    none = part_of(data, 0.0, declared=True).privacy
    assert none == (np.inf, "has values that some records cannot release")
    gap = described(pd.DataFrame({"g": ["a", "a", "b", None]}))
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


def test_large_matrices_are_looked_at_a_few_columns_at_a_time_and_not_listed(monkeypatch):
    data = described(pd.DataFrame({"g": list("aaabbcdd")}))
    part = part_of(data, 0.5)
    whole = part.row_epsilon()
    monkeypatch.setattr(transition_law, "AT_ONCE", 1)
    assert part_of(data, 0.5).row_epsilon() == whole
    monkeypatch.setattr(transition_law, "LISTED_PAIRS", 32)
    part_of(data, 0.5).table()
    monkeypatch.setattr(transition_law, "LISTED_PAIRS", 31)
    with pytest.raises(NotApplicable, match="At most 31 chances of values are listed"):
        part_of(data, 0.5).table()


@pytest.fixture(scope="module")
def people() -> Microdata:
    frame = pd.DataFrame({"b": list("uvuvuvv"), "x": [1.0, 2.0, 4.0, 2.0, 9.0, NAN, 5.5]})
    return described(frame.assign(y=[0.5, 1.0, 1.0, 2.0, 3.0, 1.0, 0.0], z=1.5))


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


def test_donors_within_blocks_are_those_of_all_permutations(people):
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
    block, other = (described(people.frame[[name]]) for name in "bx")
    assert law.restricted_to(block).q.tolist() == [0.0]
    with pytest.raises(NotApplicable, match="variables that make the blocks"):
        law.restricted_to(other)


def test_values_within_blocks_have_the_chances_of_their_donors(people, monkeypatch):
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
    assert values.units() == donors.units()
    monkeypatch.setattr(block_law, "LISTED_PAIRS", 14)  # two blocks, seven pairs of values
    assert law_within_blocks(*given) is not None
    monkeypatch.setattr(block_law, "LISTED_PAIRS", 13)
    assert law_within_blocks(*given) is None


def members_at_risk(risks: np.ndarray) -> np.ndarray:
    """The same where of each block those records are selected that are most at risk."""
    found = np.eye(7)
    for block, some in ((0, [0, 2, 4]), (1, [1, 3, 6])):
        found[some] = 0.0
        lots = list(permutations(some, int(SELECTED[block])))
        sums = [risks[list(lot)].sum() for lot in lots]
        orders = [lot for lot, total in zip(lots, sums, strict=True) if total == max(sums)]
        for order in orders:
            donor = dict(zip(some, some, strict=True))
            donor |= dict(zip(sorted(order), order, strict=True))
            for record, giver in donor.items():
                found[record, giver] += 1 / len(orders)
    return found


@pytest.mark.parametrize(
    "risks",
    [
        [0.0, 1.0, 0.0, 2.0, 0.0, 9.0, 1.0],  # 3 is certain, 1 or 6 is drawn
        [0.0, 3.0, 0.0, 2.0, 0.0, 0.0, 1.0],  # 1 and 3 are certain, 6 stays
        [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],  # nobody is more at risk
    ],
)
def test_donors_by_risk_are_those_of_all_permutations(people, risks):
    risks = np.array(risks)
    law = BlockLaw(people, ("x", "y"), ("b",), BLOCKS, SELECTED, risks)
    expected = members_at_risk(risks)
    np.testing.assert_allclose(law.probabilities.toarray(), expected, atol=1e-12)
    part = block_transition(people, ("x", "y"), BLOCKS, SELECTED, risks)
    np.testing.assert_allclose(part.chances(people, np.arange(7)), expected.T, atol=1e-12)
    # planted: the law of random records is another one, unless all are equally at risk
    alike = np.allclose(expected, members())
    assert alike == (len(set(risks[[1, 3, 6]])) == 1)


POINTS_LAWS = np.array([[0.0], [1.0], [2.0], [9.0]])


@pytest.fixture(scope="module")
def data() -> Microdata:
    frame = pd.DataFrame({"x": [1.0, 2.0, 2.0, NAN], "y": [5.0, 5.0, 6.5, 7.0], "g": list("abba")})
    return described(frame)


@pytest.fixture(scope="module")
def law(data: Microdata) -> CellLaw:
    """Record 0 has the donor 1, record 1 has 0 and 2, record 2 has 1, record 3 has all others."""
    found = find_neighborhoods(POINTS_LAWS, epsilon=1.0, k=1)
    shares = DonorTables(found).matrix.tolil()
    shares[3] = [1 / 3, 1 / 3, 1 / 3, 0]
    return CellLaw(data, found, np.array([0.5, 1.0, 0.0]), shares.tocsr())


def test_the_law_of_each_cell_by_hand(data, law):
    table, values = law.table("x")
    assert values == [1.0, 2.0, None]
    expected = [[0.5, 0.5, 0], [0.25, 0.75, 0], [0, 1.0, 0], [1 / 6, 1 / 3, 0.5]]
    np.testing.assert_allclose(table.toarray(), expected)
    assert law.table("x")[0] is table
    np.testing.assert_allclose(law.retained("x"), [0.5, 0.75, 1.0, 0.5])
    np.testing.assert_allclose(law.retained("y"), [1.0, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(law.rows_unchanged(), [0.5, 0.375, 0.0, 0.0])
    x, g = law.supports(["x", "g"])
    assert (x[0].tolist(), g[0].tolist()) == ([3, 4, 1], [2, 2])
    np.testing.assert_allclose(x[1], np.sum(expected, axis=0) / 4)
    assert probability(law, 3, "x", None) == 0.5
    assert probability(law, 0, "x", 2.0) == 0.5
    assert probability(law, 0, "x", 3.0) == 0.0
    assert (law.units(), law.moments()) == ([("x",), ("y",), ("g",)], None)
    assert [law.keeps_value_counts(name) for name in "xyg"] == [False, False, True]
    assert law.privacy() == {("x",): FROM_DONORS, ("y",): FROM_DONORS, ("g",): UNMASKED}
    assert law.empty.tolist() == []
    shown = Microdata(data.frame.assign(x=[2.0, 9.0, NAN, 1.0]), data.schema)
    found = law.unit_chances(("x",), shown, np.array([0, 1, 2]))
    np.testing.assert_allclose(found, [np.array(expected)[:, 1], [0] * 4, [0, 0, 0, 0.5]])
    codes, columns = codes_together(law.original, shown, ("x",), np.arange(4))
    assert (codes.tolist(), columns.tolist()) == ([0, 1, 1, 2], [1, -1, 2, 0])
    with pytest.raises(NotApplicable, match="depends on their neighbors"):
        law.unit_chances(("x",), shown, np.array([0]), data)
    with pytest.raises(NotApplicable, match="the rule by which the neighborhoods were found"):
        _ = law.rule


def test_a_law_is_rounded_and_variables_of_a_group_share_their_donor(data, law):
    coarse = law.rounded({"y": 5.0})
    assert law.rounded({}) is law
    assert (coarse.precision, law.precision) == ({"y": 5.0}, {})
    assert coarse.rounded({"x": 4.0}).precision == {"y": 5.0, "x": 4.0}
    # 6.5 and 7 become 5 too
    np.testing.assert_allclose(coarse.retained("y"), [1.0] * 4)
    assert (coarse.table("y")[1], law.table("y")[1]) == ([5.0], [5.0, 6.5, 7.0])
    grouped = data.with_slices((("x", "y"),))
    found = find_neighborhoods(POINTS_LAWS, k=3)
    law = CellLaw(grouped, found, np.array([0.5, 0.5, 1.0]))
    assert law.units() == [("x", "y"), ("g",)]
    np.testing.assert_allclose(law.retained("x", "y"), [0.5] * 4)
    np.testing.assert_allclose(law.retained("x"), [0.5, 0.5 + 0.5 / 3, 0.5 + 0.5 / 3, 0.5])
    np.testing.assert_allclose(law.rows_unchanged(), [0.5 / 3] * 4)


def test_donors_received_and_alike_by_hand(law):
    chances = law.donors
    matrix = chances.matrix.toarray()
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    assert matrix[:2].tolist() == [[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]]
    for people in ([0, 1, 2, 3], [1, 0, 2, 3], [2, 1], [3]):
        found = chances.received(np.array(people)).toarray()
        np.testing.assert_allclose(found, matrix[:, people])
    alike = chances.own_value_chance([np.array([0, 0, 1, 0]), np.array([0, 1, 1, 1])])
    np.testing.assert_allclose(alike, [[1, 0.5, 0, 2 / 3], [0, 0.5, 1, 2 / 3]])
    # neighborhoods of some records make no law of all
    found = find_neighborhoods(POINTS_LAWS, k=2)
    some = DonorTables(replace(found, table=replace(found.table, numbers=np.arange(4))))
    for ask in (lambda: some.matrix, lambda: some.received(np.arange(2))):
        with pytest.raises(NotApplicable, match="the law of every record, not of some of the file"):
            ask()


def test_someone_who_has_some_variables_sees_their_neighborhoods():
    numbers = described(pd.DataFrame({"x": [0.0, 1.0, 2.0, 9.0], "y": [9.0, 1.0, 8.0, 0.5]}))
    law = RWN(k=1, q=0.4).prepare(numbers).law
    seen = law.restricted_to(described(numbers.frame[["y"]]))
    assert seen.q.tolist() == [0.4]
    assert seen.probabilities.toarray().argmax(axis=1).tolist() == [2, 3, 0, 1]
    assert law.independent is law
    for other, words in (
        (NBRS2015(epsilon=1.0), "draws each cell independently"),
        (AdditiveNoise(), "copies values from donors"),
    ):
        with pytest.raises(NotApplicable, match=words):
            _ = other.prepare(numbers).law.independent


def test_the_law_of_selected_rows_by_hand(data):
    """Records 0 and 1 are near each other, and 1 and 2; record 3 has nobody and loses x and y."""
    near = find_neighborhoods(POINTS_LAWS, epsilon=1.5, strict=True)
    law = RowMixtureLaw(data, near, np.array([True, True, False]), 0.4)
    assert law.empty.tolist() == [3]
    table, values = law.table("y")
    assert values == [5.0, 6.5, 7.0, None]
    expected = [[1, 0, 0, 0], [0.8, 0.2, 0, 0], [0.4, 0.6, 0, 0], [0, 0, 0.6, 0.4]]
    np.testing.assert_allclose(table.toarray(), expected)
    assert law.table("y")[0] is table
    # who has no x stays without one
    np.testing.assert_allclose(law.table("x")[0].toarray()[3], [0, 0, 1.0])
    assert law.table("g")[1] == ["a", "b"]
    (found,) = law.supports(["y"])
    assert found[0].tolist() == [3, 2, 1, 1]
    np.testing.assert_allclose(found[1], np.sum(expected, axis=0) / 4)
    np.testing.assert_allclose(law.rows_unchanged(), [0.6, 0.6 + 0.4 * 0.25, 0.6, 0.6])
    (share, drawn), (rest, kept) = law.components()
    assert (share, rest) == (0.4, 0.6)
    assert (drawn.q.tolist(), kept.q.tolist()) == ([1.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    assert drawn.donors is law.donors
    assert (law.row_share, law.given(selected=True).q.tolist()) == (0.4, [1.0, 1.0, 0.0])


def test_a_sample_has_no_donors(data):
    law = RandomSample(left_out=0.25).prepare(data).law
    assert (law.row_share, law.neighborhoods) == (0.25, None)
    assert law.empty.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(law.rows_unchanged(), [0.75] * 4)
    table, values = law.table("g")
    assert values == ["a", "b", None]
    np.testing.assert_allclose(table.toarray()[:2], [[0.75, 0, 0.25], [0, 0.75, 0.25]])
    assert law.privacy() == dict.fromkeys([("x",), ("y",), ("g",)], OR_NOT_AT_ALL)
    with pytest.raises(NotApplicable, match="copies values from donors"):
        _ = law.probabilities


def test_numbers_are_written_in_the_types_of_their_columns():
    frame = pd.DataFrame({"whole": np.array([1, 2, 3], dtype="int8")})
    frame["unsigned"] = frame["whole"].astype("uint8")
    frame["gaps"] = pd.array([1, None, 3], dtype="Int8")
    frame["real"] = np.array([0.5, np.nan, 2.5], dtype="float32")
    data = described(frame.assign(still=[1, 2, 3]))
    assert [is_discrete(data, name) for name in ("whole", "gaps", "real")] == [True, True, False]
    for name, numbers, dtype, written in (
        ("whole", [0.5, 1.5, 2.6], "int8", [0, 2, 3]),
        ("whole", [-128, 127, 0], "int8", [-128, 127, 0]),
        ("whole", [-129, 0, 0], "int64", [-129, 0, 0]),
        ("whole", [128, 0, 0], "int64", [128, 0, 0]),
        ("unsigned", [-1, 0, 0], "int64", [-1, 0, 0]),
        ("unsigned", [255, 0, 0], "uint8", [255, 0, 0]),
        ("gaps", [1.4, 9.0, 127], "Int8", [1, -1, 127]),
        ("gaps", [1.4, 9.0, 128], "Int64", [1, -1, 128]),
        ("real", [0.25, 9.0, 2.75], "float32", [0.25, -1, 2.75]),
    ):
        made = with_numbers(data, {name: np.array(numbers, dtype=float)}).frame
        assert made["still"].tolist() == [1, 2, 3]
        assert str(made[name].dtype) == dtype
        assert made[name].astype("Float64").fillna(-1).tolist() == written


def test_one_neighbor_is_the_donor_for_sure_and_nobody_divides_by_none():
    points = np.array([[0.0], [1.0], [3.0], [9.0], [9.0]])
    for epsilon, sizes in ((2.5, [1, 2, 1, 1, 1]), (1.5, [1, 1, 0, 1, 1])):
        (lists,) = DonorTables(find_neighborhoods(points, epsilon=epsilon)).blocks()
        assert lists.sizes.tolist() == sizes
        assert lists.totals.tolist() == np.maximum(sizes, 1).tolist()
