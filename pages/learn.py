"""The Learn page: lessons on disclosure, masking and its price, and notes on the papers."""

import streamlit as st

from rwn_ui.learn import method_pairs
from rwn_ui.learn import view as learn_view
from rwn_ui.learn.lessons import NOTES
from rwn_ui.server.messages import frame, guarded, let_it_be_sent
from rwn_ui.state import address
from rwn_ui.state.startup import page_session

frame()
with guarded():
    session = page_session()
    address.read(session)
    with st.sidebar:
        lesson = learn_view.chosen(session)
        above = st.container()
        learn_view.projector(session)
    learn_view.draw(session, lesson, above)
    if lesson is NOTES:
        with guarded():
            method_pairs.draw(session)
    let_it_be_sent()
