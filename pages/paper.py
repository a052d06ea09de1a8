"""The Paper page: Figures 1 to 9 of the 2022 paper, for the table and the method on screen."""

import streamlit as st

from rwn_ui.paper import figures, view
from rwn_ui.server.messages import frame, guarded, let_it_be_sent
from rwn_ui.state import address
from rwn_ui.state.startup import page_session

frame()
with guarded():
    session = page_session()
    address.read(session)
    with st.sidebar:
        number = view.choose(session)
        wanted = view.controls(session, number)
    view.keep_address(session, wanted)
    more = False
    with guarded():
        more = view.draw(session, wanted)
    view.introduce()
    let_it_be_sent()
    if more:
        with guarded():
            figures.complete(session, wanted)
            st.rerun()
