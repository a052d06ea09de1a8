"""A project brings back every choice for a table, and holds none of its records."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import InputError
from rwn_core.reporting.decision import Decision
from rwn_core.reporting.project import Project
from rwn_core.reporting.scenario import Scenario
from rwn_core.tuning import Setting

FRAME = pd.DataFrame(
    {
        "pay": [1234.5, 2345.5, 3456.5, 4567.5],
        "rank": ["Zuse", "Lovelace", "Zuse", "Hopper"],
        "age": [41, 42, 43, 44],
    }
)


def table(**changes: object) -> Microdata:
    """The table as it is opened, or with its rank described in another way."""
    data = Microdata.from_frame(FRAME)
    if not changes:
        return data
    return data.with_schema(data.schema.replace_variable("rank", **changes))


def project(data: Microdata) -> Project:
    setting = Setting(
        params=rwn.RWN(epsilon=1.0, k=2), weights=(("age", 3.0),), precision=(("pay", 100.0),)
    )
    present = Scenario(name="present", table=data.fingerprint, setting=setting, seed=7,
                       policy=rwn.Policy())  # fmt: skip
    made = Decision(scenarios=(present,), chosen="present", reason="fine", date="2026-01-02")
    project = Project.from_table(data, present, "2026-01-02")
    return replace(project, scenarios=(replace(present, name="mild"),), decisions=(made,))


def test_all_choices_come_back() -> None:
    made = project(table(role="key", group="who"))
    again = Project.from_toml(made.to_toml())
    assert again == made
    assert again.describe(table()) == table(role="key", group="who").schema
    assert again.decisions[0].hash == made.decisions[0].hash


def test_it_holds_no_value_of_the_table_not_even_a_level() -> None:
    text = project(table(kind="ordered", levels=("Hopper", "Lovelace", "Zuse"))).to_toml()
    for column in FRAME:
        for value in FRAME[column]:
            assert str(value) not in text.replace(table().fingerprint, "")


def test_an_order_that_the_table_does_not_know_is_not_guessed() -> None:
    made = project(table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace")))
    assert made.describe(table()).variable("rank").kind == rwn.Kind.CATEGORICAL
    known = table(kind="ordered", levels=("Zuse", "Hopper", "Lovelace"))
    assert made.describe(known) == known.schema


def test_what_is_no_project_of_this_table_is_refused() -> None:
    made = project(table())
    other = Microdata.from_frame(FRAME.assign(age=[1, 2, 3, 4]))
    with pytest.raises(InputError, match="another table"):
        made.describe(other)
    text = made.to_toml()
    for old, new in (
        ("rwn project 1", "rwn project 0"),
        ('role = "', 'part = "'),
        ('role = "', 'role = "un'),
        ("k = 2", "k = -2"),
        ('saved = "2026-01-02"', ""),
    ):
        assert old in text
        with pytest.raises(InputError):
            Project.from_toml(text.replace(old, new)).describe(table())
