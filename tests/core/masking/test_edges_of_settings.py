"""Settings at their edges: what is still allowed, and what is refused or warned of one step on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.masking import cart_synthesis
from rwn_core.masking.soft_rwn import CHAINED


def numbers(names: str = "abc", n: int = 40) -> rwn.Microdata:
    draw = np.random.default_rng(3)
    return rwn.Microdata.from_frame(pd.DataFrame({name: draw.normal(size=n) for name in names}))


def test_ties_need_two_slices_and_no_more() -> None:
    two = numbers().with_slices([["a", "b"]])
    assert len(rwn.mask(two, rwn.SoftRWN(tie=True), seed=1).law.units()) == 2
    with pytest.raises(rwn.ParameterError, match="Ties need from 2 to"):
        rwn.mask(numbers().with_slices([["a", "b", "c"]]), rwn.SoftRWN(tie=True), seed=1)


def test_a_chain_is_warned_of_few_people_and_of_mixed_slices_only_where_it_has_them() -> None:
    usual = rwn.SoftRWN(chain=True, own=True, later=20).cautions()
    few = rwn.SoftRWN(chain=True, own=True, later=19).cautions()
    mixed = rwn.SoftRWN(chain=True, own=True, later=20, mixed=True).cautions()
    assert {*CHAINED} <= {*usual}
    assert len(few) == len(mixed) == len(usual) + 1
    apart = rwn.SoftRWN(later=19, mixed=True).cautions()
    assert apart == rwn.SoftRWN().cautions()


def test_what_would_change_nothing_or_has_no_size_is_refused() -> None:
    levels = pd.DataFrame({"g": list("abab") * 10, "h": list("aabb") * 10})
    everything = rwn.RecordSwapping(variables=("g", "h"))
    with pytest.raises(rwn.ParameterError, match="All variables would move together"):
        rwn.mask(rwn.Microdata.from_frame(levels), everything, seed=1)
    with pytest.raises(rwn.ParameterError, match="neither is given"):
        rwn.RWN()
    with pytest.raises(rwn.ParameterError, match="matrices must be rows"):
        rwn.PRAM(matrices={"g": [[0.9, 0.1], [1.0]]})
    parts = rwn.RWN(k=5, neighbors="partition", u=9)
    with pytest.raises(rwn.ParameterError, match="u must be"):
        rwn.mask(numbers(), parts, seed=1)


def test_levels_are_ordered_by_the_mean_of_what_they_predict_not_by_its_sum() -> None:
    # c has the highest mean and few records; by sums b would lie farther out
    values = np.repeat([0.0, 1.0, 1.5], [60, 60, 4])
    data = rwn.Microdata.from_frame(pd.DataFrame({"g": list("a" * 60 + "b" * 60 + "c" * 4)}))
    a, b, c = cart_synthesis._predictor(data, "g", values[:, np.newaxis])[[0, 60, 120]]
    assert b == sorted((a, b, c))[1]
