"""Writes the parts of a panel's payload that several pages have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
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


OF_VARIABLE = {chart for each in rwn.MEASURES.values() for chart in each.of_variable}
"""Charts that draw one variable."""


def measure_cards(
    page: str,
    readings: Mapping[str, Answer],
    bands: Callable[[str], Mapping[str, Any]],
    *,
    more: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
    one: tuple[str, Answer | None] = ("", None),
    every: bool = False,
) -> list[tuple[Chart, Answer]]:
    """The charts of the measures of a page in its order, each with the reading that it draws.

    `bands` returns the draws of a measure, `more` has further arguments of charts, `one` is the
    variable that charts of a variable draw, and its reading. A page shows `every` chart of a
    measure, or its first. What holds for all kinds of variables is read, and shown, where some are
    no numbers.
    """
    cards = []
    for key in measures_of(page):
        first = rwn.MEASURES[key]
        shown = [(chart, first) for chart in first.of_variable or first.charts or [first.shared]]
        if first.of_all_kinds in readings:  # in the place of the first
            other = rwn.MEASURES[first.of_all_kinds]
            shown[0] = next(iter(other.charts)), other
        for chart, measure in shown if every else shown[:1]:
            alone = one[1] if first.of_variable else None
            title = measure.title
            reading = readings[measure.key] if alone is None else alone
            if not isinstance(reading, Reading) and first.otherwise in readings:
                other = rwn.MEASURES[first.otherwise]
                if isinstance(readings[other.key], Reading):
                    measure = other
                    reading = readings[other.key]
            if chart == first.shared:
                card = CHARTS[chart](readings)
            elif isinstance(reading, Reading):
                given = one[:1] if chart in OF_VARIABLE else more.get(chart, ())
                card = CHARTS[chart](reading, *given, **bands(measure.key))
                if reading.used is not None and reading.rows_words:
                    card = _with_rows_used(card, reading)
            elif first.silent:
                continue
            else:
                words = title if chart == shown[0][0] else chart.replace("_", " ").capitalize()
                card = draw_reason(words, str(reading), chart)
            cards.append((card, reading))
    return cards


def _with_rows_used(card: Chart, reading: Reading[Any]) -> Chart:
    """The card that says how many rows it rests on: in title and words, and with its table."""
    others = "were not drawn" if reading.detail.sampled else "lack a value"
    words = f"{reading.used:,} of {reading.total:,} rows are read, the others {others}"
    table = card["table"]
    caption = " ".join(filter(None, [f"{words}.", table.get("caption")]))
    return {
        **card,
        "title": card["title"] + reading.rows_words,
        "alt": f"{card['alt']}; {words}",
        "table": {**table, "caption": caption},
    }


Table = dict[str, Any]


def measure_tables(place: str, readings: Mapping[str, Answer], n: int) -> list[Table]:
    """Return the tables of the measures of a place; none without a reading."""
    made = [
        make(reading, n)
        for key in measures_of(place)
        if isinstance(reading := readings.get(key), Reading)
        for make in rwn.MEASURES[key].tables
    ]
    return [table for table in made if table is not None]


def draw_tile(tile: Tile, reading: Reading | rwn.NotApplicable, label: str = "") -> dict[str, Any]:
    """The tile of a reading as plain data; without a number the reason is its help."""
    label = label or tile.label
    if not isinstance(reading, Reading):
        return blank(label, released="n/a", help=str(reading))
    return blank(label, released=tile.words(tile.value(reading)), help=tile.help)


def blank(label: str, *, released: str, help: str) -> dict[str, Any]:
    """A tile without comparisons."""
    return {"label": label, "released": released, "help": help, "state": None, "against": []}
