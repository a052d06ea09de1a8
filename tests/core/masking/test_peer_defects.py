"""Defects that were found in other programs, planted once and sought in every method of ours.

Those of rank swapping (P-1) and of record swapping (E-M8) are held in the files of the two, the
sample mean in place of the population's (P-3) in test_population.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.data.microdata import Microdata
from rwn_core.data.variable import Role
from rwn_core.masking import METHODS
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.risk.nearness import inside, robust_shares
from tests.core.masking.method_tables import described, key, prepared
from tests.holding import hold

FILLED = -999.0


def left_over(original: np.ndarray, masked: np.ndarray) -> float:
    """What a straight line through the original leaves of the masked numbers, in its sd."""
    line = np.polyfit(original, masked, 1)
    return float((masked - np.polyval(line, original)).std() / original.std(ddof=1))


def test_P_2_every_form_of_noise_adds_noise_and_does_not_only_rescale():
    own = np.random.default_rng(1).normal(50, 4, 5000)
    data = Microdata.from_frame(pd.DataFrame({"x": own}))
    forms: dict[str, tuple[Any, float]] = {
        **{f"additive {shape}": (rwn.AdditiveNoise(size=0.5, shape=shape), 0.5)
           for shape in ("gaussian", "laplace", "uniform")},
        **{f"correlated {form}": (rwn.CorrelatedNoise(size=0.25, form=form), a * 0.5)
           for form, a in (("plain", 1.0), ("population", 1.25**-0.5), ("sample", 1.25**-0.5))},
    }  # fmt: skip

    def rule(form: str) -> None:
        params, size = forms[form]
        masked = rwn.mask(data, params, seed=2).masked.values("x")
        assert left_over(own, masked) == pytest.approx(size, rel=0.06)

    hold(rule, forms)
    assert left_over(own, own.mean() + (own - own.mean()) / np.sqrt(1.25)) < 1e-9  # the peer's


def test_P_4_a_mean_does_not_grow_with_the_table():
    rng = np.random.default_rng(3)
    frames = [pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"]) for _ in range(2)]

    def loss(frames: list[pd.DataFrame]) -> Any:
        one, other = (Microdata.from_frame(frame) for frame in frames)
        return rwn.MEASURES["il1s"].compute(Comparison(original=one, masked=other))

    once, thrice = loss(frames), loss([pd.concat([f] * 3, ignore_index=True) for f in frames])
    assert thrice.value == pytest.approx(once.value, rel=0.02)
    assert thrice.detail.il1s_sum > 2.9 * once.detail.il1s_sum  # what the peer returns


def test_P_4_all_values_inside_and_any_value_inside_are_told_apart():
    before = np.random.default_rng(4).normal(size=(50, 2))
    after = before + np.array([0.0, 9.0])  # the first variable is released as it is
    assert not inside(before, after).any()
    any_inside, _ = robust_shares(before, after, np.ones(50))
    assert any_inside == 1.0


def around_100(seed: int) -> pd.DataFrame:
    """Numbers near 100 of which a third is missing, and what the methods need besides."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(100, 1, 120) for name in ("x", "y", "key")})
    frame = frame.mask(rng.random(frame.shape) < 0.33)
    return frame.assign(g=rng.choice(["a", "b"], 120), s=rng.choice(["u", "v"], 120))


def farthest(release: Callable[[Microdata], Microdata]) -> float:
    """How far the numbers of a release are from 100."""
    data = described(around_100(5), key=Role.KEY, g=Role.KEY, y=Role.CONFIDENTIAL)
    return float(np.nanmax(np.abs(release(data).matrix(("x", "y", "key")) - 100)))


def test_missing_values_are_never_turned_into_numbers():
    """A filled-in -999 would be released, or widen every distance, interval and noise."""

    def released(method: str) -> Callable[[Microdata], Microdata]:
        return lambda data: prepared(method, data).release(key(6)).masked

    def rule(method: str) -> None:
        assert farthest(released(method)) < 6

    hold(rule, METHODS)

    def planted(data: Microdata) -> Microdata:
        filled = data.frame.fillna(dict.fromkeys(("x", "y", "key"), FILLED))
        masked = prepared("additive_noise", Microdata.from_frame(filled)).release(key(6)).masked
        hidden = data.frame.isna()
        return Microdata(masked.frame.mask(hidden), data.schema)

    assert farthest(planted) > 100
