"""Writes the parts of a panel's payload that several pages have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason
from rwn_core.measures import measures_of
from rwn_core.measures.measure import Reading
from rwn_core.measures.view import Tile

Answer = Reading[Any] | rwn.NotApplicable
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


def measure_cards(
    page: str,
    readings: Mapping[str, Answer],
    bands: Callable[[str], Mapping[str, Any]],
    more: Mapping[str, tuple[Any, ...]],
    *,
    one: Answer | None = None,
    every: bool = False,
) -> list[tuple[Chart, Answer]]:
    """The charts of the measures of a page in its order, each with the reading that it draws.

    `bands` returns the draws of a measure, `more` has further arguments of charts, `one` is the
    reading of one variable. A page shows `every` chart of a measure, or its first. What holds for
    all kinds of variables is read, and shown, where some are no numbers.
    """
    cards = []
    for key in measures_of(page):
        measure = rwn.MEASURES[key]
        if measure.view.of_all_kinds in readings:
            measure = rwn.MEASURES[measure.view.of_all_kinds]
        title, view = measure.title, measure.view
        reading = readings[measure.key] if one is None or not view.of_variable else one
        if not isinstance(reading, Reading) and view.otherwise in readings:
            other = readings[view.otherwise]
            if isinstance(other, Reading):
                reading, measure = other, rwn.MEASURES[view.otherwise]
        if view.silent and not isinstance(reading, Reading):
            continue
        charts = [*(view.of_variable or view.charts)] or [view.shared]
        for chart in charts if every else charts[:1]:
            if chart == view.shared:
                card = CHARTS[chart](readings)
            elif isinstance(reading, Reading):
                card = CHARTS[chart](reading, *more.get(chart, ()), **bands(measure.key))
                if reading.used is not None:
                    card = {**card, "title": card["title"] + reading.rows_words}
            else:
                words = title if chart == charts[0] else chart.replace("_", " ").capitalize()
                card = draw_reason(words, str(reading), chart)
            cards.append((card, reading))
    return cards


def draw_tile(tile: Tile, reading: Reading | rwn.NotApplicable, label: str = "") -> dict[str, Any]:
    """The tile of a reading as plain data; without a number the reason is its help."""
    label = label or tile.label
    if not isinstance(reading, Reading):
        return blank(label, released="n/a", help=str(reading))
    return blank(label, released=tile.words(tile.value(reading)), help=tile.help)


def blank(label: str, *, released: str, help: str) -> dict[str, Any]:
    """A tile without comparisons."""
    return {"label": label, "released": released, "help": help, "state": None, "against": []}
