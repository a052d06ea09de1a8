"""Writes the parts of a panel's payload that several pages have."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_core.measures.view import Tile

RADIUS = "ε is a radius in standard deviations; not the epsilon of differential privacy."
"""What stands wherever epsilon is shown to a person."""


def radius_note(levers: Mapping[str, float]) -> str:
    """Explanation of epsilon, for a method that has one."""
    return RADIUS if "epsilon" in levers else ""


def stamp(words: str, shown: Mapping[str, Any]) -> str:
    """A name for what is shown: another one whenever anything of it changes."""
    return f"{words} {hashlib.sha256(orjson.dumps(shown)).hexdigest()[:12]}"


def changed_cells(
    reading: Reading[Any] | rwn.NotApplicable, levers: Mapping[str, float]
) -> dict[str, Any] | None:
    """The realized share of changed cells, as the panel draws it."""
    # q stands next to it, where the method has one.
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "names": list(detail.names),
        "share": [float(share) for share in detail.share],
        "overall": float(detail.overall),
        "q": levers.get("q"),
    }


def draw_tile(tile: Tile, reading: Reading | rwn.NotApplicable, label: str = "") -> dict[str, Any]:
    """The tile of a reading as plain data; without a number the reason is its help."""
    label = label or tile.label
    if not isinstance(reading, Reading):
        return blank(label, released="n/a", help=str(reading))
    return blank(label, released=tile.words(tile.value(reading)), help=tile.help)


def blank(label: str, *, released: str, help: str) -> dict[str, Any]:
    """A tile without comparisons."""
    return {"label": label, "released": released, "help": help, "state": None, "against": []}
