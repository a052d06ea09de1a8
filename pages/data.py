"""The Data page: which table is it, and what are its variables."""

import streamlit as st

from rwn_ui import data_view, link
from rwn_ui.arrival import arrived
from rwn_ui.controls import badge
from rwn_ui.show import frame, guarded

frame()
with guarded():
    session = arrived(alone=True)
    with guarded():
        data_view.choose(session)
    if session.first:
        st.stop()
    link.read(session)
    with st.sidebar:
        badge(session)
        st.page_link("pages/tune.py", label="Tune this table", icon=":material/tune:")
    with guarded():
        data_view.overview(session)
    with guarded():
        data_view.variables(session)
    data_view.schema_file(session)
    link.write(session)
