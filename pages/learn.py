"""The Learn page: lessons on disclosure, masking and its price."""

import streamlit as st

from rwn_ui.learn import view as learn_view
from rwn_ui.server.messages import frame, guarded, let_it_be_sent
from rwn_ui.state import address
from rwn_ui.state.startup import page_session

frame()
with guarded():
    session = page_session()
    with guarded():
        address.read(session)
    with st.sidebar:
        lesson = learn_view.chosen(session)
        above = st.container()
        learn_view.projector(session)
    learn_view.draw(session, lesson, above)
    let_it_be_sent()
