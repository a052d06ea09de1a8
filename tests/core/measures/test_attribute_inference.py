"""Attribute inference on real tables: what was published, and what a random guess had hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rwn_core
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.variable import Role
from rwn_core.masking import RWN, mask
from rwn_core.measures import MEASURES
from rwn_core.measures.attacks.posterior import posteriors
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading

KEYS = ("age", "weight", "height")
SEEDS = (1, 2, 3)
SLICES = {
    "none": (4.0, {}),
    "whole rows": (6.0, None),
    "keys and siri": (4.0, dict.fromkeys((*KEYS, "siri"), "a")),
    "keys apart": (6.0, dict.fromkeys(KEYS, "a")),
}


def sliced(groups: dict[str, str] | None, rest: str | None) -> Microdata:
    """Bodyfat with groups; None for whole rows, `rest` for all that have none."""
    data = rwn_core.load_demo("bodyfat")
    given = {} if groups is None else groups
    variables = (replace(v, group=given.get(v.name, rest)) for v in data.schema.variables)
    return Microdata(data.frame, Schema(variables=tuple(variables)))


def readings(slices: str) -> list[Reading]:
    epsilon, groups = SLICES[slices]
    data = sliced(groups, "b" if slices in ("whole rows", "keys apart") else None)
    found = []
    for seed in SEEDS:
        release = mask(data, RWN(epsilon=epsilon, k=5), seed=seed)
        comparison = Comparison(original=data, masked=release.masked, law=release.law)
        found.append(MEASURES["attribute_inference"].compute(comparison))
    return found


@pytest.mark.parametrize(("k", "guess", "named"), [(25, 0.832, 0.992), (5, 0.941, 0.984)])
def test_naming_the_likeliest_value_beats_a_guess_by_the_belief(k, guess, named):
    """Diabetes of the women of pima: the mean belief in the truth is not how often one is right."""
    data = rwn_core.load_demo("pima")
    variables = (
        replace(v, role=Role.OTHER if v.role is Role.CONFIDENTIAL and v.name != "test" else v.role)
        for v in data.schema.variables
    )
    data = Microdata(data.frame, Schema(variables=tuple(variables)))
    release = mask(data, RWN(k=k), seed=1)
    comparison = Comparison(original=data, masked=release.masked, law=release.law)
    reading = MEASURES["attribute_inference"].compute(comparison)
    belief = posteriors(release.law, release.masked, np.arange(data.n), ["pregnant", "bmi", "age"])
    right = data.frame["test"].to_numpy()[:, None] == release.masked.frame["test"].to_numpy()
    dense = belief.toarray()
    mean = ((dense * right).sum(axis=1) / dense.sum(axis=1)).mean()
    error = np.sqrt(guess * (1 - guess) / data.n)
    assert mean == pytest.approx(guess, abs=3 * error)
    assert reading.value == pytest.approx(named, abs=3 * np.sqrt(named * (1 - named) / data.n))
    assert reading.value > mean + 0.02
    assert reading.baseline == pytest.approx(0.651, abs=0.001)
