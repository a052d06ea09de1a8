"""The Tune page's picture: readings become tiles, cards and tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.measures.measure import Reading
from rwn_ui.features import analysis_plan_results, repeated_draws_results
from rwn_ui.state import address
from rwn_ui.state.prepared_table import Look
from rwn_ui.state.session import Pin, Session
from rwn_ui.sweep.cards import tune_spots
from rwn_ui.tune import risk_axis
from rwn_ui.utility.results import desk

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


CARDS = (
    "neighborhood_size",
    "nearest_distance",
    "correlation",
    "regression",
    "principal_components",
    "cooks_distance",
    "mahalanobis",
    "distribution",
)
"""The charts after the map, each of the measure of its name, the last of the marginals."""

TILES = (
    Tile(
        label="Re-linked, worst case",
        measure="bayes_linkage",
        value=lambda reading: (None, reading.value),
        words=_percent,
        limit="linkage",
        help="Released records that a worst-case intruder links rightly: one who holds the whole "
        "original file and knows the method, but not the key. Ordinary tools compare distances "
        "and see far less; choose the intruder at the left.",
    ),
    Tile(
        label="Re-linked, ordinary",
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
    readings = risk_axis.readings(session, look)
    cards = _cards(readings, session)
    shown = {
        "projector": session.projector,
        "address": address.address(session),
        "summary": {
            "text": f"{session.words} · seed {session.seed}"
            + repeated_draws_results.words(repeated_draws_results.drawn(session)),
            "help": "ε is a radius in standard deviations; not the epsilon of differential "
            "privacy.",
        },
        "changed": changed_cells(readings["cells_changed"]),
        "tiles": [
            *(_tile(tile, readings, session) for tile in risk_axis.tiles(session, TILES)),
            *_day_pass(session, look),
        ],
        "cards": [serialise(chart) for chart in cards],
        "tables": [
            _table(chart)
            for chart in cards
            if chart["key"] == "regression" and "reason" not in chart
        ],
    }
    again = risk_axis.again(session, look, readings[risk_axis.measure(session)])
    return {"stamp": stamp(session.words, shown), "again": again, **shown}


def _day_pass(session: Session, look: Look) -> list[dict[str, Any]]:
    """A tile more where analyses are registered."""
    if not session.day_pass.analyses:
        return []
    mine = desk(session)
    return [
        analysis_plan_results.tile(analysis_plan_results.verdicts(session, mine, look.comparison))
    ]


def stamp(words: str, shown: Mapping[str, Any]) -> str:
    """A name for what is shown: another one whenever anything of it changes."""
    return f"{words} {hashlib.sha256(orjson.dumps(shown)).hexdigest()[:12]}"


def pin(session: Session, look: Look) -> Pin:
    """The current setting, to be compared with later ones."""
    values, readings = {}, risk_axis.readings(session, look, wait=True)
    for tile in risk_axis.tiles(session, TILES):
        reading = readings[tile.measure]
        if isinstance(reading, Reading):
            values[tile.measure] = tile.value(reading)[1]
    return Pin(text=session.words, values=values)


def changed_cells(reading: Reading | rwn.NotApplicable) -> dict[str, Any] | None:
    """The realized share of changed cells, as the panel draws it."""
    if not isinstance(reading, Reading):
        return None
    detail = reading.detail
    return {
        "names": list(detail["names"]),
        "share": [float(share) for share in detail["share"]],
        "overall": float(detail["overall"]),
        "q": None if detail["q"] is None else round(float(detail["q"]), 10),
    }


def _tile(tile: Tile, readings: Readings, session: Session) -> dict[str, Any]:
    reading = readings[tile.measure]
    shown: dict[str, Any] = {"label": tile.label, "help": tile.help, "against": []}
    if not isinstance(reading, Reading):
        return {**shown, **_unread(tile, readings)}
    if tile.limit == "linkage":
        shown["help"] = tile.help + risk_axis.beside(tile.measure, reading, readings)
    original, released = tile.value(reading)
    shown["released"] = tile.words(released)
    if original is not None:
        shown["original"] = tile.words(original)
    shown["state"] = None
    if tile.limit is not None:
        _mark(shown, tile, readings, session)
    spread = repeated_draws_results.interval(session, tile.measure)
    if spread is not None:
        low, high = (tile.words(end) for end in spread)
        whole = session.bench().preview.whole
        shown["limit"] = f"draws {'' if whole else 'of all '}{low} – {high}"
        shown["help"] += " “Draws”: where 9 of 10 draws of this setting fall."
    for name, pinned in session.pins.items():
        if tile.measure in pinned.values:
            shown["against"].append(_against(tile, name, released, pinned.values[tile.measure]))
    return shown


def _unread(tile: Tile, readings: Readings) -> dict[str, Any]:
    """A tile without a number, or before it."""
    reason = readings[tile.measure]
    shown = {"released": "n/a", "state": None, "help": str(reason)}
    if reason is risk_axis.PENDING:
        shown |= {"released": "…", "limit": _ordinary(tile, readings)}
    return shown


def _mark(shown: dict[str, Any], tile: Tile, readings: Readings, session: Session) -> None:
    """Hold a tile against the policy; no risk stands there alone."""
    limit = float(getattr(session.policy, str(tile.limit)))
    if tile.limit == "slope" and not session.bench().preview.whole:
        shown["limit"] = "SE of the shown records"
        shown["help"] += (
            " It is not held against the policy: the whole table's standard errors are smaller, so "
            "that in their units the change is larger."
        )
        return
    reading = readings[tile.measure]
    assert isinstance(reading, Reading)
    shown["state"] = "ok" if tile.value(reading)[1] <= limit else "over"
    shown["limit"] = f"limit {tile.words(limit)}"
    shown["help"] += f" The policy: {shown['limit']}."
    shown["limit"] = _ordinary(tile, readings) or shown["limit"]


def _ordinary(tile: Tile, readings: Readings) -> str:
    """The ordinary intruder's number below the worst case; nothing below other tiles."""
    ordinary = risk_axis.ordinary(tile.measure, readings)
    return "" if ordinary is None else f"ordinary {tile.words(ordinary)}"


def _against(tile: Tile, name: str, released: float, pinned: float) -> dict[str, Any]:
    change = released - pinned
    words = tile.words(abs(change))
    same = words == tile.words(0.0)
    better = None if same or tile.better == "neutral" else change < 0
    sign = "±" if same else "+" if change > 0 else "−"
    words = words.replace(" %", " pp")  # a difference of shares is in percentage points
    return {"pin": name, "text": f"{sign}{words} vs {name}", "better": better}


def _cards(readings: Readings, session: Session) -> list[Chart]:
    cards = [_map(readings, session)]
    made = repeated_draws_results.drawn(session)
    for key in CARDS:
        measure = "marginals" if key == "distribution" else key
        reading = readings[measure]
        if not isinstance(reading, Reading):
            cards.append(draw_reason(rwn.MEASURES[measure].title, str(reading), key))
        elif key == "distribution":
            cards.append(
                CHARTS[key](
                    reading, session.variable, **repeated_draws_results.bands(made, measure)
                )
            )
        else:
            cards.append(CHARTS[key](reading, **repeated_draws_results.bands(made, key)))
    return cards


def _map(readings: Readings, session: Session) -> Chart:
    axis = risk_axis.measure(session)
    risk, loss = readings[axis], readings["correlation"]
    for reading in (risk, loss):
        if not isinstance(reading, Reading) and reading is not risk_axis.PENDING:
            return draw_reason("Risk-utility map", str(reading), "risk_utility_map")
    assert isinstance(loss, Reading)
    height = risk.value if isinstance(risk, Reading) else None
    points = [{"label": "now", "utility": 1 - loss.value, "risk": height, "text": session.words}]
    for name, pinned in session.pins.items():
        values = pinned.values
        if "correlation" in values and axis in values:
            points.append(
                {
                    "label": name,
                    "utility": 1 - values["correlation"],
                    "risk": values[axis],
                    "text": pinned.text,
                }
            )
    chart = CHARTS["risk_utility_map"](
        points,
        session.policy.linkage,
        tune_spots(session, axis),
        repeated_draws_results.spots(session, axis),
    )
    chart["layout"]["yaxis"]["title"]["text"] = risk_axis.axis_title(axis)
    return chart


def _table(chart: Chart) -> dict[str, Any]:
    """A chart's own table, for the page below the cards."""
    return {"title": f"{chart['title']}: coefficients and standard errors", **chart["table"]}
