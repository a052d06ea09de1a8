"""Change of each quantile of each variable."""

from typing import Any

import numpy as np

from rwn_core.charts.parts.bands import NAME, Drawn, marks, range_text
from rwn_core.charts.parts.signed_heatmap import SMALL_FONT, color_span, signed_heatmap
from rwn_core.charts.parts.style import Chart, chart, escape, layout, name_axis, number, shorten
from rwn_core.charts.parts.tables import table
from rwn_core.measures.measure import Reading

_VARIABLES = 16


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the shift of the quantiles in standard deviations; at most the 16 most moved rows."""
    detail = reading.detail
    names = [str(name) for name in detail["names"]]
    shift = np.asarray(detail["change"], dtype=float)
    shares = [f"{100 * share:g} %" for share in detail["shares"]]
    rows = np.sort(np.argsort(-np.abs(shift).max(axis=1), kind="stable")[:_VARIABLES])
    shown = [escape(names[row]) for row in rows]
    texts = [[f"{name}, {share}" for share in shares] for name in shown]
    outside = np.zeros(shift.shape, dtype=bool)
    if drawn is not None:
        band = drawn["change"]
        outside = band.outside(shift)
        for text, row in zip(texts, rows, strict=True):
            for j, (low, high) in enumerate(zip(band.low[row], band.high[row], strict=True)):
                text[j] += f" (draws {range_text(low, high, 2)})"
    count = int(outside.sum())
    look: dict[str, Any] = {"showgrid": False, "tickfont": {"size": SMALL_FONT}}
    return chart(
        "quantiles",
        "Shift of quantiles",
        f"mean {number(reading.value)} SD" + ("" if drawn is None else f" · ○ {count} outside"),
        f"Heatmap of how far {len(shares)} quantiles of {len(names)} variables moved, in standard "
        f"deviations; the mean distance is {number(reading.value)}"
        + ("" if drawn is None else f"; {count} shifts are outside {NAME}"),
        data=[
            signed_heatmap(shift[rows], color_span(shift), texts, "%{z:+.3f} SD"),
            *marks(outside[rows]),
        ],
        layout=layout(
            name_axis(shares, "quantile", down=False, **look),
            name_axis([escape(shorten(names[row], 9)) for row in rows], **look),
            right=48,
        ),
        table=table(["variable", *(f"at {share}, SD" for share in shares)], [names, *shift.T]),
    )
