"""Jobs on one setting from any page: draws that judge it, many draws, true standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
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
from rwn_core.tuning import Point, SearchAnswer, Setting, Verdict
from rwn_core.tuning.several_draws import verdict_of
from rwn_core.tuning.verdict import COMING
from rwn_ui.background.advising import Judged, judge_draws
from rwn_ui.background.job import Job
from rwn_ui.background.progress import polled, taken
from rwn_ui.features import limit_queue
from rwn_ui.server.messages import redraw
from rwn_ui.state.results import SHOWN, Key, memo, setting_key, table_key
from rwn_ui.state.session import Session, with_steps

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
        redraw()


KEPT = 8  # settings with stored results, for one user


def found(session: Session) -> dict[str, Any]:
    """What the user has asked for of the setting on screen, as parts of a snapshot.

    Draws, the standings of the registered analyses over them, the validity of standard errors;
    and the verdict on one more release, where it is known.
    """
    key = setting_key(session)
    return {**(memo(session, "draws", KEPT).get(key) or {}), **verdict_parts(session, key)}


def keep(
    session: Session, setting: Key, result: tuple[Ensemble, tuple[Standing, ...]] | Validity
) -> None:
    """Remember what a job computed for a setting."""
    kept = memo(session, "draws", KEPT)
    parts = dict[str, Any](validity=result)
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


# ---------------------------------------------------------------- the verdict on one more release

WAITS = "further draws"
"""What a picture waits for."""
_ON_DEMAND = "“Keep this setting” reads further draws"
_REMEMBERED = 64  # settings with their verdicts
_RESTED = "rested"  # the setting at which the sliders stood when the picture asked last


def judged_draws(session: Session, key: Key | None = None) -> Judged | None:
    """Return the further draws of the setting on screen with their verdict, once they are known."""
    about = setting_key(session) if key is None else key
    known: Judged | None = memo(session, "judged draws", _REMEMBERED).get((about, session.policy))
    return known


def verdict_parts(session: Session, key: Key | None = None) -> dict[str, Any]:
    """Return the verdict on one more release, or what is said of further draws, for a snapshot."""
    about = setting_key(session) if key is None else key
    known = judged_draws(session, about)
    return {"coming": _coming_words(session, about)} if known is None else {"of_setting": known[1]}


def note_judged(
    session: Session, setting: Setting, verdict: Verdict, point: Point | None = None
) -> None:
    """Remember the verdict on several draws of a setting, which every page then shows."""
    if verdict.draws < 2:
        return
    own = setting.resolved(session.data)
    key = *table_key(own.applied_to(session.data)), with_steps(own.params, own.precision)
    memo(session, "judged draws", _REMEMBERED).keep((key, session.policy), (point, verdict))


def note_answer(session: Session, answer: SearchAnswer) -> None:
    """Have every page know the draws by which a search has judged its settings."""
    same = [each for each in answer.remedies if each.schema is None and each.policy is None]
    for found in (*answer.settings, *same):
        if found.confirmed:
            verdict = verdict_of(session.data, session.policy, found.point)
            note_judged(session, found.setting, verdict, found.point)


def are_coming(session: Session) -> bool:
    """True if further draws of the setting on screen are read, or will be when the sliders rest."""
    key = setting_key(session)
    return judged_draws(session, key) is None and _coming_words(session, key) == COMING


def _coming_words(session: Session, key: Key) -> str:
    """Say behind the verdict on one draw whether others follow, or how they are had."""
    if session.data.n > LARGEST_DENSE:
        return _ON_DEMAND
    job = session.user.work.further
    refused = job is not None and bool(job.refusal) and job.about == (key, session.policy)
    return "" if refused or not session.policy.limits else COMING


def _about(session: Session) -> tuple[Any, ...]:
    return setting_key(session), session.policy


def drop_overtaken(session: Session) -> None:
    """Cancel the reading of further draws of a setting that a slider has left."""
    work = session.user.work
    if work.further is not None and work.further.about != _about(session):
        work.further.cancel()
        work.further = None


def follow_verdict(session: Session) -> None:
    """Have further draws of the setting on screen read once its sliders rest, and keep them."""
    drop_overtaken(session)
    work = session.user.work
    about = _about(session)
    job = work.further
    if job is not None and job.result is not None:
        memo(session, "judged draws", _REMEMBERED).keep(about, job.result)
        work.further = None
    if not are_coming(session) or work.closed or work.preparation is not None:
        return
    last = session.user.results.last
    if work.further is not None or last.get(_RESTED) != about:
        last[_RESTED] = about  # it begins when a picture of the same setting asks once more
        return
    with suppress(rwn.RWNError):  # no room for another process: one draw is what is known
        work.further = Job(
            session.words,
            judge_draws,
            words=f"Reading further draws at {session.words}",
            about=about,
            microdata=session.data,
            setting=session.setting,
            policy=session.policy,
        )


def follow_on_page(session: Session) -> None:
    """Have further draws read on a page that asks for nothing by itself, and draw it with them."""

    def watch() -> None:
        follow_verdict(session)
        if not are_coming(session):
            redraw()

    if are_coming(session):
        polled(watch)
