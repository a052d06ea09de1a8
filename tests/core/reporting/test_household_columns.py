"""A notice says whether the columns of a household are still one value in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.reporting.facts import public_words as words
from rwn_core.reporting.facts.fact import Material
from rwn_core.reporting.facts.inside import INSIDE
from rwn_core.reporting.facts.outside import OUTSIDE
from rwn_core.reporting.record_parts import household_columns


def homes(n: int = 240, *, masked: bool = True) -> rwn.Microdata:
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(n // 3), 3)
    frame = pd.DataFrame(
        {
            "hid": home + 1_000,
            "hh_income": rng.normal(30, 9, n // 3).round(1)[home],
            "region": rng.choice(["a", "b", "c"], n // 3)[home],
            "age": rng.integers(1, 90, n),
        }
    )
    data = rwn.Microdata.from_frame(frame)
    schema = data.schema.replace_variable("hid", role="household")
    return data.with_schema(schema.replace_variable("region", masked=masked))


def lines(record: dict[str, object]) -> list[str]:
    said = []
    for entry in (*OUTSIDE, *INSIDE):
        if entry.key in ("variables", "data"):
            assert entry.make is not None
            said += entry.make(Material(record=record)).lines
    return said


@pytest.mark.parametrize("masked", [True, False])
def test_household_columns_that_are_drawn_person_by_person_are_named(masked: bool) -> None:
    data = homes(masked=masked)
    release = rwn.mask(data, rwn.RWN(epsilon=9.0, k=90), seed=1)
    found = household_columns(data, release.masked)["household"]
    names = ["hh_income", "region"]
    assert found == {
        "kept": [] if masked else ["region"],
        "split": names if masked else ["hh_income"],
    }
    table = {"variables": [], "kinds": [], "roles": [], "not_masked": [], "removed": ["hid"]}
    record = {
        "table": {**table, "records": data.n, "household": found},
        "file": {"records": data.n},
        "setting": {"method": "rwn"},
        "readings": {},
    }
    split = words.HOUSEHOLD["split"].format(names=", ".join(found["split"]))
    said = lines(record)
    assert said.count(split) == 2  # in the house and outside
    assert (words.HOUSEHOLD["kept"].format(names="region") in said) is not masked


def test_nothing_is_said_without_households_or_where_nobody_shares_one() -> None:
    data = homes()
    undeclared = data.with_schema(data.schema.replace_variable("hid", role="other"))
    assert household_columns(undeclared, undeclared) == {}
    alone = data.frame.iloc[::3]
    single = rwn.Microdata.from_frame(alone)
    single = single.with_schema(single.schema.replace_variable("hid", role="household"))
    assert household_columns(single, single) == {}
    assert household_columns(data, data)["household"] == {
        "kept": ["hh_income", "region"],
        "split": [],
    }
