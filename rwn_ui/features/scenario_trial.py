"""Readings of releases of a scenario: at once, or by a job for a large table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from string import ascii_uppercase

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import AnalysisPlan, Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.threads import work
from rwn_core.reporting.readable import judged as judged_scenarios
from rwn_core.tuning import USUAL, Point, Setting, evaluate
from rwn_core.tuning.several_draws import draws_of, further_keys, read_draws
from rwn_core.tuning.verdict import counted
from rwn_ui.background.job import Job
from rwn_ui.background.progress import taken
from rwn_ui.features import analysis_plan_results, repeated_draws
from rwn_ui.state.change_table import set_setting, toasted
from rwn_ui.state.session import Session
from rwn_ui.widgets import limits

JOB = "scenario"
Tasks = Sequence[tuple[rwn.Scenario, AnalysisPlan]]
Judged = list[tuple[rwn.Scenario, AnalysisPlan, tuple[Standing, ...] | None]]


def scenario_draft(
    session: Session, name: str, note: str = "", setting: Setting | None = None
) -> rwn.Scenario:
    """All that is chosen at present, with its setting or another one, before it is measured."""
    return rwn.Scenario(
        name=name,
        note=note,
        table=session.data.fingerprint,
        setting=session.setting if setting is None else setting.resolved(session.data),
        seed=session.seed,
        policy=session.policy,
        analysis_plan=session.analysis_plan,
        use=session.data.schema.use,
    )


def measured(
    microdata: rwn.Microdata,
    scenario: rwn.Scenario,
    progress: Callable[[float], None] | None = None,
    known: Point | None = None,
) -> rwn.Scenario:
    """A scenario with the readings of those releases of its setting that every verdict rests on.

    `known` has their limits, where they were read before.
    """
    setting = scenario.setting
    if setting is None:
        return scenario
    policy = scenario.policy or rwn.Policy(limits=())
    try:
        with work(progress=progress):
            limits = read_draws(microdata, setting, policy) if known is None else known
            others = dict.fromkeys((*policy.measures, *USUAL))
            others = {key: None for key in others if key not in limits.spreads}
            keys = further_keys(draws_of(microdata.n))
            point = evaluate(microdata, setting, keys, tuple(others))
    except rwn.ParameterError as refusal:  # of the setting on this table
        return replace(scenario, readings={}, unread=dict.fromkeys(policy.measures, str(refusal)))
    point = replace(point, spreads={**limits.spreads, **point.spreads})
    return replace(scenario, readings=point.stated(), unread=point.unread)


def save(
    session: Session, name: str, note: str, setting: Setting | None = None
) -> rwn.Scenario | None:
    """The current or another setting as a scenario; of a large table None until `follow` has it."""
    draft = scenario_draft(session, name, note, setting)
    if session.data.n <= LARGEST_DENSE:
        chosen = draft.setting
        draws = repeated_draws.judged_draws(session) if chosen == session.setting else None
        with st.spinner("Measuring further draws"):
            return measured(session.data, draft, known=None if draws is None else draws[0])
    if not session.user.work.busy:
        plan = analysis_plan_results.registered(session, draft)
        label = f"{name}: {session.words if setting is None else setting.words}"
        _begin_trial(session, label, [(draft, plan)], new=True)
    return None


MOST = 6  # scenarios side by side
COMPARED = 2  # with the setting on Tune


def keep(session: Session, scenario: rwn.Scenario) -> None:
    """Save a scenario, and compare it while there is room."""
    session.scenarios[scenario.name] = scenario
    if scenario.setting is not None and scenario.table == session.data.fingerprint:
        (verdict,) = judged_scenarios([scenario], session.policy)
        repeated_draws.note_judged(session, scenario.setting, verdict)
    shown = st.session_state.get(session.key("compare.chosen"))
    if shown is not None and scenario.name not in shown and len(shown) < MOST:
        st.session_state[session.key("compare.chosen")] = [*shown, scenario.name]


def take(session: Session, scenario: rwn.Scenario) -> None:
    """Go over to a scenario: its setting, seed and limits."""
    session.seed = scenario.seed
    if scenario.policy is not None:
        limits.judge_by(session, scenario.policy)
    if scenario.analysis_plan.analyses:
        session.analysis_plan = scenario.analysis_plan
    with toasted(session):
        if scenario.use is not None:
            session.state_use(scenario.use)
        if scenario.setting is not None:
            set_setting(session, scenario.setting, undo=True)


def offer(session: Session, on_keep: Callable[[], None]) -> None:
    """A button that keeps the present setting as a scenario, and the scenarios to compare with."""
    done = [follow(session)]
    pressed = st.button(
        "Keep this setting",
        key=session.key("tune.keep"),
        width="stretch",
        on_click=on_keep,
        disabled=session.user.work.busy and session.data.n > LARGEST_DENSE,
        help="Measures further draws of this setting. Tiles, charts and map then show how others "
        "differ from it, and the Compare page has it.",
    )
    if pressed:
        done.append(save(session, next_name(session, *filter(None, done)), ""))
    for made in filter(None, done):
        keep(session, made)
        session.compared = (*session.compared, made.name)[-COMPARED:]
        st.toast(f"{made.name} is kept: {counted(len(session.scenarios), 'scenario')} on Compare.")
    names = list(session.scenarios)
    if names:
        key = session.key(f"tune.compared.{len(names)}")
        st.session_state[key] = [name for name in session.compared if name in names]
        st.multiselect(
            "Compared with",
            names,
            key=key,
            max_selections=COMPARED,
            on_change=lambda: setattr(session, "compared", tuple(st.session_state[key])),
        )


def next_name(session: Session, *further: rwn.Scenario) -> str:
    """The first letter that no scenario of the table has, nor a further one; after Z a number."""
    taken = {*session.scenarios, *(each.name for each in further)}
    names = chain(ascii_uppercase, (f"Setting {number}" for number in count(27)))
    return next(name for name in names if name not in taken)


def judge(session: Session, scenarios: Sequence[rwn.Scenario]) -> None:
    """Run the registered analyses on scenarios of a large table."""
    tasks = [(each, analysis_plan_results.registered(session, each)) for each in scenarios]
    words = ", ".join(each.name for each in scenarios)
    if not session.user.work.busy:
        _begin_trial(session, f"Registered analyses: {words}", tasks, new=False)


def _begin_trial(session: Session, label: str, tasks: Tasks, *, new: bool) -> None:
    words = f"Measuring releases of {label}"
    session.user.work.jobs[JOB] = Job(
        label, run, words=words, about=(new,), microdata=session.data, tasks=tasks, new=new
    )


def run(
    microdata: rwn.Microdata, tasks: Tasks, progress: Callable[[float], None], *, new: bool
) -> Judged:
    """Measure new scenarios, and run the registered analyses; the work of the process."""
    judged: Judged = []
    steps = len(tasks) * (1 + new)

    def report(done: float, share: float) -> None:
        progress((done + share) / steps)

    for scenario, plan in tasks:
        done = len(judged) * (1 + new)
        if new:
            scenario = measured(microdata, scenario, partial(report, done))
        at = partial(report, done + new)
        standings = analysis_plan_results.judge(microdata, scenario, plan, at)
        judged.append((scenario, plan, standings))
    return judged


def follow(session: Session) -> rwn.Scenario | None:
    """Progress and Cancel of the work under way; then the new scenario, or why there is none."""
    job = taken(session.user.work.jobs, JOB, session.key("compare.trial.cancel"))
    if job is None:
        return None
    judged: Judged = job.result
    for known in judged:
        analysis_plan_results.keep(session, *known)
    return judged[0][0] if job.about[0] else None
