"""The Utility page's charts: this draw, and where draws of the setting fall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rwn_core.charts import CHARTS, Chart, draw_reason
from rwn_core.evaluation.forecast.statistic import Statistic
from rwn_core.evaluation.repeated_draws import Ensemble
from rwn_core.measures.measure import Reading
from rwn_core.measures.utility.association import is_mixed
from rwn_ui.features import repeated_draws_results
from rwn_ui.state.results import user_results
from rwn_ui.state.session import Session
from rwn_ui.utility.results import PENDING, UtilityReadings

_CURVE = "expected curve"
Draw = Callable[..., Chart]


def cards(session: Session, utility: UtilityReadings, drawn: Ensemble | None) -> list[Chart]:
    """The nine charts, in the order on screen."""
    fit = "regression"
    if not isinstance(utility.readings[fit], Reading) and _known(utility, "generalized_regression"):
        fit = "generalized_regression"

    def card(title: str, measure: str, draw: Draw, *more: Any, key: str = "") -> Chart:
        reading = utility.readings[measure]
        if not isinstance(reading, Reading):
            return draw_reason(title, str(reading), key or measure)
        return draw(reading, *more, **repeated_draws_results.bands(drawn, measure))

    relations = card("Correlations", "correlation", CHARTS["correlation"])
    if is_mixed(session.data):
        relations = card("Associations", "association", CHARTS["association"])
    return [
        relations,
        card(
            "Change of correlations",
            "correlation",
            CHARTS["correlation_change"],
            _expected_correlations(utility),
            key="correlation_change",
        ),
        _curve(session, utility, drawn),
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
        _relation(utility, drawn),
        card("Shift of quantiles", "quantiles", CHARTS["quantiles"]),
    ]


def _known(utility: UtilityReadings, measure: str) -> bool:
    return isinstance(utility.readings[measure], Reading)


def _expected_correlations(utility: UtilityReadings) -> Any:
    """Expectation of the setting; unknown while it is pending."""
    reading = utility.readings["correlation"]
    if utility.now is not None or not isinstance(reading, Reading):
        return None if utility.now is None else utility.now.correlations.to_numpy()
    return np.full(np.shape(reading.detail["original"]), np.nan)


def _relation(utility: UtilityReadings, drawn: Ensemble | None) -> Chart:
    relation = utility.relation
    if not isinstance(relation, Reading):
        return draw_reason("Two variables", str(relation), "two_way")
    interval = None
    if relation.detail["kind"] == "points" and set(relation.detail["names"]) <= set(
        utility.comparison.original.numeric_names
    ):
        pair = Statistic(kind="correlation", names=tuple(relation.detail["names"]))
        interval = repeated_draws_results.statistic_interval(
            drawn, pair, utility.comparison.original
        )
    return CHARTS["two_way"](relation, interval)


def _curve(session: Session, utility: UtilityReadings, drawn: Ensemble | None) -> Chart:
    statistic, last = session.statistic, user_results().last
    about = f"{session.curve_axis} {statistic.words}"
    expected = utility.expected
    if isinstance(expected, Reading):
        original = utility.comparison.original
        interval = repeated_draws_results.statistic_interval(drawn, statistic, original)
        chart = CHARTS["expected_curve"](expected, utility.realized, interval)
        last[_CURVE] = (about, chart)
        return chart
    before, chart = last.get(_CURVE, ("", {}))
    if expected is PENDING and before == about:  # the last picture stays for a moment
        return {**chart, "note": "the last setting · a moment …"}
    title = f"Expected {statistic.short}"
    chart = draw_reason(title, str(expected), "expected_curve")
    return chart | {"note": ""} if expected is PENDING else chart
