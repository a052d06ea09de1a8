"""The Tune page: what a method's levers and the weights cost, and what they protect."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rwn_ui.features import prediction, project, repeated_draws, risk_axis
from rwn_ui.messages import frame, guarded
from rwn_ui.panel import panel
from rwn_ui.state import address
from rwn_ui.state.results import current_release, own_results
from rwn_ui.state.session import Session
from rwn_ui.state.startup import arrived, current, sample_note
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets import download, options, precision, sidebar, slices, sliders

SENT = 0.05  # seconds in which Streamlit sends what a run has drawn


def put(name: str) -> None:
    """Pin the setting that is on screen."""
    with guarded():
        session = current()
        session.pins[name] = tune_view.pin(session, current_release(session))


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = arrived()
    address.read(session)
    with st.sidebar:
        with guarded():
            sidebar.badge(session)
            sidebar.method(session)
        above = st.container()
        with guarded():
            with guarded():
                options.draw(session)
            with guarded():
                sidebar.weights(session)
            with guarded():
                slices.draw(session)
            with guarded():
                precision.draw(session, "tune")
            sidebar.pins(session, put)
            repeated_draws.offer_draws(session, "tune")
            repeated_draws.follow(session, "tune")
            risk_axis.choose(session)
            sidebar.extras(session)
            download.offer(session)
            project.controls(session)
        below = st.container()
    project.offer(session)
    sample_note(session)
    picture(session, above, below)
    with guarded():
        prediction.draw(session)


@st.fragment
def picture(session: Session, above: DeltaGenerator, below: DeltaGenerator) -> None:
    """What a move of a slider changes, and nothing else: all the rest costs time on each run."""
    slot, last = st.empty(), own_results().last
    with guarded():
        sliders.heed(session, "tune")
        last["tune"] = tune_view.payload(session, current_release(session, slot))
    # the panel goes to the browser first; the widgets follow while it is drawn
    if "tune" in last:
        panel(last["tune"], key="tune", on_again=lambda: risk_axis.follow(session))
    with guarded():
        with above:
            sidebar.presets(session)
            sliders.show(session, "tune")
        with below:
            sidebar.history(session)


frame()
with guarded():
    draw()
    # a slider that was moved during this run is next: Streamlit would drop the sliders not yet
    # sent, and the browser start them anew at their low ends
    time.sleep(SENT)
