"""Writes the parts of a panel's payload that several pages have."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.measures.measure import Reading

RADIUS = "ε is a radius in standard deviations; not the epsilon of differential privacy."
"""What stands wherever epsilon is shown to a person."""


def stamp(words: str, shown: Mapping[str, Any]) -> str:
    """A name for what is shown: another one whenever anything of it changes."""
    return f"{words} {hashlib.sha256(orjson.dumps(shown)).hexdigest()[:12]}"


def changed_cells(reading: Reading | rwn.NotApplicable) -> dict[str, Any] | None:
    """The realized share of changed cells, as the panel draws it."""
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "names": list(detail["names"]),
        "share": [float(share) for share in detail["share"]],
        "overall": float(detail["overall"]),
        "q": None if detail["q"] is None else round(float(detail["q"]), 4),
    }
