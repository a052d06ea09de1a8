"""Records as points: both scales, both encodings, missing values, constants and weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import ParameterError
from rwn_core.neighbors.metric import Metric, coordinates, discrete_weights

NUMBERS = [1.0, 2.0, 4.0, 9.0]
GROUPS = ["a", "a", "b", "c"]


def table(schema: Schema | None = None, **columns: object) -> Microdata:
    return Microdata.from_frame(pd.DataFrame(columns), schema)


def test_numbers_are_z_scores_with_divisor_n_less_1():
    points = coordinates(table(x=NUMBERS))
    expected = (np.array(NUMBERS) - 4.0) / np.sqrt(38 / 3)
    np.testing.assert_allclose(points[:, 0], expected, rtol=1e-14)
    assert points.std(ddof=1) == pytest.approx(1.0)


def test_range_scale_spans_one():
    points = coordinates(table(x=NUMBERS), scale="range")
    np.testing.assert_allclose(np.diff(points[:, 0]), np.diff(NUMBERS) / 8, rtol=1e-14)
    assert np.ptp(points) == pytest.approx(1.0)


@pytest.mark.parametrize("scale", ["sd", "range"])
@pytest.mark.parametrize("size", [1e-145, 1e-165, 1e-200, 1e-300, 1e140])
def test_numbers_of_any_size_stay_in_the_distance(size, scale):
    """Squares of tiny differences are 0 in this computer; the variable counts all the same."""
    points = coordinates(table(x=size * np.array(NUMBERS), y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    plain = coordinates(table(x=NUMBERS, y=[1.0, 0.0, 2.0, 2.0]), scale=scale)
    np.testing.assert_allclose(points, plain, rtol=1e-12, atol=1e-12)


def test_differences_that_nothing_can_be_divided_by_are_refused():
    with pytest.raises(ParameterError, match="x differ by less than"):
        coordinates(table(x=[0.0, 1e-310, 2e-310], y=[1.0, 0.0, 2.0]))


def test_categories_are_z_scored_dummies():
    points = coordinates(table(g=GROUPS))
    assert points.shape == (4, 3)
    for column, level in enumerate("abc"):
        dummy = np.array([float(value == level) for value in GROUPS])
        expected = (dummy - dummy.mean()) / dummy.std(ddof=1)
        np.testing.assert_allclose(points[:, column], expected, rtol=1e-14)


def test_range_scale_leaves_dummies_0_and_1_apart():
    points = coordinates(table(g=GROUPS), scale="range")
    assert np.ptp(points, axis=0) == pytest.approx([1.0, 1.0, 1.0])


def test_matching_puts_unlike_categories_one_apart():
    points = coordinates(table(g=GROUPS), encoding="matching")
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    unlike = np.array([[first != second for second in GROUPS] for first in GROUPS])
    np.testing.assert_allclose(distances, unlike.astype(float), rtol=1e-14)


@pytest.mark.parametrize("scale", ["sd", "range"])
def test_a_missing_number_sits_at_the_mean_beside_its_indicator(scale):
    points = coordinates(table(x=[1.0, 3.0, np.nan, 5.0]), scale=scale)
    assert points.shape == (4, 2)
    assert points[2, 0] == 0.0
    known = points[[0, 1, 3], 0]
    np.testing.assert_allclose(known, [-known[2], 0, known[2]], atol=1e-15)
    assert len(np.unique(points[[0, 1, 3], 1])) == 1
    assert points[2, 1] > points[0, 1]


def test_a_missing_category_is_a_level():
    missing = coordinates(table(g=["a", "a", None, "b"]))
    named = coordinates(table(g=["a", "a", "c", "b"]))
    far = [np.linalg.norm(p[:, None] - p[None], axis=-1) for p in (missing, named)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-14)


def test_two_missing_values_are_not_apart():
    points = coordinates(table(x=[np.nan, np.nan, 1.0, 2.0], g=[None, None, "a", "b"]))
    assert np.array_equal(points[0], points[1])


def test_ordered_levels_count_as_numbers():
    levels = ("low", "middle", "high")
    schema = Schema(variables=(Variable(name="o", kind=Kind.ORDERED, levels=levels),))
    points = coordinates(table(schema, o=["low", "high", "middle", "high"]))
    np.testing.assert_allclose(points, coordinates(table(x=[0.0, 2, 1, 2])), rtol=1e-14)


def test_dates_count_in_days():
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-11"])
    points = coordinates(table(d=days))
    np.testing.assert_allclose(points, coordinates(table(x=[0.0, 1, 10])), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("encoding", ["dummies", "matching"])
@pytest.mark.parametrize("scale", ["sd", "range"])
def test_constants_do_not_count(scale, encoding):
    alone = coordinates(table(x=NUMBERS), scale, encoding)
    beside = table(x=NUMBERS, c=[0.1] * 4, g=["a"] * 4, i=[3] * 4)
    np.testing.assert_array_equal(coordinates(beside, scale, encoding), alone)


def test_a_column_that_is_constant_but_for_rounding_of_its_mean_does_not_count():
    column = [0.1 + 0.2] * 7
    with pytest.raises(ParameterError, match="varies"):
        coordinates(table(x=column))


def test_weights_stretch_all_coordinates_of_a_variable():
    microdata = table(x=NUMBERS, g=GROUPS, m=[1.0, np.nan, 2.0, 3.0])
    reference = coordinates(microdata)
    weights = {"x": 2.0, "g": 0.5, "m": 3.0}
    weighted = coordinates(microdata.with_schema(microdata.schema.with_weights(weights)))
    np.testing.assert_allclose(weighted, reference * [2.0, 0.5, 0.5, 0.5, 3.0, 3.0], rtol=1e-14)


def test_weight_0_leaves_a_variable_out():
    microdata = table(x=NUMBERS, g=GROUPS)
    schema = microdata.schema.with_weights({"g": 0.0})
    points = coordinates(microdata.with_schema(schema))
    np.testing.assert_array_equal(points, coordinates(table(x=NUMBERS)))


def test_a_release_is_measured_in_the_units_of_its_original():
    metric = Metric.fit(table(x=NUMBERS, g=GROUPS))
    other = metric.points(table(x=[4.0, 4.0], g=["a", "unseen"]))
    assert other[:, 0].tolist() == [0.0, 0.0]
    assert other[0, 1] > 0
    assert (other[1, 1:] < 0).all()


def test_discrete_weights_shrink_with_the_records_and_the_numbers_beside() -> None:
    data = table(x=NUMBERS, y=NUMBERS, g=GROUPS).with_weights({"g": 3.0})
    assert discrete_weights(data.schema, 64) == pytest.approx({"g": 3.0 / 64 ** (1 / 6)})
    assert discrete_weights(data.with_weights({"x": 0.0}).schema, 32) == pytest.approx({"g": 1.5})


def test_points_are_read_only():
    points = coordinates(table(x=NUMBERS))
    with pytest.raises(ValueError, match="read-only"):
        points[0, 0] = 1.0


@pytest.mark.parametrize("option", [{"scale": "mad"}, {"encoding": "ordinal"}])
def test_unknown_options_are_refused(option):
    (name,) = option
    with pytest.raises(ParameterError, match=f"{name} must be one of"):
        coordinates(table(x=NUMBERS), **option)
