"""Draws the Utility page: its choices, its picture of a release, and its long work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.evaluation.registered_analysis import AnalysisResult
from rwn_core.measures import measures_of, tiles_of
from rwn_core.measures.statistics.association import is_mixed
from rwn_core.measures.view import Tile
from rwn_ui.features import analysis_plan_results, repeated_draws, unchanged_categories
from rwn_ui.panel.parts import draw_tile, radius_note, stamp
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.utility.results import PENDING, UtilityReadings
from rwn_ui.utility.tables import tables


def controls(session: Session) -> None:
    """Which variables the pictures show."""
    names = [variable.name for variable in session.data.schema.released]
    more: dict[str, Any] = {"format_func": session.data.schema.called}
    session.variable = st.selectbox(
        "Variable", names, names.index(session.variable), key=session.key("utility.one"), **more
    )
    others = [name for name in names if name != session.variable]
    if others:
        session.second_variable = st.selectbox(
            "… with",
            others,
            others.index(session.pair[1]),
            key=session.key(f"utility.other.{session.variable}"),
            help="The two-way picture shows both variables together.",
            **more,
        )


def payload(
    session: Session, utility: UtilityReadings, verdicts: Sequence[AnalysisResult]
) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    drawn, validity = repeated_draws.drawn(session), repeated_draws.validity(session)
    shown = {
        "projector": session.projector,
        "table": session.name,
        "summary": {
            "text": f"{session.words} · seed {session.seed}{repeated_draws.words(drawn)}",
            "help": radius_note(session.levers),
        },
        "changed": unchanged_categories.strip(
            session, utility.readings["cells_changed"], utility.comparison.law
        ),
        "tiles": [
            *(_tile(each, utility, drawn) for each in tiles_of("utility").items()),
            *(
                [analysis_plan_results.tile(verdicts)]
                if verdicts
                else [_tile(each, utility, drawn) for each in tiles_of("clusters").items()]
            ),
        ],
        "cards": [serialise(chart) for chart in cards(session, utility, drawn)],
        "tables": tables(utility, verdicts, drawn, validity, repeated_draws.standings(session)),
    }
    return {"stamp": stamp(session.words, shown), **shown}


# ---------------------------------------------------------------- tiles


def _tile(
    shown: tuple[str, Tile], utility: UtilityReadings, drawn: rwn.Ensemble | None
) -> dict[str, Any]:
    key, tile = shown
    reading = utility.readings[key]
    made = draw_tile(tile, reading)
    if not isinstance(reading, rwn.Reading):
        return made | {"released": "…"} if reading is PENDING else made
    context = tile.context(reading)
    if spread := repeated_draws.interval(drawn, key, tile.part):
        low, high = spread
        scope = "" if utility.comparison.file is None else " of all"  # a job draws the whole table
        context = f"9 of 10 draws{scope}: {tile.words(low)} to {tile.words(high)}".replace("-", "−")
    return made | {"released": made["released"].replace("-", "−"), "limit": context}


# ---------------------------------------------------------------- long work


def offer(session: Session) -> None:
    """Two buttons, then progress and Cancel."""
    repeated_draws.offer_draws(session, "utility")
    st.button(
        "Check the standard errors",
        key="utility.validity",
        disabled=user_work().busy or session.data.schema.question is None,
        on_click=repeated_draws.begin_validity,
        args=(session,),
        width="stretch",
    )
    repeated_draws.follow(session, "utility")
    st.caption("In the background; tiles and charts then show where 9 of 10 draws fall.")


Draw = Callable[..., Chart]


def cards(session: Session, utility: UtilityReadings, drawn: rwn.Ensemble | None) -> list[Chart]:
    """The charts, in the order on screen."""
    fits = ("regression", "generalized_regression")
    fit = next((key for key in fits if isinstance(utility.readings[key], rwn.Reading)), fits[0])

    def card(title: str, measure: str, draw: Draw, *more: Any, key: str = "") -> Chart:
        reading = utility.readings[measure]
        if not isinstance(reading, rwn.Reading):
            return draw_reason(title, str(reading), key or measure)
        chart = draw(reading, *more, **repeated_draws.bands(drawn, measure))
        return {**chart, "title": chart["title"] + reading.rows_words}

    relations = card("Correlations", "correlation", CHARTS["correlation"])
    if is_mixed(session.data):
        relations = card("Associations", "association", CHARTS["association"])
    shown = {
        1: relations,
        2: card(
            *("Change of correlations", "correlation", CHARTS["correlation_change"]),
            _expected_correlations(utility),
            key="correlation_change",
        ),
        3: card("Regression", fit, CHARTS["regression"], key="regression"),
        6: card(
            *("Distributions", "marginals", CHARTS["distribution"], session.variable),
            key="distribution",
        ),
        7: _relation(utility, drawn),
        8: card("Shift of quantiles", "quantiles", CHARTS["quantiles"]),
    }
    for key in measures_of("utility"):
        about = rwn.MEASURES[key]
        ((chart, draw),) = about.view.charts.items()
        shown[about.view.places["utility"]] = card(about.title, key, draw, key=chart)
    return [shown[place] for place in sorted(shown)]


def _expected_correlations(utility: UtilityReadings) -> Any:
    """Expectation of the setting; unknown while it is pending."""
    reading = utility.readings["correlation"]
    if utility.now is not None or not isinstance(reading, rwn.Reading):
        return None if utility.now is None else utility.now.correlations.to_numpy()
    return np.full(reading.detail.original.shape, np.nan)


def _relation(utility: UtilityReadings, drawn: rwn.Ensemble | None) -> Chart:
    relation = utility.relation
    if not isinstance(relation, rwn.Reading):
        return draw_reason("Two variables", str(relation), "two_way")
    interval = None
    if relation.detail.kind == "points" and set(relation.detail.names) <= set(
        utility.comparison.original.numeric_names
    ):
        names = utility.comparison.original.numeric_names
        one, other = (names.index(name) for name in relation.detail.names)
        if band := repeated_draws.bands(drawn, "correlation").get("drawn", {}).get("released"):
            interval = float(band.low[one, other]), float(band.high[one, other])
    return CHARTS["two_way"](relation, interval)
