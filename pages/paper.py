"""The Paper page: Figures 1 to 9 of the 2022 paper, for the table and the method on screen."""

import streamlit as st

from rwn_ui.learn import paper
from rwn_ui.server.messages import frame, guarded, let_it_be_sent
from rwn_ui.state import address
from rwn_ui.state.kept_picture import guarded_picture
from rwn_ui.state.startup import page_session

frame()
with guarded():
    session = page_session()
    with guarded():
        address.read(session)
    with st.sidebar:
        number = paper.choose(session)
        session = paper.chosen_table(session)
    more = False
    with guarded_picture(session, "paper", number):
        with st.sidebar:
            wanted = paper.controls(session, number)
        more = paper.draw(session, wanted)
    st.caption(paper.INTRODUCTION)
    let_it_be_sent()
    if more:
        with guarded():
            paper.complete(session, wanted)
            st.rerun()
