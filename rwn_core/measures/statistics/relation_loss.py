"""Share of a table's relations that a release lost, from 0 (none) to 1 (all)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rwn_core.data.arrays import Floats

NAMED = 3  # relations that are named
FADED = 0.2  # share of a relation whose loss is worth its name
GONE = 0.8  # share of a relation whose loss leaves hardly any of it
MOST_OF_A_PAIR = 2.0  # a relation that turned into its opposite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loss:
    """Hold the loss of all relations, and of each pair.

    Attributes
    ----------
    value : float
        From 0 to 1; NaN if no pair of the original is related beyond chance.
    weight : ndarray of float64, shape (p, p)
        By how much the original's association exceeds chance, 0 if it does not.
    lost : ndarray of float64, shape (p, p)
        Change relative to the original's association, from 0 to 2; 0 of unrelated pairs.
    invented : float
        Part of the value that comes from pairs which only the release relates.
    """

    value: float
    weight: Floats
    lost: Floats
    invented: float


def relation_loss(before: Floats, after: Floats, chance: Floats) -> Loss:
    """Return how much of the relations is lost, given both associations and `chance_levels`."""
    # The mean of the pairs' losses, weighted by their excess over chance, plus the excess of
    # relations that only the release shows. Relations of a constant released variable are lost.
    upper = np.triu(np.ones(before.shape, dtype=bool), 1)
    size, found = np.abs(before), np.where(np.isnan(after), 0.0, after)
    related = upper & (size > chance)
    weight = np.where(related, size - chance, 0.0)
    change = np.abs(found - before) / np.where(related, size, 1.0)
    lost = np.where(related, np.minimum(change, MOST_OF_A_PAIR), 0.0)
    unrelated = upper & (size <= chance)
    new = float(np.where(unrelated, np.maximum(np.abs(found) - chance, 0.0), 0.0).sum())
    total = float(weight.sum())
    if total == 0.0:
        return Loss(value=float("nan"), weight=weight, lost=lost, invented=0.0)
    value = (float((weight * lost).sum()) + new) / total
    return Loss(value=min(value, 1.0), weight=weight, lost=lost, invented=new / total)


def faded(
    names: Sequence[str], before: Floats, after: Floats, loss: Loss, least: float = FADED
) -> list[list[str]]:
    """Return the weakened pairs of names that count most in the loss, the largest first."""
    # Only pairs that lost at least the share `least` of their relation.
    weaker = np.sign(before) * np.nan_to_num(after) < np.abs(before)
    counted = np.where(weaker & (loss.lost >= least), loss.weight * loss.lost, 0.0)
    largest = np.argsort(-counted, axis=None, kind="stable")[:NAMED]
    places = [divmod(int(at), len(names)) for at in largest if counted.flat[at] > 0]
    return [[names[one], names[other]] for one, other in places]
