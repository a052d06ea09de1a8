"""Ways of relating the slices of a row: each is one line of a table, which every search reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, TypeVar

from rwn_core.masking import RWN, SoftRWN
from rwn_core.tuning.point import Setting

Sliced = TypeVar("Sliced", RWN, SoftRWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way of relating the slices of a row."""

    title: str
    parameters: Mapping[str, Any]  # of RWN, where they are not those of slices apart
    few_beyond: float = math.inf  # records beyond which only the most promising slices are tried
    plain_beyond: float = math.inf  # beyond which later slices are drawn without a balance
    never_beyond: float = math.inf  # beyond which it is not tried


WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "apart": Way(title="Slices apart", parameters={}),
        "predicted": Way(
            title="Slices by prediction",
            parameters={"by_prediction": True},
            few_beyond=500,
            plain_beyond=2_000,
        ),
        "tied": Way(
            title="Slices tied", parameters={"tie": True}, few_beyond=500, never_beyond=2_000
        ),
    }
)
"""By key. A search of a space looks at them in this order, `recommend` in one by the records."""
LATER = (3, 6, 12)
"""Into how many parts the records are cut; a later slice is drawn from as many as one part."""
MOST_LATER = 200  # records, as many as a soft kernel of a large table weighs
MOST_SAFER = 400  # the same, where fewer donors break a limit


def later_donors(records: int, parts: int) -> int:
    """Return how many records a later slice is drawn from: one part of them, from 20 to 200.

    >>> later_donors(241, 3), later_donors(60, 3), later_donors(20_190, 3)
    (80, 20, 200)
    """
    return min(max(records // parts, 20), MOST_LATER)


def safer_later_donors(records: int) -> int:
    """Return the most donors of a later slice that a search tries: half of the records, up to 400.

    >>> safer_later_donors(241), safer_later_donors(20_190)
    (120, 400)
    """
    return min(records // 2, MOST_SAFER)


_APART: Mapping[str, Any] = MappingProxyType({"by_prediction": False, "tie": False})


def in_way(params: Sliced, way: str) -> Sliced:
    """Return parameters of RWN, soft or not, with their slices related in one of `WAYS`.

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


def kind(setting: Setting, *, levers: bool = False) -> tuple[object, ...]:
    """Return what a setting is apart from its strength; with its other levers if `levers`."""
    params = setting.params
    balanced = getattr(params, "balance", 0.0) > 0
    way = way_of(params)
    later = params.later if WAYS[way].parameters.get("by_prediction") else None
    about = setting.method, getattr(params, "kernel", ""), balanced, way, later
    names = [each.name for each in fields(params) if each.name != params.strength] * levers
    held = tuple((name, getattr(params, name)) for name in names)
    return *about, setting.slices, setting.weights, held
