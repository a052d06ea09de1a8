"""Jobs on one setting from any page: many draws, and true standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.analysis_plan import AnalysisPlan, Standing
from rwn_core.evaluation.repeated_draws import Ensemble, ensemble
from rwn_core.evaluation.standard_errors import standard_error_validity
from rwn_core.masking import Method
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.features import axis_choice, prediction
from rwn_ui.features.repeated_draws_results import keep
from rwn_ui.state.prepared_table import SHOWN
from rwn_ui.state.results import setting_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

JOB = "repeated draws"
DRAWS = 25
SAMPLES = 100
SAMPLES_OF_LARGE = 30
SHARE_OF_MEASURES = 0.9  # of the work, where analyses are registered, too
_SAME = {"neighborhood_size"}  # in every draw of a setting without random candidates
_SLOW = {"pmse", "bayes_linkage"}  # left out of the draws of a large table
_WORDS = {"draws": "Drawing releases", "validity": "Masking bootstrap samples"}


def offer_draws(session: Session, page: str) -> None:
    """A button that draws the setting on screen many times, in the background."""
    # Without a help text: Streamlit leaves it standing when the button is disabled under the
    # pointer.
    st.button(
        f"Draw {DRAWS} releases of this setting",
        key=f"{page}.draws",
        disabled=user_work().busy,
        on_click=begin_draws,
        args=(session,),
        width="stretch",
    )


def begin_draws(session: Session) -> None:
    """Read the measures on many releases of the setting on screen."""
    large = session.data.n > LARGEST_DENSE
    on_screen = {*SHOWN, *axis_choice.wanted(session)}
    if session.params.has_forecast:
        on_screen -= _SAME
    keys = [
        key
        for key, measure in rwn.MEASURES.items()
        if (measure.side == "utility" or key in on_screen)
        and key != prediction.MEASURE
        and not (large and key in _SLOW - set(axis_choice.wanted(session)))
    ]
    more = {"measures": keys, "analysis_plan": session.analysis_plan}
    _begin(session, "draws", draw_many, repeats=DRAWS, **more)


def draw_many(
    microdata: rwn.Microdata,
    params: Method,
    *,
    analysis_plan: AnalysisPlan,
    progress: Callable[[float], None],
    **more: Any,
) -> tuple[Ensemble, tuple[Standing, ...]]:
    """Readings and registered analyses of many releases; run in the process."""
    share = SHARE_OF_MEASURES if analysis_plan.analyses else 1.0
    draws = ensemble(microdata, params, progress=lambda done: progress(share * done), **more)
    if not analysis_plan.analyses:
        return draws, ()
    judged = analysis_plan.judge_setting(
        microdata,
        params,
        repeats=more["repeats"],
        seed=more["seed"],
        progress=lambda done: progress(share + (1 - share) * done),
    )
    return draws, judged


def begin_validity(session: Session) -> None:
    """Mask bootstrap samples at the setting on screen."""
    repeats = SAMPLES if session.data.n <= LARGEST_DENSE else SAMPLES_OF_LARGE
    _begin(session, "validity", standard_error_validity, repeats=repeats)


def _begin(session: Session, purpose: str, task: Callable[..., Any], **more: Any) -> None:
    work = user_work()
    if work.busy:
        return
    work.jobs[JOB] = Job(
        session.words,
        task,
        words=f"{_WORDS[purpose]} at {session.words}",
        about=setting_key(session),
        microdata=session.data,
        params=session.masking,
        seed=session.seed,
        **more,
    )


def follow(session: Session, page: str) -> None:
    """Progress and Cancel of the work under way; then its result, or why there is none."""
    jobs = user_work().jobs
    job = jobs.get(JOB)
    if is_done(job, f"{page}.cancel"):
        if job.result is not None:
            keep(job.about, job.result)
        del jobs[JOB]
        st.rerun()
