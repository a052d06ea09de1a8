"""How strongly each record pulls the steward's regression."""

from rwn_core.figures import index_plot
from rwn_core.figures.style import Chart
from rwn_core.reading import Reading


def draw(reading: Reading) -> Chart:
    """Draw Cook's distance of every record, original and released.

    Parameters
    ----------
    reading : Reading of the measure "cooks_distance"
    """
    return index_plot.draw(
        reading, key="cooks_distance", title="Cook’s distance", unit="Cook’s distance"
    )
