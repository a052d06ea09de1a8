"""The Utility page: what an analyst still finds in the release."""

import streamlit as st

from rwn_ui import controls, day_pass_view, link, utility_jobs, utility_view
from rwn_ui.panel import panel
from rwn_ui.session import current
from rwn_ui.show import frame, guarded
from rwn_ui.utility_results import desk, sight

LAST = "utility.last"


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = current()
    link.read(session)
    mine = desk(session)
    with st.sidebar, guarded():
        controls.badge(session)
        utility_view.levers(session)
        utility_view.controls(session, mine)
        st.page_link("pages/tune.py", label="Tune this setting", icon=":material/tune:")
    with guarded():
        seen = sight(session)
        passed = day_pass_view.verdicts(session, mine, seen.comparison)
        st.session_state[LAST] = utility_view.payload(session, mine, seen, passed)
        link.write(session)
    if LAST in st.session_state:
        panel(st.session_state[LAST], key="utility")
    with guarded():
        day_pass_view.draw(session, mine)
    with guarded():
        utility_jobs.draw(session, mine)


frame()
with guarded():
    draw()
