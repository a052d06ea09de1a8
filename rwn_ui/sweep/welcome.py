"""The Sweep page before a sweep: its purpose, and expectations before any release."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from rwn_core.charts import serialise
from rwn_core.masking.baseline_methods import BASELINE_METHODS
from rwn_core.neighbors import LARGEST_DENSE
from rwn_core.reporting.places_on_map import axis
from rwn_core.reporting.scenario import SavedSearch
from rwn_core.tuning import Setting, Sweep
from rwn_core.tuning.forecast import expected
from rwn_core.tuning.sweep import prepared
from rwn_core.tuning.verdict import counted
from rwn_ui.panel import panel
from rwn_ui.state.results import memo, table_key
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.sweep import cards as sweep_cards
from rwn_ui.sweep import run as sweep_run
from rwn_ui.sweep.form import first_search

MEASURE = "correlation"
Forecasts = dict[str, dict[str, float]]


def draw(session: Session) -> None:
    """Purpose of a sweep, a stored sweep, and a picture of the expectation."""
    st.space("xxsmall")  # below the bar of pages
    st.markdown("#### Which setting keeps the policy at the least cost")
    search = session.search or first_search(session)
    st.markdown(
        "A sweep tries many settings, with several releases each, and draws each on a map: what "
        "an analyst loses against what an intruder gains. The frontier are the settings that no "
        "other beats on both; the chosen one goes to Tune, or to Compare as a scenario."
    )
    st.info(_begins(search), icon=":material/info:")
    _stored_sweep(session)
    if session.data.n <= LARGEST_DENSE:
        _picture(session, search)


def _begins(search: SavedSearch) -> str:
    """Summary of the sweep that the button would start."""
    grid, releases = search.grid, search.plan.releases
    asked = f"{counted(len(grid), 'setting')}, {counted(releases, 'release')} each"
    words = f"**Start sweep** tries {asked}"
    more = ["rounded in different steps"] * (len(grid.precision) > 1)
    more += ["with variables that travel together"] * (len(grid.slices) > 1)
    extras = f", some of them {' and '.join(more)}" if more else ""
    return f"{words}{extras}. Change the values at the left; a setting is drawn when it is done."


def _stored_sweep(session: Session) -> None:
    """Offer the latest sweep of this table that is on disk."""
    found = sweep_run.stored_sweep(session.data)
    if found is None:
        return
    plan, settings, finished = found
    complete = finished == len(settings)
    asked = [setting for setting in settings if setting.method not in BASELINE_METHODS]
    done = max(0, finished - (len(settings) - len(asked)))
    are = "is" if len(asked) == 1 else "are"
    st.write(
        f"A sweep of this table is kept: {done:,} of {counted(len(asked), 'setting')} {are} "
        f"finished, {counted(plan.releases, 'release')} each."
    )
    words = "Show it" if complete else "Go on with it"
    if st.button(words, type="primary", key=session.key("sweep.resume")):
        user_work().sweep = sweep_run.begin(session.data, asked, plan)
        st.rerun()


def _picture(session: Session, search: SavedSearch) -> None:
    """The loss of correlations over two levers: expected, so that no release has to be drawn."""
    settings = prepared(session.data, search.grid, references=False)
    names = sweep_cards.varied(settings)
    if len(names) < 2:
        return
    across, down = names[:2]
    held = sweep_cards.slices(settings, across, down)[0]
    forecasts = memo("sweep welcome", 4).get_or_make(
        (*table_key(session.data), *(each.key for each in settings)),
        lambda: _forecasts(session, settings),
    )
    chart = sweep_cards.draw_surface(
        settings,
        Sweep(points=(), plan=search.plan, wanted=len(settings)),
        axis(MEASURE, session.data.n, risk=False),
        (across, down, held),
        limit=None,
        forecasts=forecasts,
    )
    if not any(MEASURE in each for each in forecasts.values()):
        return
    shown = {
        "stamp": f"welcome|{session.table_version}|{settings[0].key}|{len(settings)}",
        "wide": True,
        "projector": session.projector,
        "summary": {
            "text": " · ".join([session.name, "expected before any release", *filter(None, [held])])
            + estimated(forecasts)
        },
        "cards": [serialise(chart)],
    }
    panel(shown, key="sweep.welcome")


def estimated(forecasts: Mapping[str, Mapping[str, float]]) -> str:
    """From how many releases some forecasts are estimated; empty where all are closed forms."""
    least = min((each["releases"] for each in forecasts.values() if "releases" in each), default=0)
    return f" · some forecasts estimated from {least:,.0f} simulated releases" if least else ""


def _forecasts(session: Session, settings: list[Setting]) -> Forecasts:
    found: Forecasts = {}
    for part in expected(session.data, settings):
        found.update(part)
    return found
