"""Five intruders side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.evaluation.audit import compare
from rwn_core.masking import RWN, mask
from rwn_core.measures import read
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

KEYS = ("age", "weight", "height")


def with_keys(data: Microdata, keys: tuple[str, ...]) -> Microdata:
    schema = data.schema
    for variable in schema.released:
        role = Role.KEY if variable.name in keys else Role.OTHER
        schema = schema.replace_variable(variable.name, role=role)
    return Microdata(data.frame, schema)


def levels(comparison: Comparison) -> dict[str, tuple[float | None, str]]:
    reading = read("intruder_levels", comparison)
    assert isinstance(reading, Reading)
    detail = reading.detail
    found = zip(detail.success, detail.reasons, strict=True)
    return dict(zip(detail.levels, found, strict=True))


def test_more_knowledge_links_more(bodyfat):
    data = with_keys(bodyfat, KEYS)
    comparison = compare(data, mask(data, RWN(epsilon=2.0, k=5), seed=3))
    found = levels(comparison)
    assert list(found) == ["L0", "L1", "L2", "L3", "L4"]
    success = {key: value for key, (value, _) in found.items()}
    assert success["L0"] == 1 / bodyfat.n
    assert success["L0"] < success["L1"] < success["L3"] < success["L4"]
    known = worst_case(comparison, KEYS)
    assert known.links.success == pytest.approx(0.67, abs=0.05)
    assert success["L3"] == known.success > known.links.success
    assert success["L2"] <= success["L3"]


def test_without_a_law_there_are_no_levels(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=3)
    assert "law of the method" in str(read("intruder_levels", Comparison(
        original=bodyfat, masked=release.masked)))  # fmt: skip


def test_a_key_with_one_level():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"c": ["same"] * 20, "x": rng.normal(size=20)})
    data = with_keys(Microdata.from_frame(frame), ("c",))
    found = levels(compare(data, mask(data, RWN(k=3), seed=1)))
    assert found["L1"][0] is None
    assert found["L2"][0] is None
    assert "No key variable varies" in found["L2"][1]
    assert found["L3"][0] == pytest.approx(1 / 20)
