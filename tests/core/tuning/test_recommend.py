"""The recommendation: hand-checkable tables, and the quick verdict on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.variable import Role


def described(frame: pd.DataFrame, **roles: Role) -> rwn.Microdata:
    """A table with roles by name."""
    data = rwn.Microdata.from_frame(frame)
    variables = tuple(
        replace(each, role=roles.get(each.name, each.role)) for each in data.schema.variables
    )
    return data.with_schema(replace(data.schema, variables=variables))


def categories(n: int = 400) -> rwn.Microdata:
    """Six related categories."""
    rng = np.random.default_rng(4)
    common = rng.standard_normal(n)
    levels = np.array(list("abcd"))
    frame = pd.DataFrame(
        {
            f"c{i}": levels[
                np.clip(np.round(1.5 + common + rng.standard_normal(n)), 0, 3).astype(int)
            ]
            for i in range(6)
        }
    )
    return described(frame, c0=Role.KEY, c1=Role.KEY, c5=Role.CONFIDENTIAL)


def numbers(n: int = 400) -> rwn.Microdata:
    """Four related numbers."""
    rng = np.random.default_rng(2)
    common = rng.standard_normal((n, 1))
    frame = pd.DataFrame(
        np.round(20 * (common + rng.standard_normal((n, 4)))), columns=["a", "b", "c", "d"]
    )
    return described(frame, a=Role.KEY, b=Role.KEY, d=Role.CONFIDENTIAL)


def test_categories_are_not_masked_each_alone() -> None:
    """Of related categories some travel together, and methods for numbers are named as unfit."""
    found = rwn.recommend(categories())
    assert found.setting.method == "rwn"
    assert found.setting.slices
    assert {"additive_noise", "microaggregation"} <= set(found.unfit)
    assert found.reason.startswith("6 categories, 2 keys: ")


def test_numbers_get_a_setting_that_keeps_the_policy_on_all_records() -> None:
    """The quick verdict on the recommendation reads the whole table."""
    data = numbers()
    found = rwn.recommend(data)
    verdict = rwn.quick_verdict(data, found.setting)
    assert verdict.answer == "can"
    assert verdict.setting is not None
    release = rwn.mask(verdict.setting.applied_to(data), verdict.setting.params, seed=1)
    readings = rwn.audit(data, release, measures=list(rwn.Policy().measures))
    assert rwn.Policy().judge_readings(readings.readings).kept


def test_the_same_table_gets_the_same_answer() -> None:
    """Neither the order of calls nor what is remembered changes it."""
    assert rwn.recommend(numbers()) == rwn.recommend(numbers())


def test_what_leaves_unique_records_as_they_are_cannot_keep_the_policy() -> None:
    """PRAM leaves numbers, and by these every record is unique."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"wage": rng.standard_normal(200), "sex": rng.choice(["f", "m"], 200)})
    verdict = rwn.quick_verdict(described(frame, sex=Role.KEY), "pram")
    assert verdict.answer == "cannot"
    assert verdict.sentence == ("100 % of the records are unique on what stays as it is: wage.")


def test_nothing_masked_is_refused() -> None:
    """Without a masked variable there is nothing to recommend."""
    data = numbers()
    variables = tuple(replace(each, masked=False) for each in data.schema.variables)
    data = data.with_schema(replace(data.schema, variables=variables))
    with pytest.raises(rwn.ParameterError, match="masking"):
        rwn.recommend(data)
    assert rwn.quick_verdict(data, "rwn").answer == "cannot"
