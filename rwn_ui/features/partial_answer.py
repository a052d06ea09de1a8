"""The answer of a search so far, while it runs and after Cancel; a button takes it."""

from __future__ import annotations

import streamlit as st

from rwn_core.tuning.partial_answer import PartialAnswer
from rwn_ui.background.job import Job
from rwn_ui.background.progress import wait_for
from rwn_ui.server.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work


def follow(session: Session, name: str, job: Job, key: str) -> bool:
    """Draw a search that runs or was stopped, with its answer so far; False for one that is done.

    Parameters
    ----------
    session : Session
    name : str
        Of the job among the user's.
    job : Job
    key : str
        First part of the keys of its buttons.
    """

    def so_far() -> None:
        answer: PartialAnswer | None = job.so_far
        if answer is None:
            return
        st.info(escaped(answer.sentence), icon=":material/search:")
        st.button(
            "Use this",
            key=f"{key}.use",
            help="Ends the search and loads this setting into Tune; Undo brings the present one "
            "back.",
            on_click=_use,
            args=(session, name, answer),
        )

    if job.running:
        wait_for(job, f"{key}.cancel", so_far)
        return True
    if job.refusal:
        st.info(escaped(f"{job.label}: {job.refusal}"), icon=":material/info:")
        so_far()
        return True
    return False


def _use(session: Session, name: str, answer: PartialAnswer) -> None:
    job = user_work().jobs.pop(name, None)
    if job is not None:
        job.cancel()
    load(session, answer.setting)
