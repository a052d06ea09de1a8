"""The Tune page: what a method's levers and the weights cost, and what they protect."""

from contextlib import suppress
from functools import partial

import streamlit as st

from rwn_ui.features import (
    advice,
    limit_queue,
    project,
    repeated_draws,
    scenario_trial,
)
from rwn_ui.server.messages import frame, guarded
from rwn_ui.state import address
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.startup import page_session, sample_note
from rwn_ui.tune import view as tune_view
from rwn_ui.tune.picture import PageOfTune, picture, say_of_first
from rwn_ui.widgets import command, limits, options, precision, sidebar, slices
from rwn_ui.widgets.folded import folded


def keep_marks(session: Session) -> None:
    """Remember what the charts show of a setting that is kept."""
    with guarded():
        tune_view.keep_marks(session, current_release(session))


def drawer(session: Session) -> None:
    """Every control that a first setting does without."""
    with guarded():
        options.draw(session)
    with guarded():
        precision.draw(session, "tune")
    repeated_draws.offer_draws(session, "tune")
    view = folded("View", "tune.view")
    if view is not None:
        with view:
            limit_queue.choose_axis(session)
            sidebar.shown(session)
    policy = folded("Policy: limits on risk", session.key("tune.policy"))
    if policy is not None:
        with policy:
            limits.edit(session, "tune")
    with guarded():
        command.offer(session, "tune")


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = page_session()
    with guarded():
        address.read(session)
    making = st.empty()
    with guarded():
        say_of_first(session, making, 0.1, "Ranking the neighbors")
        advice.adopt(session)
    with st.sidebar:
        with guarded():
            sidebar.badge(session)
            sidebar.method(session)
        with guarded():
            advice.offer(session)
        levers = st.container()
        weights = None
        with guarded():
            weights = sidebar.weights(session)
        with guarded():
            slices.draw(session)
        with guarded():
            scenario_trial.offer(session, partial(keep_marks, session))
        with guarded():
            repeated_draws.follow(session, "tune")
        more = folded("More", "tune.more")
        if more is not None:
            with more, guarded():
                drawer(session)
    with guarded():
        project.offer(session)
    with suppress(Exception):  # the picture says why there is no table
        sample_note(session, prepared(session))
    choices = tune_view.page_state(session)
    picture(session, PageOfTune(choices=choices, levers=levers, weights=weights, making=making))
    making.empty()


frame()
with guarded():
    draw()
