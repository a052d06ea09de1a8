"""How far levers go on a table, where they start, and names and counts that are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rwn_core import METHODS, ParameterError, RandomSample
from rwn_core.masking.intervals import equal_counts
from rwn_core.masking.option import name_tuple
from tests.core.masking.method_tables import defaults, table
from tests.core.masking.test_every_method import weakest
from tests.holding import hold


def test_every_lever_has_steps_between_its_ends_and_its_presets_lie_inside():
    def rule(method: str) -> None:
        made = defaults(method).prepare(table("mixed"))
        levers = {lever.name: lever for lever in made.params.levers}
        for name, ends in made.ranges.items():
            whole = levers[name].whole_number
            first = 1 if whole else 0
            # a radius of 0 would leave everybody without a neighbor, and no kernel has a width of 0
            above = (method, name) in (("nbrs2015", "epsilon"), ("soft_rwn", "width"))
            assert ends.low == (ends.step if above else first)
            assert 0 < ends.step <= (ends.high - ends.low) / 10
            assert not whole or ends.step == 1
        for preset in made.presets.values():
            assert all(made.ranges[n].low <= v <= made.ranges[n].high for n, v in preset.items())

    hold(rule, METHODS)


def test_names_are_stripped_unique_and_texts():
    assert name_tuple(" age, sex ") == name_tuple(["age", "sex "]) == ("age", "sex")
    assert name_tuple("") == name_tuple(()) == ()
    for wrong in ("age,,sex", ["age", 3], ["age", ""]):
        with pytest.raises(ParameterError, match="must be names of variables"):
            name_tuple(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="each variable once"):
        name_tuple("age, age")


def test_values_that_are_all_missing_are_one_interval():
    assert equal_counts(np.array([np.nan, np.nan]), 3).tolist() == [0, 0]
    assert equal_counts(np.array([np.nan, 1.0]), 3).tolist() == [1, 0]


def test_one_record_at_least_is_released_of_a_sample():
    counts = [RandomSample(left_out=share).count(n) for share, n in ((0.95, 2), (1 - 1e-12, 5))]
    assert counts == [1, 4]
    assert RandomSample(left_out=0.3).count(10) == 3  # 10 times 0.3 is a little less than 3


def test_a_setting_that_masks_nothing_says_so():
    def rule(method: str) -> None:
        params = defaults(method)
        if params.strength == "k":
            params = replace(params, k=3)
        nothing = replace(params, **weakest(params))
        assert not any("masks nothing" in each for each in params.cautions())
        assert any("masks nothing" in each for each in nothing.cautions())

    hold(rule, METHODS)
