"""How far each record lies from the center of its file, in the shape of the file's cloud."""

from rwn_core.charts.parts import index_plot
from rwn_core.charts.parts.bands import Drawn
from rwn_core.charts.parts.style import Chart
from rwn_core.measures.measure import Reading


def draw(reading: Reading, drawn: Drawn | None = None) -> Chart:
    """Draw the Mahalanobis distance (not its square) of every record, original and released.

    Parameters
    ----------
    reading : Reading of the measure "mahalanobis"
    drawn : mapping of str to Band, optional
        Where draws of the setting fall.
    """
    return index_plot.draw(
        reading, drawn, key="mahalanobis", title="Mahalanobis distance", unit="distance D"
    )
