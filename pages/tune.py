"""The Tune page: what epsilon, k, q and the weights cost, and what they protect."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rwn_ui import (
    controls,
    download,
    levers,
    link,
    precision_form,
    prediction_view,
    risk_choice,
    studies,
    tune_view,
)
from rwn_ui.arrival import arrived, sample_note
from rwn_ui.opening import current
from rwn_ui.panel import panel
from rwn_ui.session import Session
from rwn_ui.show import frame, guarded

SENT = 0.05  # seconds in which Streamlit sends what a run has drawn


def put(name: str) -> None:
    """Pin the setting that is on screen."""
    with guarded():
        session = current()
        session.pins[name] = tune_view.pin(session, session.look())


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = arrived()
    link.read(session)
    with st.sidebar:
        with guarded():
            controls.badge(session)
        above = st.container()
        with guarded():
            with guarded():
                controls.weights(session)
            with guarded():
                precision_form.draw(session, "tune")
            controls.pins(session, put)
            studies.offer_draws(session, "tune")
            studies.follow(session, "tune")
            risk_choice.choose(session)
            controls.extras(session)
            download.offer(session)
        below = st.container()
    sample_note(session)
    picture(session, above, below)
    with guarded():
        prediction_view.draw(session)


@st.fragment
def picture(session: Session, above: DeltaGenerator, below: DeltaGenerator) -> None:
    """What a move of a slider changes, and nothing else: all the rest costs time on each run."""
    session.slot = st.empty()
    with guarded():
        levers.heed(session, "tune")
        session.last_payload = tune_view.payload(session, session.look())
    # the panel goes to the browser first; the widgets follow while it is drawn
    if session.last_payload is not None:
        panel(session.last_payload, key="tune", on_again=lambda: risk_choice.follow(session))
    with guarded():
        with above:
            controls.presets(session)
            levers.show(session, "tune")
        with below:
            controls.history(session)


frame()
with guarded():
    draw()
    # a slider that was moved during this run is next: Streamlit would drop the sliders not yet
    # sent, and the browser start them anew at their low ends
    time.sleep(SENT)
