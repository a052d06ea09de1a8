"""Draw a result as a Plotly figure: the chart that the app draws."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from rwn_core.charts import CHARTS, Chart
from rwn_core.errors import NotApplicable, ParameterError
from rwn_core.evaluation.attack_list import attacks
from rwn_core.evaluation.audit import Audit
from rwn_core.evaluation.draws import Ensemble
from rwn_core.measures import MARGINALS, MEASURES, UTILITY
from rwn_core.measures.drawing.style import NEUTRAL, escape
from rwn_core.measures.measure import Reading
from rwn_core.reporting.evidence import DRAWN
from rwn_core.reporting.places_on_map import AXIS, POLICY, axis, draws, map_points
from rwn_core.tuning import Policy, Sweep

_CHARTS = (*DRAWN, "linkage_attacks", "distribution")


def plot(result: object, *what: str) -> Any:
    """Draw a result with the chart that the app draws.

    Parameters
    ----------
    result : Audit, Ensemble or Sweep
    *what : str
        Of an audit the chart or its measure, such as "correlation"; for
        "distribution" the variable, too. Of an ensemble the risk on the map, a measure or
        "policy". Of a sweep the measure on each axis of the map, first of utility, then of risk.
        By default the first chart of an audit, and the map of the loss of relations and the
        usual policy.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    NotApplicable
        There is nothing to draw; the message says why.
    ParameterError
        There is no such chart.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> release = rwn.mask(data, rwn.RWN(k=5), seed=7)
    >>> figure = plot(rwn.audit(data, release, measures=["correlation"]), "correlation")
    >>> figure.layout.title.text.startswith("Correlations")
    True
    """
    for kind, draw in _DRAW.items():
        if isinstance(result, kind):
            # The chart with its title; its texts are gray, for light and dark pages.
            chart = draw(result, *what)
            from plotly.graph_objects import Figure

            layout = dict(chart["layout"])
            layout.pop("uirevision", None)
            layout["margin"] = {**layout["margin"], "t": 64}
            layout["font"] = {**layout["font"], "color": NEUTRAL}
            title = f"{escape(chart['title'])}<br><sup>{escape(chart['note'])}</sup>"
            return Figure(data=chart["data"], layout={**layout, "title": {"text": title}})
    raise ParameterError(
        "There is a chart of an Audit, an Ensemble and a Sweep; give one of them to rwn.plot."
    )


def _charts_of_measures() -> dict[str, str]:
    """Return the first chart of each measure that has one."""
    views = {key: {**m.charts, **m.of_variable} for key, m in MEASURES.items()}
    return {key: next(iter(charts)) for key, charts in views.items() if charts}


def _chart_named(name: str) -> str:
    """Return the chart of this name, or of the measure of this name."""
    if name in _CHARTS:
        return name
    chart = _charts_of_measures().get(name)
    if chart is None:
        raise ParameterError(f"There is no chart {name}; there are: {', '.join(_CHARTS)}.")
    return chart


def _first_chart(result: Audit) -> str:
    """Return the chart of the first measure of an audit that was read and has one."""
    by_measure = _charts_of_measures()
    for key, reading in result.readings.items():
        if isinstance(reading, Reading) and key in by_measure:
            return by_measure[key]
    raise NotApplicable("No measure of this audit has a chart; audit more measures.")


def _of_audit(result: Audit, *what: str) -> Chart:
    if len(what) > 2:
        raise ParameterError("Give one chart, and for a distribution its variable.")
    chart = _chart_named(what[0]) if what else _first_chart(result)
    if chart == "linkage_attacks":
        return CHARTS[chart](attacks(_all(result)))
    if chart == "distribution":
        reading = _reading(result, MARGINALS)
        names = list(reading.detail.variables)
        variable = what[1] if len(what) > 1 else names[0]
        if variable not in names:
            raise ParameterError(f"There is no variable {variable}; there are: {', '.join(names)}.")
        return CHARTS["distribution"](reading, variable)
    key = DRAWN[chart]
    if chart == MEASURES[key].shared:
        return CHARTS[chart](_all(result))
    return CHARTS[chart](_reading(result, key))


def _reading(result: Audit, measure: str) -> Reading[Any]:
    reading = result[measure]
    if isinstance(reading, NotApplicable):
        raise reading
    return reading


def _all(result: Audit) -> Mapping[str, Reading[Any] | NotApplicable]:
    """The readings; those that a chart of many measures lacks have a reason."""
    missing = NotApplicable("This audit did not read it.")
    return {**dict.fromkeys(MEASURES, missing), **result.readings}


def _of_ensemble(result: Ensemble, risk: str = POLICY) -> Chart:
    policy = Policy()
    if risk != POLICY and risk not in MEASURES:
        raise ParameterError(f"There is no measure {risk}; give one of rwn.MEASURES, or policy.")
    made = draws(policy, result, risk)
    if not made:
        needed = (UTILITY, *(policy.measures if risk == POLICY else (risk,)))
        missing = [key for key in needed if len(result.values.get(key, ())) < result.repeats]
        raise NotApplicable(
            f"The map needs an answer of {', '.join(needed)} in every draw of the ensemble; there "
            f"are draws without: {', '.join(missing)}."
        )
    title = AXIS if risk == POLICY else MEASURES[risk].title.lower()
    draw = CHARTS["risk_utility_map"]
    return draw([], _most(policy, risk), drawn=made, risk=title, of_limits=risk == POLICY)


def _most(policy: Policy, key: str) -> float | None:
    """The limit of an axis of the map, if there is one."""
    return 1.0 if key == POLICY else getattr(policy.limit(key), "at_most", None)


def _of_sweep(result: Sweep, x: str = UTILITY, y: str = POLICY) -> Chart:
    policy = Policy()
    read = result.plan.measures
    missing = [key for key in (x, *(policy.measures if y == POLICY else (y,))) if key not in read]
    if missing:
        raise ParameterError(
            f"This sweep did not read {', '.join(missing)}; name the measures of both axes. It "
            f"has: {', '.join(read)}."
        )
    spreads = chain.from_iterable(point.spreads.values() for point in result)
    bounds = (spread.is_bound for spread in spreads)
    records = 10**9 if any(bounds) else 0
    axes = axis(x, records, risk=False), axis(y, records, risk=True)
    return CHARTS["sweep_map"](map_points(policy, result, x, y), *axes, limit=_most(policy, y))


_DRAW: Mapping[type[Any], Any] = {Audit: _of_audit, Ensemble: _of_ensemble, Sweep: _of_sweep}
