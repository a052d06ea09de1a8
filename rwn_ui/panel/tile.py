"""Says what a headline number is, and writes it as a tile that the panel draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rwn_core as rwn
from rwn_core.measures.measure import Reading


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
    measure: str  # the key of the measure whose reading it shows
    words: Callable[[float], str]  # writes a value as people read it
    help: str
    value: Callable[[Reading], float] = lambda reading: reading.value  # the number of a reading
    # the same number of the original table
    original: Callable[[Reading], float | None] = lambda reading: None
    part: str = ""  # of the reading's detail, where the number is not its value
    aim: str | None = None  # the name of its aim for utility
    better: str = "lower"  # "lower", "higher" or "neutral"

    def draw(self, reading: Reading | rwn.NotApplicable) -> dict[str, Any]:
        """The tile of a reading as plain data; without a number the reason is its help."""
        if not isinstance(reading, Reading):
            return blank(self.label, released="n/a", help=str(reading))
        shown = blank(self.label, released=self.words(self.value(reading)), help=self.help)
        original = self.original(reading)
        return shown if original is None else {**shown, "original": self.words(original)}


def blank(label: str, *, released: str, help: str) -> dict[str, Any]:
    """A tile without comparisons."""
    return {"label": label, "released": released, "help": help, "state": None, "against": []}
