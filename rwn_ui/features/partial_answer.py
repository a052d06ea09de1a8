"""The answer of a search or of a judgement so far, while it runs and after Cancel."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.read_so_far import ReadSoFar
from rwn_core.tuning.answer import SearchAnswer
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import load_setting
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work


def follow(session: Session, name: str, job: Job, key: str) -> bool:
    """Draw a search that runs or was stopped, with its answer so far; False if it is done."""
    # `name` is that of the job among the user's, `key` the first part of its buttons' keys.

    def so_far(job: Job) -> None:
        answer: SearchAnswer | None = job.so_far
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
            load_setting(session, answer.point.setting)
            st.rerun()

    return not is_done(job, f"{key}.cancel", below=so_far)


def draw_read(policy: rwn.Policy, job: Job) -> None:
    """One line below the bar; after Cancel what was read until then."""
    read: ReadSoFar | None = job.so_far
    if read is not None:
        st.caption(escaped(read_words(policy, read, running=job.running)))


def read_words(policy: rwn.Policy, read: ReadSoFar, *, running: bool) -> str:
    """Write the limits that were read, and the measure that is read now."""
    limits = [
        f"{about.title_as(standing)} {about.words(value)} (limit {about.words(limit.at_most)})"
        for limit in policy.limits
        if limit.measure in read.values
        for about, (value, standing) in [(rwn.MEASURES[limit.measure], read.values[limit.measure])]
    ]
    now = f"Reading now: {rwn.MEASURES[read.now].title}. " if running else ""
    if not limits:
        return f"{now}No limit is read yet."
    open_ = len(policy.limits) - len(limits)
    more = f" {open_} of {len(policy.limits)} limits are open." if open_ else ""
    return f"{now}So far: {'; '.join(limits)}.{more}"
