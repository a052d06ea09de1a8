"""Which variables of a dataset may identify people, by rows of evenly spaced blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rwn_core.data.identity import IdentityDoubt, identity_doubts
from rwn_core.data.identity.profile import BLOCKS, PROFILE_ROWS
from rwn_core.datasets.dataset import Dataset, to_frame


def dataset_doubts(dataset: Dataset) -> tuple[IdentityDoubt, ...]:
    """Judge all variables, as the same table in memory is judged."""
    names = [name for name, _ in dataset.columns]
    if dataset.n <= PROFILE_ROWS:
        frame = to_frame(dataset.read(0, dataset.n, names))
        return tuple(identity_doubts(frame, names))
    length = PROFILE_ROWS // BLOCKS
    starts = np.linspace(0, dataset.n - length, BLOCKS).astype(np.int64).tolist()
    parts = [to_frame(dataset.read(start, start + length, names)) for start in starts]
    return tuple(identity_doubts(pd.concat(parts, ignore_index=True), names))
