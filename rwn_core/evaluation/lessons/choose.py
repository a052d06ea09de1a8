"""Reads the measures of one release of the demo table, for a lesson on choosing a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.microdata import Microdata
from rwn_core.errors import NotApplicable
from rwn_core.evaluation.audit import compare
from rwn_core.io.demo import load_demo
from rwn_core.masking import Prepared
from rwn_core.measures import MEASURES, UTILITY
from rwn_core.measures.measure import Reading
from rwn_core.randomness import SecretKey

DEMO = "bodyfat"
SEED = 1  # the first of the Tune page: both show the same release
EPSILONS = tuple(float(epsilon) for epsilon in range(9))
K = 30  # donors of far records, so that none is linked above one half
SLICES = ("body fat apart from the rest", "each variable alone", "whole rows")
_CONFIDENTIAL = "siri"
Readings = Mapping[str, Reading | NotApplicable]


def table(slices: str) -> Microdata:
    """Return the demo table with one of `SLICES`."""
    data = load_demo(DEMO)
    names = [variable.name for variable in data.schema.released]
    others = [name for name in names if name != _CONFIDENTIAL]
    together = dict(zip(SLICES, ([others], [], [names]), strict=True))
    return data.with_slices(together[slices])


def read(prepared: Prepared, measures: Sequence[str], epsilons: Sequence[float]) -> list[Readings]:
    """Read measures, and the loss of relations, on one release at each radius."""
    readings: list[Readings] = []
    comparison = None
    for epsilon in epsilons:
        made = prepared.with_levers(epsilon=epsilon).release(SecretKey.from_seed(SEED))
        comparison = comparison or compare(prepared.microdata, made.masked)
        judged = comparison.with_masked(made.masked, made.law)
        keys = (*measures, UTILITY)
        readings.append({key: MEASURES[key].read(judged, bare=True) for key in keys})
    return readings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trade:
    """Hold loss and risk along the radius."""

    # epsilon, loss, share: shape (m,): radius, loss of relations from 0 to 1, and the largest share
    # of a limit that is used
    epsilon: Floats
    loss: Floats
    share: Floats
    now: int  # the present setting, from 0
    accepted: float  # the most loss that the users of the file accept

    @property
    def fits(self) -> Booleans:
        """The settings that keep all limits at an accepted loss."""
        return (self.share <= 1) & (self.loss <= self.accepted)
