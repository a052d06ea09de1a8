"""The Release page: the file that leaves the house, and all that goes with it."""

import streamlit as st

from rwn_ui.features import project
from rwn_ui.release import view as release_view
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
        st.page_link("pages/tune.py", label="Change the setting", icon=":material/tune:")
        st.page_link("pages/compare.py", label="Decisions", icon=":material/compare_arrows:")
        project.controls(session)
        command.offer(session, "release")
    with guarded():
        project.offer(session)
    with guarded():
        release_view.draw(session)
        address.write(session)
