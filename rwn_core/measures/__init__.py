"""Measures: each judges one thing that a release keeps or gives away.

A measure is a pure function of arrays, a `compute` that reads a Comparison, and their `Measure`
record, all in one file of `utility/` or `risk/`, with a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_core.comparison import Comparison
from rwn_core.errors import NotApplicable
from rwn_core.measures.risk import (
    bayes_linkage,
    cells_changed,
    cooks_distance,
    distance_linkage,
    mahalanobis,
    nearest_distance,
    neighborhood_size,
)
from rwn_core.measures.utility import (
    correlation,
    marginals,
    prediction,
    principal_components,
    regression,
)
from rwn_core.reading import Measure, Reading

__all__ = ["MEASURES", "read"]

_MEASURES: tuple[Measure, ...] = (
    correlation.MEASURE,
    regression.MEASURE,
    principal_components.MEASURE,
    marginals.MEASURE,
    prediction.MEASURE,
    cells_changed.MEASURE,
    neighborhood_size.MEASURE,
    nearest_distance.MEASURE,
    distance_linkage.MEASURE,
    bayes_linkage.MEASURE,
    cooks_distance.MEASURE,
    mahalanobis.MEASURE,
)

MEASURES: Mapping[str, Measure] = MappingProxyType({m.key: m for m in _MEASURES})


def read(measure: str, comparison: Comparison) -> Reading | NotApplicable:
    """One measure of a comparison, by its key; the reason where it has no answer."""
    return MEASURES[measure].read(comparison)
