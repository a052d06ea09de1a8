"""Laws of small tables whose cells come from donors, written out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata, codes_together
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.laws.cell_law import CellLaw
from rwn_core.laws.donor_lists import DonorTables
from rwn_core.laws.donors import masked_columns
from rwn_core.laws.row_mixture import RowMixtureLaw
from rwn_core.laws.transition_law import is_discrete, with_numbers
from rwn_core.laws.unit_law import AS_IT_IS, FROM_DONORS, OR_NOT_AT_ALL
from rwn_core.masking import NBRS2015, RWN, AdditiveNoise, RandomSample
from rwn_core.neighbors import find_neighborhoods
from rwn_core.randomness import SecretKey
from tests.core.laws.cell_probability import probability

NAN = np.nan
POINTS = np.array([[0.0], [1.0], [2.0], [9.0]])


@pytest.fixture(scope="module")
def data() -> Microdata:
    frame = pd.DataFrame({"x": [1.0, 2.0, 2.0, NAN], "y": [5.0, 5.0, 6.5, 7.0], "g": list("abba")})
    return Microdata.from_frame(frame)


@pytest.fixture(scope="module")
def law(data: Microdata) -> CellLaw:
    """Record 0 has the donor 1, record 1 has 0 and 2, record 2 has 1, record 3 has all others."""
    found = find_neighborhoods(POINTS, epsilon=1.0, k=1)
    shares = DonorTables(found).matrix.tolil()
    shares[3] = [1 / 3, 1 / 3, 1 / 3, 0]
    return CellLaw(data, found, np.array([0.5, 1.0, 0.0]), shares.tocsr())


def test_the_law_of_each_cell_by_hand(data: Microdata, law: CellLaw) -> None:
    table, values = law.table("x")
    assert values == [1.0, 2.0, None]
    expected = [[0.5, 0.5, 0], [0.25, 0.75, 0], [0, 1.0, 0], [1 / 6, 1 / 3, 0.5]]
    np.testing.assert_allclose(table.toarray(), expected)
    assert law.table("x")[0] is table
    np.testing.assert_allclose(law.retained("x"), [0.5, 0.75, 1.0, 0.5])
    np.testing.assert_allclose(law.retained("y"), [1.0, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(law.rows_unchanged(), [0.5, 0.375, 0.0, 0.0])
    (x, g) = law.supports(["x", "g"])
    assert (x[0].tolist(), g[0].tolist()) == ([3, 4, 1], [2, 2])
    np.testing.assert_allclose(x[1], np.sum(expected, axis=0) / 4)
    assert probability(law, 3, "x", None) == 0.5
    assert probability(law, 0, "x", 2.0) == 0.5
    assert probability(law, 0, "x", 3.0) == 0.0
    assert (law.units(), law.moments()) == ([("x",), ("y",), ("g",)], None)
    assert [law.keeps_value_counts(name) for name in "xyg"] == [False, False, True]
    assert law.privacy() == {("x",): FROM_DONORS, ("y",): FROM_DONORS, ("g",): AS_IT_IS}
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


def test_values_that_round_alike_have_one_chance(law: CellLaw) -> None:
    coarse = law.rounded({"y": 5.0})
    assert law.rounded({}) is law
    assert (coarse.precision, law.precision) == ({"y": 5.0}, {})
    assert coarse.rounded({"x": 4.0}).precision == {"y": 5.0, "x": 4.0}
    # 6.5 and 7 become 5 too
    np.testing.assert_allclose(coarse.retained("y"), [1.0] * 4)
    assert coarse.table("y")[1] == [5.0]
    assert law.table("y")[1] == [5.0, 6.5, 7.0]


def test_variables_of_a_group_share_their_donor(data: Microdata) -> None:
    grouped = data.with_slices((("x", "y"),))
    law = CellLaw(grouped, find_neighborhoods(POINTS, k=3), np.array([0.5, 0.5, 1.0]))
    assert law.units() == [("x", "y"), ("g",)]
    np.testing.assert_allclose(law.retained("x", "y"), [0.5] * 4)
    np.testing.assert_allclose(law.retained("x"), [0.5, 0.5 + 0.5 / 3, 0.5 + 0.5 / 3, 0.5])
    np.testing.assert_allclose(law.rows_unchanged(), [0.5 / 3] * 4)


def test_donors_received_and_alike_by_hand(law: CellLaw) -> None:
    chances = law.donors
    matrix = chances.matrix.toarray()
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    assert matrix[0].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert matrix[1].tolist() == [0.5, 0.0, 0.5, 0.0]
    for people in ([0, 1, 2, 3], [1, 0, 2, 3], [2, 1], [3]):
        found = chances.received(np.array(people)).toarray()
        np.testing.assert_allclose(found, matrix[:, people])
    alike = chances.own_value_chance([np.array([0, 0, 1, 0]), np.array([0, 1, 1, 1])])
    np.testing.assert_allclose(alike, [[1, 0.5, 0, 2 / 3], [0, 0.5, 1, 2 / 3]])


def test_neighborhoods_of_some_records_make_no_law_of_all() -> None:
    found = find_neighborhoods(POINTS, k=2)
    some = DonorTables(replace(found, table=replace(found.table, numbers=np.arange(4))))
    for ask in (lambda: some.matrix, lambda: some.received(np.arange(2))):
        with pytest.raises(NotApplicable, match="the law of every record, not of some of the file"):
            ask()


def test_someone_who_has_some_variables_sees_their_neighborhoods(data: Microdata) -> None:
    numbers = Microdata.from_frame(
        pd.DataFrame({"x": [0.0, 1.0, 2.0, 9.0], "y": [9.0, 1.0, 8.0, 0.5]})
    )
    law = RWN(k=1, q=0.4).prepare(numbers).law
    seen = law.restricted_to(Microdata.from_frame(numbers.frame[["y"]]))
    assert seen.q.tolist() == [0.4]
    assert seen.probabilities.toarray().argmax(axis=1).tolist() == [2, 3, 0, 1]
    assert law.independent is law
    with pytest.raises(NotApplicable, match="draws each cell independently"):
        _ = NBRS2015(epsilon=1.0).prepare(numbers).law.independent
    with pytest.raises(NotApplicable, match="copies values from donors"):
        _ = AdditiveNoise().prepare(numbers).law.independent


def test_the_law_of_selected_rows_by_hand(data: Microdata) -> None:
    """Records 0 and 1 are near each other, and 1 and 2; record 3 has nobody and loses x and y."""
    near = find_neighborhoods(POINTS, epsilon=1.5, strict=True)
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


def test_a_sample_has_no_donors(data: Microdata) -> None:
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


def test_numbers_are_written_in_the_types_of_their_columns() -> None:
    frame = pd.DataFrame(
        {
            "whole": np.array([1, 2, 3], dtype="int8"),
            "unsigned": np.array([1, 2, 3], dtype="uint8"),
            "gaps": pd.array([1, None, 3], dtype="Int8"),
            "real": np.array([0.5, np.nan, 2.5], dtype="float32"),
            "still": [1, 2, 3],
        }
    )
    data = Microdata.from_frame(frame)
    assert [is_discrete(data, name) for name in ("whole", "gaps", "real")] == [True, True, False]

    def written(name: str, *numbers: float) -> tuple[str, list[float]]:
        made = with_numbers(data, {name: np.array(numbers)})
        assert made.frame["still"].tolist() == [1, 2, 3]
        column = made.frame[name]
        return str(column.dtype), column.astype("Float64").fillna(-1).tolist()

    assert written("whole", 0.5, 1.5, 2.6) == ("int8", [0, 2, 3])
    assert written("whole", -128, 127, 0) == ("int8", [-128, 127, 0])
    assert written("whole", -129, 0, 0) == ("int64", [-129, 0, 0])
    assert written("whole", 128, 0, 0) == ("int64", [128, 0, 0])
    assert written("unsigned", -1, 0, 0) == ("int64", [-1, 0, 0])
    assert written("unsigned", 255, 0, 0) == ("uint8", [255, 0, 0])
    assert written("gaps", 1.4, 9.0, 127) == ("Int8", [1, -1, 127])
    assert written("gaps", 1.4, 9.0, 128) == ("Int64", [1, -1, 128])
    assert written("real", 0.25, 9.0, 2.75) == ("float32", [0.25, -1, 2.75])


def test_columns_are_masked_as_the_schema_says(data: Microdata) -> None:
    schema = data.schema.replace_variable("y", masked=False)
    schema = schema.replace_variable("g", role=Role.IDENTIFIER)
    assert masked_columns(data.with_schema(schema)).tolist() == [True, False]
    for name in "xy":
        schema = schema.replace_variable(name, role=Role.IDENTIFIER)
    with pytest.raises(ParameterError) as caught:
        masked_columns(data.with_schema(schema))
    assert str(caught.value) == (
        "Every variable is a direct identifier, and identifiers are never released; give at least "
        "one variable another role."
    )


def test_neighborhoods_of_random_candidates_are_those_of_the_key(data: Microdata) -> None:
    numbers = Microdata.from_frame(pd.DataFrame({"x": np.arange(12.0) ** 2, "y": np.arange(12.0)}))
    params, key = RWN(k=2, neighbors="sample", m=5), SecretKey.from_seed(1)
    found = params.neighborhoods(numbers, key)
    expected = params.prepare(numbers).release(key).law.neighborhoods
    for record in range(12):
        assert found.members(record).tolist() == expected.members(record).tolist()
    with pytest.raises(ParameterError):
        params.neighborhoods(numbers)
    assert RWN(k=2).neighborhoods(numbers).sizes.tolist() == [2] * 12
