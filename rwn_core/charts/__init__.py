"""Charts as plain Plotly dictionaries: each draws what its reading's detail says, and no more.

A chart is a dictionary with key, title, note (the one number), alt (a sentence for a screen
reader), data and layout (Plotly), and table (the numbers behind the picture). The browser, the
reports and the tests use the same dictionary.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import orjson

from rwn_core.charts import figure_curves, several_measures
from rwn_core.charts.lessons import (
    choose,
    disclosure,
    edges,
    intruder,
    neighborhood,
    sampling,
    standard_errors,
    theorem,
)
from rwn_core.charts.parts.pins import Marks, chart_marks, with_pins
from rwn_core.charts.tuning import risk_utility_map, sweep_map
from rwn_core.evaluation import attack_list, two_way
from rwn_core.measures import MEASURES
from rwn_core.measures.drawing.style import Chart, draw_reason
from rwn_core.measures.drawing.tables import Rows

_TUNING = (risk_utility_map, sweep_map)
_LESSONS = (disclosure, theorem, intruder, neighborhood, standard_errors, choose, sampling)
CHARTS: Mapping[str, Callable[..., Chart]] = MappingProxyType(
    {
        **{
            key: draw
            for measure in MEASURES.values()
            for key, draw in {**measure.charts, **measure.of_variable}.items()
        },
        "key_classes": several_measures.draw_key_classes,
        "guessing_attacks": several_measures.draw_guessing_attacks,
        "linkage_attacks": attack_list.draw_linkage_attacks,
        "two_way": two_way.draw_two_way,
        **{each.__name__.rpartition(".")[2]: each.draw for each in _TUNING},
        **{f"lesson_{each.__name__.rpartition('.')[2]}": each.draw for each in _LESSONS},
        "lesson_ties": partial(choose.draw, key="lesson_ties", lever="width"),
        "lesson_edges": edges.draw,
        "lesson_edges_loads": edges.draw_loads,
        "figure_curves": figure_curves.draw,
        "figure_boxes": figure_curves.draw_boxes,
    }
)
"""Every chart by key, those of measures first; pages draw by key and know no file of a chart."""


def serialise(chart: Chart) -> str:
    """Write a chart as JSON; its table is a separate string, read only when it is opened."""
    # NaN is written as null, and arrays keep the digits of their own precision.
    numpy = orjson.OPT_SERIALIZE_NUMPY
    table = orjson.dumps(chart.get("table"), default=Rows.matrix, option=numpy).decode()
    return orjson.dumps({**chart, "table": table}, option=numpy).decode()


__all__ = ["CHARTS", "Chart", "Marks", "chart_marks", "draw_reason", "serialise", "with_pins"]
