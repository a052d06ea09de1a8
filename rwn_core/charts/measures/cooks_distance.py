"""How strongly each record pulls the steward's regression."""

from rwn_core.charts.parts import index_plot
from rwn_core.charts.parts.bands import Drawn
from rwn_core.charts.parts.style import Chart
from rwn_core.measures.measure import Reading


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw Cook's distance of every record, original and released.

    Parameters
    ----------
    reading : Reading of the measure "cooks_distance"
    drawn : mapping of str to Band, optional
        Where draws of the setting fall.
    """
    return index_plot.draw(
        reading, drawn, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
    )
