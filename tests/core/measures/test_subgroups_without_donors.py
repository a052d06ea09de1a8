"""Small groups are counted under every law; what is expected of them needs donors drawn apart."""

from __future__ import annotations

import pytest

from rwn_core.io.demo import load_demo
from rwn_core.masking import AdditiveNoise, RecordSwapping, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison


@pytest.mark.parametrize(
    "params",
    [AdditiveNoise(size=0.5), RecordSwapping(variables="siri,bmi")],
    ids=lambda params: params.method,
)
def test_small_groups_are_counted_without_donors_drawn_apart(params) -> None:
    data = load_demo("bodyfat")
    release = mask(data, params, seed=1)
    reading = MEASURES["subgroups"].read(
        Comparison(original=data, masked=release.masked, law=release.law)
    )
    assert reading.detail["expected"] is None
    plain = MEASURES["subgroups"].read(Comparison(original=data, masked=release.masked))
    assert reading.value == plain.value
