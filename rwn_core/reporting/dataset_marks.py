"""Marks of a dataset, as `table_marks` has them of a table in memory, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rwn_core.data.sizes import LISTED_PAIRS
from rwn_core.datasets.dataset import BATCH, Dataset, to_frame
from rwn_core.parallel.threads import Progress
from rwn_core.reporting.table_marks import BYTES, SKETCH, cell_hashes, mark, record_marks


def dataset_marks(
    dataset: Dataset, names: Sequence[str], key: bytes, progress: Progress | None = None
) -> dict[str, Any]:
    """Mark a dataset, its variables and a sample of its records."""
    names, smallest = sorted(names), set[str]()
    marked = dataset.n <= LISTED_PAIRS
    passes = 1 + len(names) if marked else 1
    for done, frame in _batches(dataset, names):
        smallest |= record_marks(frame, names, key)
        smallest = set(sorted(smallest)[: SKETCH + 1])
        _report(progress, done / passes)
    columns = []
    for number, name in enumerate(names if marked else (), start=1):
        parts = [cell_hashes(frame[name]) for _, frame in _batches(dataset, [name])]
        columns.append(mark(key, b"column", np.sort(np.concatenate(parts)).tobytes()))
        _report(progress, (number + 1) / passes)
    records = sorted(smallest)
    full_text = "\0".join([str(dataset.n), *records])
    return {
        "table": mark(key, b"table", full_text.encode()),
        "names": mark(key, b"names", "\0".join(names).encode()),
        "columns": sorted(columns),
        "records": records[:SKETCH],
        "count": len(records) if len(records) <= SKETCH else _different(records),
    }


def _batches(dataset: Dataset, names: Sequence[str]) -> Iterator[tuple[float, pd.DataFrame]]:
    """Some variables, a batch of records at a time, and the share that will be done with it."""
    for start in range(0, dataset.n, BATCH):
        stop = min(start + BATCH, dataset.n)
        yield stop / dataset.n, to_frame(dataset.read(start, stop, names))


def _different(records: Sequence[str]) -> int:
    """About how many different records there are, from the marks that are smallest."""
    # Marks are spread evenly; the next one after the sketch says how densely.
    return round(SKETCH / (int(records[SKETCH], 16) / 2.0 ** (8 * BYTES)))


def _report(progress: Progress | None, share: float) -> None:
    if progress is not None:
        progress(share)
