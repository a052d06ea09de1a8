"""Which risk the Tune page shows on its tile and on the map's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_ui.background.on_demand import Follower, Question
from rwn_ui.state.prepared_table import Look
from rwn_ui.state.session import Session

if TYPE_CHECKING:
    from rwn_ui.tune.view import Tile

LARGEST_LIVE = 1000  # records up to which the worst case keeps up with a slider
REST = 400  # milliseconds without a move, before it is read
SOON, LATE = 0.15, 2.0  # seconds between two looks at whether it has been
PENDING = rwn.NotApplicable("A moment: on a table of this size it follows when the sliders rest.")
PLACE = "tune.risk"


def choices() -> list[str]:
    """The risk measures from 0 to 1 of which less is better, in the catalogue's order."""
    return [
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.bounds == (0.0, 1.0)
    ]


def usual(session: Session) -> str:
    """Worst-case linkage, which needs every record; the ordinary where only some are shown."""
    return "bayes_linkage" if session.bench().preview.whole else "distance_linkage"


def measure(session: Session) -> str:
    """The measure on the tile and the axis."""
    chosen = session.views.get(PLACE)
    return chosen if chosen in choices() else usual(session)


def choose(session: Session) -> None:
    """Let the user choose it."""
    keys = choices()
    why = ""
    if not session.bench().preview.whole:
        why = " The worst case needs every record, so here the ordinary one comes first."
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
    """The look's readings with the chosen risk among them; it is read once for a setting.

    Of a large table it is `PENDING` until `follow` has had it read, unless somebody has to wait.
    """
    key = measure(session)
    if key in look.readings:
        return look.readings
    place = (session.data.fingerprint, session.data.schema, _question(session, look))
    found = session.looks.get(place) or _followed(session, look)
    if found is None or (found is PENDING and wait):
        found = session.looks.once(place, lambda: rwn.MEASURES[key].read(look.comparison))
    return {**look.readings, key: found}


def _followed(session: Session, look: Look) -> Reading | rwn.NotApplicable | None:
    """What the follower has read, or that it is to come; None where there is none to ask."""
    if session.data.n <= LARGEST_LIVE or not session.bench().preview.whole:
        return None
    follower = session.follower
    if follower is None or follower.data is not session.data:
        return PENDING
    return follower.known(_question(session, look)) or PENDING


def _question(session: Session, look: Look) -> Question:
    return Question(measure=measure(session), params=look.params, seed=session.seed)


def again(session: Session, look: Look, shown: Reading | rwn.NotApplicable) -> int | None:
    """Milliseconds after which to ask for the chosen risk; None where it is `shown`.

    First once the sliders rest, then soon, and ever less often where it takes long. What counts is
    what is shown: the answer may arrive while the page is drawn.
    """
    if shown is not PENDING:
        return None
    follower = session.follower
    waited = None if follower is None else follower.waited(_question(session, look))
    return REST if waited is None else round(1000 * min(max(SOON, waited / 2), LATE))


def follow(session: Session) -> None:
    """Have the chosen risk of the setting on screen read, in the background."""
    look = session.look()
    if readings(session, look)[measure(session)] is not PENDING:
        return
    follower = session.follower
    if follower is None or follower.data is not session.data:
        if follower is not None:
            follower.cancel()
        follower = session.follower = Follower.start(session.data)
    follower.ask(_question(session, look))


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
