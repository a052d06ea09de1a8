"""The answer of a search so far, while it runs and after Cancel; a button takes it."""

from __future__ import annotations

import streamlit as st

from rwn_core.tuning.partial_answer import PartialAnswer
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.server.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work


def follow(session: Session, name: str, job: Job, key: str) -> bool:
    """Draw a search that runs or was stopped, with its answer so far; False if it is done."""
    # `name` is that of the job among the user's, `key` the first part of its buttons' keys.

    def so_far(job: Job) -> None:
        answer: PartialAnswer | None = job.so_far
        if answer is None:
            return
        st.caption(escaped(answer.sentence))
        # no callback: of a part of the page it may not show the toast of what is loaded
        if st.button(
            "Use this",
            key=f"{key}.use",
            help="Ends the search and loads this setting into Tune; Undo brings the present one "
            "back.",
        ):
            user_work().jobs.pop(name, job).cancel()
            load(session, answer.setting)
            st.rerun()

    return not is_done(job, f"{key}.cancel", below=so_far)
