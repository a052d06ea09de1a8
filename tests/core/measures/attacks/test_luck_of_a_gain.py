"""Attribute gain counts no luck, and all that a release tells (finding V9)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rwn_core as rwn
from rwn_core.measures.attacks import attribute_attack
from rwn_core.measures.attacks.attribute_guesses import Predictor
from rwn_core.measures.comparison import Comparison
from tests.core.measures.attacks.attribute_tables import beside, reading, released, table, value


def people(kind: str, seed: int, n: int) -> pd.DataFrame:
    """Three keys; the secret is a coin, or two or three levels that follow the first key."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)) * 10 + 50, columns=list("abc"))
    score = (frame["a"] - 50) / 10 + 0.3 * rng.normal(size=n)
    score = rng.normal(size=n) if kind == "coin" else score
    cuts = [-0.43, 0.43] if kind == "three" else [0.0]
    frame["s"] = np.array(list("xyz"))[np.digitize(score, cuts)]
    return frame


def noise_of_100_deviations(kind: str, seed: int, outside: int = 0, n: int = 150) -> Comparison:
    """A release whose keys say nothing, if asked beside people outside."""
    frame = people(kind, seed, n + outside)
    data = table(frame.iloc[:n], list("abc"), ["s"])
    given = {}
    if outside:
        rest = frame.iloc[n:].reset_index(drop=True)
        given = {"holdout": rwn.Microdata(rest, data.schema)}
    return released(data, rwn.AdditiveNoise(size=100.0), seed=seed, **given)


def beyond_the_limit(kind: str, seeds: int, outside: int = 0) -> int:
    """Number of releases that read above the usual limit of .05."""
    made = (noise_of_100_deviations(kind, seed, outside) for seed in range(seeds))
    return sum(value("attribute_gain", each) > 0.05 for each in made)


@pytest.mark.parametrize("outside", [0, 100])
def test_of_40_releases_that_say_nothing_at_most_5_percent_read_above_the_limit(
    outside: int,
) -> None:
    """Finding V9: the luck of one coefficient vector, or of one row, is no gain."""
    assert sum(beyond_the_limit(kind, 20, outside) for kind in ("two", "three")) <= 2


def test_without_the_guards_luck_breaks_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the guards would hold for nothing."""
    monkeypatch.setattr(attribute_attack, "_is_luck", lambda *_: False)
    monkeypatch.setattr(Predictor, "lucky", lambda _: frozenset())
    assert beyond_the_limit("two", 12) + beyond_the_limit("three", 12) >= 6


@pytest.mark.parametrize("outside", [0, 300])
def test_a_secret_beside_the_own_keys_of_30_percent_is_found_at_its_size(outside: int) -> None:
    """A coin: the rows of 30 % of the people are as they were, and the others say nothing."""
    comparison = noise_of_100_deviations("coin", 3, outside, n=600)
    shown, own = comparison.masked.frame.copy(), comparison.original.frame
    shown.iloc[:180] = own.iloc[:180]
    most = own["s"].value_counts(normalize=True).iloc[0]
    found = reading("attribute_gain", beside(comparison, shown)).value
    assert found == pytest.approx(0.3 * (1 - most), abs=0.06)


@pytest.mark.parametrize("n", [12, 60, 300])
def test_a_secret_that_follows_a_key_left_nearly_as_it_is_is_found_at_its_size(n: int) -> None:
    """The noise has a thousandth of a standard deviation: who reads the keys knows all."""
    frame = people("two", 5, n)
    frame["s"] = np.where(frame["a"] > 50, "x", "y")
    comparison = released(table(frame, list("abc"), ["s"]), rwn.AdditiveNoise(size=0.001))
    most = frame["s"].value_counts(normalize=True).iloc[0]
    assert value("attribute_gain", comparison) >= 1 - most - 1e-9


@pytest.mark.parametrize("size", [0.3, 1.0])
def test_a_relation_that_the_release_tells_is_no_luck(size: float) -> None:
    """Of moderate noise the reading is what it was without the guards."""
    frame = people("two", 7, 400)
    comparison = released(table(frame, list("abc"), ["s"]), rwn.AdditiveNoise(size=size))
    found = reading("attribute_gain", comparison).detail.gains[0]
    worst = reading("attribute_inference", comparison)
    assert found["overall"] == pytest.approx(worst.value - worst.baseline)
    assert found["overall"] > 0.2
