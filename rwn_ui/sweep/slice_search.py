"""Slice search on the Sweep page: which variables should travel together under all limits."""

from __future__ import annotations

import streamlit as st

import rwn_core as rwn
from rwn_core.tuning import SliceAnswer, SliceRanges, seek_slices
from rwn_core.tuning.seek_slices import kernels_refused
from rwn_ui.background.job import Job
from rwn_ui.features.partial_answer import follow
from rwn_ui.server.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

JOB = "slice search"
_HELP = (
    "Merges and moves variables by the expected loss of relations, finds for each choice the "
    "weakest strength that keeps all limits, and reads the answer on fresh releases. Weights are "
    "halved and doubled, too, unless some differ already. Method, the other levers and precision "
    "stay as on Tune."
)


def draw(session: Session) -> None:
    """The limits, the button, and the answer with what a row then shows."""
    # Nothing where the method does not ask which variables travel together.
    if not rwn.METHODS[session.method].uses_slices:
        return
    policy = session.policy
    st.markdown("#### Which variables should travel together?")
    limits = "; ".join(
        f"{limit.title} at most {100 * limit.at_most:g} %" for limit in policy.limits
    )
    st.caption(f"Least loss of relations within: {limits}.")
    kernels = _kernels(session)
    if st.button(
        "Search slices",
        key=session.key("sweep.slices.seek"),
        disabled=user_work().busy or not policy.limits,
        help=_HELP,
    ):
        user_work().jobs[JOB] = Job(
            "Slice search",
            seek_slices,
            words="Looking for variables that should travel together",
            about=(session.data.fingerprint,),
            microdata=session.data,
            policy=policy,
            setting=session.setting,
            ranges=SliceRanges(kernels=kernels),
        )
        st.rerun()
    _seeking(session)


def _kernels(session: Session) -> bool:
    """Choose whether soft and balanced neighborhoods are tried; off where the method has none."""
    why = kernels_refused(session.params)
    chosen = st.toggle(
        "Try soft and balanced neighborhoods, too",
        value=not why,
        key=session.key("sweep.slices.kernels"),
        disabled=bool(why),
        help=escaped(why)
        or "The answer then also says what RWN as published loses at the same "
        "limits. The search takes about three times as long.",
    )
    return bool(chosen) and not why


def _seeking(session: Session) -> None:
    job = user_work().jobs.get(JOB)
    if job is None or job.about != (session.data.fingerprint,):
        return
    if follow(session, JOB, job, session.key("sweep.slices")):
        return
    answer: SliceAnswer = job.result
    show = st.success if answer.reached else st.warning
    show(escaped(answer.sentence))
    st.button(
        "Load it into Tune",
        key=session.key("sweep.slices.load"),
        on_click=load,
        args=(session, answer.point.setting),
    )
