"""Cook's distance of each record."""

from rwn_core.charts.parts import index_plot
from rwn_core.charts.parts.bands import Drawn
from rwn_core.charts.parts.style import Chart
from rwn_core.measures.measure import Reading


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw Cook's distance of every record, original and released."""
    return index_plot.draw(
        reading, drawn, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
    )
