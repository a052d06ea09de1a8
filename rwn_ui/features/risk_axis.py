"""Chooses the risk on the first tile and on the map's axis, and has it read."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import rwn_core as rwn
from rwn_core.measures.measure import Reading
from rwn_ui.background.on_demand import OnDemand, Question
from rwn_ui.state.prepared_table import CurrentRelease
from rwn_ui.state.results import current_release, memo, prepared, release_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import own_work

LARGEST_LIVE = 1000  # records up to which the worst case keeps up with a slider
REST = 400  # milliseconds without a move, before it is read
SOON, LATE = 0.15, 2.0  # seconds between two questions whether it has been
PENDING = rwn.NotApplicable("A moment: on a table of this size it follows when the sliders rest.")
VIEW = "tune.risk"


def choices() -> list[str]:
    """The risk measures from 0 to 1 of which less is better, in the catalogue's order."""
    return [
        key
        for key, measure in rwn.MEASURES.items()
        if measure.side == "risk" and measure.better == "lower" and measure.bounds == (0.0, 1.0)
    ]


def usual(session: Session) -> str:
    """Worst-case linkage, which needs every record; the ordinary where only some are shown."""
    return "bayes_linkage" if prepared(session).prepared.whole else "distance_linkage"


def measure(session: Session) -> str:
    """The measure on the tile and the axis."""
    chosen = session.views.get(VIEW)
    return chosen if chosen in choices() else usual(session)


def choose(session: Session) -> None:
    """Let the user choose it."""
    keys = choices()
    why = ""
    if not prepared(session).prepared.whole:
        why = " The worst case needs every record, so here the ordinary one comes first."
    elif session.data.n > LARGEST_LIVE:
        why = f" With {session.data.n:,} records the worst case follows when the sliders rest."
    session.views[VIEW] = st.selectbox(
        "Risk on the tile and the map",
        keys,
        keys.index(measure(session)),
        format_func=lambda key: rwn.MEASURES[key].title,
        key=f"tune.{session.generation}.risk",
        help="Worst-case linkage is an intruder who holds the original file, by the better of two "
        "attacks; distance linkage is an ordinary one." + why,
    )


def readings(
    session: Session, current: CurrentRelease, *, wait: bool = False
) -> dict[str, Reading | rwn.NotApplicable]:
    """The release's readings with the chosen risk among them; it is read once for a setting.

    Of a large table it is `PENDING` until `follow` has had it read, unless somebody has to wait.
    """
    key = measure(session)
    if key in current.readings:
        return current.readings
    kept, here = memo("chosen risk", 8), (*release_key(session), key)
    reading = kept.get(here) or _read_beside(session, current)
    if reading is None or (reading is PENDING and wait):
        reading = kept.once(here, lambda: rwn.MEASURES[key].read(current.comparison))
    return {**current.readings, key: reading}


def _read_beside(session: Session, current: CurrentRelease) -> Reading | rwn.NotApplicable | None:
    """What was read in the background, or that it is to come; None where it is read at once."""
    if session.data.n <= LARGEST_LIVE or not prepared(session).prepared.whole:
        return None
    reader = own_work().on_demand
    if reader is None or reader.data is not session.data:
        return PENDING
    return reader.known(_question(session, current)) or PENDING


def _question(session: Session, current: CurrentRelease) -> Question:
    return Question(measure=measure(session), params=current.params, seed=session.seed)


def again(
    session: Session, current: CurrentRelease, shown: Reading | rwn.NotApplicable
) -> int | None:
    """Milliseconds after which to ask for the chosen risk; None where it is `shown`.

    First once the sliders rest, then soon, and ever less often where it takes long. What counts is
    what is shown: the answer may arrive while the page is drawn.
    """
    if shown is not PENDING:
        return None
    reader = own_work().on_demand
    waited = None if reader is None else reader.waited(_question(session, current))
    return REST if waited is None else round(1000 * min(max(SOON, waited / 2), LATE))


def follow(session: Session) -> None:
    """Have the chosen risk of the setting on screen read, in the background."""
    work, current = own_work(), current_release(session)
    if readings(session, current)[measure(session)] is not PENDING:
        return
    reader = work.on_demand
    if reader is None or reader.data is not session.data:
        if reader is not None:
            reader.cancel()
        reader = work.on_demand = OnDemand.start(session.data)
    reader.ask(_question(session, current))


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


def which_attack(key: str, reading: Reading, records: int) -> str:
    """The sentence on which of two attacks links so many; nothing of a measure with one."""
    sentence = rwn.MEASURES[key].sentence
    return f" {sentence(reading, records)}" if sentence and "attack" in reading.detail else ""


def axis_title(key: str, records: int) -> str:
    """The map's risk axis in words: a worst case only where every point is one."""
    return f"risk: {rwn.MEASURES[key].title_for(records).lower()}"


def bound(reading: Reading | rwn.NotApplicable) -> bool:
    """Whether a reading is no worst case but a lower bound of it."""
    return isinstance(reading, Reading) and reading.detail.get("standing") == "at least"


def state(reading: Reading, value: float, limit: float) -> str | None:
    """How a reading stands to its limit: a lower bound below it says nothing."""
    known = max(value, reading.detail.get("estimate") or 0.0) if bound(reading) else value
    if known > limit:
        return "over"
    return None if bound(reading) else "ok"
