"""Mahalanobis distance of each record from the center of its file."""

from rwn_core.charts.parts import index_plot
from rwn_core.charts.parts.bands import Drawn
from rwn_core.charts.parts.style import Chart
from rwn_core.measures.measure import Reading


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the Mahalanobis distance (not its square) of every record, original and released."""
    return index_plot.draw(
        reading, drawn, key="mahalanobis", title="Mahalanobis distance", unit="distance D"
    )
