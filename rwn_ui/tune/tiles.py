"""The Tune page's tiles: headline numbers, held against the policy, the draws and the pins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.measures.measure import Reading
from rwn_ui.features import risk_axis
from rwn_ui.features.repeated_draws_results import drawn, interval
from rwn_ui.panel.tile import Tile, percent
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session

Readings = Mapping[str, Reading | rwn.NotApplicable]


def _three(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


TILES = (
    Tile(
        label="Re-linked, worst case",
        measure="bayes_linkage",
        words=percent,
        limit="linkage",
        help="Released records that a worst-case intruder links rightly: one who holds the whole "
        "original file and knows the method, but not the key, by the better of two attacks. "
        "Ordinary tools compare distances and see far less; choose the intruder at the left.",
    ),
    Tile(
        label="Re-linked, ordinary",
        measure="distance_linkage",
        words=percent,
        limit="linkage",
        help="Released records whose nearest original is their own source: an ordinary intruder "
        "who compares distances. One who knows the method and holds the original file can do "
        "far better.",
    ),
    Tile(
        label="Max Cook’s distance",
        measure="cooks_distance",
        original=lambda reading: reading.baseline,
        words=_three,
        help="The most influential record of the regression, original and released.",
    ),
    Tile(
        label="Max Mahalanobis",
        measure="mahalanobis",
        original=lambda reading: reading.baseline,
        words=_three,
        help="The most outlying record: its distance D from the mean, original and released.",
    ),
    Tile(
        label="Mean |Δ correlation|",
        measure="correlation",
        words=lambda value: f"{value:.3f}",
        limit="correlation",
        help="Mean absolute change over all pairs of numeric variables.",
    ),
    Tile(
        label="Median |Δ slope| / SE",
        measure="regression",
        words=lambda value: f"{value:.2f}",
        limit="slope",
        help="Median change of the regression's slopes, in units of the original's standard error.",
    ),
    Tile(
        label="PC1 share",
        measure="principal_components",
        value=lambda reading: float(reading.detail["share_released"][0]),
        original=lambda reading: float(reading.detail["share_original"][0]),
        part="share_released",
        words=percent,
        better="neutral",
        help="Share of variance of the first principal component, original and released.",
    ),
)


def chosen(session: Session) -> list[Tile]:
    """The page's tiles: the chosen risk first, then those that do not change."""
    key = risk_axis.measure(session)
    risks = [tile for tile in TILES if tile.limit == "linkage"]
    first = next((tile for tile in risks if tile.measure == key), None)
    if first is None:
        about = rwn.MEASURES[key]
        first = replace(risks[0], label=about.title, measure=key, help=about.question)
    return [first, *(tile for tile in TILES if tile.limit != "linkage")]


def draw(session: Session, readings: Readings) -> list[dict[str, Any]]:
    """Every tile of a release as plain data."""
    draws = drawn(session)
    return [_tile(tile, readings, session, draws) for tile in chosen(session)]


def _tile(
    tile: Tile, readings: Readings, session: Session, draws: Ensemble | None
) -> dict[str, Any]:
    reading = readings[tile.measure]
    tile = _called(tile, reading, session.data.n)
    shown = tile.draw(reading)
    if reading is risk_axis.PENDING:
        shown |= {"released": "…", "limit": _ordinary(tile, readings)}
    if not isinstance(reading, Reading):
        return shown
    if tile.limit == "linkage":
        shown["help"] += risk_axis.which_attack(tile.measure, reading, session.data.n)
        shown["help"] += risk_axis.beside(tile.measure, reading, readings)
    if tile.limit is not None:
        _mark(shown, tile, readings, session)
    spread = interval(draws, tile.measure, tile.part)
    if spread is not None:
        low, high = (tile.words(end) for end in spread)
        whole = prepared(session).prepared.whole
        shown["limit"] = f"draws {'' if whole else 'of all '}{low} – {high}"
        shown["help"] += " “Draws”: where 9 of 10 draws of this setting fall."
    for name, pinned in session.pins.items():
        if tile.measure in pinned.values:
            before = pinned.values[tile.measure]
            shown["against"].append(_against(tile, name, tile.value(reading), before))
    return shown


def _called(tile: Tile, reading: Reading | rwn.NotApplicable, records: int) -> Tile:
    """The tile, which claims a worst case only where it is one, and while it may become one."""
    about = rwn.MEASURES[tile.measure]
    pending = reading is risk_axis.PENDING and about.title_for(records) != about.title
    if not (pending or risk_axis.bound(reading)):
        return tile
    return replace(
        tile,
        label="Re-linked, at least" if tile.measure == "bayes_linkage" else about.at_least,
        help="Released records that somebody links rightly who holds the original file and knows "
        "the method, but not the key; another attack of the same person may link more.",
    )


def _mark(shown: dict[str, Any], tile: Tile, readings: Readings, session: Session) -> None:
    """Hold a tile against the policy; no risk stands there alone."""
    limit = float(getattr(session.policy, str(tile.limit)))
    if tile.limit == "slope" and not prepared(session).prepared.whole:
        shown["limit"] = "SE of the shown records"
        shown["help"] += (
            " It is not held against the policy: the whole table's standard errors are smaller, so "
            "that in their units the change is larger."
        )
        return
    reading = readings[tile.measure]
    assert isinstance(reading, Reading)
    shown["state"] = risk_axis.state(reading, tile.value(reading), limit)
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
