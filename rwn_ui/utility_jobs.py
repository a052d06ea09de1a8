"""Long work of the Utility page: many draws, and the truth of standard errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.ensemble import Ensemble, ensemble
from rwn_core.neighborhoods import LARGEST_DENSE
from rwn_core.standard_errors import Validity, standard_error_validity
from rwn_ui.draws import setting_of
from rwn_ui.jobs import Job
from rwn_ui.session import Session
from rwn_ui.show import plain
from rwn_ui.tune_view import TILES
from rwn_ui.utility_results import HELD_BACK, Desk

POLL_SECONDS = 0.5
DRAWS = 25
SAMPLES = 100
SAMPLES_OF_LARGE = 30
_SLOW = {"pmse", "bayes_linkage"}  # left out of the draws of a large table


def draw(session: Session, mine: Desk) -> None:
    """Two buttons, then progress and Cancel, then the notice."""
    st.subheader("Beyond one draw", anchor=False)
    st.caption(
        "Both run in the background and can be cancelled. The results join the tables above."
    )
    running = session.study is not None and session.study.running
    question = session.data.schema.question
    with st.container(horizontal=True):
        st.button(
            f"Draw {DRAWS} releases of this setting",
            key="utility.draws",
            disabled=session.busy,
            on_click=_begin_draws,
            args=(session, mine),
        )
        st.button(
            "Check the standard errors",
            key="utility.validity",
            disabled=session.busy or question is None,
            on_click=_begin_validity,
            args=(session, mine),
            help="Bootstrap samples of the records, each masked: is the reported standard error "
            "true, and does a 95 % interval hold the original's coefficient 95 times in 100?",
        )
    if running:
        _progress(session, mine)
    elif session.study is not None:
        _take(session, mine)
    validity = mine.validities.get(setting_of(session))
    if validity is not None:
        _notice(validity)


def _begin_draws(session: Session, mine: Desk) -> None:
    large = session.data.n > LARGEST_DENSE
    on_tiles = {"distance_linkage", *(tile.measure for tile in TILES)}
    keys = [
        key
        for key, measure in rwn.MEASURES.items()
        if (measure.side == "utility" or key in on_tiles)
        and key not in HELD_BACK
        and not (large and key in _SLOW)
    ]
    _begin(session, mine, "draws", ensemble, repeats=DRAWS, measures=keys)


def _begin_validity(session: Session, mine: Desk) -> None:
    repeats = SAMPLES if session.data.n <= LARGEST_DENSE else SAMPLES_OF_LARGE
    _begin(session, mine, "validity", standard_error_validity, repeats=repeats)


def _begin(
    session: Session, mine: Desk, purpose: str, work: Callable[..., Any], **more: Any
) -> None:
    mine.purpose, mine.about = purpose, setting_of(session)
    session.study = Job.start(
        session.words,
        work,
        microdata=session.data,
        params=session.params,
        seed=session.seed,
        **more,
    )


def _progress(session: Session, mine: Desk) -> None:
    words = {"draws": "Drawing releases", "validity": "Masking bootstrap samples"}[mine.purpose]

    @st.fragment(run_every=POLL_SECONDS)
    def watch() -> None:
        job = session.study
        if job is None:
            return
        job.poll()
        if not job.running:
            st.rerun()
        st.progress(min(job.share, 1.0), text=f"{words} at {job.label}")
        if st.button("Cancel", key="utility.cancel"):
            job.cancel()
            st.rerun()

    watch()


def _take(session: Session, mine: Desk) -> None:
    """Keep what the finished job found, and draw the page again with it."""
    job = session.study
    if job is None:
        return
    if job.refusal:
        st.info(plain(f"{job.label}: {job.refusal}"), icon=":material/info:")
        return
    session.study = None
    if isinstance(job.result, Ensemble):
        mine.ensembles[mine.about] = job.result
    elif isinstance(job.result, Validity):
        mine.validities[mine.about] = job.result
    st.rerun()


def _notice(found: Validity) -> None:
    with st.expander("Text for the people who receive the release"):
        st.code(found.notice(), language=None, wrap_lines=True)
        st.caption("Factors and coverage only: no estimate, no record, no key.")
