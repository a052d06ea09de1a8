"""Charts as plain Plotly dictionaries: each draws what its reading's detail says, and no more.

A chart is a dictionary with key, title, note (the one number), alt (a sentence for a screen
reader), data and layout (Plotly), and table (the numbers behind the picture). The browser, the
reports and the tests use the same dictionary.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import orjson

from rwn_core.charts.lessons import analyst as lesson_analyst
from rwn_core.charts.lessons import choose as lesson_choose
from rwn_core.charts.lessons import disclosure as lesson_disclosure
from rwn_core.charts.lessons import edges as lesson_edges
from rwn_core.charts.lessons import intruder as lesson_intruder
from rwn_core.charts.lessons import neighborhood as lesson_neighborhood
from rwn_core.charts.lessons import sampling as lesson_sampling
from rwn_core.charts.lessons import standard_errors as lesson_standard_errors
from rwn_core.charts.lessons import theorem as lesson_theorem
from rwn_core.charts.measures import (
    attacks,
    distributions,
    key_classes,
    nearness,
    outliers,
    regression,
    relations,
    tables,
    values,
)
from rwn_core.charts.parts.not_applicable import draw as draw_reason
from rwn_core.charts.parts.pins import Marks, chart_marks, with_pins
from rwn_core.charts.parts.still import still
from rwn_core.charts.parts.style import Chart
from rwn_core.charts.parts.tables import Rows
from rwn_core.charts.replays import figure_curves
from rwn_core.charts.tuning import (
    risk_utility_map,
    sweep_map,
)

CHARTS: Mapping[str, Callable[..., Chart]] = MappingProxyType(
    {
        "risk_utility_map": risk_utility_map.draw,
        "neighborhood_size": nearness.draw_neighborhood_size,
        "nearest_distance": nearness.draw_nearest_distance,
        "correlation": relations.draw_correlation,
        "regression": regression.draw,
        "principal_components": relations.draw_principal_components,
        "cooks_distance": partial(
            outliers.draw, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
        ),
        "mahalanobis": partial(
            outliers.draw, key="mahalanobis", title="Mahalanobis distance", unit="distance D"
        ),
        "distribution": distributions.draw_distribution,
        "association": relations.draw_association,
        "correlation_change": relations.draw_correlation_change,
        "subgroups": tables.draw_subgroups,
        "two_way": tables.draw_two_way,
        "quantiles": distributions.draw_quantiles,
        "linkage_attacks": attacks.draw_linkage_attacks,
        "record_risk": attacks.draw_record_risk,
        "precision_recall": attacks.draw_precision_recall,
        "true_matches": attacks.draw_true_matches,
        "repeated_releases": attacks.draw_repeated_releases,
        "key_classes": key_classes.draw,
        "guessing_attacks": attacks.draw_guessing_attacks,
        "extreme_values": values.draw_extreme_values,
        "queries": values.draw_queries,
        "sweep_map": sweep_map.draw,
        "lesson_disclosure": lesson_disclosure.draw,
        "lesson_theorem": lesson_theorem.draw,
        "lesson_intruder": lesson_intruder.draw,
        "lesson_neighborhood": lesson_neighborhood.draw,
        "lesson_standard_errors": lesson_standard_errors.draw,
        "lesson_analyst": lesson_analyst.draw,
        "lesson_choose": lesson_choose.draw,
        "lesson_sampling": lesson_sampling.draw,
        "lesson_edges": lesson_edges.draw,
        "lesson_edges_loads": lesson_edges.draw_loads,
        "figure_curves": figure_curves.draw,
        "figure_boxes": figure_curves.draw_boxes,
    }
)
"""Every chart by key, in the order on screen; the pages draw by key and know no file of a chart."""


def serialise(chart: Chart) -> str:
    """Write a chart as JSON; its table becomes a string of its own, read only when it is opened."""
    # NaN is written as null, and arrays keep the digits of their own precision.
    numpy = orjson.OPT_SERIALIZE_NUMPY
    table = orjson.dumps(chart.get("table"), default=Rows.matrix, option=numpy).decode()
    return orjson.dumps({**chart, "table": table}, option=numpy).decode()


__all__ = [
    "CHARTS",
    "Chart",
    "Marks",
    "chart_marks",
    "draw_reason",
    "serialise",
    "still",
    "with_pins",
]
