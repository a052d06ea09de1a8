"""The Utility page's charts: this draw, and where draws of the setting fall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rwn_core.charts import CHARTS, Chart, draw_reason
from rwn_core.evaluation.forecast.statistic import Moment
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.measures.measure import Reading
from rwn_ui.features import repeated_draws_results
from rwn_ui.state.session import Session
from rwn_ui.utility.results import PENDING, Desk, Sight

Draw = Callable[..., Chart]


def cards(session: Session, mine: Desk, seen: Sight, drawn: Ensemble | None) -> list[Chart]:
    """The nine charts, in the order on screen."""
    fit = "regression"
    if not isinstance(seen.readings[fit], Reading) and _known(seen, "generalized_regression"):
        fit = "generalized_regression"

    def card(title: str, measure: str, draw: Draw, *more: Any, key: str = "") -> Chart:
        reading = seen.readings[measure]
        if not isinstance(reading, Reading):
            return draw_reason(title, str(reading), key or measure)
        return draw(reading, *more, **repeated_draws_results.bands(drawn, measure))

    return [
        card("Correlations", "correlation", CHARTS["correlation"]),
        card(
            "Change of correlations",
            "correlation",
            CHARTS["correlation_change"],
            _expected_correlations(seen),
            key="correlation_change",
        ),
        _curve(mine, seen, drawn),
        card("Regression", fit, CHARTS["regression"], key="regression"),
        card("Principal components", "principal_components", CHARTS["principal_components"]),
        card("Small groups", "subgroups", CHARTS["subgroups"]),
        card(
            "Distributions",
            "marginals",
            CHARTS["distribution"],
            session.variable,
            key="distribution",
        ),
        _relation(seen, drawn),
        card("Shift of quantiles", "quantiles", CHARTS["quantiles"]),
    ]


def _known(seen: Sight, measure: str) -> bool:
    return isinstance(seen.readings[measure], Reading)


def _expected_correlations(seen: Sight) -> Any:
    """Of the setting; unknown while it is still to come."""
    reading = seen.readings["correlation"]
    if seen.now is not None or not isinstance(reading, Reading):
        return None if seen.now is None else seen.now.correlations.to_numpy()
    return np.full(np.shape(reading.detail["original"]), np.nan)


def _relation(seen: Sight, drawn: Ensemble | None) -> Chart:
    found = seen.relation
    if not isinstance(found, Reading):
        return draw_reason("Two variables", str(found), "two_way")
    reach = None
    if found.detail["kind"] == "points" and set(found.detail["names"]) <= set(
        seen.comparison.original.numeric_names
    ):
        pair = Moment(kind="correlation", names=tuple(found.detail["names"]))
        reach = repeated_draws_results.moment_interval(drawn, pair, seen.comparison.original)
    return CHARTS["two_way"](found, reach)


def _curve(mine: Desk, seen: Sight, drawn: Ensemble | None) -> Chart:
    place = f"{mine.axis} {mine.moment.words}"
    if isinstance(seen.expected, Reading):
        reach = repeated_draws_results.moment_interval(drawn, mine.moment, seen.comparison.original)
        mine.curves = {place: CHARTS["expected_curve"](seen.expected, seen.realized, reach)}
        return mine.curves[place]
    if seen.expected is PENDING and place in mine.curves:  # the last picture stays for a moment
        return {**mine.curves[place], "note": "the last setting · a moment …"}
    title = f"Expected {mine.moment.short}"
    chart = draw_reason(title, str(seen.expected), "expected_curve")
    return chart | {"note": ""} if seen.expected is PENDING else chart
