"""Measures: each judges one thing that a release keeps or gives away."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_core.reading import Measure

_MEASURES: tuple[Measure, ...] = ()

MEASURES: Mapping[str, Measure] = MappingProxyType({m.key: m for m in _MEASURES})
