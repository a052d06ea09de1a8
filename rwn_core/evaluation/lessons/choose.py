"""Reads the measures of one release of the demo table, for lessons on choosing a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.io.demo import load_demo
from rwn_core.masking import Prepared, SoftRWN
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey

DEMO = "bodyfat"
SEED = 1  # the first of the Tune page: both show the same release
EPSILONS = tuple(float(epsilon) for epsilon in range(9))
K = 30  # donors of far records, so that none is linked above one half
SLICES = ("body fat apart from the rest", "each variable alone", "whole rows")
WAYS: Mapping[str, Mapping[str, Any]] = {
    "apart": {},
    "by prediction": {"by_prediction": True, "order": ("age",), "mixed": True},
    "tied": {"tie": True},
}
"""How slices of one row are drawn."""
CUTS = (SLICES[0], "body fat with age, weight and height")
WIDTHS = tuple(float(width) for width in range(1, 7))
_CONFIDENTIAL = "siri"
Readings = Mapping[str, Reading | NotApplicable]


def table(slices: str) -> Microdata:
    """Return the demo table with one of `SLICES` or `CUTS`."""
    data = load_demo(DEMO)
    names = [variable.name for variable in data.schema.released]
    others = [name for name in names if name != _CONFIDENTIAL]
    known = ["age", "weight", "height"]
    with_known = [[_CONFIDENTIAL, *known], [name for name in others if name not in known]]
    together: tuple[list[list[str]], ...] = ([others], [], [names], with_known)
    return data.with_slices(dict(zip((*SLICES, CUTS[1]), together, strict=True))[slices])


def following(way: str, width: float) -> SoftRWN:
    """Return a balanced setting of one of `WAYS`."""
    about: Any = {"kernel": "exponential", "bandwidth": "absolute", "cap": 1.0, "own": True}
    return SoftRWN(**about, balance=1.0, width=width, **WAYS[way])


def read(
    prepared: Prepared, measures: Sequence[str], positions: Sequence[float], lever: str = "epsilon"
) -> list[Readings]:
    """Read measures, and the loss of relations, on one release at each position of a lever."""
    readings: list[Readings] = []
    comparison = None
    for position in positions:
        made = prepared.with_levers(**{lever: position}).release(SecretKey.from_seed(SEED))
        comparison = comparison or compare(prepared.microdata, made.masked)
        judged = comparison.with_masked(made.masked, made.law)
        keys = (*measures, UTILITY)
        readings.append({key: MEASURES[key].read(judged, bare=True) for key in keys})
    return readings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trade:
    """The loss and the risk along the radius, or the width of a kernel."""

    # epsilon, loss, share: shape (m,): radius or width, loss of relations from 0 to 1, and the
    # largest share of a limit that is used
    epsilon: Floats
    loss: Floats
    share: Floats
    now: int  # the present setting, from 0
    accepted: float  # the most loss that the users of the file accept

    @property
    def fits(self) -> Booleans:
        """The settings that keep all limits at an accepted loss."""
        return (self.share <= 1) & (self.loss <= self.accepted)
