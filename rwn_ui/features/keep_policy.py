"""A setting that keeps the policy, looked for in the background; the sliders go there."""

from __future__ import annotations

from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.tuning import SearchAnswer, SliceRanges, seek_slices
from rwn_core.tuning.seek_slices import kernels_refused
from rwn_ui.background.job import Job
from rwn_ui.features.partial_answer import follow
from rwn_ui.server.messages import escaped
from rwn_ui.state.change_table import load_setting
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.buttons import load_button

JOB = "setting that keeps the policy"
FURTHER = "Further search"
_HELP = (
    "Looks for a setting that keeps all limits with the least loss of relations: for the "
    "strength, and for variables that should travel together. Kernel, other sliders, weights and "
    "precision stay. The answer is checked on fresh releases. Undo brings this setting back."
)


def offer(session: Session) -> None:
    """A button that looks for one, how far that is, and what came of it."""
    # Nothing where the method does not ask which variables travel together.
    if not rwn.METHODS[session.method].uses_slices:
        return
    job = user_work().jobs.get(JOB)
    if job is not None and job.about == _about(session):
        if job.running:
            follow(session, JOB, job, session.key("tune.keep.search"))
            return
        _take(session, job)
    st.button(
        "Find what keeps the policy",
        key=session.key("tune.keep.seek"),
        disabled=user_work().busy or not session.policy.limits,
        help=_HELP,
        width="stretch",
        on_click=_begin,
        args=(session,),
    )


def _about(session: Session) -> tuple[Any, ...]:
    """Key of an answer: another table, method or policy asks anew."""
    return session.data.fingerprint, session.method, session.policy


def _begin(session: Session, further: bool = False) -> None:
    kernels = further and not kernels_refused(session.params)
    user_work().jobs[JOB] = Job(
        FURTHER if further else "Search",
        seek_slices,
        words="Looking for a setting that keeps the policy",
        about=_about(session),
        microdata=session.data,
        policy=session.policy,
        setting=session.setting,
        # without weights and kernels an answer comes soon
        ranges=SliceRanges(weights=further, kernels=kernels),
    )


def _take(session: Session, job: Job) -> None:
    """Go over to the answer, once; say what it promises, or why there is none."""
    if follow(session, JOB, job, session.key("tune.keep.search")):
        return
    answer: SearchAnswer = job.result
    if answer.reached:
        taken = session.key("tune.keep.taken")
        if st.session_state.get(taken) is not job:
            st.session_state[taken] = job
            load_setting(session, answer.point.setting)
            st.rerun()
        st.success(escaped(f"This keeps the policy: {answer.sentence}"))
        return
    st.warning(escaped(answer.sentence))
    if job.label != FURTHER:
        st.button(
            "Search weights and kernels, too",
            key=session.key("tune.keep.further"),
            disabled=user_work().busy,
            help="Takes several times as long, and shows its best setting so far.",
            width="stretch",
            on_click=_begin,
            args=(session, True),
        )
    key, nearest = session.key("tune.keep.nearest"), answer.point.setting
    load_button(session, "Take the nearest", nearest, key=key, width="stretch")
