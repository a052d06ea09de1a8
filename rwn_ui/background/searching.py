"""A progress bar for a search beyond the stored neighbors, where it takes a while."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.delta_generator import DeltaGenerator

from rwn_core.parallel.threads import Progress

PATIENCE = 0.4  # seconds without a word about a search


@contextmanager
def searching(slot: DeltaGenerator | None) -> Iterator[Progress | None]:
    """Tell in `slot` how far a search is, once it has taken a while.

    Another move of a slider stops the search: Streamlit looks for one at each step of the bar.
    """
    if slot is None:
        yield None
        return
    begun, shown = time.monotonic(), False

    def tell(share: float) -> None:
        nonlocal shown
        if shown or time.monotonic() - begun > PATIENCE:
            shown = True
            slot.progress(min(share, 1.0), text="Searching beyond the stored neighbors")

    try:
        yield tell
    finally:
        if shown:
            slot.empty()
