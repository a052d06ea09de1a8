"""The Risk page: what an intruder learns from the release of the present setting."""

import streamlit as st

from rwn_ui.features import watch_list
from rwn_ui.risk import form as risk_form
from rwn_ui.risk import view as risk_view
from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.kept_picture import guarded_picture
from rwn_ui.state.startup import page_session
from rwn_ui.widgets import command, sidebar, sliders

frame()
with guarded():
    session = page_session()
    with guarded():
        address.read(session)
    with st.sidebar, guarded():
        sidebar.badge(session)
    with st.sidebar, guarded():
        sliders.draw(session, "risk")
    with guarded_picture(session, "risk"):
        with st.sidebar:
            attack = risk_form.attack(session)
            with guarded():
                watch_list.form(session)
                command.offer(session, "risk")
        risk_view.draw(session, attack)
        address.write(session)
