"""A setting that keeps the policy, looked for in the background; the sliders go there."""

from __future__ import annotations

from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.parallel.processes import be_polite
from rwn_core.tuning import SliceAnswer, SliceRanges, seek_slices
from rwn_core.tuning.seek_slices import kernels_refused
from rwn_ui.background.job import Job
from rwn_ui.features.partial_answer import follow
from rwn_ui.server.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

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
            follow(session, JOB, job, _key(session, "search"))
            return
        _take(session, job)
    st.button(
        "Find what keeps the policy",
        key=_key(session, "seek"),
        disabled=user_work().busy or not session.policy.limits,
        help=_HELP,
        width="stretch",
        on_click=_begin,
        args=(session,),
    )


def _key(session: Session, what: str) -> str:
    return f"tune.{session.table_version}.keep.{what}"


def _about(session: Session) -> tuple[Any, ...]:
    """Key of an answer: another table, method or policy asks anew."""
    return session.data.fingerprint, session.method, session.policy


def _begin(session: Session, further: bool = False) -> None:
    kernels = further and not kernels_refused(session.params)
    user_work().jobs[JOB] = Job(
        FURTHER if further else "Search",
        seek_politely,
        words="Looking for a setting that keeps the policy",
        about=_about(session),
        microdata=session.data,
        policy=session.policy,
        setting=session.setting,
        # without weights and kernels an answer comes soon
        ranges=SliceRanges(weights=further, kernels=kernels),
    )


def seek_politely(**arguments: Any) -> SliceAnswer:
    """Search in a process of its own, which leaves the processors to the sliders."""
    be_polite()  # its workers are as polite
    return seek_slices(arguments.pop("microdata"), arguments.pop("policy"), **arguments)


def _take(session: Session, job: Job) -> None:
    """Go over to the answer, once; say what it promises, or why there is none."""
    if follow(session, JOB, job, _key(session, "search")):
        return
    answer: SliceAnswer = job.result
    if answer.reached:
        taken = _key(session, "taken")
        if st.session_state.get(taken) is not job:
            st.session_state[taken] = job
            load(session, answer.point.setting)
            st.rerun()
        st.success(escaped(f"This keeps the policy: {answer.sentence}"))
        return
    st.warning(escaped(answer.sentence))
    if job.label != FURTHER:
        st.button(
            "Search weights and kernels, too",
            key=_key(session, "further"),
            disabled=user_work().busy,
            help="Takes several times as long, and shows its best setting so far.",
            width="stretch",
            on_click=_begin,
            args=(session, True),
        )
    st.button(
        "Take the nearest",
        key=_key(session, "nearest"),
        width="stretch",
        on_click=load,
        args=(session, answer.point.setting),
    )
