"""Levers of methods with a radius and a least number of neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donors import masked_columns
from rwn_core.masking.lever import SHARE, Lever, LeverRange
from rwn_core.masking.neighborhood_method import NeighborhoodMethod


def radius_lever(**words: Any) -> Lever:
    """Return the lever of a radius; its presets are multiples of the typical nearest distance."""
    return Lever(
        name="epsilon",
        title="Radius ε (standard deviations)",
        short="ε",
        unit="standard deviations",
        neutral=0.0,
        range=lambda _, ends: LeverRange(low=0.0, high=ends.epsilon, step=ends.step),
        presets={"Light": 0.6, "Standard": 1.2, "Strong": 2.4},
        position=lambda multiple, ends: ends.radius(multiple),
        **words,
    )


def nearest_lever(**words: Any) -> Lever:
    """Return the lever of the least number of neighbors."""
    return Lever(
        name="k",
        title="Minimum neighbors k",
        short="k",
        whole_number=True,
        neutral=1,
        range=lambda _, ends: LeverRange(low=1, high=ends.k, step=1),
        presets={"Light": 3, "Standard": 5, "Strong": 15},
        **words,
    )


def probability_lever(**words: Any) -> Lever:
    """Return the lever of the modification probability."""
    presets = {"Light": 0.5, "Standard": 1.0, "Strong": 1.0}
    return Lever(name="q", short="q", neutral=1.0, range=SHARE, presets=presets, **words)


class RadiusAndNearest(NeighborhoodMethod):
    """A method with the levers epsilon, k and q: how far they go, and where they start.

    Attributes
    ----------
    q : float
        Modification probability.
    """

    __slots__ = ()

    q: float

    def draw_probability(self, microdata: Microdata) -> NDArray[np.float64]:
        """P(a cell of each released variable is modified), shape (p,)."""
        return np.where(masked_columns(microdata), float(self.q), 0.0)
