"""The Find page: which setting keeps the policy and loses least, or loses no more than so much."""

import streamlit as st

from rwn_ui.find import view as find_view
from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.startup import page_session
from rwn_ui.widgets import command
from rwn_ui.widgets.sidebar import badge

frame()
with guarded():
    session = page_session()
    with guarded():
        address.read(session)
    with st.sidebar, guarded():
        badge(session)
        command.offer(session, "find", find_view.form(session))
    with guarded():
        find_view.draw(session)
    address.write(session)
