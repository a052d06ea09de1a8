"""Settings are plain data, and a grid is every combination once."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core.errors import ParameterError
from rwn_core.tuning import Grid, Setting
from rwn_core.tuning.grid import settings_of


def test_a_setting_survives_as_plain_data() -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0})
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == "ε = 2 · k = 5 · q = 0.5 · weight of age = 2"


def test_equal_settings_have_one_key_whatever_the_type_of_their_numbers() -> None:
    assert Setting.of("rwn", {"epsilon": 2, "q": 1}).key == Setting.of("rwn", {"epsilon": 2.0}).key
    assert Setting.of("rwn", {"epsilon": 2}).key != Setting.of("rwn", {"epsilon": 2.5}).key
    assert Setting.of("rwn", {"k": 5}).key != Setting.of("rwn", {"k": 5}, {"age": 0.0}).key


def test_resolved_weights_are_the_tables_unless_the_setting_says_otherwise() -> None:
    data = rwn.load_demo("bodyfat").with_weights({"age": 3.0, "neck": 2.0})
    setting = Setting.of("rwn", {"k": 5}, {"age": 1.0}).resolved(data)
    assert setting.weights == (("neck", 2.0),)
    weighted = setting.weighted(data)
    assert weighted.schema.variable("age").weight == 1.0
    assert weighted.schema.variable("neck").weight == 2.0


@pytest.mark.parametrize(
    ("method", "parameters", "word"),
    [
        ("swap", {}, "no method swap"),
        ("rwn", {"epsilonn": 1}, "no parameter epsilonn"),
        ("nbrs2015", {}, "needs"),
        ("rwn", {"k": 0}, "k must be"),
    ],
)
def test_what_a_method_does_not_know_is_refused(method: str, parameters: dict, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Setting.of(method, parameters)


def test_a_grid_is_every_combination_once() -> None:
    grid = Grid(axes={"epsilon": (0, 1, 2), "k": (3, 5), "q": (0.5, 1)}, weights=({}, {"age": 2}))
    assert len(grid) == len(grid.settings()) == 24
    assert len(Grid(axes={"k": (3, 3.0 and 3)}).settings()) == 1
    both = settings_of([grid, Grid(axes={"epsilon": (1.0,)}, method="nbrs2015"), *grid.settings()])
    assert len(both) == 25


def test_a_grid_without_points_or_with_too_many_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one value of k"):
        Grid(axes={"k": ()})
    with pytest.raises(ParameterError, match="40,000 settings"):
        Grid(axes={"k": range(1, 201), "epsilon": range(200)})
