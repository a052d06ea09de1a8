"""Goal seek on the Sweep page: the best setting that keeps a limit, and the reverse."""

from __future__ import annotations

from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.parallel.processes import be_polite
from rwn_core.tuning import Goal, GoalAnswer, Run, seek
from rwn_ui.background.job import Job
from rwn_ui.background.progress import wait_for
from rwn_ui.messages import escaped
from rwn_ui.state.load_setting import load
from rwn_ui.state.session import Session
from rwn_ui.state.work import own_work
from rwn_ui.sweep import run as sweep_run

JOB = "goal seek"


def _key(session: Session, what: str) -> str:
    return f"sweep.{session.generation}.{what}"


def tolerated(session: Session, measure: str) -> float:
    """What this user tolerates of a measure: typed on the map, or the policy's."""
    known = {
        "bayes_linkage": session.policy.linkage,
        "distance_linkage": session.policy.linkage,
        "correlation": session.policy.correlation,
        "regression": session.policy.slope,
    }
    share = rwn.MEASURES[measure].bounds == (0.0, 1.0)
    return session.limits.get(measure, known.get(measure, 0.05 if share else 1.0))


def draw(session: Session, run: Run) -> None:
    """The best setting that keeps a limit, and what is known about it."""
    st.markdown("#### Goal seek")
    x, y = session.views["x"], session.views["y"]
    keep, best = rwn.MEASURES[y], rwn.MEASURES[x]
    forward, back = st.columns(2)
    for column, goal_keep, goal_best, words in (
        (forward, y, x, f"Keep {keep.title} tolerable, with the best {best.title}"),
        (back, x, y, f"Keep {best.title} within a limit, with the best {keep.title}"),
    ):
        with column:
            _seek_button(session, run, goal_keep, goal_best, words)
    _seeking(session)


def _seek_button(session: Session, run: Run, keep: str, best: str, words: str) -> None:
    share = rwn.MEASURES[keep].bounds == (0.0, 1.0)
    limit, press = st.columns([1, 3], vertical_alignment="bottom")
    value = limit.number_input(
        "Limit, %" if share else "Limit",
        value=tolerated(session, keep) * (100 if share else 1),
        key=_key(session, f"goal.{keep}.{session.limits.get(keep)}"),
        format="%.3g" if not share else "%.1f",
        step=1.0 if share else 0.01,
    )
    blocked = own_work().busy or not len(run.sweep())
    methods = {point.setting.method for point in run.sweep()}
    # the method that Tune shows, where it was swept
    method = rwn.RWN.method if rwn.RWN.method in methods else min(methods, default="")
    if press.button(
        words,
        key=_key(session, f"seek.{keep}"),
        disabled=blocked,
        width="stretch",
        help=f"Among the settings of the method {method}." if len(methods) > 1 else None,
    ):
        goal = Goal(keep=keep, limit=value / 100 if share else value, best=best)
        points = [point for point in run.sweep() if point.setting.method == method]
        own_work().jobs[JOB] = Job(
            goal.words,
            seek_politely,
            words=f"Looking between the settings: {goal.words}",
            microdata=session.data,
            points=points,
            goal=goal,
            plan=run.plan,
        )
        st.rerun()


def seek_politely(**arguments: Any) -> GoalAnswer:
    """Search in a process of its own, which leaves the processors to the sliders."""
    if sweep_run.POLITE:
        be_polite()  # its workers are as polite
    return seek(**arguments)


def _seeking(session: Session) -> None:
    job = own_work().jobs.get(JOB)
    if job is None:
        return
    if job.running:
        wait_for(job, _key(session, "seek.cancel"))
        return
    if job.refusal:
        st.info(escaped(f"{job.label}: {job.refusal}"), icon=":material/info:")
        return
    answer: GoalAnswer = job.result
    show = st.success if answer.reached else st.warning
    show(escaped(f"{answer.goal.words}: {answer.sentence}"))
    if answer.reached:
        st.button(
            "Load it into Tune",
            key=_key(session, "seek.load"),
            on_click=load,
            args=(session, answer.point.setting),
        )
