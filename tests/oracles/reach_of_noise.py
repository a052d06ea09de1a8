"""k-noise and k-PRAM by their definitions: who stays within reach, and what resampling moves."""

from __future__ import annotations

import numpy as np

import rwn_core as rwn
from rwn_core.data.arrays import Floats, Integers
from rwn_core.laws.noise_law import Noise
from rwn_core.masking.k_noise import delta

AGES, GAP = "ages of 241 men", "a gap around one person"


def ages(name: str) -> Floats:
    """The ages of bodyfat, or those that attain the bound: one person between two crowds."""
    if name == AGES:
        return rwn.load_demo("bodyfat").values("age")
    return np.concatenate([[50.0], np.repeat([40.0, 60.0], 60)])


def near_and_expected(values: Floats, k: int) -> tuple[Integers, Floats]:
    """Records within twice the noise's reach of each value, and how many are expected after it."""
    half = delta(np.sort(values), k)
    noise = Noise(shape="uniform", sd=half / np.sqrt(3))
    apart = values - np.unique(values)[:, None]
    near = (np.abs(apart) <= 2 * half).sum(axis=1)
    expected = noise.below(2 * half - apart) - noise.below(-2 * half - apart)
    return near, expected.sum(axis=1)


def least_within_reach(name: str, k: int) -> float:
    """The least share that stays; theorem 1 of Biswal, Arbuckle, Kulik says at least one half."""
    near, expected = near_and_expected(ages(name), k)
    return float((expected / near).min())


def resampling_error(values: Floats, group: Integers) -> float:
    """The expected mean square of k-PRAM: twice the variance within groups."""
    mean = np.bincount(group, values) / np.bincount(group)
    return float(2 * ((values - mean[group]) ** 2).mean())
