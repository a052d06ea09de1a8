"""The Tune page: what epsilon, k, q and the weights cost, and what they protect."""

import streamlit as st

from rwn_ui import controls, download, link, prediction_view, risk_choice, tune_view
from rwn_ui.panel import panel
from rwn_ui.session import current
from rwn_ui.show import frame, guarded


def put(name: str) -> None:
    """Pin the setting that is on screen."""
    with guarded():
        session = current()
        session.pins[name] = tune_view.pin(session, session.look())


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = current()
    link.read(session)
    with st.sidebar, guarded():
        controls.badge(session)
        controls.presets(session)
        controls.levers(session)
        with guarded():
            controls.weights(session)
        controls.pins(session, put)
        risk_choice.choose(session)
        controls.extras(session)
        download.offer(session)
        controls.history(session)
    with guarded():
        session.last_payload = tune_view.payload(session, session.look())
        link.write(session)
    if session.last_payload is not None:
        panel(session.last_payload, key="tune")
    with guarded():
        prediction_view.draw(session)


frame()
with guarded():
    draw()
