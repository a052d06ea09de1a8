"""Laws of any method, and of transition matrices."""

import re
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rwn_core as rwn
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.group_law import DeterministicUnit, RedrawWithinGroups, unchanged
from rwn_core.laws.law import MixtureComponent
from rwn_core.laws.lists import Lists
from rwn_core.laws.moments import certain, independent, joined, numbers_among
from rwn_core.laws.rank_swaps import descending, moore_partners, mu_argus_partners, whole_part
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.transition_law import Transition, one_pool, value_numbers
from rwn_core.laws.transition_matrix import (
    disjoint_share,
    invariant,
    mixed_matrix,
    privacy_epsilon,
    second_stage,
    successive_share,
)
from rwn_core.laws.unit_law import FROM_FILE, UNMASKED
from rwn_core.measures.attacks import pair_likelihood_kernel
from rwn_core.measures.attacks.pair_likelihood_kernel import likely_pairs
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from rwn_core.measures.attacks.predicate import Condition, Predicate
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.measures.risk.repeated_releases import bhattacharyya, simulate
from tests import tables
from tests.check_values import check_values
from tests.core.laws.cell_probability import probability
from tests.tables import described

CORE = Path(__file__).parents[3] / "rwn_core"
WEIGHTS = (0.5, 0.2, 0.3)
NAN = np.nan


def table_of(**columns: object) -> rwn.Microdata:
    return described(pd.DataFrame(columns))


Q = ((0.0, 0.0), (1.0, 0.4), (0.3, 0.8))  # of each component's variables


class ThreeWays(CellLaw):
    """A row comes about in one of three ways."""

    def components(self) -> tuple[MixtureComponent, ...]:
        return tuple(
            MixtureComponent(weight, CellLaw(self.original, self.neighborhoods, np.array(q)))
            for weight, q in zip(WEIGHTS, Q, strict=True)
        )


@pytest.fixture
def data() -> rwn.Microdata:
    return table_of(x=[0.0, 0.0, 1.0, 2.0, 3.0, 7.0], y=[1.0, 2.0, 2.0, 3.0, 3.0, 8.0])


@pytest.fixture
def law(data) -> ThreeWays:
    mean_q = np.array(WEIGHTS) @ np.array(Q)
    return ThreeWays(data, rwn.find_neighborhoods(rwn.coordinates(data), k=2, epsilon=0.4), mean_q)


def rows_of(law: CellLaw) -> tuple[list[tuple[float, float]], np.ndarray]:
    """All rows there may be, and each record's probability to release them, by the definition."""
    rows = list(product(*(law.table(name)[1] for name in ("x", "y"))))
    chances = np.zeros((law.original.n, len(rows)))
    for weight, cells in law.components():
        for (i, place), _ in np.ndenumerate(chances):
            x, y = rows[place]
            both = probability(cells, i, "x", x) * probability(cells, i, "y", y)
            chances[i, place] += weight * both
    return rows, chances


def test_a_row_is_as_likely_as_its_components_make_it(data, law):
    rows, chances = rows_of(law)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    masked = rwn.Microdata(pd.DataFrame(rows, columns=["x", "y"]), data.schema)
    found, logs = likelihoods(law, masked, np.arange(len(rows)))
    np.testing.assert_allclose(found.toarray() * np.exp(logs), chances, atol=1e-14)
    of_one = likelihoods(CellLaw(data, law.neighborhoods, law.q), masked, np.arange(len(rows)))
    assert not np.allclose(of_one[0].toarray() * np.exp(of_one[1]), chances, atol=1e-3)
    # and two records are at most as alike as is said
    alike = bhattacharyya(law)
    assert (alike >= np.sqrt(chances) @ np.sqrt(chances).T - 1e-12).all()
    assert alike.min() < 0.9


def test_questions_are_answered_over_all_components(data, law):
    rows, chances = rows_of(law)
    fits = np.array([x <= 1.0 for x, _ in rows])
    tells = np.array([y == 2.0 for _, y in rows])
    asked = Predicate(conditions=(Condition(name="x", sign="at most", value=1.0),))
    expected = chances[:, fits].sum(axis=1)
    np.testing.assert_allclose(asked.chances(law), expected, atol=1e-14)
    both = chances[:, fits & tells].sum(axis=1)
    given = np.divide(both, expected, out=np.zeros(6), where=expected > 0)
    np.testing.assert_allclose(asked.tells(law, "y", data.values("y") == 2.0), given, atol=1e-14)


def test_releases_are_drawn_way_by_way(data, law):
    draws = 2500
    generator = np.random.default_rng(4)
    rows, chances = rows_of(law)
    number = {row: place for place, row in enumerate(rows)}
    seen = np.zeros_like(chances)
    shown = np.zeros(6)
    own_values = data.matrix(["x", "y"])
    alone = (own_values[:, None] == own_values).sum(axis=1) == 1
    for _ in range(draws):
        released = simulate(law, generator).frame[["x", "y"]].to_numpy()
        for i, row in enumerate(map(tuple, released)):
            seen[i, number[row]] += 1
        again = (own_values[:, None] == released).any(axis=1)
        shown += (alone & again).any(axis=1)
    noise = 5 * np.sqrt(chances * (1 - chances) / draws) + 1e-12
    assert (np.abs(seen / draws - chances) <= noise).all()
    appears, own = fingerprints(law)
    assert own.tolist() == [1, 0, 1, 1, 1, 2]
    noise = 5 * np.sqrt(appears * (1 - appears) / draws) + 1e-12
    assert (np.abs(shown / draws - appears) <= noise).all()
    # planted: the law of one component, .05 off where five errors are .035
    of_one, _ = fingerprints(CellLaw(data, law.neighborhoods, law.q))
    assert (np.abs(shown / draws - of_one) > noise).any()


def test_what_needs_independent_cells_says_so(law):
    with pytest.raises(rwn.NotApplicable, match="independently"):
        _ = law.independent
    assert CellLaw(law.original, law.neighborhoods, law.q).independent.q is law.q


def test_nobody_asks_a_law_for_its_type():
    asks = re.compile(r"isinstance\(.*Law\b|type\(.*law\)")
    for path in CORE.rglob("*.py"):
        if path.parent.name != "laws":
            assert not asks.search(path.read_text(encoding="utf-8")), path


N, DONORS, ROWS = 900, 250, 40
LEVELS = (2, 3, 5, 6, 150, 700, 700)  # of each unit


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


@pytest.mark.parametrize("q", [0.7, 1.0])
def test_pairs_and_their_products_are_those_of_plain_counting(lists, q):
    units = coded(q)
    order = SimpleNamespace(order=np.arange(N, dtype=np.int32))
    asked = pair_likelihood_kernel._asked(units, np.arange(ROWS), order)
    none = np.empty(0, np.int32)
    nothing = pair_likelihood_kernel.Pairs(none, none, np.empty(0), none)
    pairs = likely_pairs(lists, asked, nothing, 0, len(lists.records))
    assert (pairs.low == 0).all()
    found = np.zeros((N, ROWS))
    found[pairs.record, pairs.row] = pairs.value
    expected = np.zeros((N, ROWS))
    for index, record in enumerate(lists.records):
        begin = lists.begin[index]
        size = lists.sizes[index]
        donors_of_it = [d for d in lists.members[begin : begin + size] if d != record]
        expected[record] = 1.0
        for own, released, _ in units:
            plain = Counter(own[donors_of_it].tolist())
            for row, value in enumerate(released):
                kept = (1 - q) * (own[record] == value)
                expected[record, row] *= kept + q * (plain[value] / len(donors_of_it))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found > 0).any()


ALL = np.arange(4)


def like(data: rwn.Microdata, **columns: list[object]) -> rwn.Microdata:
    return rwn.Microdata(data.frame.assign(**columns), data.schema)


@pytest.fixture(scope="module")
def data_parts() -> rwn.Microdata:
    return table_of(x=[1.0, 2.0, 4.5, NAN], y=[3.0, 3.0, 8.5, 1.0], g=list("abba"))


@pytest.fixture(scope="module")
def groups(data_parts: rwn.Microdata) -> RedrawWithinGroups:
    """1 and 2 become one of each other, 2 the likelier; 4.5 and missing stay."""
    return redraw(data_parts, [0, 0, 1, 2], [0.25, 0.75, 1.0, 1.0])


def redraw(data: rwn.Microdata, group: list[int], chance: list[float], **more: bool):
    given = {"group": np.array(group), "chance": np.array(chance), **more}
    return RedrawWithinGroups(original=data, names=("x",), **given)


def test_values_drawn_within_groups_by_hand(data_parts, groups):
    rows = [[0.25, 0.75, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]]
    table, values = groups.table()
    assert (table.toarray().tolist(), values) == (rows, [1.0, 2.0, 4.5, None])
    assert groups.retained.tolist() == [0.25, 0.75, 1.0, 1.0]
    shown = like(data_parts, x=[2.0, 4.5, NAN, 7.0])
    found = groups.chances(shown, ALL)
    assert found.tolist() == [[0.75, 0.75, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert groups.chances(shown, np.array([1])).tolist() == found[[1]].tolist()
    moments = groups.moments()
    np.testing.assert_allclose(moments.means[:, 0], [1.75, 1.75, 4.5, NAN])
    np.testing.assert_allclose(moments.variances[:, 0], [3 / 16, 3 / 16, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(moments.totals, [[6 / 16]])
    new = groups.chances(like(data_parts, x=[7.0, 7.0, 7.0, 1.0]), np.array([0, 3]))
    assert new.tolist() == [[0, 0, 0, 0], [0.25, 0.25, 0, 0]]
    assert groups.restricted_to(frozenset("x")) is groups
    with pytest.raises(rwn.NotApplicable, match="groups that they would join"):
        groups.chances(shown, ALL, data_parts)


def test_two_values_that_are_written_alike_share_their_chances(groups):
    """To multiples of 4, both 1 and 2 become 0 (2 is halfway), and 4.5 becomes 4."""
    coarse = groups.rounded({"x": 4.0, "y": 100.0})
    table, values = coarse.table()
    assert (table.toarray().argmax(axis=1).tolist(), values) == ([0, 0, 1, 2], [0.0, 4.0, None])
    assert coarse.retained.tolist() == [1.0] * 4
    assert groups.rounded({"y": 100.0}).retained.tolist() == groups.retained.tolist()


def test_exchanged_values_have_certain_sums_and_promise_nothing(data_parts):
    apart, together = (
        redraw(data_parts, [0] * 4, [0.25] * 4, keeps_value_counts=each) for each in (False, True)
    )
    assert apart.privacy == FROM_FILE
    assert together.privacy == (np.inf, "keeps the count of every value, which one person changes")
    split = redraw(data_parts, [0, 0, 0, 1], [0.5, 0.25, 0.25, 1.0])
    assert split.privacy == (np.inf, "can only take values of its group")
    assert (apart.keeps_value_counts, together.keeps_value_counts) == (False, True)
    assert together.rounded({"x": 4.0}).keeps_value_counts
    assert not apart.rounded({"x": 4.0}).keeps_value_counts
    assert together.moments().totals.tolist() == [[0.0]]
    assert together.moments().together.tolist() == apart.moments().totals.tolist()
    assert apart.moments().totals[0, 0] > 0
    two = data_parts.take(np.arange(2))
    empty = redraw(like(two, x=NAN), [0], [1.0]).moments()
    assert np.isnan(empty.means).all()
    assert empty.variances.tolist() == [[0.0], [0.0]]


def test_a_fixed_result_is_certain(data_parts):
    shown = like(data_parts, x=[1.0, 3.0, 4.5, NAN], y=[3.0, 3.0, 8.5, 2.0])
    both, alone = (
        DeterministicUnit(original=data_parts, shown=shown, names=names)
        for names in (("x", "y"), ("x",))
    )
    assert (both.retained.tolist(), alone.retained.tolist()) == ([1, 0, 1, 0], [1, 0, 1, 1])
    table, values = alone.table()
    assert values == [1.0, 2.0, 4.5, None, 3.0]  # what is new comes last
    assert table.toarray().argmax(axis=1).tolist() == [0, 4, 2, 3]
    assert table.sum(axis=1).tolist() == [1.0] * 4
    found = both.chances(shown, np.array([0, 3]))
    assert found.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    moments = both.moments()
    assert moments.means[:, 1].tolist() == [3.0, 3.0, 8.5, 2.0]
    assert not moments.variances.any()
    assert (both.keeps_value_counts, both.privacy) == (False, (np.inf, "follows from the file"))
    assert both.restricted_to(frozenset("y")).names == ("y",)
    assert both.restricted_to(frozenset("y")).retained.tolist() == [1, 1, 1, 0]
    coarse = both.rounded({"x": 10.0}).rounded({"y": 10.0, "g": 1.0})
    assert coarse.retained.tolist() == [1, 1, 1, 1]
    assert both.rounded({"x": 10.0}).retained.tolist() == [1, 1, 1, 0]
    with pytest.raises(rwn.NotApplicable, match="Several variables change together"):
        both.table()
    with pytest.raises(rwn.NotApplicable, match="groups that they would join"):
        both.chances(shown, ALL, data_parts)


def test_what_is_not_touched_is_everybodys_own(data_parts):
    part = unchanged(data_parts, "x")
    table, values = part.table()
    assert (table.toarray().tolist(), values) == (np.eye(4).tolist(), [1.0, 2.0, 4.5, None])
    assert part.retained.tolist() == [1.0] * 4
    shown = like(data_parts, x=[2.0, NAN, 9.0, 1.0])
    assert part.chances(shown, ALL).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0] * 4, [1, 0, 0, 0]]
    people = like(data_parts, x=[4.4, 2.0, 1.0, 2.0])
    assert part.chances(shown, ALL, people)[0].tolist() == [0, 1, 0, 1]
    coarse = part.rounded({"y": 9.0, "x": 4.0})
    assert coarse.table()[1] == [0.0, 4.0, None]
    assert coarse.chances(like(data_parts, x=[4.0] * 4), ALL, people)[0].tolist() == [1, 0, 0, 0]
    assert coarse.moments().means[:3, 0].tolist() == [0.0, 0.0, 4.0]
    assert part.restricted_to(frozenset("x")).names == ("x",)
    assert (part.keeps_value_counts, part.privacy) == (True, UNMASKED)


@pytest.fixture(scope="module")
def law_parts(data_parts: rwn.Microdata, groups: RedrawWithinGroups) -> SeparateLaw:
    shown = like(data_parts, y=[3.0, 3.0, 8.5, 2.0])
    fixed = DeterministicUnit(original=data_parts, shown=shown, names=("y",))
    return SeparateLaw(data_parts, [groups, fixed, unchanged(data_parts, "g")], ("g",))


def test_variables_that_change_by_themselves_multiply(data_parts, law_parts):
    law = law_parts
    assert law.units() == list(law.privacy()) == [("x",), ("y",), ("g",)]
    assert law.rows_unchanged().tolist() == [0.25, 0.75, 1.0, 0.0]
    assert (law.q.tolist(), law.modification("x")) == ([0.25, 0.25, 0.0], 0.25)
    assert [law.keeps_value_counts(name) for name in "xyg"] == [False, False, True]
    assert (law.moments().names, law.empty.tolist()) == (("x", "y"), [])
    assert (law.neighborhoods, law.donors, law.components()) == (None, None, ((1.0, law),))
    ((support, chance), _) = law.supports(["x", "g"])
    assert (support.tolist(), chance.tolist()) == ([4], [1.0])
    shown = like(data_parts, x=[2.0, 9.0, NAN, 1.0])
    table, columns = law.likelihood_columns(("x",), shown, ALL[1:])
    assert (columns.tolist(), table.shape) == ([-1, 3, 0], (4, 4))
    for ask in (
        lambda: law.probabilities,
        lambda: law.likelihood_columns(("x", "y"), data_parts, ALL),
    ):
        with pytest.raises(rwn.NotApplicable, match="This is for a method that"):
            ask()


def test_a_law_of_parts_is_rounded_and_seen_part_by_part(data_parts, law_parts):
    assert law_parts.rounded({}) is law_parts
    coarse = law_parts.rounded({"x": 4.0}).rounded({"y": 10.0})
    assert (coarse.precision, law_parts.precision) == ({"x": 4.0, "y": 10.0}, {})
    assert coarse.rows_unchanged().tolist() == [1.0] * 4
    assert coarse.original.values("y").tolist() == [0.0, 0.0, 10.0, 0.0]
    some, blind = (described(data_parts.frame[names]) for names in (["x", "g"], ["x", "y"]))
    seen = coarse.restricted_to(some)
    assert (seen.units(), seen.precision) == ([("x",), ("g",)], {"x": 4.0})
    assert seen.restricted_to(some).units() == [("x",), ("g",)]
    for one in (law_parts, seen, coarse):
        with pytest.raises(rwn.NotApplicable, match="variables that make the blocks"):
            one.restricted_to(blind)


def test_moments_of_parts_stand_beside_each_other(data_parts):
    assert numbers_among(data_parts, ("g", "y", "x")) == ("y", "x")
    one = independent(("a",), np.array([[1.0], [2.0]]), np.array([[0.5], [1.5]]))
    two, none = certain(data_parts.take(np.array([0, 1])), ("y", "x")), certain(data_parts, ("g",))
    assert one.together.tolist() == one.totals.tolist() == [[2.0]]
    assert not two.together.any()
    both = joined([one, two])
    assert both.names == ("a", "y", "x")
    assert both.means.tolist() == [[1.0, 3.0, 1.0], [2.0, 3.0, 2.0]]
    assert both.variances.tolist() == [[0.5, 0.0, 0.0], [1.5, 0.0, 0.0]]
    assert both.together.tolist() == both.totals.tolist() == np.diag([2.0, 0.0, 0.0]).tolist()
    assert (none.names, joined([none]).together.shape) == ((), (0, 0))


PARAMS = rwn.NBRS2015(epsilon=1.0, q=0.6, record_selection="bernoulli")


@pytest.fixture(scope="module")
def data_mixture() -> rwn.Microdata:
    frame = tables.frame("ties", 24)[["x", "y"]]
    frame.loc[[5, 11]] = [[40.0, 40.0], [-40.0, 9.0]]  # two records without a neighbor
    return described(frame)


def mixture(data: rwn.Microdata, *masked: bool) -> RowMixtureLaw:
    return RowMixtureLaw(data, PARAMS.rule(data).find(data), np.array(masked), PARAMS.q)


def test_likelihoods_of_all_rows_sum_to_one_and_a_lost_row_betrays_who_has_no_neighbor(
    data_mixture,
):
    law = mixture(data_mixture, True, True)
    rows = list(product(*((*np.unique(data_mixture.values(name)), np.nan) for name in "xy")))
    every = rwn.Microdata(pd.DataFrame(rows, columns=["x", "y"]), data_mixture.schema)
    scaled, logs = likelihoods(law, every, np.arange(len(rows)))
    np.testing.assert_allclose(scaled.toarray() @ np.exp(logs), 1.0, atol=1e-12)
    lost = like(data_mixture, x=NAN, y=NAN)
    belief = posteriors(law, lost, np.arange(1)).toarray()[:, 0]
    assert np.flatnonzero(belief).tolist() == [5, 11]
    assert belief[5] == pytest.approx(0.5)


def test_variables_that_are_not_masked_stay(data_mixture):
    law = mixture(data_mixture, True, False)
    table, values = law.table("y")
    assert None not in values
    np.testing.assert_allclose(table.toarray().max(axis=1), 1.0)
    belief = posteriors(law, like(data_mixture, x=NAN), np.array([5])).toarray()[:, 0]
    assert np.flatnonzero(belief).tolist() == [5]  # its own y tells the two lost records apart


def test_M1_1_donors_that_are_not_equally_likely():
    expected = [float(Fraction(each)) for each in check_values("risk")["M1-1"]["expected"]["k2"]]
    data = table_of(x=np.arange(6.0) ** 2)
    neighborhoods = rwn.find_neighborhoods(data.matrix(["x"]), k=5)
    shares = np.zeros((6, 6))
    for record in range(6):
        shares[record, neighborhoods.members(record)] = expected
    law = CellLaw(data, neighborhoods, np.ones(1), sparse.csr_array(shares))
    table, values = law.table("x")
    assert values == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    np.testing.assert_allclose(table.toarray(), shares)


SIX_ROWS = np.arange(6)


@pytest.fixture
def six_records() -> rwn.Microdata:
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


def transition(six_records: rwn.Microdata, unit: tuple[str, ...], share: float) -> Transition:
    own = value_numbers(six_records, unit)
    return Transition(
        original=six_records, unit=unit, choice=one_pool(share, own, np.ones(six_records.n, bool))
    )


@pytest.mark.parametrize("swaps", [0, 1, 2, 3])
def test_swaps_are_as_likely_as_counting_says(six_records, swaps):
    codes = value_numbers(six_records, ("g",))
    for share, exact in (
        (disjoint_share(swaps, 6), np.eye(3)[codes[places_after(swaps)]].mean(axis=0)),
        (successive_share(swaps, 6), after_successive(codes, swaps)),
    ):
        law = transition(six_records, ("g",), share)
        table, values = law.table()
        np.testing.assert_allclose(table.toarray(), exact, atol=1e-12)
        np.testing.assert_allclose(law.retained, exact[SIX_ROWS, codes], atol=1e-12)
        np.testing.assert_allclose(
            law.chances(six_records, SIX_ROWS), exact[:, codes].T, atol=1e-12
        )
        assert values == ["a", "b", "c"]


@pytest.mark.parametrize("swaps", [0, 1, 3])
def test_moments_are_those_of_all_releases(six_records, swaps):
    six_records = described(six_records.frame.assign(y=[5.0, -1.0, 2.0, 2.0, 0.5, 7.0]))
    released = six_records.matrix(["x", "y"])[places_after(swaps)]  # releases, records, variables
    moments = transition(six_records, ("x", "y"), disjoint_share(swaps, 6)).moments()
    np.testing.assert_allclose(moments.means, released.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments.variances, released.var(axis=0), atol=1e-12)
    apart = released - released.mean(axis=0)
    together = np.einsum("rij,rik->jk", apart, apart) / len(released)
    np.testing.assert_allclose(moments.together, together, atol=1e-12)


def test_a_few_variables_of_a_unit_are_seen_by_themselves(six_records):
    both = transition(six_records, ("g", "x"), 0.6)
    codes = value_numbers(six_records, ("g",))
    alone = transition(six_records, ("g",), 0.6)
    part = both.restricted_to(frozenset(("g",)))
    np.testing.assert_allclose(part.retained, alone.retained)
    np.testing.assert_allclose(part.table()[0].toarray(), alone.table()[0].toarray())
    assert np.all(both.retained <= part.retained + 1e-12)
    assert not np.allclose(both.retained, part.retained)
    assert codes.max() == 2
    with pytest.raises(rwn.NotApplicable):
        both.table()


def test_rounded_values_have_the_sum_of_their_chances(six_records):
    law = transition(six_records, ("x",), 0.6)
    coarse = law.rounded({"x": 5.0, "nobody": 1.0})
    table, values = coarse.table()
    assert values == [0.0, 5.0, 10.0]
    exact = law.table()[0].toarray() @ np.array(
        [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    )
    np.testing.assert_allclose(table.toarray(), exact)
    assert law.rounded({"nobody": 1.0}) is law


def test_people_outside_change_like_those_with_their_values(six_records):
    law = rwn.PRAM(change=0.4).prepare(six_records).law
    people = rwn.Microdata(pd.DataFrame({"g": ["b", "z"], "x": [1.0, 2.0]}), six_records.schema)
    found = law.unit_chances(("g",), six_records, SIX_ROWS, people)
    inside = law.unit_chances(("g",), six_records, SIX_ROWS)
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
    with pytest.raises(rwn.ParameterError, match="not enough records"):
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
                partner[place] = free[0]
                partner[free[0]] = place
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
        params = rwn.RankSwapping(**dict(zip(("p", "r0", "k0"), given, strict=True)))
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
    generator = np.random.default_rng(3)
    exact = enumerated(14, 5)
    draws = np.array([moore_partners(5, generator.random(14)) for _ in range(3000)])
    error = 4 * np.sqrt(exact * (1 - exact) / 3000) + 1e-9
    simulated = np.array([np.bincount(column, minlength=14) for column in draws.T]) / 3000
    assert (np.abs(simulated - exact) <= error).all()
    assert not (np.abs(simulated - enumerated(14, 6)) <= error).all()
