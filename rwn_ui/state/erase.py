"""Forgets all that a user brought and chose, at once."""

from __future__ import annotations

from dataclasses import fields

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rwn_ui.server.sweeper import forget_controls, free_memory
from rwn_ui.state.change_table import give_up
from rwn_ui.state.results import user_results
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work


def erase(session: Session) -> None:
    """End all work, drop tables, uploads and choices, and free their memory.

    Python cannot promise that no byte of them is left in memory that it keeps; the end of the
    server does.
    """
    work = user_work()
    give_up(session)
    if work.opening is not None:
        work.opening.give_up("It was erased.")
    if work.dataset is not None:
        work.dataset.erase()
    work.end()
    user_results().end()
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None and runtime.exists():
        running = runtime.get_instance()
        running.uploaded_file_mgr.remove_session_files(context.session_id)
        running.media_file_mgr.clear_session_refs(context.session_id)
        for _ in range(2):  # the first call only marks a file that was downloaded
            running.media_file_mgr.remove_orphaned_files()
        running.dataframe_source_mgr.clear_all_for_session(context.session_id)
    st.query_params.clear()
    st.session_state.clear()
    if context is not None:
        forget_controls(context.session_state._state, context.fragment_storage)
    for choice in fields(session):  # Streamlit keeps what the buttons of all pages were given
        delattr(session, choice.name)
    free_memory()
