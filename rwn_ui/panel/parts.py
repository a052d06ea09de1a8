"""Writes the parts of a panel's payload that several pages have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.measures.measure import Reading

RADIUS = "ε is a radius in standard deviations; not the epsilon of differential privacy."
"""What stands wherever epsilon is shown to a person."""


def radius_note(levers: Mapping[str, float]) -> str:
    """Explanation of epsilon, for a method that has one."""
    return RADIUS if "epsilon" in levers else ""


def stamp(words: str, shown: Mapping[str, Any]) -> str:
    """A name for what is shown: another one whenever anything of it changes."""
    return f"{words} {hashlib.sha256(orjson.dumps(shown)).hexdigest()[:12]}"


def changed_cells(
    reading: Reading | rwn.NotApplicable, levers: Mapping[str, float]
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


def percent(value: float) -> str:
    """A share, to a tenth of a percent."""
    return f"{100 * value:.1f} %"


def loss_words(value: float) -> str:
    """A loss of relations, on its scale from 0 to 1."""
    return f"{value:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One headline number of a release."""

    label: str
    measure: str  # the key of the measure of the reading that it shows
    words: Callable[[float], str]  # writes a value as people read it
    help: str
    value: Callable[[Reading], float] = attrgetter("value")  # the number of a reading
    part: str = ""  # of the reading's detail, where the number is not its value
    aim: str | None = None  # the name of its aim for utility

    def draw(self, reading: Reading | rwn.NotApplicable) -> dict[str, Any]:
        """The tile of a reading as plain data; without a number the reason is its help."""
        if not isinstance(reading, Reading):
            return blank(self.label, released="n/a", help=str(reading))
        return blank(self.label, released=self.words(self.value(reading)), help=self.help)


def blank(label: str, *, released: str, help: str) -> dict[str, Any]:
    """A tile without comparisons."""
    return {"label": label, "released": released, "help": help, "state": None, "against": []}
