"""Share of the variance of the first principal components, before and after."""

import numpy as np

from rwn_core.charts.parts.bands import NAME, Drawn, area, columns
from rwn_core.charts.parts.style import Chart, axis, chart, floats, layout, line, percent, points
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_HOVER = "first %{x}: %{y:.1%}<extra>%{fullData.name}</extra>"


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the cumulative shares of variance; `drawn` has their bands."""
    detail = reading.detail
    shares = {side: np.asarray(detail[f"share_{side}"]) for side in ("original", "released")}
    sums = {side: np.cumsum(share) for side, share in shares.items()}
    order = np.arange(1, len(shares["original"]) + 1)
    first = {side: percent(share[0]) for side, share in shares.items()}
    band = None if drawn is None else drawn["cumulative_released"]
    traces = [] if band is None else [area(order, band.low, band.high)]
    for side, total in sums.items():
        released = side == "released"
        curve = line(order, floats(total), released=released, hovertemplate=_HOVER)
        curve["mode"] = "lines+markers" if len(order) <= 20 else "lines"
        curve["marker"] = points([], [], released=released)["marker"] | {"opacity": 1}
        traces.append(curve)
    low = np.floor(min(sums["original"][0], sums["released"][0]) * 10 - 0.2) / 10
    return chart(
        "principal_components",
        "Principal components",
        f"PC1 {first['original']} → {first['released']}",
        "Cumulative share of the variance held by the principal components; the first holds "
        f"{first['original']} in the original and {first['released']} in the release"
        + _words(drawn),
        data=traces,
        layout=layout(
            axis("components", 0.5, len(order) + 0.5, count=min(7, len(order))),
            axis("cumulative variance", max(low, 0.0), 1.03, share=True),
        ),
        large={"legend": True},
        table=table(
            [
                "component",
                "share, original",
                "share, released",
                "cumulative, original",
                "cumulative, released",
                *([] if band is None else columns(band, "cumulative, ")[0]),
            ],
            [order, *shares.values(), *sums.values(), *([] if band is None else columns(band)[1])],
        ),
    )


def _words(drawn: Drawn | None) -> str:
    """Return the range of the first component's share in words."""
    if drawn is None:
        return ""
    band = drawn["share_released"]
    return f"; in {NAME} {percent(float(band.low[0]), 1)} to {percent(float(band.high[0]), 1)}"
