"""Long work on one setting, begun from any page: many draws, and the truth of standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.analysis_plan import DayPass, Standing
from rwn_core.evaluation.repeated_draws import Ensemble, ensemble
from rwn_core.evaluation.standard_errors import Validity, standard_error_validity
from rwn_core.masking import Parameters
from rwn_core.neighbors import LARGEST_DENSE
from rwn_ui.background.job import Job
from rwn_ui.background.progress import wait_for
from rwn_ui.features.repeated_draws_results import setting_of
from rwn_ui.messages import plain
from rwn_ui.state.session import Session
from rwn_ui.tune import risk_axis
from rwn_ui.tune.view import TILES
from rwn_ui.utility.results import HELD_BACK, Desk, desk

DRAWS = 25
SAMPLES = 100
SAMPLES_OF_LARGE = 30
SHARE_OF_MEASURES = 0.9  # of the work, where analyses are registered, too
KEPT = 8  # settings whose results one user keeps
_SLOW = {"pmse", "bayes_linkage"}  # left out of the draws of a large table
_WORDS = {"draws": "Drawing releases", "validity": "Masking bootstrap samples"}


def offer_draws(session: Session, page: str) -> None:
    """A button that draws the setting on screen many times, in the background.

    Without a help text: Streamlit leaves it standing when the button is disabled under the pointer.
    """
    st.button(
        f"Draw {DRAWS} releases of this setting",
        key=f"{page}.draws",
        disabled=session.busy,
        on_click=begin_draws,
        args=(session,),
        width="stretch",
    )


def begin_draws(session: Session) -> None:
    """Read the measures on many releases of the setting on screen."""
    large = session.data.n > LARGEST_DENSE
    on_screen = {"cells_changed", "distance_linkage", "nearest_distance"}
    on_screen |= {tile.measure for tile in TILES}
    keys = [
        key
        for key, measure in rwn.MEASURES.items()
        if (measure.side == "utility" or key in on_screen)
        and key not in HELD_BACK
        and not (large and key in _SLOW - {risk_axis.measure(session)})
    ]
    more = {"measures": keys, "day_pass": session.day_pass}
    _begin(session, "draws", draw_many, repeats=DRAWS, **more)


def draw_many(
    microdata: rwn.Microdata,
    params: Parameters,
    *,
    day_pass: DayPass,
    progress: Callable[[float], None],
    **more: Any,
) -> tuple[Ensemble, tuple[Standing, ...]]:
    """What measures and registered analyses say of many releases; the work of the process."""
    share = SHARE_OF_MEASURES if day_pass.analyses else 1.0
    found = ensemble(microdata, params, progress=lambda done: progress(share * done), **more)
    if not day_pass.analyses:
        return found, ()
    judged = day_pass.judge_setting(
        microdata,
        params,
        repeats=more["repeats"],
        seed=more["seed"],
        progress=lambda done: progress(share + (1 - share) * done),
    )
    return found, judged


def begin_validity(session: Session) -> None:
    """Mask bootstrap samples at the setting on screen."""
    repeats = SAMPLES if session.data.n <= LARGEST_DENSE else SAMPLES_OF_LARGE
    _begin(session, "validity", standard_error_validity, repeats=repeats)


def _begin(session: Session, purpose: str, work: Callable[..., Any], **more: Any) -> None:
    if session.busy:
        return
    mine = desk(session)
    mine.purpose, mine.about = purpose, setting_of(session)
    session.study = Job(
        session.words,
        work,
        words=f"{_WORDS[purpose]} at {session.words}",
        microdata=session.data,
        params=session.masking,
        seed=session.seed,
        **more,
    )


def follow(session: Session, page: str) -> None:
    """Progress and Cancel of the work under way; then its result, or why there is none."""
    if session.study is None:
        return
    if session.study.running:
        wait_for(session.study, f"{page}.cancel")
    else:
        _take(session, desk(session))


def _take(session: Session, mine: Desk) -> None:
    """Keep what the finished job found, and draw the page again with it."""
    job = session.study
    if job is None:
        return
    if job.refusal:
        st.info(plain(f"{job.label}: {job.refusal}"), icon=":material/info:")
        return
    session.study = None
    if isinstance(job.result, tuple):
        found, judged = job.result
        _keep(mine.ensembles, mine.about, found)
        _keep(mine.standings, mine.about, judged)
    elif isinstance(job.result, Validity):
        _keep(mine.validities, mine.about, job.result)
    st.rerun()


def _keep(kept: dict[tuple[Any, ...], Any], about: tuple[Any, ...], result: Any) -> None:
    """The newest results stay; the oldest go first."""
    kept.pop(about, None)
    kept[about] = result
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
