"""Ways of relating the slices of a row: each is one line of a table, which every search reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from rwn_core.masking import SoftRWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way of relating the slices of a row."""

    title: str
    parameters: Mapping[str, Any]  # of soft RWN, where they are not those of slices apart
    # records beyond which its limits take long, so that the most promising slices alone are tried
    slow_beyond: float = math.inf


WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "apart": Way(title="Slices apart", parameters={}),
        "chained": Way(title="Slices chained", parameters={"chain": True, "near": "all"}),
        "predicted": Way(
            title="Slices chained by prediction",
            parameters={"chain": True, "near": "prediction"},
            slow_beyond=2_000,
        ),
        "tied": Way(title="Slices tied", parameters={"tie": True}, slow_beyond=500),
    }
)
"""By key; a search looks at them in this order."""
_APART: Mapping[str, Any] = MappingProxyType({"chain": False, "near": "all", "tie": False})


def in_way(params: SoftRWN, way: str) -> SoftRWN:
    """Return parameters of soft RWN with their slices related in one of `WAYS`.

    >>> in_way(SoftRWN(q=0.5), "tied").q
    1.0
    """
    changes = {**_APART, **WAYS[way].parameters}
    if WAYS[way].parameters:  # a value that stays tells which record a row comes from
        changes["q"] = 1.0
    return replace(params, **changes)


def way_of(params: object) -> str:
    """Return the way of a setting's parameters; "apart" of every other method."""
    for key, way in WAYS.items():
        related = way.parameters
        if related and all(getattr(params, name, None) == v for name, v in related.items()):
            return key
    return "apart"
