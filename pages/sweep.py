"""The Sweep page: which of many settings costs least among those that keep the policy."""

import streamlit as st

from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.startup import page_session
from rwn_ui.sweep import form as sweep_form
from rwn_ui.sweep import view as sweep_view
from rwn_ui.widgets.sidebar import badge

frame()
with guarded():
    session = page_session()
    address.read(session)
    with st.sidebar, guarded():
        badge(session)
        sweep_form.form(session)
    with guarded():
        sweep_view.draw(session)
    address.write(session)
