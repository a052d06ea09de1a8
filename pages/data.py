"""The Data page: which table is it, and what are its variables."""

import streamlit as st

from rwn_ui.data import file_layout, questions
from rwn_ui.data import view as data_view
from rwn_ui.data.rows import statement
from rwn_ui.data.variables import variables
from rwn_ui.features import project
from rwn_ui.server.messages import escaped, frame, guarded
from rwn_ui.state import address
from rwn_ui.state.change_table import answer
from rwn_ui.state.startup import page_session
from rwn_ui.widgets.sidebar import badge

frame()
with guarded():
    session = page_session(alone=True)
    with guarded():
        data_view.choose(session)
    with guarded():
        file_layout.correct(session)
    work = session.user.work
    if work.first and (work.opening is None or work.opening.asked is None):
        st.stop()
    if not work.first:  # an address waits for the file that the app was started with
        with guarded():
            address.read(session)
    with st.sidebar:
        badge(session)
        st.page_link("pages/tune.py", label="Tune this table", icon=":material/tune:")
    opening = work.opening
    if opening is not None and opening.waiting is not None:  # of a wide file variables are chosen
        data_view.say_what_stays(session)
        st.stop()
    chosen = st.session_state.get("data.upload") is not None
    if chosen and opening is not None and opening.refusal is not None:
        st.caption(escaped(f"The other pages show {session.name} still; remove the file to go on."))
        st.stop()
    with guarded():
        if data_view.is_read(session):
            st.stop()
    with guarded():
        if data_view.asked_table(session):
            st.stop()
    with guarded():
        project.offer(session)
    with guarded():
        asked = session.data if work.preparation is None else work.preparation.data
        answered = questions.ask(session, asked)
        if answered is not None:
            if answered is not asked:
                answer(session, answered)
            st.rerun()
    with guarded():
        if data_view.table_on_its_way(session):
            st.stop()
    with guarded():
        data_view.overview(session.data, session.name)
    with guarded():
        variables(session)
    with guarded():
        statement(session)
    data_view.notices(session)
    with guarded():
        questions.order_levels(session)
    with guarded():
        data_view.schema_file(session)
    data_view.erase_button(session)
    address.write(session)
