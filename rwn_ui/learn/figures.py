"""Computes a figure of the paper: at once from some releases, or from many in a process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart
from rwn_core.data.sizes import LIVE_RECORDS
from rwn_core.evaluation.figure_curves import (
    OVER_EPSILON,
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
from rwn_core.parallel.processes import Report
from rwn_core.randomness import SecretKey
from rwn_ui.background.job import Job
from rwn_ui.state.results import Key, memo, prepared, table_key, user_results
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

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


def asked(session: Session, number: int, over: Over) -> Asked:
    """Return what is asked for; the lever's own slider has no part in it."""
    fixed = at_levers(session.params, {over.lever: over.at[0]})
    key = (*table_key(session.data), fixed, session.precision, session.seed, number, over)
    return Asked(number=number, over=over, key=key)


def axis_lever(session: Session) -> Lever:
    """Return the lever along the horizontal axis."""
    found: Lever = next(x for x in session.params.levers if x.name == session.curve_axis)
    return found


def axis_ends(session: Session) -> LeverRange:
    """Return the lever's range, as far as no neighbor has to be searched for."""
    table = prepared(session)
    ends = table.prepared.ranges[session.curve_axis]
    steps = math.floor((table.quick_end(session.params, session.curve_axis) - ends.low) / ends.step)
    high = ends.low + steps * ends.step
    return replace(ends, high=min(type(ends.high)(round(high, 10)), ends.high))


def usual_end(session: Session, ends: LeverRange) -> float:
    """Return where the curves end at first: of epsilon where those of the paper do."""
    last = OVER_EPSILON.at[-1] if session.curve_axis == OVER_EPSILON.lever else ends.high
    return type(ends.high)(ends.clip(last))


def over(session: Session, ends: LeverRange, low: float, high: float) -> Over:
    """Return the lever at even positions."""
    return Over(session.curve_axis, even_positions(ends, low, high))


def _start(session: Session) -> Prepared:
    start = prepared(session).prepared.with_levers(**lever_values(session.params))
    return replace(start, precision=session.precision)


def live(session: Session, wanted: Asked) -> FigureCurves:
    """Return the curves of so many releases as are drawn in a moment."""
    found: FigureCurves = memo("figures", _STORED).get_or_make(
        wanted.key, lambda: _drawn(session, wanted, LIVE_SECONDS)
    )
    return found


def is_pending(wanted: Asked, curves: FigureCurves) -> bool:
    """Return True while `complete` can add releases."""
    return curves.releases < LIVE and ("complete", wanted.key) not in memo("figures", _STORED)


def complete(session: Session, wanted: Asked) -> None:
    """Draw the releases that are missing, as far as they take some seconds only."""
    curves = _drawn(session, wanted, REST_SECONDS)
    memo("figures", _STORED).keep(wanted.key, curves)
    memo("figures", _STORED).keep(("complete", wanted.key), True)


def _drawn(session: Session, wanted: Asked, seconds: float) -> FigureCurves:
    end, start = time.monotonic() + seconds, _start(session)

    def enough(_: FigureCurves) -> bool:
        user_results()  # a newer choice of the user ends the run here
        return time.monotonic() > end

    more: dict[str, Any] = {"over": wanted.over, "seed": session.seed, "after": enough}
    return figure_curves(wanted.number, start, releases=LIVE, **more)


def many(wanted: Asked) -> FigureCurves | None:
    """Return the curves of many releases, where the user has asked for them."""
    found: FigureCurves | None = memo("figures of many", _STORED).get(wanted.key)
    return found


def begin(session: Session, wanted: Asked, releases: int) -> None:
    """Draw many releases in the background."""
    if user_work().busy:
        return
    words = f"Figure {wanted.number} of {releases:,} releases"
    user_work().jobs[JOB] = Job(
        words,
        draw_many,
        words=words,
        about=wanted.key,
        microdata=session.data,
        params=session.masking,
        number=wanted.number,
        over=wanted.over,
        releases=releases,
        seed=session.seed,
    )


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


def take(job: Job) -> None:
    """Store what a job has found, all of it or what there was when it was cancelled."""
    del user_work().jobs[JOB]
    found = job.so_far if job.refusal else job.result
    if found is not None:
        memo("figures of many", _STORED).keep(job.about, found)


def curve_charts(number: int, curves: FigureCurves) -> list[Chart]:
    """Return the charts of a figure with curves."""
    return [CHARTS[key](each) for key, each in figure_pictures(number, curves)]


def setting_charts(session: Session, wanted: Asked) -> list[Chart]:
    """Return the charts of figures 1 to 3, each at a position of the lever.

    Raises
    ------
    NotApplicable
    """
    start, at = _start(session), wanted.over.at
    if wanted.number == 1:
        shown = at[1:5] or at
    else:
        shown = at[2:3] or at[:1] if wanted.number == 2 else at[-1:]
    charts = []
    for position in shown:
        setting = start.with_levers(**{wanted.over.lever: position})
        if wanted.number == 1:
            chart = CHARTS["neighborhood_size"](neighborhood_reading(setting))
        else:
            key = SecretKey.from_seed(session.seed)
            chart = CHARTS["correlation"](correlation_reading(setting, key))
        short = axis_lever(session).short
        charts.append(chart | {"title": f"{chart['title']}, {short} = {position:g}"})
    return charts
