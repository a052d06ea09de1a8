"""What happens to the risk when the same table is released again and again."""

import math
from typing import Any

import numpy as np

from rwn_core.charts.parts.style import (
    NEUTRAL,
    RELEASED,
    Chart,
    Trace,
    axis,
    chart,
    floats,
    label,
    layout,
    line,
    percent,
)
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_HIGH = 0.8  # from where the label has no room above the line


def draw(reading: Reading) -> Chart:
    """Draw the analytic lower bound, and the success in simulated releases where there are some.

    Parameters
    ----------
    reading : Reading of the measure "repeated_releases"
    """
    detail = reading.detail
    times = np.asarray(detail["releases"], dtype=float)
    bound = np.asarray(detail["bound"], dtype=float)
    simulated = detail["simulated"]
    success = None if simulated is None else np.asarray(simulated, dtype=float)
    return chart(
        "repeated_releases",
        "Repeated releases",
        _note(success, reading.value) + (" · sample" if detail.get("sampled") else ""),
        f"Share of records linked by the keys after several releases, at least: "
        f"{percent(float(bound[0]), 1)} after one, {percent(reading.value, 1)} after three and "
        f"{percent(float(bound[-1]), 1)} after {int(times[-1])}",
        data=_traces(times, bound, success),
        layout=layout(
            axis("releases", 0.6, times[-1] + 0.4, tickvals=times, ticktext=_texts(times)),
            axis("linked by the keys", 0, 1.04, share=True),
            annotations=[
                label(
                    "at least",
                    times[-1],
                    bound[-1],
                    NEUTRAL,
                    xanchor="right",
                    # on the side away from the line, which rises
                    yanchor="top" if bound[-1] > _HIGH else "bottom",
                )
            ],
        ),
        large={"legend": True},
        table=_table(times, bound, success),
    )


def _note(success: Any, three: float) -> str:
    if success is None or len(success) < 3:
        return f"after 3 at least {percent(three)}"
    return f"1 → 3 releases: {percent(float(success[0]))} → {percent(float(success[2]))}"


def _texts(times: Any) -> list[str]:
    return [f"{int(t)}" for t in times]


def _traces(times: Any, bound: Any, success: Any) -> list[Trace]:
    lower = line(floats(times), floats(bound), released=False, name="at least (bound)")
    lower["line"] |= {"color": NEUTRAL}
    lower["hovertemplate"] = "%{x} releases: at least %{y:.1%}<extra></extra>"
    if success is None:
        return [lower]
    drawn = line(
        floats(np.arange(1, len(success) + 1)), floats(success), released=True, name="simulated"
    )
    drawn["mode"] = "lines+markers"
    drawn["marker"] = {"size": 6, "color": RELEASED, "symbol": "circle"}
    drawn["hovertemplate"] = "%{x} releases: %{y:.1%}<extra>simulated</extra>"
    return [lower, drawn]


def _table(times: Any, bound: Any, success: Any) -> dict[str, Any]:
    bound_after = {int(t): float(b) for t, b in zip(times, bound, strict=True)}
    count = 0 if success is None else len(success)
    every = sorted({*bound_after, *range(1, count + 1)})
    return table(
        ["releases", "at least", "simulated"],
        [
            every,
            [bound_after.get(t, math.nan) for t in every],
            [float(success[t - 1]) if t <= count else math.nan for t in every],
        ],
    )
