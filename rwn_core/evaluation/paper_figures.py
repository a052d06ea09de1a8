"""Figures 1 to 9 of the 2022 paper: title, measure and values of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rwn_core.data.plain import toml_document
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.regressions import FittedSlopes
from rwn_core.measures.utility.relations import Components

BOX = ("lower whisker", "lower quartile", "median", "upper quartile", "upper whisker")
Values = dict[str, float]


def _terms(what: str, part: str) -> Callable[[Reading[FittedSlopes], str], Values]:
    def read(reading: Reading[FittedSlopes], side: str) -> Values:
        found = reading.detail
        names = ["intercept", *found.terms[1:]]
        values = getattr(found, f"{part}_{side}")
        return {f"{what} {name}": float(v) for name, v in zip(names, values, strict=True)}

    return read


def _largest(name: str, power: int) -> Callable[[Reading[Any], str], Values]:
    return lambda reading, side: {name: float(getattr(reading.detail, f"max_{side}")) ** power}


def _nearest(reading: Reading, side: str) -> Values:
    found = np.asarray(getattr(reading.detail, side), dtype=np.float64)
    found = found[np.isfinite(found)]
    q1, median, q3 = np.quantile(found, (0.25, 0.5, 0.75))
    reach = 1.5 * (q3 - q1)
    low, high = found[found >= q1 - reach].min(), found[found <= q3 + reach].max()
    named = zip(BOX, (low, q1, median, q3, high), strict=True)
    return {f"nearest distance, {name}": float(cut) for name, cut in named}


def _components(reading: Reading[Components], side: str) -> Values:
    found, own = reading.detail, side == "original"
    shares = found.share_original if own else found.share_released
    five = found.cumulative5_original if own else found.cumulative5_released
    return {"first component": float(shares[0]), "five components": five}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFigure:
    """Define a figure of section 8."""

    # title, sees, paper: title, what to look for, and what the paper's table shows there
    title: str
    sees: str
    paper: str
    measure: str  # key in MEASURES; its chart shows one release where there are no curves
    axis: str = ""  # name of the vertical axis of the curves
    # returns the values by name from a reading and "original" or "released"; None where the figure
    # has no curves
    read: Callable[[Reading[Any], str], Values] | None = None


_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_READ: Mapping[int, Callable[[Reading[Any], str], Values]] = MappingProxyType(
    {
        4: _terms("coefficient", "coefficient"),
        5: _terms("se", "se"),
        6: _largest("max cook", 1),
        7: _largest("max squared mahalanobis", 2),
        8: _nearest,
        9: _components,
    }
)
PAPER_FIGURES: Mapping[int, PaperFigure] = MappingProxyType(
    {
        number: PaperFigure(**about, read=_READ.get(number))
        for number, about in enumerate(toml_document(_TEXT, "list of figures")["figure"], start=1)
    }
)
"""By the figure's number in the paper."""

CURVES = tuple(number for number, figure in PAPER_FIGURES.items() if figure.read)
"""Numbers of the figures with curves."""
