"""Slice search on the Sweep page: which variables should travel together under all limits."""

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
from rwn_ui.sweep import run as sweep_run

JOB = "slice search"
_HELP = (
    "Merges and moves variables by the expected loss of relations, finds for each choice the "
    "weakest strength that keeps all limits, and reads the answer on fresh releases. Weights are "
    "halved and doubled, too, unless some differ already. Method, the other levers and precision "
    "stay as on Tune."
)


def _key(session: Session, what: str) -> str:
    return f"sweep.{session.table_version}.{what}"


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
        key=_key(session, "slices.seek"),
        disabled=user_work().busy or not policy.limits,
        help=_HELP,
    ):
        user_work().jobs[JOB] = Job(
            "Slice search",
            seek_politely,
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
        key=_key(session, "slices.kernels"),
        disabled=bool(why),
        help=escaped(why)
        or "The answer then also says what RWN as published loses at the same "
        "limits. The search takes about three times as long.",
    )
    return bool(chosen) and not why


def seek_politely(**arguments: Any) -> SliceAnswer:
    """Search in a process of its own, which leaves the processors to the sliders."""
    if sweep_run.POLITE:
        be_polite()  # its workers are as polite
    return seek_slices(arguments.pop("microdata"), arguments.pop("policy"), **arguments)


def _seeking(session: Session) -> None:
    job = user_work().jobs.get(JOB)
    if job is None or job.about != (session.data.fingerprint,):
        return
    if follow(session, JOB, job, _key(session, "slices")):
        return
    answer: SliceAnswer = job.result
    show = st.success if answer.reached else st.warning
    show(escaped(answer.sentence))
    st.button(
        "Load it into Tune",
        key=_key(session, "slices.load"),
        on_click=load,
        args=(session, answer.point.setting),
    )
