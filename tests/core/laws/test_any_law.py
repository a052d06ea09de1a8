"""Laws of any method: asked for values, by parts, sparse, of donors and mixtures."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rwn_core import NBRS2015, Microdata, NotApplicable, ParameterError, find_neighborhoods
from rwn_core.evaluation.forecast import forecast_law
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import Lists
from rwn_core.laws.group_law import DeterministicUnit, RedrawWithinGroups, unchanged
from rwn_core.laws.law import MixtureComponent
from rwn_core.laws.moments import certain, independent, joined, numbers_among
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.unit_law import AS_IT_IS, FROM_FILE
from rwn_core.measures.attacks import pair_likelihood_kernel
from rwn_core.measures.attacks.pair_likelihood_kernel import likely_pairs
from rwn_core.measures.attacks.posterior import likelihoods, posteriors
from rwn_core.measures.attacks.predicate import Condition, Predicate
from rwn_core.measures.risk.membership import fingerprints
from rwn_core.measures.risk.repeated_releases import bhattacharyya, simulate
from rwn_core.neighbors.metric import coordinates
from tests import tables
from tests.check_values import check_values
from tests.core.laws.cell_probability import probability
from tests.tables import described

CORE = Path(__file__).parents[3] / "rwn_core"
WEIGHTS = (0.5, 0.2, 0.3)
NAN = np.nan


def table_of(**columns: object) -> Microdata:
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
def data() -> Microdata:
    return table_of(x=[0.0, 0.0, 1.0, 2.0, 3.0, 7.0], y=[1.0, 2.0, 2.0, 3.0, 3.0, 8.0])


@pytest.fixture
def law(data) -> ThreeWays:
    mean_q = np.array(WEIGHTS) @ np.array(Q)
    return ThreeWays(data, find_neighborhoods(coordinates(data), k=2, epsilon=0.4), mean_q)


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
    masked = Microdata(pd.DataFrame(rows, columns=["x", "y"]), data.schema)
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
    draws, generator = 6000, np.random.default_rng(4)
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
    assert (np.abs(shown / draws - appears) <= 5 * np.sqrt(0.25 / draws)).all()
    of_one, _ = fingerprints(CellLaw(data, law.neighborhoods, law.q))
    assert (np.abs(shown / draws - of_one) > 5 * np.sqrt(0.25 / draws)).any()


def test_what_needs_independent_cells_says_so(law):
    with pytest.raises(NotApplicable, match="independently"):
        _ = law.independent
    with pytest.raises(ParameterError, match="independently"):
        forecast_law(law)
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
    units, order = coded(q), SimpleNamespace(order=np.arange(N, dtype=np.int32))
    asked = pair_likelihood_kernel._asked(units, np.arange(ROWS), order)
    none = np.empty(0, np.int32)
    nothing = pair_likelihood_kernel.Pairs(none, none, np.empty(0), none)
    pairs = likely_pairs(lists, asked, nothing, 0, len(lists.records))
    assert (pairs.low == 0).all()
    found = np.zeros((N, ROWS))
    found[pairs.record, pairs.row] = pairs.value
    expected = np.zeros((N, ROWS))
    for index, record in enumerate(lists.records):
        begin, size = lists.begin[index], lists.sizes[index]
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


def like(data: Microdata, **columns: list[object]) -> Microdata:
    return Microdata(data.frame.assign(**columns), data.schema)


@pytest.fixture(scope="module")
def data_parts() -> Microdata:
    return table_of(x=[1.0, 2.0, 4.5, NAN], y=[3.0, 3.0, 8.5, 1.0], g=list("abba"))


@pytest.fixture(scope="module")
def groups(data_parts: Microdata) -> RedrawWithinGroups:
    """1 and 2 become one of each other, 2 the likelier; 4.5 and missing stay."""
    return redraw(data_parts, [0, 0, 1, 2], [0.25, 0.75, 1.0, 1.0])


def redraw(data: Microdata, group: list[int], chance: list[float], **more: bool):
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
    with pytest.raises(NotApplicable, match="groups that they would join"):
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
    with pytest.raises(NotApplicable, match="Several variables change together"):
        both.table()
    with pytest.raises(NotApplicable, match="groups that they would join"):
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
    assert (part.keeps_value_counts, part.privacy) == (True, AS_IT_IS)


@pytest.fixture(scope="module")
def law_parts(data_parts: Microdata, groups: RedrawWithinGroups) -> SeparateLaw:
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
        with pytest.raises(NotApplicable, match="This is for a method that"):
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
        with pytest.raises(NotApplicable, match="variables that make the blocks"):
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


PARAMS = NBRS2015(epsilon=1.0, q=0.6, record_selection="bernoulli")


@pytest.fixture(scope="module")
def data_mixture() -> Microdata:
    frame = tables.frame("ties", 24)[["x", "y"]]
    frame.loc[[5, 11]] = [[40.0, 40.0], [-40.0, 9.0]]  # two records without a neighbor
    return described(frame)


def mixture(data: Microdata, *masked: bool) -> RowMixtureLaw:
    return RowMixtureLaw(data, PARAMS.rule(data).find(data), np.array(masked), PARAMS.q)


def test_likelihoods_of_all_rows_sum_to_one_and_a_lost_row_betrays_who_has_no_neighbor(
    data_mixture,
):
    law = mixture(data_mixture, True, True)
    rows = list(product(*((*np.unique(data_mixture.values(name)), np.nan) for name in "xy")))
    every = Microdata(pd.DataFrame(rows, columns=["x", "y"]), data_mixture.schema)
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
    neighborhoods = find_neighborhoods(data.matrix(["x"]), k=5)
    shares = np.zeros((6, 6))
    for record in range(6):
        shares[record, neighborhoods.members(record)] = expected
    law = CellLaw(data, neighborhoods, np.ones(1), sparse.csr_array(shares))
    table, values = law.table("x")
    assert values == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    np.testing.assert_allclose(table.toarray(), shares)
