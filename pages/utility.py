"""The Utility page: what an analyst still finds in the release."""

import streamlit as st

from rwn_ui.features import analysis_plan, analysis_plan_results, prediction
from rwn_ui.messages import frame, guarded
from rwn_ui.panel import panel
from rwn_ui.state import address
from rwn_ui.state.arrival import arrived, sample_note
from rwn_ui.utility import jobs as utility_jobs
from rwn_ui.utility import view as utility_view
from rwn_ui.utility.results import complete, desk, sight
from rwn_ui.widgets import sidebar, sliders

LAST = "utility.last"


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session, pending = arrived(), False
    address.read(session)
    mine = desk(session)
    with st.sidebar, guarded():
        sidebar.badge(session)
        sliders.draw(session, "utility")
        utility_view.controls(session, mine)
        utility_jobs.offer(session)
        st.page_link("pages/tune.py", label="Tune this setting", icon=":material/tune:")
    sample_note(session)
    with guarded():
        seen = sight(session)
        passed = analysis_plan_results.verdicts(session, mine, seen.comparison)
        st.session_state[LAST] = utility_view.payload(session, mine, seen, passed)
        pending = seen.pending
        address.write(session)
    if LAST in st.session_state:
        panel(st.session_state[LAST], key="utility")
    with guarded():
        analysis_plan.draw(session, mine)
    with guarded():
        utility_jobs.notice(session, mine)
    with guarded():
        prediction.draw(session)
    if pending:
        with guarded():
            complete(session)
            st.rerun()


frame()
with guarded():
    draw()
