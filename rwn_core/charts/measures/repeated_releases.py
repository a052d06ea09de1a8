"""Risk if the same table is released several times."""

from typing import Any

import numpy as np

from rwn_core.charts.parts import style
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_HIGH = 0.8  # from where the label has no room above the line


def draw(reading: Reading) -> style.Chart:
    """Draw the success after several releases in the same row order, and in fresh ones."""
    detail = reading.detail
    times = np.asarray(detail["releases"], dtype=float)
    same = np.asarray(detail["same_order"], dtype=float)
    shuffled = float(detail["shuffled"])
    least = "at least " if detail["standing"] == "at least" else ""
    texts = [f"{int(t)}" for t in times]
    return style.chart(
        "repeated_releases",
        "Repeated releases",
        f"{style.percent(float(same[0]))} → {least}{style.percent(reading.value)} after 3"
        + (" · sample" if detail.get("sampled") else ""),
        f"Share of records linked by the keys if rows keep their places: {least}"
        f"{style.percent(float(same[0]), 1)} after one release, "
        f"{least}{style.percent(reading.value, 1)} after three, "
        f"{least}{style.percent(float(same[-1]), 1)} after {texts[-1]}. In fresh secret order "
        f"at least {style.percent(shuffled, 1)}",
        data=_traces(times, same, shuffled, least),
        layout=style.layout(
            style.axis("releases", 0.6, times[-1] + 0.4, tickvals=times, ticktext=texts),
            style.axis("linked by the keys", 0, 1.04, share=True),
            annotations=[
                style.label(
                    "fresh order, at least",
                    times[-1],
                    shuffled,
                    style.NEUTRAL,
                    xanchor="right",
                    yanchor="top" if shuffled > _HIGH else "bottom",
                )
            ],
        ),
        large={"legend": True},
        table=table(
            ["releases", f"same order{', at least' * bool(least)}", "fresh order, at least"],
            [times.astype(int), style.floats(same), [shuffled] * len(times)],
        ),
    )


def _traces(times: Any, same: Any, shuffled: float, least: str) -> list[style.Trace]:
    same_order = style.line(
        style.floats(times), style.floats(same), released=True, name=f"{least}same order".strip()
    )
    same_order["mode"] = "lines+markers"
    same_order["marker"] = {"size": 6, "color": style.RELEASED, "symbol": "circle"}
    same_order["hovertemplate"] = f"%{{x}} releases: {least}%{{y:.1%}}<extra>same order</extra>"
    fresh = style.line(
        style.floats(times), [shuffled] * len(times), released=False, name="fresh order, at least"
    )
    fresh["line"] |= {"color": style.NEUTRAL}
    fresh["hovertemplate"] = "%{x} releases: at least %{y:.1%}<extra>fresh order</extra>"
    return [fresh, same_order]
