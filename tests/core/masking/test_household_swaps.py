"""Households that exchange their areas, against counts of pandas."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.errors import ParameterError
from rwn_core.masking import RecordSwapping
from tests.core.masking.method_tables import key

SETTING = RecordSwapping(share=0.1, hierarchy="region,district")


def town(n: int = 400, seed: int = 3) -> Microdata:
    """Households of 1 to 3 members in 2 regions of 3 districts each, of rare and common ages."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n)
    region = rng.integers(0, 2, n)
    district = 10 * region + rng.integers(0, 3, n)
    household = np.repeat(np.arange(n), sizes)
    ages = rng.choice(30, len(household), p=np.r_[[0.19] * 5, [0.002] * 25])
    frame = pd.DataFrame(
        {
            "household": household,
            "region": np.char.add("r", region[household].astype(str)),
            "district": np.char.add("d", district[household].astype(str)),
            "age": [f"a{age}" for age in ages],
            "income": rng.normal(size=len(household)),
        }
    )
    data = Microdata.from_frame(frame.sample(frac=1, random_state=seed).reset_index(drop=True))
    schema = data.schema.replace_variable("household", role=rwn.Role.HOUSEHOLD)
    return data.with_schema(schema.replace_variable("age", role=rwn.Role.KEY))


def moves(data: Microdata, setting: RecordSwapping, seed: int) -> pd.DataFrame:
    """Each household: its size, level of risk by counts of pandas, and areas before and after."""
    masked = setting.prepare(data).release(key(seed)).masked.frame
    frame = data.frame
    level = pd.Series(2, index=frame.index)
    for number, areas in ((1, ["region", "district"]), (0, ["region"])):
        alike = frame.groupby(["age", *areas])["income"].transform("size")
        level[alike < setting.rarer_than] = number
    rows = []
    for _, own in frame.groupby("household"):
        after = masked.loc[own.index, ["region", "district"]]
        assert len(after.drop_duplicates()) == 1  # a household moves as one
        before = own[["region", "district"]].iloc[0]
        rows.append((len(own), level[own.index].min(), *before, *after.iloc[0]))
    return pd.DataFrame(rows, columns=["size", "level", "r0", "d0", "r1", "d1"])


def test_rare_households_leave_the_area_in_which_they_are_rare():
    data = town()
    found = moves(data, SETTING, 1)
    top, low = found["level"] == 0, found["level"] == 1
    assert top.sum() > 5
    assert low.sum() > 5
    assert (found["r0"] != found["r1"])[top].all()
    assert (found["d0"] != found["d1"])[low].mean() > 0.95  # a few may have no partner left
    moved = found["d0"] != found["d1"]
    assert moved.sum() >= 0.1 * len(found)
    none = moves(data, RecordSwapping(share=0.1, hierarchy="region,district", rarer_than=0), 1)
    assert (none["r0"] == none["r1"]).all()
    assert (none["d0"] != none["d1"]).sum() == int(np.ceil(0.1 * len(none) / 2)) * 2


def test_counts_by_size_and_area_and_all_other_values_stay():
    data = town()
    found = moves(data, SETTING, 2)
    before, after = found[["size", "r0", "d0"]], found[["size", "r1", "d1"]]
    assert Counter(map(tuple, before.to_numpy())) == Counter(map(tuple, after.to_numpy()))
    masked = SETTING.prepare(data).release(key(2))
    assert masked.law is None
    rest = ["age", "income"]
    assert masked.masked.frame[rest].equals(data.frame[rest])
    alike = RecordSwapping(share=1.0, hierarchy="region,district", within="age", rarer_than=0)
    released = alike.prepare(data).release(key(2)).masked.frame
    ages = data.frame.groupby("household")["age"].agg(lambda x: ".".join(sorted(x)))
    ages = data.frame["household"].map(ages)
    before = Counter(zip(ages, data.frame["district"], strict=True))
    assert before == Counter(zip(ages, released["district"], strict=True))
    assert not released["district"].equals(data.frame["district"])


def test_each_partner_is_equally_likely():
    """One rare household, five others in the other area; a planted favorite is noticed."""
    frame = pd.DataFrame({"area": ["a"] + ["b"] * 5, "key": ["odd"] + ["usual"] * 5, "x": range(6)})
    data = Microdata.from_frame(frame)
    data = data.with_schema(data.schema.replace_variable("key", role=rwn.Role.KEY))
    setting = RecordSwapping(share=0, hierarchy="area")
    table = setting.prepare(data)
    taken = Counter(
        int(np.flatnonzero(table.release(key(seed)).masked.frame["area"] == "a")[0])
        for seed in range(300)
    )
    assert set(taken) == {1, 2, 3, 4, 5}
    counts = np.array([taken[number] for number in range(1, 6)])

    def distance(observed):
        return ((observed - 60) ** 2 / 60).sum()

    assert distance(counts) < 23.5  # chi-square of 4 degrees at 1e-4
    assert distance(counts + np.array([40, -10, -10, -10, -10])) > 23.5


def test_a_hierarchy_is_refused_in_one_sentence():
    data = town(40)
    with pytest.raises(ParameterError, match="one area for all members"):
        RecordSwapping(hierarchy="income").prepare(data)
    with pytest.raises(ParameterError, match="must not share"):
        RecordSwapping(hierarchy="region", within="region")
    with pytest.raises(ParameterError, match="rarer_than must be a whole number"):
        RecordSwapping(rarer_than=-1)
