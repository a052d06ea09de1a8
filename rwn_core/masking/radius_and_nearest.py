"""Methods whose neighborhoods are a radius and a least number of records share their levers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rwn_core.data.microdata import Microdata
from rwn_core.laws.donors import masked_columns
from rwn_core.masking.lever import LeverRange
from rwn_core.masking.neighborhood_method import NeighborhoodMethod
from rwn_core.neighbors.slider_range import SliderRange

_PRESETS = {"Light": (0.6, 3, 0.5), "Standard": (1.2, 5, 1.0), "Strong": (2.4, 15, 1.0)}


class RadiusAndNearest(NeighborhoodMethod):
    """A method with the levers epsilon, k and q: how far they go, and where they start.

    Attributes
    ----------
    q : float
        Modification probability.
    """

    __slots__ = ()

    q: float
    start: ClassVar[Mapping[str, float]] = MappingProxyType({"epsilon": 0.0, "k": 1, "q": 1.0})

    def draw_probability(self, microdata: Microdata) -> NDArray[np.float64]:
        """P(a cell of each released variable is modified), shape (p,).

        Raises
        ------
        ParameterError
            No variable is to be masked.
        """
        return np.where(masked_columns(microdata), float(self.q), 0.0)

    def ranges_on(self, slider_range: SliderRange) -> dict[str, LeverRange]:
        """How far each lever goes on a table with these distances."""
        return {
            "epsilon": LeverRange(low=0.0, high=slider_range.epsilon, step=slider_range.step),
            "k": LeverRange(low=1, high=slider_range.k, step=1),
            "q": LeverRange(low=0.0, high=1.0, step=0.05),
        }

    def presets_on(self, slider_range: SliderRange) -> dict[str, dict[str, float]]:
        """Starting points: epsilon as a multiple of the typical nearest distance, k and q."""
        return {
            name: {"epsilon": slider_range.radius(multiple), "k": min(k, slider_range.k), "q": q}
            for name, (multiple, k, q) in _PRESETS.items()
        }
