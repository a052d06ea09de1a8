"""Draws the Utility page: its choices, its picture of a release, its long work and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, cast

import streamlit as st

import rwn_core as rwn
from rwn_core.charts import CHARTS, Chart, draw_reason, serialise
from rwn_core.data.noun_of_table import spoken_for
from rwn_core.evaluation.draws import Ensemble
from rwn_core.evaluation.registered_analysis import KINDS, AnalysisResult, Standing
from rwn_core.evaluation.valid_intervals import valid_intervals
from rwn_core.evaluation.validity import Validity
from rwn_core.measures import measures_of, tiles_of
from rwn_core.measures.measure import Measure, Reading
from rwn_core.measures.statistics.association import is_mixed
from rwn_core.measures.utility.relations import CORRELATION
from rwn_core.measures.view import Tile
from rwn_core.reporting.facts.fact import interval_facts
from rwn_ui.features import analysis_plan_results, repeated_draws, unchanged_categories
from rwn_ui.features.setting_sentences import arrow
from rwn_ui.panel.parts import (
    OF_VARIABLE,
    Answer,
    Table,
    draw_tile,
    measure_cards,
    measure_tables,
    stamp,
)
from rwn_ui.state.results import OF_ALL_KINDS, Readings, Snapshot
from rwn_ui.state.session import Session
from rwn_ui.utility.results import PENDING, TWO_WAY
from rwn_ui.widgets import sidebar

FIRST = {
    "title": "Which analyses still hold?",
    "cards": 6,
    "tables": ["What an analyst may do with this file"],
    "more": "All measures and coefficients",
}
"""What of the page answers its question; everything else opens by a click."""


def controls(session: Session) -> None:
    """Which variables the pictures show."""
    sidebar.choose_variable(session, "Variable", "utility.one")
    others = [v.name for v in session.data.schema.released if v.name != session.variable]
    if others:
        session.second_variable = st.selectbox(
            "… with",
            others,
            others.index(session.pair[1]),
            key=session.key(f"utility.other.{session.variable}"),
            help="The two-way picture shows both variables together.",
            format_func=session.data.schema.called,
        )


def payload(now: Snapshot) -> dict[str, Any]:
    """Everything the panel draws, as plain data."""
    shown = {
        **now.header(),
        "changed": unchanged_categories.strip(now),
        "tiles": [
            *(_tile(key, tile, now) for key, tile in tiles_of("utility").items()),
            *([analysis_plan_results.tile(now.plan)] if now.plan else []),
        ],
        "cards": [serialise(spoken_for(now.table.schema, chart)) for chart in cards(now)],
        "tables": tables(now),
        "first": FIRST,
    }
    return {"stamp": stamp(now.words, shown), **spoken_for(now.table.schema, shown)}


# ---------------------------------------------------------------- tiles


def _tile(key: str, tile: Tile, now: Snapshot) -> dict[str, Any]:
    reading = now.readings[key]
    made = draw_tile(tile, reading)
    if not isinstance(reading, rwn.Reading):
        return made | {"released": "…"} if reading is PENDING else made
    context = tile.context(reading)
    if spread := repeated_draws.interval(now.draws, key, tile.part):
        low, high = spread
        # a job draws the whole table
        scope = "" if now.release.comparison.file is None else " of all"
        context = f"9 of 10 draws{scope}: {tile.words(low)} to {tile.words(high)}".replace("-", "−")
    return made | {"released": made["released"].replace("-", "−"), "limit": context}


# ---------------------------------------------------------------- long work


def offer(session: Session) -> None:
    """Two buttons, then progress and Cancel."""
    repeated_draws.offer_draws(session, "utility")
    st.button(
        "Check the standard errors",
        key="utility.validity",
        disabled=session.user.work.busy or session.data.schema.question is None,
        on_click=repeated_draws.begin_validity,
        args=(session,),
        width="stretch",
    )
    repeated_draws.follow(session, "utility")
    st.caption("In the background; tiles and charts then show where 9 of 10 draws fall.")


def cards(now: Snapshot) -> list[Chart]:
    """The charts, in the order on screen; two variables together follow the one by itself."""
    left = () if is_mixed(now.table) else OF_ALL_KINDS
    readings = {key: each for key, each in now.readings.items() if key not in left}
    shown = measure_cards(
        *("utility", readings, partial(repeated_draws.bands, now.draws)),
        one=(now.variable, None),
        every=True,
    )
    made = [card for card, _ in shown]
    place = next(at for at, card in enumerate(made, 1) if card["key"] in OF_VARIABLE)
    return [*made[:place], _relation(now), *made[place:]]


def _relation(now: Snapshot) -> Chart:
    relation = now.readings[TWO_WAY]
    names = now.table.numeric_names
    if not isinstance(relation, rwn.Reading):
        return draw_reason("Two variables", str(relation), "two_way")
    interval = None
    if relation.detail.kind == "points" and set(relation.detail.names) <= set(names):
        one, other = (names.index(name) for name in relation.detail.names)
        drawn = repeated_draws.bands(now.draws, CORRELATION.key).get("drawn", {})
        if band := drawn.get("released"):
            interval = float(band.low[one, other]), float(band.high[one, other])
    return CHARTS["two_way"](relation, interval)


# ---------------------------------------------------------------- tables


def tables(now: Snapshot) -> list[Table]:
    """The tables below the cards: analysis plan, all measures, coefficients, standard errors."""
    comparison = now.release.comparison
    shown = [_pass_table(now.plan, now.standings)] if now.plan else []
    shown.append(_overview(now.readings, now.draws))
    for key in measures_of("coefficients"):
        reading = now.readings[key]
        if isinstance(reading, Reading):
            (draw,) = rwn.MEASURES[key].charts.values()
            chart = draw(reading, **repeated_draws.bands(now.draws, key))
            kind = reading.detail.family.capitalize()
            title = f"{kind} regression of {reading.detail.response}: coefficients"
            shown.append({**chart["table"], "title": title})
    shown += measure_tables("tables of utility", now.readings, comparison.original.n)
    if now.validity is not None:
        shown.append(_validity(now.validity))
    # the models for which intervals of the file alone hold, as the notice says it
    every = comparison.every
    judged = valid_intervals(every, comparison.law, every.n)
    about = interval_facts({"intervals": judged})
    held = [] if about["refusal"] else about["slices"]
    intervals = {
        "title": "What an analyst may do with this file",
        "columns": ["intervals hold for models of these variables"],
        "rows": [[", ".join(names)] for names in held] or [["none"]],
        "caption": about["sentence"],
    }
    return [*shown, intervals]


def _overview(readings: Readings, drawn: Ensemble | None) -> Table:
    columns = ["measure", "this draw", "best", "range", "better", "unit", "what it answers"]
    caption = "One draw. Draw many to see what belongs to the setting and what to luck."
    if drawn is not None:
        columns[2:2] = ["median of draws", "9 of 10 draws"]
        caption = f"Draws: {drawn.repeats} releases of this setting under different keys."
    measured = [
        measure
        for key, measure in rwn.MEASURES.items()
        if measure.side == "utility" and key in readings
    ]
    return {
        "title": "All utility measures of this release",
        "columns": columns,
        "rows": [_row(measure, readings[measure.key], drawn) for measure in measured],
        "caption": caption,
    }


def _row(measure: Measure, reading: Answer, drawn: Ensemble | None) -> list[Any]:
    """Return what a measure reads of this draw, and of many where they are drawn."""
    value: float | str = "…" if reading is PENDING else "n/a"
    best = None
    answers = str(reading)
    if isinstance(reading, Reading):
        value = reading.value
        best = reading.baseline
        answers = measure.question
    direction = arrow(measure.key)
    return [
        measure.reading_title(reading),
        value,
        *([] if drawn is None else _of_draws(measure.key, drawn)),
        best,
        _unbroken(" to ".join(f"{end:g}".replace("inf", "∞") for end in measure.bounds)),
        f"{direction}\N{NO-BREAK SPACE}{measure.better}" if direction else "–",
        measure.unit,
        answers,
    ]


def _of_draws(key: str, drawn: Ensemble) -> list[Any]:
    """Return the median of draws and where 9 of 10 fall; nothing of what no draw has read."""
    if key not in drawn.values:
        return [None, None]
    ends = drawn.interval(key)
    return [
        drawn.median(key),
        None if ends is None else _unbroken(f"{ends[0]:.3g} to {ends[1]:.3g}"),
    ]


def _unbroken(text: str) -> str:
    """With true minus signs, and on one line."""
    return text.replace("-", "−").replace(" ", "\N{NO-BREAK SPACE}")


def _pass_table(verdicts: Sequence[AnalysisResult], judged: Sequence[Standing]) -> Table:
    drawn = {one.analysis: one for one in judged}
    rows: list[list[Any]] = []
    for verdict in verdicts:
        row: list[Any] = [
            "✓ pass" if verdict.passed else "▲ fail",
            verdict.analysis.name,
            verdict.analysis.formula
            or verdict.analysis.measure
            or " × ".join(verdict.analysis.variables),
            verdict.value if verdict.value is not None else "n/a",
            verdict.analysis.tolerance,
            KINDS[verdict.analysis.kind] if not verdict.reason else verdict.reason,
        ]
        standing = drawn.get(verdict.analysis)
        if standing is not None:
            row += [f"{standing.passed} of {standing.releases}", standing.value]
        elif judged:  # registered after the draws
            row += ["–", None]
        rows.append(row)
    return {
        "title": "Analysis plan: the registered analyses on this release",
        "columns": [
            "",
            "analysis",
            "model, table or measure",
            "value",
            "tolerance",
            "compared",
            *(("draws that pass", "median of draws") if judged else ()),
        ],
        "rows": rows,
    }


def _validity(validity: Validity) -> Table:
    frame = validity.frame()
    return {
        "title": f"Are the standard errors of {validity.response} true?",
        "columns": [
            "term",
            "SE, original",
            "SE reported",
            "SE true",
            "reported / true",
            "coverage of a 95 % interval",
            "variance inflation",
            "shift / SE",
            "multiply SE by",
        ],
        "rows": [
            [
                row.term,
                float(row.se_original),
                float(row.se_reported),
                float(row.se_true),
                float(row.reported_over_true),
                f"{100 * row.coverage:.0f} %",
                float(row.variance_inflation),
                float(row.shift / row.se_original),
                float(row.multiply_by),
            ]
            for row in cast(Iterable[Any], frame.itertuples())
        ],
        "caption": f"{validity.model.capitalize()} regression over {validity.repeats} "
        "bootstrap samples, each masked with a key of its own, and as many releases of the table "
        "itself. Coverage counts intervals that hold the original's coefficient. Inflation is 1 "
        "+ (variance between releases) / (squared standard error). The last column also covers the "
        "shift.",
    }
