"""Steps from one choice of slices and weights to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from rwn_core.data.slices import Slices, as_slices

_LIGHTEST, _HEAVIEST = 1 / 8, 8.0

Weights = tuple[tuple[str, float], ...]
"""Weights that differ from 1, by name."""


def slice_steps(slices: Slices, names: Sequence[str]) -> list[Slices]:
    """Return slices one step away: two blocks joined, or one variable moved."""
    inside = {name for each in slices for name in each}
    blocks = [*slices, *((name,) for name in names if name not in inside)]
    made = []
    for one, two in combinations(blocks, 2):
        made.append([*(each for each in blocks if each not in (one, two)), (*one, *two)])
    for name in names:
        left = [tuple(other for other in each if other != name) for each in (*blocks, ())]
        made += [[*left[:to], (*left[to], name), *left[to + 1 :]] for to in range(len(blocks) + 1)]
    return list(dict.fromkeys(as_slices(b for b in each if len(b) > 1) for each in made))


def weight_steps(weights: Weights, names: Sequence[str]) -> Iterator[Weights]:
    """Yield the weights of some variables halved, and doubled, within their ends."""
    own = dict(weights)
    for factor in (0.5, 2.0):
        moved = {name: own.get(name, 1.0) * factor for name in names}
        if all(_LIGHTEST <= each <= _HEAVIEST for each in moved.values()):
            every = {**own, **moved}
            yield tuple(sorted((each, value) for each, value in every.items() if value != 1))
