"""Charts as plain Plotly dictionaries: each draws what its reading's detail says, and no more.

A chart is a dictionary with key, title, note (the one number), alt (a sentence for a screen
reader), data and layout (Plotly), and table (the numbers behind the picture). The browser, the
reports and the tests use the same dictionary.
"""

from collections.abc import Callable, Iterator, Mapping
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
from rwn_core.errors import each_once
from rwn_core.evaluation import attack_list, two_way
from rwn_core.measures import MEASURES
from rwn_core.measures.drawing.style import Chart, draw_reason
from rwn_core.measures.drawing.tables import Rows

_TUNING = (risk_utility_map, sweep_map)
_LESSONS = (disclosure, theorem, intruder, neighborhood, standard_errors, choose, sampling)


def _drawn() -> Iterator[tuple[str, Callable[..., Chart]]]:
    """Yield every chart with its key, those of measures first."""
    for measure in MEASURES.values():
        yield from measure.charts.items()
        yield from measure.of_variable.items()
    yield "key_classes", several_measures.draw_key_classes
    yield "guessing_attacks", several_measures.draw_guessing_attacks
    yield "linkage_attacks", attack_list.draw_linkage_attacks
    yield "two_way", two_way.draw_two_way
    for each in _TUNING:
        yield each.__name__.rpartition(".")[2], each.draw
    for lesson in _LESSONS:
        yield f"lesson_{lesson.__name__.rpartition('.')[2]}", lesson.draw
    yield "lesson_ties", partial(choose.draw, key="lesson_ties", lever="width")
    yield "lesson_edges", edges.draw
    yield "lesson_edges_loads", edges.draw_loads
    yield "figure_curves", figure_curves.draw
    yield "figure_boxes", figure_curves.draw_boxes


CHARTS: Mapping[str, Callable[..., Chart]] = MappingProxyType(each_once("chart", _drawn()))
"""Every chart by key, those of measures first; pages draw by key and know no file of a chart."""


def serialise(chart: Chart) -> str:
    """Write a chart as JSON; its table is a separate string, read only when it is opened."""
    # NaN is written as null, and arrays keep the digits of their own precision.
    numpy = orjson.OPT_SERIALIZE_NUMPY
    table = orjson.dumps(chart.get("table"), default=Rows.matrix, option=numpy).decode()
    return orjson.dumps({**chart, "table": table}, option=numpy).decode()


__all__ = ["CHARTS", "Chart", "Marks", "chart_marks", "draw_reason", "serialise", "with_pins"]
