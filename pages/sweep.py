"""The Sweep page: which of many settings costs least among those that protect enough."""

import streamlit as st

from rwn_ui import link, planner_view, sweep_form, sweep_view
from rwn_ui.arrival import arrived
from rwn_ui.controls import badge
from rwn_ui.show import frame, guarded

frame()
with guarded():
    session = arrived()
    link.read(session)
    with st.sidebar, guarded():
        badge(session)
        sweep_form.form(session)
    with guarded():
        sweep_view.draw(session)
    with guarded():
        planner_view.draw(session)
        link.write(session)
