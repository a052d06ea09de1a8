"""Turn the donors that a masking task found into rows of the release."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwn_core.data.arrays import Integers
from rwn_core.data.microdata import Microdata
from rwn_core.datasets.release_order import keep_rows
from rwn_core.datasets.run import Run
from rwn_core.datasets.staged_arrays import values_of_donors
from rwn_core.laws.donors import random_streams
from rwn_core.neighbors.draw_request import DrawRequest


class Found(NamedTuple):
    """The donors of some records, and the sizes of their neighborhoods."""

    donors: Integers  # shape (n, p)
    # sizes, within: shape (n,): members, and those of them that lie within epsilon
    sizes: Integers
    within: Integers


def draw_request(run: Run) -> DrawRequest:
    """Return the draw request for every record."""
    nobody = Microdata(run.survey_result.sample.slice(0, 0).to_pandas(), run.survey_result.schema)
    return DrawRequest(
        key=run.key, streams=random_streams(nobody), q=run.params.draw_probability(nobody)
    )


def release_rows(run: Run, number: int, ids: Integers, found: Found) -> dict[str, Any]:
    """Copy the donors' values, and keep the rows for the files of the release."""
    masked = values_of_donors(run, found.donors)
    before = values_of_donors(run, np.repeat(ids[:, None], len(run.names), axis=1))
    return keep_rows(run, number, ids, (before, masked), found.sizes, found.within)


def release_nobody(run: Run, number: int) -> dict[str, Any]:
    """`release_rows` of a leaf without records."""
    nobody, donors = np.empty(0, np.int64), np.empty((0, len(run.names)), np.int64)
    return release_rows(run, number, nobody, Found(donors=donors, sizes=nobody, within=nobody))
