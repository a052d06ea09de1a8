"""Laws of tables that change variable by variable: fixed results, groups, and what stays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.laws.group_law import DeterministicUnit, RedrawWithinGroups, unchanged
from rwn_core.laws.moments import certain, independent, joined, numbers_among
from rwn_core.laws.separate_law import SeparateLaw
from rwn_core.laws.unit_law import AS_IT_IS, FROM_FILE

NAN = np.nan
ALL = np.arange(4)


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata.from_frame(
        pd.DataFrame({"x": [1.0, 2.0, 4.5, NAN], "y": [3.0, 3.0, 8.5, 1.0], "g": list("abba")})
    )


def like(data: Microdata, **columns: list[object]) -> Microdata:
    return Microdata(data.frame.assign(**columns), data.schema)


@pytest.fixture(scope="module")
def groups(data: Microdata) -> RedrawWithinGroups:
    """1 and 2 become one of each other, 2 the likelier; 4.5 and missing stay."""
    group, chance = np.array([0, 0, 1, 2]), np.array([0.25, 0.75, 1.0, 1.0])
    return RedrawWithinGroups(original=data, names=("x",), group=group, chance=chance)


def test_values_drawn_within_groups_by_hand(data: Microdata, groups: RedrawWithinGroups) -> None:
    rows = [[0.25, 0.75, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]]
    table, values = groups.table()
    assert (table.toarray().tolist(), values) == (rows, [1.0, 2.0, 4.5, None])
    assert groups.retained.tolist() == [0.25, 0.75, 1.0, 1.0]
    shown = like(data, x=[2.0, 4.5, NAN, 7.0])
    found = groups.chances(shown, ALL)
    assert found.tolist() == [[0.75, 0.75, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert groups.chances(shown, np.array([1])).tolist() == found[[1]].tolist()
    moments = groups.moments()
    np.testing.assert_allclose(moments.means[:, 0], [1.75, 1.75, 4.5, NAN])
    np.testing.assert_allclose(moments.variances[:, 0], [3 / 16, 3 / 16, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(moments.totals, [[6 / 16]])
    new = groups.chances(like(data, x=[7.0, 7.0, 7.0, 1.0]), np.array([0, 3]))
    assert new.tolist() == [[0, 0, 0, 0], [0.25, 0.25, 0, 0]]
    assert groups.restricted_to(frozenset("x")) is groups
    with pytest.raises(NotApplicable, match="groups that they would join"):
        groups.chances(shown, ALL, data)


def test_two_values_that_are_written_alike_share_their_chances(groups: RedrawWithinGroups) -> None:
    """To multiples of 4, both 1 and 2 become 0 (2 is halfway), and 4.5 becomes 4."""
    coarse = groups.rounded({"x": 4.0, "y": 100.0})
    table, values = coarse.table()
    assert values == [0.0, 4.0, None]
    assert table.toarray().tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert coarse.retained.tolist() == [1.0] * 4
    assert groups.rounded({"y": 100.0}).retained.tolist() == groups.retained.tolist()


def test_exchanged_values_have_certain_sums_and_promise_nothing(data: Microdata) -> None:
    one, chance = np.zeros(4, dtype=np.int64), np.full(4, 0.25)
    apart, together = (
        RedrawWithinGroups(
            original=data, names=("x",), group=one, chance=chance, keeps_value_counts=exchanged
        )
        for exchanged in (False, True)
    )
    assert apart.privacy == FROM_FILE
    assert together.privacy == (np.inf, "keeps the count of every value, which one person changes")
    split = RedrawWithinGroups(
        original=data,
        names=("x",),
        group=np.array([0, 0, 0, 1]),
        chance=np.array([0.5, 0.25, 0.25, 1.0]),
    )
    assert split.privacy == (np.inf, "can only take values of its group")
    assert (apart.keeps_value_counts, together.keeps_value_counts) == (False, True)
    assert together.rounded({"x": 4.0}).keeps_value_counts
    assert not apart.rounded({"x": 4.0}).keeps_value_counts
    assert together.moments().totals.tolist() == [[0.0]]
    assert together.moments().together.tolist() == apart.moments().totals.tolist()
    assert apart.moments().totals[0, 0] > 0
    none = Microdata.from_frame(pd.DataFrame({"x": [1.0, 2.0, 3.5], "y": 1.5})).take(np.arange(2))
    lost = Microdata(none.frame.assign(x=NAN), none.schema)
    empty = RedrawWithinGroups(
        original=lost, names=("x",), group=np.array([0]), chance=np.array([1.0])
    ).moments()
    assert np.isnan(empty.means).all()
    assert empty.variances.tolist() == [[0.0], [0.0]]


def test_a_fixed_result_is_certain(data: Microdata) -> None:
    shown = like(data, x=[1.0, 3.0, 4.5, NAN], y=[3.0, 3.0, 8.5, 2.0])
    both, alone = (
        DeterministicUnit(original=data, shown=shown, names=names) for names in (("x", "y"), ("x",))
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
    assert (both.keeps_value_counts, both.privacy) == (
        False,
        (np.inf, "follows from the file"),
    )
    assert both.restricted_to(frozenset("y")).names == ("y",)
    assert both.restricted_to(frozenset("y")).retained.tolist() == [1, 1, 1, 0]
    coarse = both.rounded({"x": 10.0}).rounded({"y": 10.0, "g": 1.0})
    assert coarse.retained.tolist() == [1, 1, 1, 1]
    assert both.rounded({"x": 10.0}).retained.tolist() == [1, 1, 1, 0]
    with pytest.raises(NotApplicable, match="Several variables change together"):
        both.table()
    with pytest.raises(NotApplicable, match="groups that they would join"):
        both.chances(shown, ALL, data)


def test_what_is_not_touched_is_everybodys_own(data: Microdata) -> None:
    part = unchanged(data, "x")
    table, values = part.table()
    assert (table.toarray().tolist(), values) == (np.eye(4).tolist(), [1.0, 2.0, 4.5, None])
    assert part.retained.tolist() == [1.0] * 4
    shown = like(data, x=[2.0, NAN, 9.0, 1.0])
    assert part.chances(shown, ALL).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0] * 4, [1, 0, 0, 0]]
    people = like(data, x=[4.4, 2.0, 1.0, 2.0])
    assert part.chances(shown, ALL, people)[0].tolist() == [0, 1, 0, 1]
    coarse = part.rounded({"y": 9.0, "x": 4.0})
    assert coarse.table()[1] == [0.0, 4.0, None]
    assert coarse.chances(like(data, x=[4.0] * 4), ALL, people)[0].tolist() == [1, 0, 0, 0]
    assert coarse.moments().means[:3, 0].tolist() == [0.0, 0.0, 4.0]
    assert part.restricted_to(frozenset("x")).names == ("x",)
    assert (part.keeps_value_counts, part.privacy) == (True, AS_IT_IS)


@pytest.fixture(scope="module")
def law(data: Microdata, groups: RedrawWithinGroups) -> SeparateLaw:
    fixed = DeterministicUnit(original=data, shown=like(data, y=[3.0, 3.0, 8.5, 2.0]), names=("y",))
    return SeparateLaw(data, [groups, fixed, unchanged(data, "g")], ("g",))


def test_variables_that_change_by_themselves_multiply(data: Microdata, law: SeparateLaw) -> None:
    assert law.units() == [("x",), ("y",), ("g",)]
    assert law.rows_unchanged().tolist() == [0.25, 0.75, 1.0, 0.0]
    assert law.q.tolist() == [0.25, 0.25, 0.0]
    assert law.modification("x") == 0.25
    assert [law.keeps_value_counts(name) for name in "xyg"] == [False, False, True]
    assert list(law.privacy()) == law.units()
    assert law.moments().names == ("x", "y")
    assert law.empty.tolist() == []
    assert (law.neighborhoods, law.donors) == (None, None)
    ((weight, cells),) = law.components()
    assert (weight, cells) == (1.0, law)
    ((support, chance), _) = law.supports(["x", "g"])
    assert (support.tolist(), chance.tolist()) == ([4], [1.0])
    table, columns = law.likelihood_columns(("x",), like(data, x=[2.0, 9.0, NAN, 1.0]), ALL[1:])
    assert (columns.tolist(), table.shape) == ([-1, 3, 0], (4, 4))
    for ask in (
        lambda: law.probabilities,
        lambda: law.likelihood_columns(("x", "y"), data, ALL),
    ):
        with pytest.raises(NotApplicable, match="This is for a method that"):
            ask()


def test_a_law_of_parts_is_rounded_and_seen_part_by_part(data: Microdata, law: SeparateLaw) -> None:
    assert law.rounded({}) is law
    coarse = law.rounded({"x": 4.0}).rounded({"y": 10.0})
    assert coarse.precision == {"x": 4.0, "y": 10.0}
    assert law.precision == {}
    assert coarse.rows_unchanged().tolist() == [1.0] * 4
    assert coarse.original.values("y").tolist() == [0.0, 0.0, 10.0, 0.0]
    names = ("x", "g")
    some = Microdata(data.frame[list(names)], data.schema.__class__(
        variables=tuple(v for v in data.schema.variables if v.name in names)))  # fmt: skip
    seen = coarse.restricted_to(some)
    assert (seen.units(), seen.precision) == ([("x",), ("g",)], {"x": 4.0})
    assert seen.restricted_to(some).units() == [("x",), ("g",)]
    blind = Microdata(data.frame[["x", "y"]], data.schema.__class__(
        variables=tuple(v for v in data.schema.variables if v.name != "g")))  # fmt: skip
    for one in (law, seen, coarse):
        with pytest.raises(NotApplicable, match="variables that make the blocks"):
            one.restricted_to(blind)


def test_moments_of_parts_stand_beside_each_other(data: Microdata) -> None:
    assert numbers_among(data, ("g", "y", "x")) == ("y", "x")
    one = independent(("a",), np.array([[1.0], [2.0]]), np.array([[0.5], [1.5]]))
    two, none = certain(data.take(np.array([0, 1])), ("y", "x")), certain(data, ("g",))
    assert one.together.tolist() == one.totals.tolist() == [[2.0]]
    assert two.together.tolist() == two.totals.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    both = joined([one, two])
    assert both.names == ("a", "y", "x")
    assert both.means.tolist() == [[1.0, 3.0, 1.0], [2.0, 3.0, 2.0]]
    assert both.variances.tolist() == [[0.5, 0.0, 0.0], [1.5, 0.0, 0.0]]
    assert both.together.tolist() == both.totals.tolist() == np.diag([2.0, 0.0, 0.0]).tolist()
    assert (none.names, joined([none]).together.shape) == ((), (0, 0))
