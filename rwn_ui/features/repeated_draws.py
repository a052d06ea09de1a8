"""Jobs on one setting from any page: many draws, and true standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.draws import Ensemble, ensemble
from rwn_core.evaluation.registered_analysis import AnalysisPlan, Standing
from rwn_core.evaluation.validity import Validity, standard_error_validity
from rwn_core.masking import Method
from rwn_core.measures.statistics.intervals import Band
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.places_on_map import draws
from rwn_ui.background.job import Job
from rwn_ui.background.progress import taken
from rwn_ui.features import limit_queue
from rwn_ui.state.results import SHOWN, Key, memo, setting_key
from rwn_ui.state.session import Session

JOB = "repeated draws"
DRAWS = 25
SAMPLES = 100
SAMPLES_OF_LARGE = 30
SHARE_OF_MEASURES = 0.9  # of the work, where analyses are registered, too


def offer_draws(session: Session, page: str) -> None:
    """A button that draws the setting on screen many times, in the background."""
    # Without a help text: Streamlit leaves it standing when the button is disabled under the
    # pointer.
    st.button(
        f"Draw {DRAWS} releases of this setting",
        key=f"{page}.draws",
        disabled=session.user.work.busy,
        on_click=begin_draws,
        args=(session,),
        width="stretch",
    )


def begin_draws(session: Session) -> None:
    """Read the measures on many releases of the setting on screen."""
    large = session.data.n > LARGEST_DENSE
    wanted = {*limit_queue.wanted(session)}
    same = session.params.fixed_neighborhoods
    keys = [
        key
        for key, measure in rwn.MEASURES.items()
        if (measure.side == "utility" or key in wanted or key in SHOWN)
        and not measure.of_holdout
        and not (same and measure.of_setting)
        and not (large and measure.is_slow and key not in wanted)
    ]
    more = {"measures": keys, "analysis_plan": session.analysis_plan}
    _begin_draws(session, "Drawing releases", draw_many, repeats=DRAWS, **more)


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
    _begin_draws(session, "Masking bootstrap samples", standard_error_validity, repeats=repeats)


def _begin_draws(session: Session, words: str, task: Callable[..., Any], **more: Any) -> None:
    work = session.user.work
    if work.busy:
        return
    work.jobs[JOB] = Job(
        session.words,
        task,
        words=f"{words} at {session.words}",
        about=setting_key(session),
        microdata=session.data,
        params=session.masking,
        seed=session.seed,
        **more,
    )


def follow(session: Session, page: str) -> None:
    """Progress and Cancel of the work under way; then its result, or why there is none."""
    job = taken(session.user.work.jobs, JOB, f"{page}.cancel")
    if job is not None:
        keep(session, job.about, job.result)
        st.rerun()


KEPT = 8  # settings with stored results, for one user


def found(session: Session) -> dict[str, Any]:
    """What the user has asked for of the setting on screen, as parts of a snapshot.

    Draws, the standings of the registered analyses over them, the validity of standard errors.
    """
    return memo(session, "draws", KEPT).get(setting_key(session)) or {}


def keep(
    session: Session, setting: Key, result: tuple[Ensemble, tuple[Standing, ...]] | Validity
) -> None:
    """Remember what a job computed for a setting."""
    kept, parts = memo(session, "draws", KEPT), dict[str, Any](validity=result)
    if not isinstance(result, Validity):
        parts = {"draws": result[0], "standings": result[1]}
    kept.keep(setting, {**(kept.get(setting) or {}), **parts})


def interval(made: Ensemble | None, measure: str, part: str = "") -> tuple[float, float] | None:
    """Central 90 % of a measure's value over the draws, or of the first number of a part."""
    if made is None:
        return None
    if not part:
        return made.interval(measure) if measure in made.values else None
    band = made.bands.get(measure, {}).get(part)
    return None if band is None else (float(band.low.flat[0]), float(band.high.flat[0]))


def bands(made: Ensemble | None, measure: str) -> dict[str, Mapping[str, Band]]:
    """Draws for a measure's chart, as its argument; empty without draws."""
    return {} if made is None or measure not in made.bands else {"drawn": made.bands[measure]}


def map_points(policy: rwn.Policy, made: Ensemble | None, risk: str) -> list[dict[str, Any]]:
    """Every draw as a point of the risk-utility map with this measure, or the policy, as risk."""
    return [] if made is None else draws(policy, made, risk)
