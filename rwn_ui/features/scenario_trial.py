"""Readings of releases of a scenario: at once, or by a job for a large table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from string import ascii_uppercase

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.registered_analysis import AnalysisPlan, Standing
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.parallel.pace import Part
from rwn_core.parallel.processes import Report
from rwn_core.parallel.threads import work
from rwn_core.reporting.readable import judged as judged_scenarios
from rwn_core.tuning import USUAL, Point, Setting, evaluate
from rwn_core.tuning.recommend import policy_presets as find_presets
from rwn_core.tuning.several_draws import draws_of, further_keys, read_draws
from rwn_core.tuning.verdict import counted
from rwn_ui.background.job import Job
from rwn_ui.background.progress import taken
from rwn_ui.features import analysis_plan_results, repeated_draws
from rwn_ui.server.messages import redraw
from rwn_ui.state.change_table import set_setting, toasted
from rwn_ui.state.results import policy_presets
from rwn_ui.state.session import Session
from rwn_ui.widgets import limits

JOB = "scenario"
PRESENT = "Present setting"
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


def save(session: Session, name: str, note: str, setting: Setting | None = None) -> None:
    """Begin to measure the current or another setting as a scenario, unless another is.

    The work outlives the page: `follow` has the scenario, on whatever page it is asked for.
    """
    if is_measuring(session):
        return
    draft = scenario_draft(session, name, note, setting)
    plan = analysis_plan_results.registered(session, draft)
    label = f"{name}: {session.words if setting is None else setting.words}"
    known = _known_draws(session, draft)
    _begin_trial(session, label, [(draft, plan)], new=True, known=known)


def _known_draws(session: Session, draft: rwn.Scenario) -> dict[str, Point]:
    """Return the limits of a scenario by its name, where its setting was read before."""
    drawn = repeated_draws.judged_draws(session)
    if draft.setting != session.setting or drawn is None or drawn[0] is None:
        return {}
    return {draft.name: drawn[0]}


def is_measuring(session: Session) -> bool:
    """True if scenarios are being measured."""
    job = session.user.work.jobs.get(JOB)
    return job is not None and job.running


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

    def begin() -> None:
        on_keep()
        save(session, next_name(session), "")

    st.button(
        "Keep this setting",
        key=session.key("tune.keep"),
        width="stretch",
        on_click=begin,
        disabled=is_measuring(session),
        help="Measures further draws of this setting in the background, also while you are on "
        "another page. Tiles, charts and map then show how others differ from it, and the Compare "
        "page has it.",
    )
    for made in keep_measured(session):
        session.compared = (*session.compared, made.name)[-COMPARED:]
        st.toast(f"{made.name} is kept: {counted(len(session.scenarios), 'scenario')} on Compare.")
    names = list(session.scenarios)
    if names:
        key = session.key(f"tune.compared.{len(names)}")
        st.session_state[key] = [name for name in session.compared if name in names]

        def choose() -> None:
            # a field of fewer scenarios may still answer, when one has just been kept
            if list(session.scenarios) == names:
                session.compared = tuple(st.session_state[key])

        st.multiselect(
            "Compared with",
            names,
            key=key,
            max_selections=COMPARED,
            on_change=choose,
        )


def next_name(session: Session) -> str:
    """The first letter that no scenario of the table has; after Z a number."""
    names = chain(ascii_uppercase, (f"Setting {number}" for number in count(27)))
    return next(name for name in names if name not in session.scenarios)


def judge(session: Session, scenarios: Sequence[rwn.Scenario]) -> None:
    """Run the registered analyses on scenarios of a large table."""
    tasks = [(each, analysis_plan_results.registered(session, each)) for each in scenarios]
    words = ", ".join(each.name for each in scenarios)
    if not session.user.work.busy:
        _begin_trial(session, f"Registered analyses: {words}", tasks, new=False)


def _begin_trial(
    session: Session,
    label: str,
    tasks: Tasks,
    *,
    new: bool,
    known: Mapping[str, Point] | None = None,
) -> None:
    session.user.work.jobs[JOB] = Job(
        label,
        run,
        words=f"Measuring releases of {label}",
        about=(new, []),
        microdata=session.data,
        tasks=tasks,
        new=new,
        known=dict(known or {}),
    )


def run(
    microdata: rwn.Microdata,
    tasks: Tasks,
    progress: Callable[[float], None],
    *,
    new: bool,
    known: Mapping[str, Point],
) -> Judged:
    """Measure new scenarios, and run the registered analyses; the work of the process.

    `known` has the limits of a scenario by its name, where they were read before.
    """
    judged: Judged = []
    steps = len(tasks) * (1 + new)

    def report(done: float, share: float) -> None:
        progress((done + share) / steps)

    for scenario, plan in tasks:
        done = len(judged) * (1 + new)
        if new:
            before = known.get(scenario.name)
            scenario = measured(microdata, scenario, partial(report, done), before)
        at = partial(report, done + new)
        standings = analysis_plan_results.judge(microdata, scenario, plan, at)
        judged.append((scenario, plan, standings))
    return judged


def follow(session: Session) -> list[rwn.Scenario]:
    """Progress and Cancel of the work under way; the new scenarios, or why there are none.

    Of several that are measured each is new as soon as it is done.
    """
    work = session.user.work.jobs.get(JOB)
    known = _measured(work)
    key = session.key("compare.trial.cancel")
    job = taken(session.user.work.jobs, JOB, key, below=_when_more_is_measured(known))
    made = known if job is None else job.result
    for each in made:
        analysis_plan_results.keep(session, *each)
    if work is None or not work.about[0]:
        return []
    names = work.about[1]  # those that were new before
    new = [scenario for scenario, _, _ in made if scenario.name not in names]
    names.extend(scenario.name for scenario in new)
    return new


def _measured(job: Job | None) -> Judged:
    """Return what a job has measured so far."""
    return [] if job is None else job.so_far or []


def _when_more_is_measured(known: Judged) -> Callable[[Job], None]:
    """Return what draws the page again once a job has measured more than is known."""

    def look(job: Job) -> None:
        if len(_measured(job)) > len(known):
            redraw()

    return look


def keep_measured(session: Session) -> list[rwn.Scenario]:
    """Save what was measured meanwhile, or draw its progress; return what is new."""
    measured_now = follow(session)
    for scenario in measured_now:
        keep(session, scenario)
    return measured_now


def open_compare(session: Session) -> None:
    """Measure what Compare opens with, once for a table: the present setting and its strengths."""
    key = session.key("compare.opened")
    begun = st.session_state.setdefault(key, False)
    small = session.data.n <= LARGEST_DENSE
    if begun or session.scenarios or not small or is_measuring(session):
        return
    st.session_state[key] = True
    draft = scenario_draft(session, PRESENT, "As it stood when this page was opened.")
    plan = analysis_plan_results.registered(session, draft)
    session.user.work.jobs[JOB] = Job(
        PRESENT,
        run_strengths,
        words="Measuring the present setting and its strengths",
        about=(True, []),
        microdata=session.data,
        present=draft,
        plan=plan,
        presets=policy_presets(session),
        known=_known_draws(session, draft),
    )


def run_strengths(
    microdata: rwn.Microdata,
    present: rwn.Scenario,
    plan: AnalysisPlan,
    progress: Report,
    *,
    presets: Mapping[str, Setting],
    known: Mapping[str, Point],
) -> Judged:
    """Measure a scenario, and its setting at the strengths that are read to keep the policy."""
    if present.setting is None:
        return []
    judged = run(microdata, [(present, plan)], Part(progress, 0.0, 0.3), new=True, known=known)
    progress.found(judged)
    if not presets and present.policy is not None:
        presets = find_presets(microdata, present.setting, present.policy)
    places = [setting.resolved(microdata) for setting in presets.values()]
    for number, (name, setting) in enumerate(zip(presets, places, strict=True)):
        if setting == present.setting:
            continue
        at_strength = replace(present, name=name, setting=setting, note="")
        low = 0.6 + 0.4 * number / len(presets)
        report = Part(progress, low, low + 0.4 / len(presets))
        judged = judged + run(microdata, [(at_strength, plan)], report, new=True, known={})
        progress.found(judged)
    return judged
