"""Which registered analyses pass: on the release on screen, and over releases of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.plain import WORK_AT_ONCE
from rwn_core.evaluation.registered_analysis import AnalysisPlan, AnalysisResult, Standing
from rwn_core.measures.comparison import Comparison
from rwn_core.measures.drawing.style import shorten
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.scenario import Scenario
from rwn_ui.state.results import memo, release_key
from rwn_ui.state.session import Session, with_steps

RELEASES = 8  # of a scenario, on which the registered analyses are run
RELEASES_OF_LARGE = 4
KEPT = 40  # scenarios with stored answers, for one user


def verdicts(session: Session, comparison: Comparison) -> tuple[AnalysisResult, ...]:
    """The registered analyses on the release on screen."""
    registered = session.analysis_plan
    if not registered.analyses or comparison.file is not None or not runs_immediately(session):
        return ()  # standard errors of some records say nothing about all
    return memo(session, "verdicts", 8).get_or_make(
        (registered, release_key(session)), lambda: registered.judge(comparison)
    )


def runs_immediately(session: Session) -> bool:
    """True if the registered analyses are quick enough to be run with every change."""
    plan = session.analysis_plan
    key = ("work of a plan", plan, session.data.fingerprint)
    return bool(
        memo(session, "work of plans", 8).get_or_make(key, lambda: plan.work(session.data))
        <= WORK_AT_ONCE
    )


def tile(judged: Sequence[AnalysisResult]) -> dict[str, Any]:
    """Pass or fail in one tile; its help names every analysis."""
    failed = [verdict for verdict in judged if not verdict.passed]
    names = [f"{'✓' if verdict.passed else '▲'} {verdict.analysis.name}" for verdict in judged]
    return {
        "label": "Analysis plan",
        "released": f"{len(judged) - len(failed)} of {len(judged)}",
        "state": "over" if failed else None,
        "limit": shorten(", ".join(verdict.analysis.name for verdict in failed), 26)
        or "all within tolerance",
        "help": "The registered analyses whose answer stays within its tolerance on this release: "
        f"{' · '.join(names)}.",
        "against": [],
    }


def registered(session: Session, scenario: Scenario) -> AnalysisPlan:
    """The analyses to run on a scenario: those of now, or else its own; none of another table's."""
    own = not scenario.table or scenario.table == session.data.fingerprint
    if scenario.setting is None or not own:
        return AnalysisPlan()
    return session.analysis_plan if session.analysis_plan.analyses else scenario.analysis_plan


def judge(
    microdata: rwn.Microdata,
    scenario: Scenario,
    analysis_plan: AnalysisPlan,
    progress: Callable[[float], None] | None = None,
) -> tuple[Standing, ...] | None:
    """The analyses on several releases of a scenario; None where its setting is refused."""
    setting = scenario.setting
    if setting is None or not analysis_plan.analyses:
        return None
    params = with_steps(setting.params, setting.precision)
    try:
        return analysis_plan.judge_setting(
            setting.applied_to(microdata),
            params,
            repeats=RELEASES if microdata.n <= LARGEST_DENSE else RELEASES_OF_LARGE,
            seed=scenario.seed,
            progress=progress,
        )
    except rwn.RWNError:
        return None


def standings(session: Session, scenario: Scenario) -> tuple[Standing, ...] | None:
    """Verdicts of the analyses on a scenario; quick ones are run at once."""
    analysis_plan = registered(session, scenario)
    if not analysis_plan.analyses or missing(session, scenario):
        return None

    def make() -> tuple[Standing, ...] | None:
        with st.spinner("Running the registered analyses"):
            return judge(session.data, scenario, analysis_plan)

    return memo(session, "standings of scenarios", KEPT).get_or_make(
        _key(session, scenario, analysis_plan), make
    )


def missing(session: Session, scenario: Scenario) -> bool:
    """True if a job is still to run the analyses on a scenario: they take a while."""
    analysis_plan = registered(session, scenario)
    known = _key(session, scenario, analysis_plan) in memo(session, "standings of scenarios", KEPT)
    if known or not analysis_plan.analyses:
        return False
    return session.data.n > LARGEST_DENSE or RELEASES * analysis_plan.work(session.data) > (
        WORK_AT_ONCE
    )


def keep(
    session: Session,
    scenario: Scenario,
    analysis_plan: AnalysisPlan,
    judged: tuple[Standing, ...] | None,
) -> None:
    """Remember how the analyses of a job fared."""
    memo(session, "standings of scenarios", KEPT).keep(
        _key(session, scenario, analysis_plan), judged
    )


def _key(session: Session, scenario: Scenario, analysis_plan: AnalysisPlan) -> tuple[Hashable, ...]:
    key = None if scenario.setting is None else scenario.setting.key
    return (analysis_plan, session.data.fingerprint, key, scenario.seed)


def standing_words(standing: Standing) -> str:
    """Pass or fail of one analysis over several releases, with its median."""
    if standing.value is None:
        return f"▲ {standing.reason}"
    if standing.always:
        return f"✓ pass ({standing.value:.3g})"
    if not standing.passed:
        return f"▲ fail ({standing.value:.3g})"
    return f"▲ passes on {standing.passed} of {standing.releases} ({standing.value:.3g})"
