"""The Compare page: which of two or three scenarios to release, and why."""

import streamlit as st

from rwn_ui import compare_view, link
from rwn_ui.arrival import arrived
from rwn_ui.controls import badge
from rwn_ui.show import frame, guarded

frame()
with guarded():
    session = arrived()
    link.read(session)
    with st.sidebar, guarded():
        badge(session)
        compare_view.shelf(session)
    with guarded():
        compare_view.draw(session)
        link.write(session)
