"""Steps from one choice of slices and weights to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from rwn_core.data.slices import Slices, as_slices

LIGHTEST, HEAVIEST = 1 / 8, 8.0

Weights = tuple[tuple[str, float], ...]
"""Those that differ from 1, by name."""

Blocks = tuple[tuple[str, ...], ...]
"""A partition with its lone variables."""


class Choice(NamedTuple):
    """Which variables travel together, and what each counts for in the distance."""

    slices: Slices
    weights: Weights = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Slices and weights with the weakest strength that keeps the policy on trial releases.

    Attributes
    ----------
    loss : float
        Expected.
    choice : Choice
    strength : int
        Which of the strengths.
    """

    loss: float
    choice: Choice
    strength: int


def blocks_of(slices: Slices, names: Sequence[str]) -> Blocks:
    """The slices and each other variable by itself."""
    inside = {name for each in slices for name in each}
    return (*slices, *((name,) for name in names if name not in inside))


def slices_of(blocks: Blocks) -> Slices:
    """The blocks of more than one variable."""
    return as_slices(each for each in blocks if len(each) > 1)


def joined(blocks: Blocks, pair: tuple[int, int]) -> Blocks:
    """Two blocks made one."""
    one, two = pair
    rest = tuple(each for number, each in enumerate(blocks) if number not in pair)
    return (*rest, (*blocks[one], *blocks[two]))


def slice_steps(slices: Slices, names: Sequence[str]) -> list[Slices]:
    """Slices one step away: two blocks joined, or one variable in another or in a new one."""
    blocks = blocks_of(slices, names)
    made = [joined(blocks, pair) for pair in combinations(range(len(blocks)), 2)]
    made += [_moved(blocks, name, to) for name in names for to in range(len(blocks) + 1)]
    return list(dict.fromkeys(slices_of(each) for each in made))


def _moved(blocks: Blocks, name: str, to: int) -> Blocks:
    left = [tuple(other for other in each if other != name) for each in (*blocks, ())]
    left[to] = (*left[to], name)
    return tuple(each for each in left if each)


def weight_steps(weights: Weights, names: Sequence[str]) -> Iterator[Weights]:
    """The weights of some variables halved, and doubled, those that are not 0 or at an end."""
    own = dict(weights)
    for factor in (0.5, 2.0):
        moved = {name: own.get(name, 1.0) * factor for name in names}
        if all(LIGHTEST <= each <= HEAVIEST for each in moved.values()):
            every = {**own, **moved}
            yield tuple(sorted((each, value) for each, value in every.items() if value != 1))
