"""The interval of a risk beyond a control group holds the truth as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rwn_core.measures.statistics.intervals import excess_interval, share_interval, wilson

REPEATS = 4000


def test_an_excess_of_known_rates_is_known_and_edges_stay_finite():
    known = excess_interval((0.5, 0.5, 0.5), (0.3, 0.3, 0.3))
    assert known == pytest.approx((0.2 / 0.7, 0.2 / 0.7))
    low, high = excess_interval((1.0, 0.9, 1.0), (0.0, 0.0, 0.1))
    assert 0.85 < low < 0.9
    assert high == 1.0
    assert excess_interval((1.0, 0.2, 1.0), (1.0, 0.2, 1.0)) == (-math.inf, 1.0)
    assert excess_interval((0.4, 0.4, 0.4), (1.0, 1.0, 1.0)) == (-math.inf, 1.0)


def test_an_interval_of_no_success_begins_at_zero_for_every_number_of_trials():
    trials = np.arange(1, 20_000)
    low, high = share_interval(np.zeros(len(trials)), trials).T
    assert np.array_equal(low, np.zeros(len(trials)))  # a screen shows "0 %", not "1.7e-16 %"
    assert np.all(np.diff(high) < 0)


@pytest.mark.parametrize(("rate", "other"), [(0.45, 0.45), (0.1, 0.1), (0.7, 0.45), (0.8, 0.4)])
def test_an_excess_is_held_as_often_as_stated(rate, other):
    """By a small control group, too; who takes its rate for certain holds too little."""
    rng = np.random.default_rng(8)
    truth, held, certain = (rate - other) / (1 - other), 0, 0
    attacks, controls = rng.binomial(120, rate, REPEATS), rng.binomial(40, other, REPEATS)
    for attack, control in zip(attacks.tolist(), controls.tolist(), strict=True):
        low, high = excess_interval(_rate(attack, 120), _rate(control, 40))
        held += low <= truth <= high
        low, high = excess_interval(_rate(attack, 120), (control / 40,) * 3)
        certain += low <= truth <= high
    assert 0.94 <= held / REPEATS <= 0.98
    assert certain / REPEATS < held / REPEATS - 0.02


def _rate(successes: int, attacks: int) -> tuple[float, float, float]:
    centre, half = wilson(successes, attacks)
    return successes / attacks, centre - half, centre + half
