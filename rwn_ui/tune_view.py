"""The Tune page's picture: readings become tiles, cards and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import rwn_core as rwn
from rwn_core.figures import CHARTS, Chart, not_applicable, serialise
from rwn_core.reading import Reading
from rwn_ui.results import Look
from rwn_ui.session import Pin, Session

Readings = Mapping[str, Reading | rwn.NotApplicable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One headline number.

    `value` reads (original or None, released) from a reading; `limit` names the policy's.
    """

    label: str
    measure: str
    value: Callable[[Reading], tuple[float | None, float]]
    words: Callable[[float], str]
    help: str
    limit: str | None = None
    better: str = "lower"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _three(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


TILES = (
    Tile(
        label="Records re-linked",
        measure="distance_linkage",
        value=lambda reading: (None, reading.value),
        words=_percent,
        limit="linkage",
        help="Released records whose nearest original is their own source: an ordinary intruder "
        "who compares distances. One who knows the method and holds the original file can do "
        "far better.",
    ),
    Tile(
        label="Max Cook’s distance",
        measure="cooks_distance",
        value=lambda reading: (reading.baseline, reading.value),
        words=_three,
        help="The most influential record of the regression, original and released.",
    ),
    Tile(
        label="Max Mahalanobis",
        measure="mahalanobis",
        value=lambda reading: (reading.baseline, reading.value),
        words=_three,
        help="The most outlying record: its distance D from the mean, original and released.",
    ),
    Tile(
        label="Mean |Δ correlation|",
        measure="correlation",
        value=lambda reading: (None, reading.value),
        words=lambda value: f"{value:.3f}",
        limit="correlation",
        help="Mean absolute change over all pairs of numeric variables.",
    ),
    Tile(
        label="Median |Δ slope| / SE",
        measure="regression",
        value=lambda reading: (None, reading.value),
        words=lambda value: f"{value:.2f}",
        limit="slope",
        help="Median change of the regression's slopes, in units of the original's standard error.",
    ),
    Tile(
        label="PC1 share",
        measure="principal_components",
        value=lambda reading: (
            float(reading.detail["share_original"][0]),
            float(reading.detail["share_released"][0]),
        ),
        words=_percent,
        better="neutral",
        help="Share of variance of the first principal component, original and released.",
    ),
)


def payload(session: Session, look: Look) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    readings = look.readings
    return {
        "stamp": f"{session.words}|{session.seed}|{session.variable}|{session.generation}",
        "projector": session.projector,
        "summary": {
            "text": f"{session.words} · seed {session.seed}",
            "help": "ε is a radius in standard deviations; not the epsilon of differential "
            "privacy.",
        },
        "changed": _changed(readings["cells_changed"]),
        "tiles": [_tile(tile, readings, session) for tile in TILES],
        "cards": [serialise(chart) for chart in _cards(readings, session)],
        "tables": _tables(readings),
    }


def pin(session: Session, look: Look) -> Pin:
    """The current setting, to be compared with later ones."""
    values = {}
    for tile in TILES:
        reading = look.readings[tile.measure]
        if isinstance(reading, Reading):
            values[tile.measure] = tile.value(reading)[1]
    return Pin(text=session.words, values=values)


def _changed(reading: Reading | rwn.NotApplicable) -> dict[str, Any] | None:
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "names": list(detail["names"]),
        "share": [float(share) for share in detail["share"]],
        "overall": float(detail["overall"]),
        "q": detail["q"],
    }


def _tile(tile: Tile, readings: Readings, session: Session) -> dict[str, Any]:
    reading = readings[tile.measure]
    shown: dict[str, Any] = {"label": tile.label, "help": tile.help, "against": []}
    if not isinstance(reading, Reading):
        return {**shown, "released": "n/a", "state": None, "help": str(reading)}
    original, released = tile.value(reading)
    shown["released"] = tile.words(released)
    if original is not None:
        shown["original"] = tile.words(original)
    shown["state"] = None
    if tile.limit is not None:
        limit = float(getattr(session.policy, tile.limit))
        shown["state"] = "ok" if released <= limit else "over"
        shown["limit"] = f"limit {tile.words(limit)}"
    for name, pinned in session.pins.items():
        if tile.measure in pinned.values:
            shown["against"].append(_against(tile, name, released, pinned.values[tile.measure]))
    return shown


def _against(tile: Tile, name: str, released: float, pinned: float) -> dict[str, Any]:
    change = released - pinned
    words = tile.words(abs(change))
    same = words == tile.words(0.0)
    better = None if same or tile.better == "neutral" else change < 0
    sign = "±" if same else "+" if change > 0 else "−"
    return {"pin": name, "text": f"{sign}{words} vs {name}", "better": better}


def _cards(readings: Readings, session: Session) -> list[Chart]:
    cards = [_map(readings, session)]
    for key in tuple(CHARTS)[1:]:
        measure = "marginals" if key == "distribution" else key
        reading = readings[measure]
        if not isinstance(reading, Reading):
            cards.append(not_applicable.draw(rwn.MEASURES[measure].title, str(reading), key))
        elif key == "distribution":
            cards.append(CHARTS[key](reading, session.variable))
        else:
            cards.append(CHARTS[key](reading))
    return cards


def _map(readings: Readings, session: Session) -> Chart:
    risk, loss = readings["distance_linkage"], readings["correlation"]
    for reading in (risk, loss):
        if not isinstance(reading, Reading):
            return not_applicable.draw("Risk-utility map", str(reading), "risk_utility_map")
    assert isinstance(risk, Reading)
    assert isinstance(loss, Reading)
    points = [
        {"label": "now", "utility": 1 - loss.value, "risk": risk.value, "text": session.words}
    ]
    for name, pinned in session.pins.items():
        values = pinned.values
        if "correlation" in values and "distance_linkage" in values:
            points.append(
                {
                    "label": name,
                    "utility": 1 - values["correlation"],
                    "risk": values["distance_linkage"],
                    "text": pinned.text,
                }
            )
    return CHARTS["risk_utility_map"](points, session.policy.linkage)


def _tables(readings: Readings) -> list[dict[str, Any]]:
    reading = readings["regression"]
    if not isinstance(reading, Reading):
        return []
    detail = reading.detail
    rows = [
        [
            term,
            *(
                _number(detail[column][place])
                for column in (
                    "coefficient_original",
                    "se_original",
                    "coefficient_released",
                    "se_released",
                    "standardized_difference",
                )
            ),
            "changed" if detail["sign_changed"][place] else "same",
        ]
        for place, term in enumerate(detail["terms"])
    ]
    return [
        {
            "title": f"Regression of {detail['response']}: coefficients and standard errors",
            "columns": [
                "term",
                "coefficient, original",
                "SE, original",
                "coefficient, released",
                "SE, released",
                "|Δ| / SE",
                "sign",
            ],
            "rows": rows,
            "caption": f"Least squares on {detail['n_original']:,} original and "
            f"{detail['n_released']:,} released records; R² {detail['r2_original']:.3f} → "
            f"{detail['r2_released']:.3f}. The released standard errors do not know of the "
            "masking: at small k and large q they are too small.",
        }
    ]


def _number(value: float) -> str:
    return "—" if math.isnan(float(value)) else f"{float(value):.4g}"
