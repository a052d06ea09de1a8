"""Where a release knows nobody, no attack learns more of people in the file than of others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.measures import MEASURES
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.measure import Reading
from rwn_core.measures.risk.guesses import alone_among
from tests.core.measures.intruder_free_table import related

REPETITIONS = {"singling_out": 80, "linkability": 80, "inference": 200}
"""So many tell a share of 93 % from a smaller one; that of inference is nearest to it."""
LEAST = 0.93  # of the intervals of 95 % hold the truth
KEYS = ("singling_out", "linkability", "inference")
SIZES = {"as many outside": (80, 80, 80), "few outside": (120, 120, 40), "many": (60, 90, 150)}
CASES = [(key, size) for key in KEYS for size in SIZES if key == KEYS[0] or size == "few outside"]


def readings(key: str, size: str, times: int, fault: float | None = None) -> list[Reading]:
    """One reading a repetition: of a fresh sample, or of the original with so much noise."""
    found = []
    n, m, h = SIZES[size]
    for seed in range(0, 3 * times, 3):
        original, masked = related(n, seed), related(m, seed + 1)
        if fault is not None:
            masked = noisy(original, fault, seed)
        beside = Comparison(original=original, masked=masked, holdout=related(h, seed + 2))
        reading = MEASURES[key].read(beside, bare=True)
        assert isinstance(reading, Reading), reading
        found.append(reading)
    return found


def noisy(table: Microdata, spread: float, seed: int) -> Microdata:
    frame, rng = table.frame.copy(), np.random.default_rng(seed)
    for name in table.numeric_names:
        frame[name] += spread * rng.normal(size=table.n)
    return Microdata(frame, table.schema)


def holding_nothing(found: list[Reading]) -> int:
    """How many intervals say that there may be no risk."""
    return sum(reading.interval is not None and reading.interval[0] == 0.0 for reading in found)


@pytest.mark.parametrize(("key", "size"), CASES)
def test_a_fresh_sample_gives_nobody_away(key, size):
    times = REPETITIONS[key]
    found = readings(key, size, times)
    assert holding_nothing(found) >= LEAST * times
    attack, control = (
        np.array([getattr(reading.detail, part) for reading in found])
        for part in ("attack", "control")
    )
    apart = attack - control
    assert abs(apart.mean()) <= 3.5 * apart.std(ddof=1) / np.sqrt(times)


@pytest.mark.parametrize(("key", "size"), CASES)
def test_the_original_with_noise_is_discovered(key, size):
    found = readings(key, size, 12, fault=0.01)
    assert holding_nothing(found) <= 1


def test_attribute_inference_needs_a_law():
    alone = Comparison(original=related(40, 1), masked=related(40, 2), holdout=related(40, 3))
    assert isinstance(MEASURES["attribute_inference"].read(alone), NotApplicable)


def test_people_replaced_by_others_are_counted_by_enumeration():
    inside, outside = np.array([1, 1, 0, 0, 1]), np.array([0, 1, 1])
    for replaced in (1, 2, 3):
        tried = [
            inside[list(stay)].sum() + outside[list(come)].sum() == 1
            for stay in combinations(range(5), 5 - replaced)
            for come in combinations(range(3), replaced)
        ]
        counted = (np.array([inside.sum()]), 5), (np.array([outside.sum()]), 3)
        assert alone_among(*counted, replaced)[0] == pytest.approx(np.mean(tried))


def test_a_condition_survives_a_tiny_change():
    """Half way to the next value: the same released rows, and the person behind them."""
    original, held = related(100, 1), related(100, 2)
    read = MEASURES["singling_out"].compute
    exact = read(Comparison(original=original, masked=original, holdout=held))
    changed = noisy(original, 1e-9, 3)
    moved = read(Comparison(original=original, masked=changed, holdout=held))
    assert exact.detail.attack == moved.detail.attack == 1.0
