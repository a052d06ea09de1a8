"""Arrays and tables on the stage: written whole or not at all, and mapped when they are read."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rwn_core.data.arrays import Floats, Integers
from rwn_core.datasets.run import Run
from rwn_core.datasets.stage import atomic_file
from rwn_core.neighbors.distance import CodedPoints, Points, level_squares
from rwn_core.parallel.memory import resident_bytes

DEAL, COLUMNS = "deal", "columns.arrow"  # the columns of a range
LARGEST_RESIDENT = 700_000_000  # bytes of a process that keeps what it has read of mapped arrays
_SMALL = 65_536  # bytes that are read at once
_MAPS: WeakSet[mmap.mmap] = WeakSet()


def save(run: Run, step: str, name: str, array: NDArray[Any]) -> None:
    """Keep an array of a step."""
    # array: the file has the same shape
    save_parts(run, step, name, array.shape, [array])


def save_parts(
    run: Run, step: str, name: str, shape: tuple[int, ...], parts: Iterable[NDArray[Any]]
) -> None:
    """Keep an array that is made part by part, and never held as a whole."""
    path = run.stage.path(step, f"{name}.npy")
    with atomic_file(path) as unfinished, unfinished.open("wb") as stream:
        for number, part in enumerate(parts):
            if number == 0:
                kind = np.lib.format.dtype_to_descr(part.dtype)
                header = {"descr": kind, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(np.ascontiguousarray(part).data)
            give_back()


def load(run: Run, step: str, name: str) -> NDArray[Any]:
    """An array of the stage, mapped; compiled code asks for one that could be written to."""
    # the same shape as when it was saved
    path = run.stage.path(step, f"{name}.npy")
    if path.stat().st_size < _SMALL:  # an array without entries cannot be mapped
        return np.asarray(np.load(path, allow_pickle=False))
    mapped = np.load(path, mmap_mode="c", allow_pickle=False)
    _MAPS.add(mapped.base)
    array: NDArray[Any] = mapped.view(np.ndarray)
    return array


def give_back() -> None:
    """Leave it to the system what a large process has read of its mapped arrays."""
    # Whatever is asked for next is read again, mostly from the system's own memory.
    if resident_bytes() > LARGEST_RESIDENT and hasattr(mmap, "MADV_DONTNEED"):
        for each in list(_MAPS):
            each.madvise(mmap.MADV_DONTNEED)


def points_like(points: Points, values: Floats) -> Points:
    """Other records of the same metric, from their columns."""
    # values: shape (n, d)
    squares = level_squares(points)
    return CodedPoints(values=values, squares=squares) if squares else values


def write_batches(
    path: Path, table: pa.Table, counts: Sequence[int], *, packed: bool = True
) -> None:
    """Write a table in batches of a number of rows, one after the other: whole or not at all."""
    options = pa.ipc.IpcWriteOptions(compression="lz4" if packed else None, use_threads=False)
    combined = table.combine_chunks()
    begin = 0
    with (
        atomic_file(path) as unfinished,
        pa.OSFile(str(unfinished), "wb") as sink,
        pa.ipc.new_file(sink, combined.schema, options=options) as to,
    ):
        for count in counts:
            part = combined.slice(begin, count).to_batches()
            empty = [pa.array([], field.type) for field in combined.schema]
            nothing = pa.RecordBatch.from_arrays(empty, schema=combined.schema)
            to.write_batch(part[0] if part else nothing)
            begin += count


def values_of_donors(run: Run, donors: Integers) -> pa.Table:
    """Fill every column from its donors, wherever in the dataset they are."""
    tasks = run.ranges("columns")
    kind = np.min_scalar_type(len(tasks))  # numbers of few bits are sorted by counting
    orders, ends = [], []
    for column in donors.T:
        number = (column // run.rows).astype(kind)
        orders.append(np.argsort(number, kind="stable"))
        ends.append(np.cumsum(np.bincount(number, minlength=len(tasks))))
    parts: list[list[Any]] = [[] for _ in run.names]
    for task, until in zip(tasks, np.array(ends).T.tolist(), strict=True):
        # Map a file that is not packed: values are read from it when they are taken.
        table: pa.Table = pa.ipc.open_file(
            pa.memory_map(str(run.path(DEAL, task["number"], COLUMNS)))
        ).read_all()
        for j, part in enumerate(parts):
            begin = ends[j][task["number"] - 1] if task["number"] else 0
            rows = donors[orders[j][begin : until[j]], j] - task["start"]
            part.append(table.column(j).combine_chunks().take(pa.array(rows)))
    columns = []
    for part, order in zip(parts, orders, strict=True):
        back = np.empty(len(donors), np.int64)
        back[order] = np.arange(len(donors))
        columns.append(pa.concat_arrays(part).take(pa.array(back)))
    return pa.table(columns, names=run.names)
