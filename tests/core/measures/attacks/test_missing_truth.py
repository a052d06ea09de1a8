"""Of people whose confidential value is missing nothing can be learned: they are no failures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.errors import NotApplicable
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

KEYS = ("inference", "attribute_inference")


def table(missing: int, n: int = 60) -> Microdata:
    """Two keys and a confidential number, which the last people do not have."""
    values = np.random.default_rng(3).normal(size=(n, 3))
    frame = pd.DataFrame(values, columns=["a", "b", "s"])
    frame.loc[n - missing :, "s"] = np.nan
    roles = {"s": Role.CONFIDENTIAL}
    variables = [
        Variable(name=name, kind=Kind.CONTINUOUS, role=roles.get(name, Role.KEY)) for name in frame
    ]
    return Microdata.from_frame(frame, Schema(variables=tuple(variables)))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("beside", [False, True])
def test_who_has_no_value_does_not_count(key, beside):
    """Nothing is masked: everybody's value is learned who has one."""
    data = table(missing=30)
    release = mask(data, RWN(k=5, q=0.0), seed=1)
    held = table(missing=20, n=40) if beside else None
    comparison = Comparison(original=data, masked=release.masked, law=release.law, holdout=held)
    reading = MEASURES[key].read(comparison)
    assert isinstance(reading, Reading), reading
    rate = reading.detail.attack if key == "inference" else reading.value
    assert rate == pytest.approx(1.0)  # counted as failures: 0.5
    if key == "inference":
        assert reading.detail.attacks == 30
        assert reading.detail.controls == (20 if beside else None)


def test_without_any_value_there_is_no_answer():
    data = table(missing=2, n=600)  # of those who are attacked none, below
    nobody = Comparison(original=data.take(np.arange(598, 600)), masked=data)
    assert isinstance(MEASURES["inference"].read(nobody), NotApplicable)
