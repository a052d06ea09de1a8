"""The Risk page: what an intruder learns from the release of the present setting."""

import streamlit as st

from rwn_ui import controls, levers, link, risk_form, risk_view, watch_view
from rwn_ui.arrival import arrived
from rwn_ui.show import frame, guarded

frame()
with guarded():
    session = arrived()
    link.read(session)
    with st.sidebar:
        with guarded():
            controls.badge(session)
            levers.draw(session, "risk")
        attack = risk_form.attack(session)
        with guarded():
            watch_view.form(session, attack.keys)
    with guarded():
        risk_view.draw(session, attack)
        link.write(session)
