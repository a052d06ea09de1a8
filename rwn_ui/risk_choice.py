"""Which risk the Tune page shows on its tile and on the map's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

import rwn_core as rwn
from rwn_core.reading import Reading
from rwn_ui.later import PENDING, rest
from rwn_ui.results import Look
from rwn_ui.session import Session

if TYPE_CHECKING:
    from rwn_ui.tune_view import Tile

LARGEST_LIVE = 1000  # records up to which the worst case keeps up with a slider
LARGEST_LATER = 30_000  # records up to which it follows within about a second
REST = 0.3  # seconds without a newer choice, before it is read for a large table
PLACE = "tune.risk"


def choices() -> list[str]:
    """The risk measures from 0 to 1 of which less is better, in the catalogue's order."""
    return [
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.bounds == (0.0, 1.0)
    ]


def usual(session: Session) -> str:
    """Worst-case linkage, but the ordinary where that takes more than a moment."""
    quick = session.data.n <= LARGEST_LATER and session.bench().preview.whole
    return "bayes_linkage" if quick else "distance_linkage"


def measure(session: Session) -> str:
    """The measure on the tile and the axis."""
    chosen = session.views.get(PLACE)
    return chosen if chosen in choices() else usual(session)


def choose(session: Session) -> None:
    """Let the user choose it."""
    keys = choices()
    why = ""
    if usual(session) == "distance_linkage":
        why = (
            f" With {session.data.n:,} records the ordinary one is shown at first, because the "
            "worst case takes seconds; the Risk page has it."
        )
    elif session.data.n > LARGEST_LIVE:
        why = f" With {session.data.n:,} records the worst case follows when the sliders rest."
    session.views[PLACE] = st.selectbox(
        "Risk on the tile and the map",
        keys,
        keys.index(measure(session)),
        format_func=lambda key: rwn.MEASURES[key].title,
        key=f"tune.{session.generation}.risk",
        help="Worst-case linkage is an intruder who holds the original file; distance linkage an "
        "ordinary one." + why,
    )


def readings(
    session: Session, look: Look, *, wait: bool = False
) -> dict[str, Reading | rwn.NotApplicable]:
    """The look's readings with the chosen risk among them, or that it is still to come."""
    key = measure(session)
    if key in look.readings:
        return look.readings
    if pending(session, look) and not wait:
        return {**look.readings, key: PENDING}
    return {**look.readings, key: _read(session, look)}


def pending(session: Session, look: Look) -> bool:
    """Whether the chosen risk of a large table is still to be read: see `complete`."""
    large = session.data.n > LARGEST_LIVE and measure(session) not in look.readings
    return large and _place(session, look) not in session.looks


def complete(session: Session, look: Look) -> None:
    """Read it once the sliders rest; a newer choice of the user comes first."""
    rest(REST)
    _read(session, look)


def _place(session: Session, look: Look) -> tuple[Any, ...]:
    key = measure(session)
    return (session.data.fingerprint, session.data.schema, look.params, session.seed, key)


def _read(session: Session, look: Look) -> Reading | rwn.NotApplicable:
    """The chosen risk, read once for a setting."""
    about = rwn.MEASURES[measure(session)]
    return session.looks.once(_place(session, look), lambda: about.read(look.comparison))


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
