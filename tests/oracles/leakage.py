"""Leakage under sampling in closed form: sample uniques that are population uniques."""

from __future__ import annotations

import math


def leakage_of_independent_keys(
    population: int, sample: int, shares: list[list[float]]
) -> tuple[float, float, float]:
    """Expected share of sample uniques that are population uniques, and both expected numbers.

    `shares` has those of each key's categories (Skinner and Shlomo 2010, leakage under sampling).
    """
    both = uniques = 0.0
    for p, times in _cell_probabilities(shares):
        both += times * sample * p * math.exp((population - 1) * math.log1p(-p))
        uniques += times * sample * p * math.exp((sample - 1) * math.log1p(-p))
    return both / uniques, both, uniques


def _cell_probabilities(shares: list[list[float]]) -> list[tuple[float, float]]:
    """The probabilities of all cells with how many cells have each; equal ones together."""
    cells = {1.0: 1.0}
    for key in shares:
        wider: dict[float, float] = {}
        for p, times in cells.items():
            for share in key:
                product = float(f"{p * share:.14e}")  # equal products in any order
                wider[product] = wider.get(product, 0.0) + times
        cells = wider
    return [(p, times) for p, times in cells.items() if 0 < p < 1]
