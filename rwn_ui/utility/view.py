"""Draws the Utility page: its choices, its picture of a release, and its long work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.evaluation.registered_analysis import AnalysisResult
from rwn_core.measures import UTILITY
from rwn_core.measures.drawing.style import shorten
from rwn_core.measures.statistics.association import is_mixed
from rwn_ui.features import analysis_plan_results, repeated_draws, unchanged_categories
from rwn_ui.panel.parts import Tile, loss_words, radius_note, stamp
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
            *(_tile(tile, utility, drawn) for tile in TILES),
            analysis_plan_results.tile(verdicts) if verdicts else _tile(CLUSTERS, utility, drawn),
        ],
        "cards": [serialise(chart) for chart in cards(session, utility, drawn)],
        "tables": tables(utility, verdicts, drawn, validity, repeated_draws.standings(session)),
    }
    return {"stamp": stamp(session.words, shown), **shown}


# ---------------------------------------------------------------- tiles


def _signed_percent(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{100 * abs(value):.1f} %"


TILES = (
    Tile(
        label="Relations lost",
        measure=UTILITY,
        words=loss_words,
        help="Loss of the relations between all variables: 0 as in the original, 1 no relation "
        "left. Pairs that are unrelated in the original do not count.",
    ),
    Tile(
        label="Interval overlap",
        measure="ci_overlap",
        words=lambda value: f"{value:.2f}",
        help="Mean overlap of the slopes' 95 % confidence intervals: 1 is the same, 0 touching, "
        "below 0 apart.",
    ),
    Tile(
        label="Largest |Δ slope| / SE",
        measure="regression",
        words=lambda value: f"{value:.2f}",
        help="Largest change of a slope of the regression, in the original's standard errors.",
    ),
    Tile(
        label="Small groups",
        measure="subgroups",
        words=_signed_percent,
        value=lambda reading: float(reading.detail.total_change),
        part="total_change",
        help="Change of the size of all levels, pairs of levels and tails that hold at most a "
        "tenth of the records. Rare values shrink where those that replace them are mostly of the "
        "majority.",
    ),
    Tile(
        label="Propensity ratio",
        measure="pmse",
        words=lambda value: f"{value:.2f}",
        help="How well a model of all pairs of variables tells released records from original "
        "ones (pMSE), over what chance gives. 0 is no difference at all.",
    ),
)
CLUSTERS = Tile(
    label="Clusters agree",
    measure="clustering",
    words=lambda value: f"{value:.2f}",
    help="Agreement of five clusters found in the release with the original's (adjusted Rand "
    "index).",
)


def _tile(tile: Tile, utility: UtilityReadings, drawn: rwn.Ensemble | None) -> dict[str, Any]:
    reading = utility.readings[tile.measure]
    shown = tile.draw(reading)
    if not isinstance(reading, rwn.Reading):
        return shown | {"released": "…"} if reading is PENDING else shown
    context = _baselines(reading, tile.measure, utility)
    if spread := repeated_draws.interval(drawn, tile.measure, tile.part):
        low, high = spread
        scope = "" if utility.comparison.file is None else " of all"  # a job draws the whole table
        context = f"9 of 10 draws{scope}: {tile.words(low)} to {tile.words(high)}".replace("-", "−")
    return shown | {"released": shown["released"].replace("-", "−"), "limit": context}


def _baselines(reading: rwn.Reading, measure: str, utility: UtilityReadings) -> str:
    """Baselines of a number until draws are there."""
    detail = reading.detail
    match measure:
        case "association_loss" if detail.faded:
            return f"most: {', '.join(shorten(name, 12) for name in detail.faded[0])}"
        case "ci_overlap":
            return f"{(detail.overlap[1:] < 0).sum()} of {len(detail.terms) - 1} slopes apart"
        case "regression":
            return f"{detail.sign_changed[1:].sum()} of {len(detail.terms) - 1} signs changed"
        case "subgroups":
            return f"{detail.vanished} vanished"
        case "pmse":
            return "2: like a fresh sample"
        case "clustering":
            return "1: the same clusters"
    return ""


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
    return [
        relations,
        card(
            *("Change of correlations", "correlation", CHARTS["correlation_change"]),
            _expected_correlations(utility),
            key="correlation_change",
        ),
        card("Regression", fit, CHARTS["regression"], key="regression"),
        card("Principal components", "principal_components", CHARTS["principal_components"]),
        card("Small groups", "subgroups", CHARTS["subgroups"]),
        card(
            *("Distributions", "marginals", CHARTS["distribution"], session.variable),
            key="distribution",
        ),
        _relation(utility, drawn),
        card("Shift of quantiles", "quantiles", CHARTS["quantiles"]),
    ]


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
