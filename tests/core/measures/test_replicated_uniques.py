"""Replicated uniques against a slow count, and against releases that try to hide them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.errors import NotApplicable
from rwn_core.masking import CARTSynthesis, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison

MEASURE = MEASURES["replicated_uniques"]


def people(n: int = 240, seed: int = 4) -> Microdata:
    """Two keys with a rare level and holes, and a confidential number of few values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(20, 70, n).astype(float)})
    frame["region"] = rng.choice(["n", "s", "w"], n)
    frame.loc[0, "region"] = "alone"
    frame["income"] = (frame["age"] * 3 + rng.normal(0, 20, n)).round(-1)
    frame.loc[rng.random(n) < 0.05, "age"] = np.nan
    data = Microdata.from_frame(frame)
    schema = data.schema
    for name, role in (("age", Role.KEY), ("region", Role.KEY), ("income", Role.CONFIDENTIAL)):
        schema = schema.replace_variable(name, role=role)
    return data.with_schema(schema)


def slow(original: pd.DataFrame, masked: pd.DataFrame, keys: list[str]) -> tuple[int, ...]:
    """Uniques, those whose keys appear, those alone there (synthpop's count), whole rows."""
    before, after = (
        [tuple(map(str, row)) for row in frame[keys].itertuples(index=False)]
        for frame in (original, masked)
    )
    sizes, shown = Counter(before), Counter(after)
    rows = {tuple(map(str, row)) for row in masked.itertuples(index=False)}
    whole = [tuple(map(str, row)) for row in original.itertuples(index=False)]
    alone = [i for i, cells in enumerate(before) if sizes[cells] == 1]
    return (
        len(alone),
        sum(shown[before[i]] > 0 for i in alone),
        sum(shown[before[i]] == 1 for i in alone),
        sum(whole[i] in rows for i in alone),
    )


def counts(reading) -> tuple[int, ...]:
    found = reading.detail
    return found.violations.original[0], found.appear, found.replicated, found.whole_rows


def test_synthesis_by_trees_against_a_slow_count():
    data = people()
    found = []
    for leaf in (2, 5, 60):
        masked = mask(data, CARTSynthesis(leaf=leaf), seed=3).masked
        reading = MEASURE.compute(Comparison(original=data, masked=masked))
        assert counts(reading) == slow(data.frame, masked.frame, ["age", "region"])
        assert reading.value == reading.detail.appear / reading.detail.violations.original[0]
        found.append(reading)
    assert 0 < found[1].detail.appear < found[1].detail.violations.original[0]
    mixed = np.random.default_rng(1)
    shares = []
    for _ in range(30):  # what its baseline expects, drawn
        frame = data.frame.apply(lambda column: mixed.permutation(column.to_numpy()))
        masked = Microdata(frame.astype(data.frame.dtypes.to_dict()), data.schema)
        shares.append(MEASURE.compute(Comparison(original=data, masked=masked)).value)
    expected = MEASURE.compute(Comparison(original=data, masked=data)).baseline
    assert expected == pytest.approx(np.mean(shares), abs=0.03)


def test_the_unmasked_file_a_second_copy_and_other_units():
    data = people()
    same = MEASURE.compute(Comparison(original=data, masked=data))
    assert same.value == 1
    twice = Microdata(pd.concat([data.frame] * 2, ignore_index=True), data.schema)
    doubled = MEASURE.compute(Comparison(original=data, masked=twice))
    assert (doubled.value, doubled.detail.replicated) == (1, 0)  # alone hides, present does not
    masked = mask(data, CARTSynthesis(leaf=5), seed=3).masked
    frames = (table.frame.assign(age=table.frame["age"] / 12.7) for table in (data, masked))
    units = [Microdata(frame, data.schema) for frame in frames]
    plain = MEASURE.compute(Comparison(original=data, masked=masked))
    scaled = MEASURE.compute(Comparison(original=units[0], masked=units[1]))
    assert counts(plain) == counts(scaled)
    assert "alone with their key values" in MEASURE.sentence(plain, data.n)


def test_nobody_is_alone():
    pairs = Microdata.from_frame(pd.DataFrame({"a": ["x", "x", "y", "y"]}))
    with pytest.raises(NotApplicable, match="No record is alone"):
        MEASURE.compute(Comparison(original=pairs, masked=pairs))
