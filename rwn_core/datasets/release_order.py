"""Puts the rows of a release into secret order without having all of them in one place.

A record's place is decided by a random number of its own, the one that a table in memory is
ordered by. Each task deals its masked rows out to the files of the release by that number; then
each file sorts its own. No row names its record.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rwn_core.datasets.record_batches import read_batch, write_batches
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.stage import atomic_file
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import ORDER_STREAM, SecretKey

STEP, ROWS = "order", "masked"


def file_name(number: int) -> str:
    """Name of a file of the release."""
    return f"part-{number:06d}.parquet"


def piece(run: Run, number: int) -> Path:
    """Path of a task's masked rows."""
    return run.stage.path(ROWS, f"{number:06d}.arrow")


def deal_rows(
    path: Path, masked: pa.Table, ids: NDArray[np.int64], key: SecretKey, files: int
) -> None:
    """Write masked rows so that each file of the release finds its own together."""
    draws = two_uniforms(key, ids, ORDER_STREAM)
    # numbers of few bits are sorted by counting
    target = (draws[0] * files).astype(np.min_scalar_type(files))
    order = np.argsort(target, kind="stable")
    dealt = masked.take(pa.array(order)) if files > 1 else masked
    for values in draws[:, order]:
        dealt = dealt.append_column("", pa.array(values))
    with atomic_file(path) as unfinished:
        counts = np.bincount(target, minlength=files).tolist()
        write_batches(unfinished, dealt, counts, packed=False)


def order_file(run: Run, task: Task) -> dict[str, Any]:
    """Put one file of the release into its order and write it."""
    number = task["number"]
    pieces = [read_batch(piece(run, other), number) for other in range(task["pieces"])]
    rows = pa.concat_tables(pieces)
    first, second = (rows.column(i).to_numpy() for i in (-2, -1))
    order = np.argsort(first)
    if (np.diff(first[order]) == 0).any():  # hardly ever
        order = np.lexsort((second, first))
    released = rows.select(run.names).take(pa.array(order)).combine_chunks()
    with atomic_file(run.release.folder / file_name(number)) as unfinished:
        pq.write_table(
            released.replace_schema_metadata(None),
            unfinished,
            compression="zstd",
            write_statistics=False,
            store_schema=False,
            write_page_checksum=True,
        )
    return {"rows": len(released)}
