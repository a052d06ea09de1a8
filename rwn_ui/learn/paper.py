"""Draws the page of the paper: the choice of a figure, its caption, and its curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from rwn_core.charts import Chart, serialise
from rwn_core.evaluation.figure_curves import FigureCurves, Over
from rwn_core.evaluation.paper_figures import CURVES, PAPER_FIGURES
from rwn_ui.background.progress import wait_for
from rwn_ui.learn import figures
from rwn_ui.learn.figures import Asked
from rwn_ui.panel import panel
from rwn_ui.panel.parts import radius_note, stamp
from rwn_ui.server.messages import escaped
from rwn_ui.state import address
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session
from rwn_ui.state.startup import sample_note
from rwn_ui.state.work import user_work
from rwn_ui.widgets import sidebar, sliders

BOXES = 8  # the figure of box plots
_LINK, _CHOSEN = "paper.link", "paper.figure"
_INTRODUCTION = (
    "Figures 1 to 9 of Perry, Matloff and Tendick (2022), by the numbers of their captions, drawn "
    "anew for your table and method. `rwn replay rwn2022-figure-4` repeats one on the paper’s own "
    "table."
)


def choose(session: Session) -> int:
    """Let the reader choose a figure by its number; only this one is computed."""
    if _LINK not in st.session_state:  # once, so that a link is not taken twice
        st.session_state[_LINK] = True
        take_link(session, st.query_params.to_dict())
    if _CHOSEN not in st.session_state:
        st.session_state[_CHOSEN] = session.figure
    session.figure = st.radio("Figure of the paper", PAPER_FIGURES, key=_CHOSEN, format_func=_title)
    return session.figure


def _title(number: int) -> str:
    return f"Figure {number} · {PAPER_FIGURES[number].title}"


def take_link(session: Session, asked: Mapping[str, str]) -> None:
    """Begin with the figure and the lever of an address."""
    known = {str(number): number for number in PAPER_FIGURES}
    if asked.get("figure", "1") in known:
        session.figure = known.get(asked.get("figure", ""), session.figure)
    else:
        st.toast(f"figure of the link must be a number from 1 to {len(known)}.")
    if asked.get("over") in session.levers:
        session.curve_axis = asked["over"]


def controls(session: Session, number: int) -> Asked:
    """The method, the lever of the curves with its range, and the other levers."""
    sidebar.badge(session)
    sidebar.method(session)
    titles = {lever.name: lever.title.partition(" (")[0] for lever in session.params.levers}
    key = session.key(f"paper.{session.method}")
    if len(titles) > 1:
        session.curve_axis = st.selectbox(
            "Curves over",
            list(titles),
            list(titles).index(session.curve_axis),
            format_func=titles.__getitem__,
            key=f"{key}.axis",
        )
    wanted = figures.asked(session, number, _range(session, key))
    sliders.draw(session, "paper", but=session.curve_axis)
    return wanted


def _range(session: Session, key: str) -> Over:
    ends = figures.axis_ends(session)
    usual = figures.usual_end(session, ends)
    if ends.low == ends.high:
        return figures.over(session, ends, ends.low, ends.high)
    low, high = st.slider(
        f"Range of {figures.axis_lever(session).short}",
        ends.low,
        ends.high,
        (ends.low, usual),
        step=ends.step,
        key=f"{key}.{session.curve_axis}.{ends.high}.range",
        help="Up to seven even positions in this range.",
    )
    return figures.over(session, ends, low, high)


def draw(session: Session, wanted: Asked) -> bool:
    """Caption and picture, with the work under way or how to begin it; True if more follows."""
    figure, lever = PAPER_FIGURES[wanted.number], figures.axis_lever(session)
    curved = wanted.number in CURVES
    st.subheader(f"{_title(wanted.number)}{f' over {lever.words}' * curved}")
    st.markdown(figure.sees)
    sample_note(session, prepared(session))
    if not curved:
        charts = figures.setting_charts(session, wanted)
        what = "exact, without any draw" if wanted.number == 1 else f"one release, {_seed(session)}"
        _show(session, wanted, charts, what)
        return False
    curves = figures.many(wanted) or figures.live(session, wanted)
    for position, reason in curves.left_out:
        st.caption(escaped(f"No value at {lever.short} = {position:g}: {reason}"))
    job = user_work().jobs.get(figures.JOB)
    if job is None:
        _curves(session, wanted, curves)
        _offer(session, wanted)
        return figures.is_pending(wanted, curves)
    if job.running:
        own = job.about == wanted.key
        wait_for(
            job,
            "paper.cancel",
            lambda: _curves(session, wanted, (job.so_far if own else None) or curves),
        )
    else:
        figures.take(job)
        if job.refusal:
            st.toast(escaped(f"{job.label}: {job.refusal}"))
        st.rerun()
    return False


def _seed(session: Session) -> str:
    return f"seed {session.seed}"


def _curves(session: Session, wanted: Asked, curves: FigureCurves) -> None:
    count, charts = curves.releases, figures.curve_charts(wanted.number, curves)
    drawn = f"{count:,} release{'s' * (count > 1)} at each position, from {_seed(session)}"
    if len(curves.values) > 1 and wanted.number != BOXES:  # no room for a note in their cards
        drawn += ". Solid: unperturbed; dashed: mean"
        drawn += "" if curves.band(next(iter(curves.values))) is None else "; pale: 9 of 10 draws"
        charts = [chart | {"note": ""} for chart in charts]
    _show(session, wanted, charts, drawn)


def _show(session: Session, wanted: Asked, charts: list[Chart], drawn: str) -> None:
    lever, at = figures.axis_lever(session), wanted.over.at
    others = [
        f"{each.short} = {session.levers[each.name]:g}"
        for each in session.params.levers
        if each.name != lever.name
    ]
    span = f"{lever.short} from {at[0]:g} to {at[-1]:g}"
    words = " · ".join([session.name, str(session.params.title), span, *others, drawn])
    st.caption(escaped(f"{words}. {radius_note(session.levers)}"))
    shown: dict[str, Any] = {
        "projector": session.projector,
        "tall": len(charts) == 1,
        "wide": len(charts) > 1,
        "cards": [serialise(chart) for chart in charts],
    }
    panel({"stamp": stamp(f"figure {wanted.number} {words}", shown), **shown}, key="paper")


def _offer(session: Session, wanted: Asked) -> None:
    """Offer a number of releases, and a button that draws them in the background."""
    count, press = st.columns([1, 2], vertical_alignment="bottom")
    releases = count.number_input(
        "Releases at each position",
        figures.LIVE,
        figures.MOST,
        figures.MANY,
        key="paper.releases",
        help=f"Curves show {figures.LIVE} releases, or as many as one second draws. More of them "
        "steady the band.",
    )
    if press.button("Draw them", key="paper.draw", disabled=user_work().busy):
        figures.begin(session, wanted, int(releases))
        st.rerun()


def introduce() -> None:
    """Say what the page shows."""
    st.caption(_INTRODUCTION)


def keep_address(session: Session, wanted: Asked) -> None:
    """Write the figure and its lever into the address."""
    strongest = wanted.over.lever == session.params.strength
    more = {} if strongest else {"over": wanted.over.lever}
    address.write(session, figure=str(wanted.number), **more)
