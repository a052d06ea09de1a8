"""Outlying records: Cook’s distance and Mahalanobis distance."""

from __future__ import annotations

from rwn_core.charts.parts import index_plot
from rwn_core.charts.parts.bands import Drawn
from rwn_core.charts.parts.style import Chart
from rwn_core.measures.measure import Reading

# Cook's distance of each record


def draw_cooks_distance(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw Cook's distance of every record, original and released."""
    return index_plot.draw(
        reading, drawn, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
    )


# Mahalanobis distance of each record from the center of its file


def draw_mahalanobis(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the Mahalanobis distance (not its square) of every record, original and released."""
    return index_plot.draw(
        reading, drawn, key="mahalanobis", title="Mahalanobis distance", unit="distance D"
    )
