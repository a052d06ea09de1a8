"""Masking methods: each is one file with its parameters and its law."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rwn_core.masking.method import (
    Lever,
    LeverRange,
    Masked,
    Method,
    Prepared,
    at_levers,
    family,
    lever_values,
)
from rwn_core.masking.nbrs2015 import NBRS2015
from rwn_core.masking.release import Release, Rounded, mask, unrounded
from rwn_core.masking.rwn import RWN

__all__ = [
    "METHODS",
    "NBRS2015",
    "RWN",
    "Lever",
    "LeverRange",
    "Masked",
    "Method",
    "Prepared",
    "Release",
    "Rounded",
    "at_levers",
    "family",
    "lever_values",
    "mask",
    "unrounded",
]

_METHODS = (RWN, NBRS2015)

METHODS: Mapping[str, Any] = MappingProxyType({method.method: method for method in _METHODS})
