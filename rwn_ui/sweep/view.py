"""The Sweep page's main area: progress, the map and the surface, a choice, goal seek."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.charts import serialise
from rwn_core.masking import SHORT_NAMES
from rwn_core.masking.baseline_methods import BASELINE_METHODS
from rwn_core.measures.statistics.intervals import range_words
from rwn_core.reporting.places_on_map import POLICY, axis, title
from rwn_core.tuning import Setting, Sweep, SweepRun
from rwn_core.tuning.forecast import EXPECTED
from rwn_ui.background.progress import bar, polled
from rwn_ui.panel import panel
from rwn_ui.server.messages import guarded
from rwn_ui.state.results import full_release
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.sweep import cards as sweep_cards
from rwn_ui.sweep import goal_seek as goal_seek_view
from rwn_ui.sweep import pick as sweep_pick
from rwn_ui.sweep import run as sweep_run
from rwn_ui.sweep import welcome
from rwn_ui.widgets import limits


def draw(session: Session) -> None:
    """All of it; while the sweep runs, this part of the page draws itself again and again."""
    run = user_work().sweep
    if run is None:
        welcome.draw(session)
        goal_seek_view.draw_slices(session)
        return

    running = run.running

    def area() -> None:
        if running and not run.running:
            st.rerun()  # the page around this part learns that the work has ended
        with guarded():  # it is drawn without the page, too
            _progress(session, run)
            _pictures(session, run)

    polled(area, again=running)
    sweep_pick.draw(session, run)
    sweep_pick.draw_table(session, run)
    goal_seek_view.draw(session, run)
    goal_seek_view.draw_slices(session)


def _progress(session: Session, run: SweepRun) -> None:
    if run.running or run.refusal:
        st.space("xxsmall")  # below the bar of pages
    if run.running:
        bar(run, session.key("sweep.cancel"), wide=True)
    elif run.refusal:
        words, again = st.columns([6, 1], vertical_alignment="bottom")
        words.info(run.refusal, icon=":material/info:")
        if again.button("Go on", key=session.key("sweep.again"), width="stretch"):
            remaining = [s for s in run.settings if s.method not in BASELINE_METHODS]
            user_work().sweep = sweep_run.begin(session.data, remaining, run.plan)
            st.rerun()


def _pictures(session: Session, run: SweepRun) -> None:
    slot = st.empty()
    sweep, measures = run.sweep(), run.plan.measures
    asked = [s for s in run.settings if s.method not in BASELINE_METHODS]
    names = sweep_cards.varied(asked)
    x, y, limit, along = _axes(session, measures, names)
    _rerun_page(session, (x, y, session.policy, sweep_pick.picked(session)))
    if session.setting.key not in {point.setting.key for point in sweep}:
        full_release(session, slot)  # the map shows it
    cards = []
    if any(point.setting.method not in BASELINE_METHODS for point in sweep):
        cards.append(sweep_cards.draw_map(session, sweep, x, y, limit=limit, along=along))
    elif run.running:
        st.caption("The map appears with the first setting that has been read.")
    forecasts = run.forecasts()
    if len(names) > 1:
        where, measure = _surface(session, asked, sweep, names, x)
        cards.append(
            sweep_cards.draw_surface(
                asked,
                sweep,
                axis(measure, session.data.n, risk=False),
                where,
                limit=_limit(session, measure),
                forecasts=forecasts,
            )
        )
    chosen = (x, y, session.policy, along, session.table_version, sweep_pick.picked(session))
    payload = {
        "stamp": f"{len(sweep)}|{len(forecasts)}|{chosen}",
        "wide": True,
        "projector": session.projector,
        "summary": {
            "text": _summary(session, sweep, forecasts),
            "help": f"The line through a point is the {range_words(sweep.plan.releases)}.",
        },
        "cards": [serialise(card) for card in cards],
    }
    panel(payload, key="sweep", on_pick=lambda key: sweep_pick.pick(session, key))


def _rerun_page(session: Session, chosen: tuple[Any, ...]) -> None:
    """Draw the whole page anew when the axes or the chosen setting changed: the rest says them."""
    key = session.key("sweep.axes")
    before = st.session_state.get(key)
    st.session_state[key] = chosen
    if before not in (None, chosen):
        st.rerun()


def _summary(session: Session, sweep: Sweep, forecasts: Mapping[str, Mapping[str, float]]) -> str:
    least = min((each["records"] for each in forecasts.values()), default=session.data.n)
    sampled = f" · forecasts from {least:,.0f} records or more" if least < session.data.n else ""
    sampled += welcome.estimated(forecasts)
    return (
        f"{session.name} · {sweep.plan.releases} releases a setting{sampled} · now {session.words}"
    )


def _axes(
    session: Session, measures: tuple[str, ...], names: list[str]
) -> tuple[str, str, float | None, str | None]:
    """Which measures the map shows, the limit on the risk, and the slices to connect."""
    sides = {
        side: [m for m in measures if rwn.MEASURES[m].side == side] for side in ("utility", "risk")
    }
    first = {"x": (sides["utility"] or list(measures))[0], "y": POLICY}
    across, up, line, join = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    called = partial(title, records=session.data.n)

    def choose(column: Any, label: str, what: str, keys: tuple[str, ...]) -> str:
        key = session.key(f"sweep.{what}")
        if st.session_state.get(key) not in keys:
            st.session_state[key] = session.views.get(what) or first[what]
            if st.session_state[key] not in keys:
                st.session_state[key] = first[what]
        chosen: str = column.selectbox(label, keys, key=key, format_func=called)
        session.views[what] = chosen
        return chosen

    x = choose(across, "Across: utility", "x", measures)
    y = choose(up, "Up: risk", "y", (POLICY, *measures))
    with line.popover("Limits", width="stretch", help="The policy, by which all pages judge."):
        limits.edit(session, "sweep")
    options = [None, *names]
    key = session.key("sweep.along")
    if st.session_state.get(key) not in options:
        st.session_state.pop(key, None)
    along = join.selectbox(
        "Connect",
        options,
        key=key,
        format_func=lambda n: "nothing" if n is None else f"along {SHORT_NAMES.get(n, n)}",
        help="Lines through settings that differ in this parameter alone.",
    )
    return x, y, _limit(session, y), along


def _limit(session: Session, key: str) -> float | None:
    """Position of the policy's line on an axis, if it has one."""
    limit = session.policy.limit(key)
    return 1.0 if key == POLICY else None if limit is None else limit.at_most


def _surface(
    session: Session, asked: list[Setting], sweep: Sweep, names: list[str], first: str
) -> tuple[tuple[str, str, str], str]:
    """Which measure the heat map shows, over which parameters, where the others are held."""
    color, over, by, at = st.columns([3, 2, 2, 3])
    sign, measures = SHORT_NAMES.get, sweep.plan.measures
    more = [key for key in EXPECTED if key not in measures]
    measure = color.selectbox(
        "Heat map of",
        [*measures, *more],
        measures.index(first),
        key=session.key(f"sweep.heat.{len(measures)}"),
        format_func=lambda m: f"{title(m, session.data.n)}{' (forecast)' if m in more else ''}",
        help="~ marks a forecast: a closed form (of rank swapping with a wide range, an estimate), "
        "before any release is drawn. One release adds "
        "its own noise to it.",
    )
    across = over.selectbox(
        "over", names, 0, key=session.key(f"sweep.across.{names}"), format_func=lambda n: sign(n, n)
    )
    others = [name for name in names if name != across]
    down = by.selectbox(
        "and", others, 0, key=session.key(f"sweep.down.{others}"), format_func=lambda n: sign(n, n)
    )
    slices = sweep_cards.slices(asked, across, down)
    if len(slices) < 2:
        return (across, down, "".join(slices)), measure
    key = session.key(f"sweep.at.{across}.{down}.{len(slices)}")
    if key not in st.session_state:  # a map that fills from the start, and not at the very end
        st.session_state[key] = sweep_cards.fullest(slices, sweep, across, down)
    held = at.selectbox("at", slices, key=key)
    return (across, down, held), measure
