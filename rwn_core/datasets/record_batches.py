"""Tables on the stage: a file of record batches, any of which is read without the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa


def write_batches(
    path: Path, table: pa.Table, counts: Sequence[int], *, packed: bool = True
) -> None:
    """Write a table in batches of so many rows, one after the other."""
    options = pa.ipc.IpcWriteOptions(compression="lz4" if packed else None, use_threads=False)
    whole = table.combine_chunks()
    begin = 0
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, whole.schema, options=options) as to,
    ):
        for count in counts:
            part = whole.slice(begin, count).to_batches()
            to.write_batch(part[0] if part else _empty(whole.schema))
            begin += count


def read_batch(path: Path, number: int) -> pa.Table:
    """Read one batch."""
    with pa.memory_map(str(path)) as source:
        file = pa.ipc.open_file(source)
        return pa.Table.from_batches([file.get_batch(number)], file.schema)


def read_all(path: Path) -> pa.Table:
    """Read all batches."""
    with pa.memory_map(str(path)) as source:
        table: pa.Table = pa.ipc.open_file(source).read_all()
        return table


def map_all(path: Path) -> pa.Table:
    """Map a file that is not packed: values are read from it when they are taken."""
    table: pa.Table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return table


def _empty(schema: pa.Schema) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
