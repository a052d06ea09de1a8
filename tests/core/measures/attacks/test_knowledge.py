"""Five intruders side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.evaluation.audit import compare
from rwn_core.masking import RWN, mask
from rwn_core.measures import read
from rwn_core.measures.attacks.worst_case import worst_case
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.key_intruders import levels

KEYS = ("age", "weight", "height")


def test_more_knowledge_links_more(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=3)
    comparison = compare(bodyfat, release)
    found = levels(comparison, KEYS)
    assert [level.key for level in found] == ["L0", "L1", "L2", "L3", "L4"]
    success = {level.key: level.success for level in found}
    assert success["L0"] == 1 / bodyfat.n
    assert success["L0"] < success["L1"] < success["L3"] < success["L4"]
    known = worst_case(comparison, KEYS)
    assert known.links.success == pytest.approx(0.67, abs=0.05)
    assert success["L3"] == known.matched > known.links.success
    assert success["L2"] <= success["L3"]


def test_without_a_law_the_ordinary_intruders_stay(bodyfat):
    release = mask(bodyfat, RWN(epsilon=2.0, k=5), seed=3)
    found = levels(Comparison(original=bodyfat, masked=release.masked), KEYS)
    assert [level.success is None for level in found] == [False, False, True, True, True]
    assert all(level.reason for level in found[2:])
    assert "law of the method" in str(read("intruder_levels", Comparison(
        original=bodyfat, masked=release.masked)))  # fmt: skip


def test_a_key_with_one_level():
    rng = np.random.default_rng(1)
    data = Microdata.from_frame(pd.DataFrame({"c": ["same"] * 20, "x": rng.normal(size=20)}))
    release = mask(data, RWN(k=3), seed=1)
    found = {level.key: level for level in levels(compare(data, release), ["c"])}
    assert found["L1"].success is None
    assert found["L2"].success is None
    assert "No key variable varies" in found["L2"].reason
    assert found["L3"].success == pytest.approx(1 / 20)
