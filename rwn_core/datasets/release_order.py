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
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rwn_core.datasets.dataset import to_frame
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.stage import atomic_file
from rwn_core.datasets.staged_arrays import read_batch, write_batches
from rwn_core.io.other_readers import arrow_again
from rwn_core.masking.second_reading import refuse_difference
from rwn_core.neighbors.record_draws import two_uniforms
from rwn_core.randomness import ORDER_STREAM

STEP, ROWS = "order", "masked"


def file_name(number: int) -> str:
    """Name of a file of the release."""
    return f"part-{number:06d}.parquet"


def piece(run: Run, number: int) -> Path:
    """Path of a task's masked rows."""
    return run.stage.path(ROWS, f"{number:06d}.arrow")


def keep_rows(
    run: Run,
    number: int,
    ids: NDArray[np.int64],
    tables: tuple[pa.Table, pa.Table],
    sizes: NDArray[np.int64],
    within: NDArray[np.int64],
) -> dict[str, Any]:
    """Keep a task's masked rows for the files of the release; `tables` are original and masked."""
    before, masked = tables
    # Write masked rows so that each file of the release finds its own together.
    files = run.files
    draws = two_uniforms(run.key, ids, ORDER_STREAM)
    # numbers of few bits are sorted by counting
    target = (draws[0] * files).astype(np.min_scalar_type(files))
    order = np.argsort(target, kind="stable")
    dealt = masked.take(pa.array(order)) if files > 1 else masked
    for values in draws[:, order]:
        dealt = dealt.append_column("", pa.array(values))
    with atomic_file(piece(run, number)) as unfinished:
        counts = np.bincount(target, minlength=files).tolist()
        write_batches(unfinished, dealt, counts, packed=False)
    return {
        "empty": int((sizes == 0).sum()),
        "governed": int((within < (run.params.ball.k or 0)).sum()),
        "changed": changed_values(before, masked),
    }


def changed_values(before: pa.Table, after: pa.Table) -> list[int]:
    """Count the records with a changed value, column by column; missing in both is the same.

    >>> before, after = pa.table({"x": [1, None, 3]}), pa.table({"x": [1, None, None]})
    >>> changed_values(before, after)
    [1]
    """
    found = []
    for one, other in zip(before.columns, after.columns, strict=True):
        different = pc.sum(pc.not_equal(one, other)).as_py() or 0
        if one.null_count or other.null_count:
            different += pc.sum(pc.xor(pc.is_null(one), pc.is_null(other))).as_py() or 0
        found.append(int(different))
    return found


def order_file(run: Run, task: Task) -> dict[str, Any]:
    """Put one file of the release into its order and write it."""
    number = task["number"]
    pieces = [read_batch(piece(run, other), number) for other in range(task["pieces"])]
    rows = pa.concat_tables(pieces)
    first, second = (rows.column(i).to_numpy() for i in (-2, -1))
    order = np.argsort(first)
    if (np.diff(first[order]) == 0).any():  # very rare
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
        frame = to_frame(released)
        again = arrow_again(unfinished.read_bytes(), frame, run.schema)
        refuse_difference("A file of the release", frame, again, run.schema)
    return {"rows": len(released)}
