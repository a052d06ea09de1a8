"""The Learn page: six lessons on why masking works and where it breaks."""

import time

import streamlit as st

from rwn_ui.learn import view as learn_view
from rwn_ui.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.startup import arrived

SENT = 0.05  # seconds in which Streamlit sends what a run has drawn

frame()
with guarded():
    session = arrived()
    address.read(session)
    with st.sidebar:
        lesson = learn_view.chosen(session)
        above = st.container()
        learn_view.projector(session)
    learn_view.draw(session, lesson, above)
    address.write(session)
    # as on Tune: a slider that is moved during this run must not lose its place
    time.sleep(SENT)
