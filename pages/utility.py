"""The Utility page: what an analyst still finds in the release."""

import streamlit as st

from rwn_ui import (
    controls,
    day_pass_results,
    day_pass_view,
    levers,
    link,
    prediction_view,
    utility_jobs,
    utility_view,
)
from rwn_ui.arrival import arrived, sample_note
from rwn_ui.panel import panel
from rwn_ui.show import frame, guarded
from rwn_ui.utility_results import complete, desk, sight

LAST = "utility.last"


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session, pending = arrived(), False
    link.read(session)
    mine = desk(session)
    with st.sidebar, guarded():
        controls.badge(session)
        levers.draw(session, "utility")
        utility_view.controls(session, mine)
        utility_jobs.offer(session)
        st.page_link("pages/tune.py", label="Tune this setting", icon=":material/tune:")
    sample_note(session)
    with guarded():
        seen = sight(session)
        passed = day_pass_results.verdicts(session, mine, seen.comparison)
        st.session_state[LAST] = utility_view.payload(session, mine, seen, passed)
        pending = seen.pending
        link.write(session)
    if LAST in st.session_state:
        panel(st.session_state[LAST], key="utility")
    with guarded():
        day_pass_view.draw(session, mine)
    with guarded():
        utility_jobs.notice(session, mine)
    with guarded():
        prediction_view.draw(session)
    if pending:
        with guarded():
            complete(session)
            st.rerun()


frame()
with guarded():
    draw()
