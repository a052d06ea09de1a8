"""The Utility page: what an analyst still finds in the release."""

import streamlit as st

from rwn_ui.features import analysis_plan, prediction
from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.kept_picture import guarded_picture, show_picture
from rwn_ui.state.results import full_table
from rwn_ui.state.startup import page_session, sample_note
from rwn_ui.utility import results as utility_results
from rwn_ui.utility import view as utility_view
from rwn_ui.widgets import command, sidebar, sliders


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = page_session()
    pending = False
    with guarded():
        address.read(session)
    slot = st.empty()
    with st.sidebar, guarded():
        sidebar.badge(session)
    with st.sidebar, guarded():
        sliders.draw(session, "utility")
    with st.sidebar, guarded():
        utility_view.controls(session)
        utility_view.offer(session)
        st.page_link("pages/tune.py", label="Tune this setting", icon=":material/tune:")
        command.offer(session, "utility")
    with guarded_picture(session, "utility"):
        sample_note(session, full_table(session, slot))
        now = utility_results.read(session, slot)
        show_picture(session, utility_view.payload(now), key="utility")
        pending = bool(now.pending)
        address.write(session)
    with guarded():
        analysis_plan.draw(session)
    with guarded():
        prediction.draw(session)
    if pending:
        with guarded():
            utility_results.complete(session)
            st.rerun()


frame()
with guarded():
    draw()
