"""Two searches of the Sweep page: goal seek among settings, and the best slices."""

from __future__ import annotations

from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.measures import UTILITY
from rwn_core.tuning import Goal, SearchAnswer, SliceRanges, SweepRun, seek, seek_slices
from rwn_core.tuning.seek_slices import kernels_refused
from rwn_ui.background.job import Job
from rwn_ui.features.partial_answer import follow
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.widgets.buttons import load_button

JOB = "goal seek"


def draw(session: Session, run: SweepRun) -> None:
    """The best setting that keeps all limits, and what is known about it."""
    st.markdown("#### Goal seek")
    best, records = session.views["x"], session.data.n
    forward, back = st.columns(2, vertical_alignment="bottom")
    with forward:
        words = f"Keep all limits, with the best {rwn.MEASURES[best].title_for(records)}"
        if _pressed(session, run, "policy", words, blocked=not session.policy.limits):
            _begin(session, run, Goal(keep=session.policy, best=best))
    with back:
        _reverse(session, run, best)
    _seeking(session)


def _reverse(session: Session, run: SweepRun, keep: str) -> None:
    """Keep utility within an aim, with the least of a risk."""
    shown = session.views["y"]
    risks = [key for key in run.plan.measures if rwn.MEASURES[key].side == "risk"]
    risk = shown if shown in rwn.MEASURES else next(iter((*session.policy.measures, *risks)), "")
    if not risk:
        return
    share = rwn.MEASURES[keep].is_share
    limit, press = st.columns([1, 3], vertical_alignment="bottom")
    value = limit.number_input(
        "Aim, %" if share else "Aim",
        value=_aim(session, keep) * (100 if share else 1),
        key=session.key(f"sweep.goal.{keep}"),
        format="%.3g" if not share else "%.1f",
        step=1.0 if share else 0.01,
    )
    names = [rwn.MEASURES[key].title_for(session.data.n) for key in (keep, risk)]
    words = f"Keep {names[0]} within it, with the best {names[1]}"
    with press:
        if _pressed(session, run, "reverse", words, blocked=risk not in run.plan.measures):
            _begin(session, run, Goal(keep=keep, limit=value / 100 if share else value, best=risk))


def _aim(session: Session, measure: str) -> float:
    """Aims at the start."""
    known = {UTILITY: session.aims.relations, "regression": session.aims.slope}
    return known.get(measure, 0.05 if rwn.MEASURES[measure].is_share else 1.0)


def _method(run: SweepRun) -> str:
    """The method to seek among: the one that Tune shows first, where it was swept."""
    methods = {point.setting.method for point in run.sweep()}
    return rwn.RWN.method if rwn.RWN.method in methods else min(methods, default="")


def _pressed(session: Session, run: SweepRun, what: str, words: str, *, blocked: bool) -> bool:
    several = len({point.setting.method for point in run.sweep()}) > 1
    return st.button(
        words,
        key=session.key(f"sweep.seek.{what}"),
        disabled=blocked or user_work().busy or not len(run.sweep()),
        width="stretch",
        help=f"Among the settings of {rwn.METHODS[_method(run)].title}." if several else None,
    )


def _begin(session: Session, run: SweepRun, goal: Goal) -> None:
    method = _method(run)
    user_work().jobs[JOB] = Job(
        goal.words,
        seek,
        words=f"Looking between the settings: {goal.words}",
        about=(session.data.fingerprint,),
        microdata=session.data,
        points=[point for point in run.sweep() if point.setting.method == method],
        goal=goal,
        plan=run.plan,
    )
    st.rerun()


def _found(session: Session, name: str, key: str) -> Any:
    """Result of a search of this table; None without one, and then how far it is."""
    job = user_work().jobs.get(name)
    if job is None or job.about != (session.data.fingerprint,):
        return None
    return None if follow(session, name, job, session.key(key)) else job.result


def _seeking(session: Session) -> None:
    answer: SearchAnswer | None = _found(session, JOB, "sweep.seek")
    if answer is None:
        return
    # one measure within an aim, or a limit that could not be judged, is no reason for green
    met = answer.kept and answer.policy is not None
    show = st.success if met else st.info if answer.reached else st.warning
    wanted = f"{answer.goal.words}: " if isinstance(answer.goal, Goal) else ""
    show(escaped(f"{wanted}{answer.sentence}"))
    if answer.reached:
        key = session.key("sweep.seek.load")
        load_button(session, "Load it into Tune", answer.point.setting, key=key)


SLICES_JOB = "slice search"
_HELP = (
    "Merges and moves variables by the expected loss of relations, finds for each choice the "
    "weakest strength that keeps all limits, and reads the answer on fresh releases. Weights are "
    "halved and doubled, too, unless some differ already. Method, the other levers and precision "
    "stay as on Tune."
)


def draw_slices(session: Session) -> None:
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
        user_work().jobs[SLICES_JOB] = Job(
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
    _seeking_slices(session)


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


def _seeking_slices(session: Session) -> None:
    answer: SearchAnswer | None = _found(session, SLICES_JOB, "sweep.slices")
    if answer is None:
        return
    show = st.success if answer.reached else st.warning
    show(escaped(answer.sentence))
    key = session.key("sweep.slices.load")
    load_button(session, "Load it into Tune", answer.point.setting, key=key)
