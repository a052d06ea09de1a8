"""Charts as plain Plotly dictionaries: each draws what its reading's detail says, and no more.

A chart is a dictionary with key, title, note (the one number), alt (a sentence for a screen
reader), data and layout (Plotly), and table (the numbers behind the picture). The browser, the
reports and the tests use the same dictionary.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType

import orjson

from rwn_core.charts.measures import (
    cooks_distance,
    correlation,
    correlation_change,
    distribution,
    extreme_values,
    guessing_attacks,
    key_classes,
    linkage_attacks,
    mahalanobis,
    nearest_distance,
    neighborhood_size,
    principal_components,
    quantiles,
    queries,
    record_risk,
    regression,
    repeated_releases,
    subgroups,
    two_way,
)
from rwn_core.charts.parts import not_applicable
from rwn_core.charts.parts.style import Chart
from rwn_core.charts.tuning import (
    expected_curve,
    parameter_surface,
    risk_utility_map,
    rounding_effect,
    sweep_map,
)

_CHARTS: tuple[ModuleType, ...] = (
    risk_utility_map,
    neighborhood_size,
    nearest_distance,
    correlation,
    regression,
    principal_components,
    cooks_distance,
    mahalanobis,
    distribution,
)

CHARTS: Mapping[str, Callable[..., Chart]] = MappingProxyType(
    {module.__name__.rpartition(".")[2]: module.draw for module in _CHARTS}
)
"""Every chart by key, in the order on screen."""


def serialise(chart: Chart) -> str:
    """Write a chart as JSON; its table becomes a string of its own, read only when it is opened.

    NaN is written as null, and arrays keep the digits of their own precision.
    """
    table = orjson.dumps(chart.get("table"), option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return orjson.dumps({**chart, "table": table}, option=orjson.OPT_SERIALIZE_NUMPY).decode()


__all__ = [
    "CHARTS",
    "Chart",
    "correlation_change",
    "expected_curve",
    "extreme_values",
    "guessing_attacks",
    "key_classes",
    "linkage_attacks",
    "not_applicable",
    "parameter_surface",
    "quantiles",
    "queries",
    "record_risk",
    "repeated_releases",
    "rounding_effect",
    "serialise",
    "subgroups",
    "sweep_map",
    "two_way",
]
