"""Estimates of a population are held against populations whose truth is known.

Findings A10, A11 and A12: what a sentence promises of right matches and of people who are alone
is near the truth on all keys, or says by how much it may be off.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from rwn_core import MEASURES, Comparison, Sampling
from rwn_core.measures.measure import Reading
from rwn_core.measures.statistics.population import PitmanLaw, fitted_risk, individual_risk
from tests.tables import described

N = 9000


def shares(levels: int, power: float) -> np.ndarray:
    weights = 1 / np.arange(1, levels + 1) ** power
    return weights / weights.sum()


@lru_cache
def population(kind: str) -> pd.DataFrame:
    """Six keys as texts: of one sort few are alike, of the other some levels are rare."""
    draw = np.random.default_rng(0)
    age = draw.integers(18, 63, N) if kind == "even" else 15 + draw.gamma(3, 12, N).astype(int)
    family = np.minimum(1 + draw.poisson(2, N) + (age > 30) * draw.integers(0, 2, N), 14)
    places = 4 if kind == "even" else 12
    edu, eth = draw.choice(7, N, p=shares(7, 1)), draw.choice(3, N, p=shares(3, 2))
    region = draw.choice(places, N, p=shares(places, 0 if kind == "even" else 1))
    columns = {"age": age, "sex": draw.integers(0, 2, N), "region": region}
    return pd.DataFrame({**columns, "edu": edu, "eth": eth, "family": family}).astype(str)


def sampled(kind: str, fraction: float, seed: int = 1) -> tuple[Comparison, np.ndarray]:
    """A random sample as it is, and how many people share each record's keys."""
    people = population(kind)
    rows = np.random.default_rng(seed).choice(N, round(fraction * N), replace=False)
    code = people.groupby(list(people.columns)).ngroup().to_numpy()
    sharing = np.bincount(code)[code][rows]
    frame = people.iloc[rows].reset_index(drop=True)
    data = described(frame, **dict.fromkeys(frame, "key"))
    return Comparison(original=data, masked=data, sampling=Sampling(population=N)), sharing


def read(key: str, comparison: Comparison) -> Reading:
    return MEASURES[key].read(comparison)


SAMPLES = pytest.mark.parametrize(("kind", "fraction"), [("even", 0.3), ("uneven", 0.02)])


@SAMPLES
def test_individual_risk_is_what_its_sentence_says_of_the_truth(kind: str, fraction: float) -> None:
    comparison, sharing = sampled(kind, fraction)
    found, truth = read("individual_risk", comparison), float((1 / sharing).sum())
    assert 0.7 < truth / (found.value * len(sharing)) < 1.2
    # the older model alone is outside, as its sentence warns
    assert truth / found.detail.older.released > 1.5
    said = MEASURES["individual_risk"].sentence(found, len(sharing))
    assert "expects to identify" not in said
    assert "Benedetti and Franconi" in said
    assert found.detail.caveat in said
    # where the file is the population it is one over the class
    data = comparison.original
    found = read("individual_risk", Comparison(original=data, masked=data))
    assert found.value == pytest.approx(data.frame.drop_duplicates().shape[0] / data.n)


@pytest.mark.parametrize(("alpha", "theta"), [(0.0, 50.0), (0.7, 200.0)])
def test_the_posterior_mean_is_that_of_seated_people(alpha: float, theta: float) -> None:
    """People sit down one after another, each by Pitman's rule: no formula but the rule."""
    n, further, runs = 120, 480, 1500
    draw = np.random.default_rng(7)
    for f in (1, 2, 5):
        size = np.full(runs, f)
        for person in range(further):
            size += draw.random(runs) < (size - alpha) / (theta + n + person)
        inverse = 1 / size
        frequencies = np.array([f] * f + [1] * (n - f))
        risk = fitted_risk(frequencies, frequencies * 5.0, PitmanLaw(alpha, theta))[0]
        assert risk == pytest.approx(inverse.mean(), abs=4 * inverse.std() / np.sqrt(runs) + 0.006)
    # the older one is the law without unseen values
    older = individual_risk(np.array([1]), np.array([5.0]))[0]
    many = fitted_risk(np.ones(10**6), np.full(10**6, 5.0), PitmanLaw(0.0, 0.0))
    assert many[0] == pytest.approx(older, rel=1e-4)


@SAMPLES
def test_log_linear_risk_is_of_all_keys_and_uniqueness_holds_the_truth(
    kind: str, fraction: float
) -> None:
    comparison, sharing = sampled(kind, fraction)
    found, frame = read("loglinear_risk", comparison), comparison.original.frame
    alone = ~frame.duplicated(keep=False).to_numpy()
    truth = float((1 / sharing[alone]).sum())
    apart = found.detail.independent
    assert apart[-1] == "family"
    assert found.detail.left_out == []
    assert found.detail.uniques.released == alone.sum()
    assert 0.8 < truth / found.detail.expected.released < 1.25
    said = MEASURES["loglinear_risk"].sentence(found, len(frame))
    enter = "enter" if len(apart) > 1 else "enters"
    assert f"{', '.join(apart)} {enter} as independent of the other keys" in said
    # the model of the table's own keys alone, which had been the answer, is too small
    assert truth / found.detail.of_names > 1.25
    found = read("population_uniqueness", comparison)
    low, high = found.interval
    assert low - 0.05 <= (sharing[alone] == 1).mean() <= high + 0.05
    assert low <= found.value <= high
    said = MEASURES["population_uniqueness"].sentence(found, len(sharing))
    assert "would fit the release" in said
