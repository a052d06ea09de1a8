"""Forgets all that a user brought and chose, at once."""

from __future__ import annotations

from dataclasses import fields

from rwn_ui.server.private_streamlit import forget_current_user
from rwn_ui.server.sweeper import free_memory
from rwn_ui.state import project_folder
from rwn_ui.state.change_table import give_up
from rwn_ui.state.own_machine import on_own_machine
from rwn_ui.state.session import Session


def erase(session: Session) -> None:
    """End all work, drop tables, uploads and choices, and free their memory."""
    # Python cannot promise that no byte of them is left in memory that it keeps; the end of the
    # server does.
    work = session.user.work
    if on_own_machine():
        project_folder.forget(session.data.fingerprint)
    give_up(session)
    if work.opening is not None:
        work.opening.give_up("It was erased.")
    work.end()
    session.user.results.end()
    forget_current_user()
    for choice in fields(session):  # Streamlit keeps what the buttons of all pages were given
        delattr(session, choice.name)
    free_memory()
