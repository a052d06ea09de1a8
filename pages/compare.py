"""The Compare page: which of up to six scenarios to release, and why."""

import streamlit as st

from rwn_ui.compare import view as compare_view
from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.kept_picture import guarded_picture
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
        compare_view.shelf(session)
        command.offer(session, "compare")
    with guarded_picture(session, "compare.candidates"):
        compare_view.draw(session)
        address.write(session)
