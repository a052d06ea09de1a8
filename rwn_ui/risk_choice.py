"""Which risk the Tune page shows on its tile and on the map's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

import rwn_core as rwn
from rwn_core.reading import Reading
from rwn_ui.results import Look
from rwn_ui.session import Session

if TYPE_CHECKING:
    from rwn_ui.tune_view import Tile

LARGEST_LIVE = 1000  # records up to which the worst case keeps up with a slider
PLACE = "tune.risk"


def choices() -> list[str]:
    """The risk measures from 0 to 1 of which less is better, in the catalogue's order."""
    return [
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.bounds == (0.0, 1.0)
    ]


def usual(session: Session) -> str:
    """Worst-case linkage where the table is small enough for slider speed, else the ordinary."""
    return "bayes_linkage" if session.data.n <= LARGEST_LIVE else "distance_linkage"


def measure(session: Session) -> str:
    """The measure on the tile and the axis."""
    chosen = session.views.get(PLACE)
    return chosen if chosen in choices() else usual(session)


def choose(session: Session) -> None:
    """Let the user choose it."""
    keys = choices()
    large = session.data.n > LARGEST_LIVE
    why = (
        f" With {session.data.n:,} records the ordinary one is shown at first, because the worst "
        "case takes seconds; the Risk page has it."
        if large
        else ""
    )
    session.views[PLACE] = st.selectbox(
        "Risk on the tile and the map",
        keys,
        keys.index(measure(session)),
        format_func=lambda key: rwn.MEASURES[key].title,
        key=f"tune.{session.generation}.risk",
        help="Worst-case linkage is an intruder who holds the original file; distance linkage an "
        "ordinary one." + why,
    )


def readings(session: Session, look: Look) -> dict[str, Reading | rwn.NotApplicable]:
    """The look's readings with the chosen risk among them; it is read once for a setting."""
    key = measure(session)
    if key in look.readings:
        return look.readings
    place = (session.data.fingerprint, session.data.schema, look.params, session.seed, key)
    found = session.looks.once(place, lambda: rwn.MEASURES[key].read(look.comparison))
    return {**look.readings, key: found}


def tiles(session: Session, known: Sequence[Tile]) -> list[Tile]:
    """The page's tiles: the chosen risk first, then those that do not change."""
    key = measure(session)
    risks = [tile for tile in known if tile.limit == "linkage"]
    chosen = next((tile for tile in risks if tile.measure == key), None)
    if chosen is None:
        about = rwn.MEASURES[key]
        chosen = replace(risks[0], label=about.title, measure=key, help=about.question)
    return [chosen, *(tile for tile in known if tile.limit != "linkage")]


def ordinary(key: str, known: Mapping[str, Reading | rwn.NotApplicable]) -> float | None:
    """The ordinary intruder's number, to stand beside the worst case on its tile."""
    reading = known["distance_linkage"]
    return reading.value if key == "bayes_linkage" and isinstance(reading, Reading) else None


def beside(key: str, reading: Reading, known: Mapping[str, Reading | rwn.NotApplicable]) -> str:
    """No risk stands alone: the ordinary intruder's number, and what it is read against."""
    linked = known["distance_linkage"]
    words = ""
    if key != "distance_linkage" and isinstance(linked, Reading):
        words += f" Distance linkage, an ordinary intruder: {100 * linked.value:.1f} %."
    if reading.baseline is not None:
        words += f" Read it against {100 * reading.baseline:.2g} %."
    return words


def axis_title(key: str) -> str:
    """The map's risk axis in words."""
    names: Mapping[str, str] = {
        "bayes_linkage": "risk: worst-case linkage",
        "distance_linkage": "risk: distance linkage",
    }
    return names.get(key, f"risk: {rwn.MEASURES[key].title.lower()}")
