"""The Tune page: what a method's levers and the weights cost, and what they protect."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import rwn_core as rwn
from rwn_core.parallel.kernel_cache import is_ready
from rwn_ui.features import (
    advice,
    limit_queue,
    project,
    repeated_draws,
    scenario_trial,
)
from rwn_ui.panel import panel
from rwn_ui.panel.live_sliders import live_sliders as draw_sliders
from rwn_ui.server.messages import escaped, frame, guarded
from rwn_ui.state import address
from rwn_ui.state.results import current_release, prepared
from rwn_ui.state.session import Session
from rwn_ui.state.startup import page_session, sample_note
from rwn_ui.tune import question
from rwn_ui.tune import view as tune_view
from rwn_ui.widgets import command, limits, live_sliders, options, precision, sidebar, slices
from rwn_ui.widgets.folded import folded


def keep_marks(session: Session) -> None:
    """Remember what the charts show of a setting that is kept."""
    with guarded():
        tune_view.keep_marks(session, current_release(session))


def picked(session: Session, sent: str) -> None:
    """Act on a button inside of the panel."""
    try:
        question.take(session, sent)
        advice.take(session, sent)
    except rwn.RWNError as refusal:  # the run that follows says why
        session.user.results.last["refusal"] = refusal


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


def say_of_first(session: Session, making: DeltaGenerator, share: float, what: str) -> None:
    """Say what is made before there is any picture; a new machine compiles the program first."""
    if "tune" not in session.user.results.last:
        compiles = "" if is_ready() else ". The program is compiled for this machine, once"
        words = f"{what} of {session.data.n:,} records of {escaped(session.name)}{compiles}"
        making.progress(share, text=words)


def draw() -> None:
    """Sidebar, then the panel; a refusal leaves the last good panel standing."""
    session = page_session()
    address.read(session)
    making = st.empty()
    say_of_first(session, making, 0.1, "Ranking the neighbors")
    advice.adopt(session)
    with st.sidebar:
        with guarded():
            sidebar.badge(session)
            sidebar.method(session)
        with guarded():
            advice.offer(session)
        above = st.container()
        weighing = None
        with guarded():
            weighing = sidebar.weights(session)
        with guarded():
            slices.draw(session)
        with guarded():
            scenario_trial.offer(session, partial(keep_marks, session))
        repeated_draws.follow(session, "tune")
        more = folded("More", "tune.more")
        if more is not None:
            with more, guarded():
                drawer(session)
    project.offer(session)
    sample_note(session, prepared(session))
    session.user.results.last["page"] = tune_view.page_state(session)
    picture(session, above, weighing, making)
    making.empty()


@st.fragment
def picture(
    session: Session,
    above: DeltaGenerator,
    weighing: DeltaGenerator | None,
    making: DeltaGenerator,
) -> None:
    """Draw the picture and the controls, which follow by themselves from then on."""
    place = st.container()
    last = session.user.results.last
    slot = st.container(key="searching").empty()  # over the page, which must not move
    if last["page"] != tune_view.page_state(session):
        st.rerun()  # edits that could not be posted have changed more than the picture
    refusal = last.pop("refusal", None)
    with guarded():
        if refusal is not None:
            raise refusal
    with guarded():
        with session.user.endpoint.paused():
            with guarded():
                tune_view.note_choice(session)
                say_of_first(session, making, 0.4, "Drawing the first release")
                current = current_release(session, slot)
                say_of_first(session, making, 0.7, "Reading the measures")
                last["tune"] = tune_view.payload(session, current)
            if "tune" not in last:
                return
            shown = tune_view.message(session, last["tune"])
            if refusal is not None:
                last["page"] = None  # the next picture has the page drawn without the refusal
        with place:
            panel(
                {**shown, "endpoint": tune_view.open_endpoint(session)},
                key="tune",
                on_pick=partial(picked, session),
                on_edits=partial(tune_view.take, session),
            )
        for what, part in ((live_sliders.LEVERS, above), (live_sliders.WEIGHTS, weighing)):
            if part is not None:
                with part:
                    data = {**shown["controls"][what], "seq": shown["seq"]}
                    draw_sliders(data, key=session.key(f"tune.{what}"))


frame()
with guarded():
    draw()
