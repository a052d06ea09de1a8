"""The page of the paper: the choice of a figure, its caption, and its curves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, serialise
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.evaluation.figure_curves import (
    CURVES,
    EPSILONS,
    FINE,
    OVER_EPSILON,
    PAPER_FIGURES,
    FigureCurves,
    Over,
    correlation_reading,
    even_positions,
    figure_curves,
    figure_pictures,
    neighborhood_reading,
)
from rwn_core.masking import Lever, LeverRange, Method, Prepared, lever_values
from rwn_core.masking.lever import at_levers
from rwn_core.measures.utility.relations import CORRELATION
from rwn_core.parallel.processes import Report
from rwn_ui.background.job import Job
from rwn_ui.background.progress import wait_for
from rwn_ui.panel.parts import radius_note, stamp
from rwn_ui.panel.tab import show_address
from rwn_ui.server.messages import escaped
from rwn_ui.state import address
from rwn_ui.state.kept_picture import show_picture
from rwn_ui.state.results import Key, memo, prepared, table_key
from rwn_ui.state.session import Session
from rwn_ui.state.startup import sample_note
from rwn_ui.state.work import User
from rwn_ui.widgets import sidebar, sliders

BOXES = 8  # the figure of box plots
TRIED = 50  # positions of a lever, until releases are quick
TABLE = "bodyfat"  # of the paper
PAPERS, YOURS = "paper", "yours"
_LINK, _CHOSEN = "paper.link", "paper.figure"
_WHOSE, _OVER = "paper.whose", "paper.over"
_VERSION = -1  # of the paper's table: its widgets are others than those of the user's
_OF_PAPER = {"figure", "over", "projector"}
INTRODUCTION = (
    "Figures 1 to 9 of Perry, Matloff and Tendick (2022), by the numbers of their captions, drawn "
    "anew: for the paper’s table and method, or for yours."
)


def choose(session: Session) -> int:
    """Let the reader choose a figure by its number; only this one is computed."""
    if _LINK not in st.session_state:  # once, so that a link is not taken twice
        asked = st.query_params.to_dict()
        # a link to a table or a setting shows these; every other way here begins as in the paper
        st.session_state[_LINK] = True
        if asked.keys() - _OF_PAPER:
            st.session_state[_WHOSE] = YOURS
        take_link(session, asked)
        st.session_state[_OVER] = asked.get("over", "")
    if _CHOSEN not in st.session_state:
        st.session_state[_CHOSEN] = session.figure
    session.figure = st.radio("Figure of the paper", PAPER_FIGURES, key=_CHOSEN, format_func=_title)
    return session.figure


def chosen_table(session: Session) -> Session:
    """Let the reader choose the paper's table and method, or their own; the paper's at first."""
    titles = {
        PAPERS: f"As in the paper: {TABLE}, RWN over ε",
        YOURS: f"Yours: {session.name}, {session.params.title}",
    }
    whose = st.radio("Table and method", list(titles), key=_WHOSE, format_func=titles.__getitem__)
    if whose == YOURS:
        return session
    own = memo(session, "table of the paper", 1).get_or_make("paper", partial(_paper, session.user))
    own.projector = session.projector
    over = st.session_state.pop(_OVER, "")
    if over in own.levers:
        own.curve_axis = over
    return own


def _paper(user: User) -> Session:
    """The paper's table at its k and q, over epsilon: choices of their own, whatever Tune has."""
    made = Session(
        name=TABLE, demo=TABLE, data=rwn.load_demo(TABLE), user=user, table_version=_VERSION
    )
    made.begin(prepared(made).prepared)
    return made


def _title(number: int) -> str:
    return f"Figure {number} · {PAPER_FIGURES[number].title}"


def take_link(session: Session, asked: Mapping[str, str]) -> None:
    """Choose the figure and the lever of an address."""
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
    key = session.key(f"paper.{session.method}")
    if len(session.levers) > 1:
        titles = {lever.name: lever.title.partition(" (")[0] for lever in session.params.levers}
        session.curve_axis = st.selectbox(
            "Curves over",
            list(titles),
            list(titles).index(session.curve_axis),
            format_func=titles.__getitem__,
            key=f"{key}.axis",
        )
    fine = number in CURVES and number != BOXES
    over = _range(session, key, FINE if fine else len(EPSILONS))
    fixed = at_levers(
        session.params, {over.lever: over.at[0]}
    )  # the lever's slider has no part in it
    about = (*table_key(session.data), fixed, session.precision, session.seed, number, over)
    sliders.draw(session, "paper", but=session.curve_axis)
    return Asked(number=number, over=over, key=about)


def _range(session: Session, key: str, count: int) -> Over:
    ends = axis_ends(session)
    axis = session.curve_axis
    if ends.low == ends.high:
        return Over(axis, even_positions(ends, ends.low, ends.high, count))
    # at first the curves of epsilon end where those of the paper do
    last = OVER_EPSILON.at[-1] if axis == OVER_EPSILON.lever else ends.high
    low, high = st.slider(
        f"Range of {axis_lever(session).short}",
        ends.low,
        ends.high,
        (ends.low, type(ends.high)(ends.clip(last))),
        step=ends.step,
        key=f"{key}.{axis}.{ends.high}.range",
        help=f"Up to {count} even positions in this range.",
    )
    return Over(axis, even_positions(ends, low, high, count))


def draw(session: Session, wanted: Asked) -> bool:
    """True if more follows; draws caption and picture, with the work or how to begin it."""
    figure = PAPER_FIGURES[wanted.number]
    lever = axis_lever(session)
    more = {} if lever.name == session.params.strength else {"over": lever.name}
    if session.table_version == _VERSION:  # a reload finds the paper's once more
        show_address({"figure": str(wanted.number), **more})
    else:
        address.write(session, figure=str(wanted.number), **more)
    curved = wanted.number in CURVES
    st.subheader(f"{_title(wanted.number)}{f' over {lever.words}' * curved}")
    st.markdown(figure.sees)
    st.markdown(f"**In the paper**, as independent programs recompute it: {figure.paper}")
    sample_note(session, prepared(session))
    if not curved:
        charts = setting_charts(session, wanted)
        what = (
            "exact, without any draw" if wanted.number == 1 else f"one release, seed {session.seed}"
        )
        _show(session, wanted, charts, what)
        return False
    many: FigureCurves | None = memo(session, "figures of many", _STORED).get(wanted.key)
    kept = memo(session, "figures", _STORED)
    curves: FigureCurves = many or kept.get_or_make(
        wanted.key, lambda: _drawn(session, wanted, LIVE_SECONDS)
    )
    for position, reason in curves.left_out:
        st.caption(escaped(f"No value at {lever.short} = {position:g}: {reason}"))
    job = session.user.work.jobs.get(JOB)
    if job is None:
        _curves(session, wanted, curves)
        _offer(session, wanted)
        return curves.releases < LIVE and ("complete", wanted.key) not in kept
    if job.running:
        own = job.about == wanted.key
        wait_for(
            job,
            "paper.cancel",
            lambda: _curves(session, wanted, (job.so_far if own else None) or curves),
        )
    else:
        del session.user.work.jobs[JOB]
        found: FigureCurves | None = job.so_far if job.refusal else job.result
        if found is not None:
            memo(session, "figures of many", _STORED).keep(job.about, found)
        if job.refusal:
            st.toast(escaped(f"{job.label}: {job.refusal}"))
        st.rerun()
    return False


def _curves(session: Session, wanted: Asked, curves: FigureCurves) -> None:
    count = curves.releases
    charts = [CHARTS[key](each) for key, each in figure_pictures(wanted.number, curves)]
    releases = "1 release" if count == 1 else f"{count:,} releases"
    drawn = f"{releases} at each position, from seed {session.seed}"
    if len(curves.values) > 1 and wanted.number != BOXES:  # no room for a note in their cards
        drawn += ". Solid: unperturbed; dashed: mean"
        drawn += "" if curves.band(next(iter(curves.values))) is None else "; pale: 9 of 10 draws"
        charts = [chart | {"note": ""} for chart in charts]
    _show(session, wanted, charts, drawn)


def _show(session: Session, wanted: Asked, charts: list[Chart], drawn: str) -> None:
    lever = axis_lever(session)
    at = wanted.over.at
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
    stamped = {"stamp": stamp(f"figure {wanted.number} {words}", shown), **shown}
    show_picture(session, stamped, key="paper", about=wanted.number)


def _offer(session: Session, wanted: Asked) -> None:
    """Offer a number of releases, and a button that draws them in the background."""
    count, press = st.columns([1, 2], vertical_alignment="bottom")
    releases = count.number_input(
        "Releases at each position",
        LIVE,
        MOST,
        MANY,
        key="paper.releases",
        help=f"Curves show {LIVE} releases, or as many as one second draws. More of them "
        "steady the band.",
    )
    if press.button("Draw them", key="paper.draw", disabled=session.user.work.busy):
        words = f"Figure {wanted.number} of {releases:,} releases"
        session.user.work.jobs[JOB] = Job(
            words,
            draw_many,
            words=words,
            about=wanted.key,
            microdata=session.data,
            params=session.masking,
            number=wanted.number,
            over=wanted.over,
            releases=int(releases),
            seed=session.seed,
        )
        st.rerun()


JOB = "figure"
LIVE, LIVE_SECONDS = 20, 0.5  # releases at each position while sliders move, and their time
REST_SECONDS = 10.0  # for those that the first picture has no time for
MANY, MOST = 200, 2000
_STORED = 12  # figures of one user


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A figure over a lever, for the setting on screen."""

    number: int
    over: Over
    key: Key


def axis_lever(session: Session) -> Lever:
    """Return the lever along the horizontal axis."""
    found: Lever = next(x for x in session.params.levers if x.name == session.curve_axis)
    return found


def axis_ends(session: Session) -> LeverRange:
    """Return the lever's range, as far as no neighbor has to be searched for."""
    table = prepared(session).prepared
    axis = session.curve_axis
    ends = table.ranges[axis]
    now = table.with_levers(**lever_values(session.params))
    tried = np.linspace(ends.high, ends.low, TRIED)
    quick = next((end for end in tried if now.with_levers(**{axis: end}).is_quick), ends.low)
    high = ends.low + math.floor((quick - ends.low) / ends.step) * ends.step
    return replace(ends, high=min(type(ends.high)(round(high, 10)), ends.high))


def _start(session: Session) -> Prepared:
    start = prepared(session).prepared.with_levers(**lever_values(session.params))
    return replace(start, precision=session.precision)


def complete(session: Session, wanted: Asked) -> None:
    """Draw the releases that are missing, as far as they take some seconds only."""
    curves = _drawn(session, wanted, REST_SECONDS)
    memo(session, "figures", _STORED).keep(wanted.key, curves)
    memo(session, "figures", _STORED).keep(("complete", wanted.key), True)


def _drawn(session: Session, wanted: Asked, seconds: float) -> FigureCurves:
    end = time.monotonic() + seconds
    start = _start(session)

    def enough(curves: FigureCurves) -> bool:
        _ = st.session_state.get(_LINK)  # a newer choice of the user ends the run here
        return time.monotonic() > end

    more: dict[str, Any] = {"over": wanted.over, "seed": session.seed, "after": enough}
    return figure_curves(wanted.number, start, releases=LIVE, **more)


def draw_many(
    microdata: rwn.Microdata,
    params: Method,
    *,
    number: int,
    releases: int,
    progress: Report | Callable[[float], None],
    **more: Any,
) -> FigureCurves:
    """Return the curves, of the records that a page shows; run in the process."""
    found = getattr(progress, "found", lambda _: None)

    def after(curves: FigureCurves) -> None:
        found(curves)
        progress(curves.releases / releases)

    start = params.preview(microdata, most=LIVE_RECORDS)
    return figure_curves(number, start, releases=releases, after=after, **more)


def setting_charts(session: Session, wanted: Asked) -> list[Chart]:
    """Return the charts of figures 1 to 3, each at a position of the lever."""
    start = _start(session)
    at = wanted.over.at
    if wanted.number == 1:
        shown = at[1:5] or at
    else:
        shown = at[2:3] or at[:1] if wanted.number == 2 else at[-1:]
    charts = []
    for position in shown:
        setting = start.with_levers(**{wanted.over[0]: position})
        if wanted.number == 1:
            chart = CHARTS["neighborhood_size"](neighborhood_reading(setting))
        else:
            key = rwn.SecretKey.from_seed(session.seed)
            chart = CHARTS[CORRELATION.key](correlation_reading(setting, key))
        short = axis_lever(session).short
        charts.append(chart | {"title": f"{chart['title']}, {short} = {position:g}"})
    return charts
