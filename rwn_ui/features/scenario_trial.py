"""Readings of releases of a scenario: at once, or by a job for a large table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import AnalysisPlan, Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.threads import work
from rwn_core.tuning import USUAL, Plan, Point, Setting, evaluate
from rwn_core.tuning.verdict import counted
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.features import analysis_plan_results
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

JOB = "scenario trial"
Judged = list[tuple[rwn.Scenario, AnalysisPlan, tuple[Standing, ...] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """The result of a job: a new scenario, if it was about one, and how the analyses fare."""

    new: rwn.Scenario | None
    judged: Judged


def as_scenario(session: Session, name: str, note: str, point: Point | None = None) -> rwn.Scenario:
    """The present setting, or a point of a search, as a scenario with its readings."""
    if point is not None:
        draft = scenario_draft(session, name, note, point.setting)
        return replace(draft, readings=point.stated(), unread=point.unread)
    draft = scenario_draft(session, name, note)
    with st.spinner("Measuring eight releases"):
        return measured(session.data, draft)


def scenario_draft(
    session: Session, name: str, note: str = "", setting: Setting | None = None
) -> rwn.Scenario:
    """All that is chosen at present, with its setting or another one, before it is measured."""
    return rwn.Scenario(
        name=name,
        note=note,
        table=session.data.fingerprint,
        setting=setting or session.setting,
        seed=session.seed,
        policy=session.policy,
        analysis_plan=session.analysis_plan,
    )


def measured(
    microdata: rwn.Microdata,
    scenario: rwn.Scenario,
    progress: Callable[[float], None] | None = None,
) -> rwn.Scenario:
    """A scenario with the readings of eight releases of its setting."""
    if scenario.setting is None:
        return scenario
    limited = () if scenario.policy is None else scenario.policy.measures
    measures = tuple(dict.fromkeys((*limited, *USUAL)))
    plan = Plan(measures=measures, seed=scenario.seed)
    with work(progress=progress):
        point = evaluate(microdata, scenario.setting, plan.keys, plan.measures)
    return replace(scenario, readings=point.stated(), unread=point.unread)


def save(session: Session, name: str, note: str) -> rwn.Scenario | None:
    """The current setting as a scenario; None for a large table until `follow` has it."""
    if session.data.n <= LARGEST_DENSE:
        return as_scenario(session, name, note)
    if not user_work().busy:
        draft = scenario_draft(session, name, note)
        plan = analysis_plan_results.registered(session, draft)
        label = f"{name}: {session.words}"
        _begin(session, label, try_new, scenario=draft, analysis_plan=plan)
    return None


MOST = 6  # scenarios side by side


def keep(session: Session, scenario: rwn.Scenario) -> None:
    """Save a scenario, and compare it while there is room."""
    session.scenarios[scenario.name] = scenario
    shown = st.session_state.get(session.key("compare.chosen"))
    if shown is not None and scenario.name not in shown and len(shown) < MOST:
        st.session_state[session.key("compare.chosen")] = [*shown, scenario.name]


def offer(session: Session) -> None:
    """A button that keeps the present setting as a candidate for the Compare page."""
    pressed = st.button(
        "Keep as candidate",
        key=session.key("tune.candidate"),
        width="stretch",
        disabled=user_work().busy and session.data.n > LARGEST_DENSE,
        help="Measures eight releases of this setting and keeps it for the Compare page.",
    )
    made = follow(session)
    if pressed:
        number = len(session.scenarios) + 1
        while f"Candidate {number}" in session.scenarios:
            number += 1
        made = save(session, f"Candidate {number}", "")
    if made is not None:
        keep(session, made)
        st.toast(f"{made.name} is kept: {counted(len(session.scenarios), 'candidate')} on Compare.")


def judge(session: Session, scenarios: Sequence[rwn.Scenario]) -> None:
    """Run the registered analyses on scenarios of a large table."""
    tasks = [(each, analysis_plan_results.registered(session, each)) for each in scenarios]
    words = ", ".join(each.name for each in scenarios)
    if not user_work().busy:
        _begin(session, f"Registered analyses: {words}", try_known, tasks=tasks)


def _begin(session: Session, label: str, work: Callable[..., Tried], **more: Any) -> None:
    words = f"Measuring releases of {label}"
    user_work().jobs[JOB] = Job(label, work, words=words, microdata=session.data, **more)


def try_new(
    microdata: rwn.Microdata,
    scenario: rwn.Scenario,
    analysis_plan: AnalysisPlan,
    progress: Callable[[float], None],
) -> Tried:
    """Measure a new scenario and run the registered analyses; the work of the process."""
    share = 0.5 if analysis_plan.analyses else 1.0
    new = measured(microdata, scenario, lambda done: progress(share * done))
    if not analysis_plan.analyses:
        return Tried(new=new, judged=[])
    standings = analysis_plan_results.judge(
        microdata, new, analysis_plan, lambda done: progress(share + share * done)
    )
    return Tried(new=new, judged=[(new, analysis_plan, standings)])


def try_known(
    microdata: rwn.Microdata,
    tasks: Sequence[tuple[rwn.Scenario, AnalysisPlan]],
    progress: Callable[[float], None],
) -> Tried:
    """Run the registered analyses on scenarios; the work of the process."""
    judged: Judged = []
    for scenario, analysis_plan in tasks:
        standings = analysis_plan_results.judge(
            microdata,
            scenario,
            analysis_plan,
            lambda done: progress((len(judged) + done) / len(tasks)),
        )
        judged.append((scenario, analysis_plan, standings))
    return Tried(new=None, judged=judged)


def follow(session: Session) -> rwn.Scenario | None:
    """Progress and Cancel of the work under way; then the new scenario, or why there is none."""
    jobs = user_work().jobs
    job = jobs.get(JOB)
    if not is_done(job, session.key("compare.trial.cancel")):
        return None
    del jobs[JOB]
    tried: Tried = job.result
    for known in tried.judged:
        analysis_plan_results.keep(session, *known)
    return tried.new
