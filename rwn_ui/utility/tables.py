"""The Utility page's tables: every measure in words, coefficients, and what is registered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.evaluation.draws import Ensemble
from rwn_core.evaluation.registered_analysis import KINDS, AnalysisResult, Standing
from rwn_core.evaluation.valid_intervals import valid_intervals
from rwn_core.evaluation.validity import Validity
from rwn_core.measures.measure import Measure, Reading
from rwn_core.reporting.facts.fact import interval_facts
from rwn_ui.features.repeated_draws import bands
from rwn_ui.utility.results import PENDING, UtilityReadings
from rwn_ui.widgets.tables import Table, measure_tables


def tables(
    utility: UtilityReadings,
    verdicts: Sequence[AnalysisResult],
    drawn: Ensemble | None,
    validity: Validity | None,
    judged: Sequence[Standing] = (),
) -> list[Table]:
    """The tables below the cards: analysis plan, all measures, coefficients, standard errors."""
    shown = [_pass_table(verdicts, judged)] if verdicts else []
    shown.append(_overview(utility, drawn))
    for key in ("regression", "generalized_regression"):
        reading = utility.readings[key]
        if isinstance(reading, Reading):
            chart = CHARTS["regression"](reading, **bands(drawn, key))
            kind = reading.detail.family.capitalize()
            title = f"{kind} regression of {reading.detail.response}: coefficients"
            shown.append({**chart["table"], "title": title})
    shown += measure_tables("tables of utility", utility.readings, utility.comparison.original.n)
    if validity is not None:
        shown.append(_validity(validity))
    return [*shown, _intervals(utility.comparison)]


def _intervals(comparison: rwn.Comparison) -> Table:
    """The models for which intervals of the file alone hold, as the notice says it."""
    every = comparison.original if comparison.file is None else comparison.file
    judged = valid_intervals(every, comparison.law, every.n)
    about = interval_facts({"intervals": judged})
    held = [] if about["refusal"] else about["slices"]
    return {
        "title": "What an analyst may do with this file",
        "columns": ["intervals hold for models of these variables"],
        "rows": [[", ".join(names)] for names in held] or [["none"]],
        "caption": about["sentence"],
    }


_ARROWS = {
    "lower": "↓\N{NO-BREAK SPACE}lower",
    "higher": "↑\N{NO-BREAK SPACE}higher",
    "neutral": "–",
}


def _overview(utility: UtilityReadings, drawn: Ensemble | None) -> Table:
    columns = ["measure", "this draw", "best", "range", "better", "unit", "what it answers"]
    if drawn is not None:
        columns[2:2] = ["median of draws", "9 of 10 draws"]
    rows = []
    for key, measure in rwn.MEASURES.items():
        if measure.side != "utility" or key not in utility.readings:
            continue
        reading = utility.readings[key]
        known = isinstance(reading, Reading)
        none = "…" if reading is PENDING else "n/a"
        row: list[Any] = [
            measure.reading_title(reading) if isinstance(reading, Reading) else measure.title,
            reading.value if isinstance(reading, Reading) else none,
        ]
        if drawn is not None:
            row += _spread(drawn, key)
        row += [
            reading.baseline if isinstance(reading, Reading) else None,
            _range(measure),
            _ARROWS[measure.better],
            measure.unit,
            measure.question if known else str(reading),
        ]
        rows.append(row)
    caption = "One draw. Draw many to see what belongs to the setting and what to luck."
    if drawn is not None:
        caption = f"Draws: {drawn.repeats} releases of this setting under different keys."
    return {
        "title": "All utility measures of this release",
        "columns": columns,
        "rows": rows,
        "caption": caption,
    }


def _spread(drawn: Ensemble, key: str) -> list[Any]:
    if key not in drawn.values:
        return [None, None]
    ends = drawn.interval(key)
    words = None if ends is None else _unbroken(f"{ends[0]:.3g} to {ends[1]:.3g}")
    return [drawn.median(key), words]


def _range(measure: Measure) -> str:
    ends = [
        "∞" if math.isinf(end) and end > 0 else "−∞" if math.isinf(end) else f"{end:g}"
        for end in measure.bounds
    ]
    return _unbroken(f"{ends[0]} to {ends[1]}")


def _unbroken(text: str) -> str:
    """With true minus signs, and on one line."""
    return text.replace("-", "−").replace(" ", "\N{NO-BREAK SPACE}")


def _pass_table(verdicts: Sequence[AnalysisResult], judged: Sequence[Standing]) -> Table:
    drawn = {one.analysis: one for one in judged}
    rows = [
        [
            "✓ pass" if verdict.passed else "▲ fail",
            verdict.analysis.name,
            verdict.analysis.formula
            or verdict.analysis.measure
            or " × ".join(verdict.analysis.variables),
            verdict.value if verdict.value is not None else "n/a",
            verdict.analysis.tolerance,
            KINDS[verdict.analysis.kind] if not verdict.reason else verdict.reason,
            *_of_draws(drawn.get(verdict.analysis), bool(judged)),
        ]
        for verdict in verdicts
    ]
    return {
        "title": "Analysis plan: the registered analyses on this release",
        "columns": [
            *("", "analysis", "model, table or measure", "value", "tolerance", "compared"),
            *(("draws that pass", "median of draws") if judged else ()),
        ],
        "rows": rows,
    }


def _of_draws(standing: Standing | None, shown: bool) -> list[Any]:
    """Results of an analysis over the draws; later registered ones are missing."""
    if standing is None:
        return ["–", None] if shown else []
    return [f"{standing.passed} of {standing.releases}", standing.value]


def _validity(validity: Validity) -> Table:
    frame = validity.frame()
    return {
        "title": f"Are the standard errors of {validity.response} true?",
        "columns": [
            *("term", "SE, original", "SE reported", "SE true", "reported / true"),
            *("coverage of a 95 % interval", "variance inflation", "shift / SE", "multiply SE by"),
        ],
        "rows": [
            [
                *(row.term, float(row.se_original), float(row.se_reported), float(row.se_true)),
                *(float(row.reported_over_true), f"{100 * row.coverage:.0f} %"),
                *(float(row.variance_inflation), float(row.shift / row.se_original)),
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
