"""The picture of Tune and its sliders: the part of the page that follows edits by itself."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.parallel import kernel_cache
from rwn_ui.features import advice
from rwn_ui.panel import panel
from rwn_ui.panel.live_sliders import live_sliders as draw_sliders
from rwn_ui.panel.live_sliders import sheet as draw_sheet
from rwn_ui.server.messages import escaped, guarded
from rwn_ui.state.results import current_release
from rwn_ui.state.session import Session
from rwn_ui.tune import question
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets import live_sliders


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOfTune:
    """The surroundings of the picture, and where they stand: made at once by each run of the page.

    Its fragment may run without the page, when another table has come: it compares, and has the
    page run again.
    """

    choices: tuple[Any, ...]  # as `view.page_state` says them
    levers: DeltaGenerator  # the places of the sliders
    weights: DeltaGenerator | None
    making: DeltaGenerator  # what is made before there is any picture


def picked(session: Session, sent: str) -> None:
    """Act on a button inside of the panel."""
    try:
        question.take(session, sent)
        advice.take(session, sent)
    except rwn.RWNError as refusal:  # the run that follows says why
        session.user.results.note(refusal=refusal)


def say_of_first(session: Session, making: DeltaGenerator, share: float, what: str) -> None:
    """Say what is made before there is any picture; a new machine compiles the program first."""
    if session.user.results.tune.picture is None:
        compiles = (
            "" if kernel_cache.is_ready() else ". The program is compiled for this machine, once"
        )
        words = f"{what} of {session.data.n:,} records of {escaped(session.name)}{compiles}"
        making.progress(share, text=words)


@st.fragment
def picture(session: Session, page: PageOfTune) -> None:
    """Draw the picture and the controls, which follow by themselves from then on."""
    place = st.container()
    sheet = st.container(key="sheet")
    slot = st.container(key="searching").empty()  # over the page, which must not move
    if page.choices != tune_view.page_state(session):
        st.rerun()  # edits that could not be posted, or another table: more than the picture
    refusal = session.user.results.tune.refusal
    session.user.results.note(refusal=None)
    with guarded():
        if refusal is not None:
            raise refusal
    shown = _shown(session, page, slot)
    # the next picture has the page drawn without the refusal
    around = page.choices if refusal is None else None
    with place, guarded():
        panel(
            {**shown, "endpoint": tune_view.open_endpoint(session, around)},
            key="tune",
            on_pick=partial(picked, session),
            on_edits=partial(tune_view.take, session),
        )
    for what, part in ((live_sliders.LEVERS, page.levers), (live_sliders.WEIGHTS, page.weights)):
        if part is not None and what in shown["controls"]:
            with part, guarded():
                data = {**shown["controls"][what], "seq": shown["seq"]}
                draw_sliders(data, key=session.key(f"tune.{what}"))
    with sheet, guarded():
        draw_sheet({**shown["controls"], "seq": shown["seq"]}, key=session.key("tune.sheet"))


def _shown(session: Session, page: PageOfTune, slot: DeltaGenerator) -> dict[str, Any]:
    """Return the picture with its sliders; what goes wrong is said, and the last ones stay."""
    results = session.user.results
    with session.user.endpoint.paused():
        with guarded():
            tune_view.note_choice(session)
            say_of_first(session, page.making, 0.4, "Drawing the first release")
            current = current_release(session, slot)
            say_of_first(session, page.making, 0.7, "Reading the measures")
            drawn = tune_view.payload(session, current)
            results.note(picture=drawn)
            return tune_view.message(session, drawn, page.choices)
        with suppress(Exception):  # it is said what went wrong
            return tune_view.message(session, results.tune.picture or {}, page.choices)
        return tune_view.last_message(session)
