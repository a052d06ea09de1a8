"""The Tune page: what a method's levers and the weights cost, and what they protect."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rwn_ui.features import (
    axis_choice,
    keep_policy,
    limit_queue,
    prediction,
    project,
    repeated_draws,
)
from rwn_ui.panel import asks_for_more, panel
from rwn_ui.server.messages import frame, guarded, let_it_be_painted, let_it_be_sent
from rwn_ui.state import address
from rwn_ui.state.results import current_release, prepared, release_key, user_results
from rwn_ui.state.session import Session
from rwn_ui.state.startup import current, page_session, sample_note
from rwn_ui.state.user import user_endpoint
from rwn_ui.tune import question
from rwn_ui.tune import view as tune_view
from rwn_ui.tune.live_picture import answer_moves
from rwn_ui.widgets import download, live_sliders, options, precision, sidebar, slices


def put(name: str) -> None:
    """Pin the setting that is on screen."""
    with guarded():
        session = current()
        session.pins[name] = tune_view.pin(session, current_release(session))


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = page_session()
    address.read(session)
    with st.sidebar:
        with guarded():
            sidebar.badge(session)
            sidebar.method(session)
        above = st.container()
        weighing = None
        with guarded():
            keep_policy.offer(session)
        with guarded():
            with guarded():
                options.draw(session)
            with guarded():
                weighing = sidebar.weights(session)
            with guarded():
                slices.draw(session)
            with guarded():
                precision.draw(session, "tune")
            sidebar.pins(session, put)
            repeated_draws.offer_draws(session, "tune")
            repeated_draws.follow(session, "tune")
            axis_choice.choose(session, live=limit_queue.is_live(session))
            sidebar.extras(session)
            download.offer(session)
            project.controls(session)
        below = st.container()
    project.offer(session)
    sample_note(session, prepared(session))
    picture(session, above, weighing, below)
    with guarded():
        prediction.draw(session)


@st.fragment
def picture(
    session: Session,
    above: DeltaGenerator,
    weighing: DeltaGenerator | None,
    below: DeltaGenerator,
) -> None:
    """Draw the part that a slider changes; the rest costs time on each run."""
    user_endpoint().close()
    slot, last, dragging = st.empty(), user_results().last, False
    with guarded():
        rests = release_key(session) if asks_for_more("tune") else None
        dragging = live_sliders.apply_moves(session, "tune")
        # the picture of what was moved meanwhile goes first
        if rests is not None and rests == release_key(session):
            limit_queue.follow(session)
    with guarded():
        last["tune"] = tune_view.payload(session, current_release(session, slot))
    # the panel goes to the browser first; the widgets follow while it is drawn
    if "tune" in last:
        panel(last["tune"], key="tune", on_pick=partial(question.take, session))
        if not dragging:  # under the mouse pictures are to follow each other as fast as they can
            let_it_be_painted()
    with guarded():
        with above:
            live_sliders.show_levers(session, "tune", user_endpoint().token)
        if weighing is not None:
            with weighing:
                live_sliders.show_weights(session, "tune", user_endpoint().token)
        with below:
            sidebar.history(session, dragging=dragging)
        answer_moves(session)


frame()
with guarded():
    draw()
    let_it_be_sent()
