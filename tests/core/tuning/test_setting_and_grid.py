"""Settings are plain data, and a grid is every combination once."""

from __future__ import annotations

import pytest

import rwn_core as rwn
from rwn_core import Grid, ParameterError, Setting
from rwn_core.masking.lever import neutral_levers
from rwn_core.tuning.goal_seek import around
from rwn_core.tuning.sweep import prepared


def test_a_setting_survives_as_plain_data() -> None:
    setting = Setting.of("rwn", {"epsilon": 2.0, "k": 5, "q": 0.5}, {"age": 2.0})
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == "ε = 2 · k = 5 · q = 0.5 · weight of age = 2"


def test_a_setting_in_words_has_the_title_of_its_method() -> None:
    for key, method in rwn.METHODS.items():
        words = Setting(params=method(**neutral_levers(method))).words
        assert key == "rwn" or words.startswith(f"{method.title} · ")
        assert key not in words


def test_a_release_precision_is_part_of_a_setting() -> None:
    exact = Setting.of("rwn", {"k": 5})
    setting = Setting.of("rwn", {"k": 5}, precision={"weight": 10, "age": 5})
    assert setting.precision == (("age", 5.0), ("weight", 10.0))
    assert Setting.from_dict(setting.to_dict()) == setting
    assert setting.words == "k = 5 · q = 1 · age in steps of 5, weight in steps of 10"
    assert setting.key != exact.key
    assert setting.key == Setting.of("rwn", {"k": 5}, {}, {"age": 5.0, "weight": 10.0}).key
    assert setting.resolved(rwn.load_demo("bodyfat")).precision == setting.precision
    # points of sweeps that know nothing of rounding are found again
    assert "precision" not in exact.to_dict()


@pytest.mark.parametrize("step", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_a_setting_refuses_a_step_that_is_none(step: object) -> None:
    with pytest.raises(ParameterError, match="precision of age must be a number above 0"):
        Setting.of("rwn", {"k": 5}, precision={"age": step})


@pytest.mark.parametrize("name", ["nowhere", "test"])
def test_a_step_of_no_number_is_refused_at_the_table(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name} is no numeric variable"):
        Setting.of("rwn", {"k": 5}, precision={name: 1.0}).resolved(rwn.load_demo("pima"))


def test_equal_settings_have_one_key_whatever_the_type_of_their_numbers() -> None:
    assert Setting.of("rwn", {"epsilon": 2, "q": 1}).key == Setting.of("rwn", {"epsilon": 2.0}).key
    assert Setting.of("rwn", {"epsilon": 2}).key != Setting.of("rwn", {"epsilon": 2.5}).key
    assert Setting.of("rwn", {"k": 5}).key != Setting.of("rwn", {"k": 5}, {"age": 0.0}).key


def test_resolved_weights_are_the_tables_unless_the_setting_says_otherwise() -> None:
    data = rwn.load_demo("bodyfat").with_weights({"age": 3.0, "neck": 2.0})
    setting = Setting.of("rwn", {"k": 5}, {"age": 1.0}).resolved(data)
    assert setting.weights == (("neck", 2.0),)
    weighted = setting.applied_to(data)
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
    both = prepared(
        rwn.load_demo("bodyfat"),
        [grid, Grid(axes={"epsilon": (1.0,)}, method="nbrs2015"), *grid.settings()],
    )
    assert len(both) == 25


def test_a_grid_tries_every_precision_with_every_setting() -> None:
    grid = Grid(axes={"k": (3, 5)}, precision=({}, {"age": 5}, {"age": 5.0}), weights=({},))
    assert len(grid) == 6
    assert [setting.words for setting in grid.settings()] == [
        "k = 3 · q = 1",
        "k = 5 · q = 1",
        "k = 3 · q = 1 · age in steps of 5",
        "k = 5 · q = 1 · age in steps of 5",
    ]


def test_steps_between_settings_keep_the_precision() -> None:
    one = Setting.of("rwn", {"k": 3, "epsilon": 1.0}, {"age": 2.0}, {"age": 5})
    near = around(one, {"k": (2.0, 1, 50)})
    assert {each.precision for each in near} == {one.precision}
    assert {each.weights for each in near} == {one.weights}


@pytest.mark.parametrize(
    ("grid", "why"),
    [
        ({"axes": {"k": ()}}, "at least one value of k"),
        ({"axes": {"k": range(1, 201), "epsilon": range(200)}}, "40,000 settings"),
        ({"axes": {"k": (3,)}, "precision": ()}, "at least one release precision"),
        ({"axes": {}, "slices": ()}, "at least one choice of slices"),
        ({"axes": {"epsilon": (1,), "mm": (3,)}, "method": ("rwn", "nbrs2015")},
         "None of the methods rwn, nbrs2015 has a parameter m"),
        ({"axes": {"epsilon": (1,)}, "method": ("rwn", "none")}, "There is no method none"),
        ({"axes": {"epsilon": (1,)}, "method": ()}, "at least one method"),
    ],
)  # fmt: skip
def test_a_grid_is_refused(grid, why) -> None:
    with pytest.raises(ParameterError, match=why):
        Grid(**grid)


def test_a_record_with_parameters_that_are_gone_is_read_where_they_did_nothing() -> None:
    plain = Setting(params=rwn.RecordSwapping(share=0.3, within="sex")).to_dict()
    known = {**plain["parameters"], "hierarchy": [], "rarer_than": 2}
    assert Setting.from_dict({**plain, "parameters": known}) == Setting.from_dict(plain)
    with pytest.raises(rwn.ParameterError, match="hierarchy"):
        Setting.from_dict({**plain, "parameters": {**known, "hierarchy": ["region"]}})
