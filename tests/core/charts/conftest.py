"""Every chart of the catalogue, one at a time."""

from __future__ import annotations

import pytest

from rwn_core.charts import Chart
from tests.core.charts.hand_made_readings import ALL_CHARTS


@pytest.fixture(params=list(ALL_CHARTS))
def drawn(request: pytest.FixtureRequest) -> Chart:
    """Every chart of the catalogue, from a reading made by hand."""
    return ALL_CHARTS[request.param]()
