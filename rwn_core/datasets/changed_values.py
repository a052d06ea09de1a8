"""Counts the values that masking has changed, range by range."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def changed_values(before: pa.Table, after: pa.Table) -> list[int]:
    """Count the records with a changed value, column by column.

    Parameters
    ----------
    before, after : pyarrow.Table
        Of the same records in the same order, with the same columns.

    Returns
    -------
    list of int
        Missing in both counts as the same.

    Examples
    --------
    >>> before, after = pa.table({"x": [1, None, 3]}), pa.table({"x": [1, None, None]})
    >>> changed_values(before, after)
    [1]
    """
    return [_changed(*columns) for columns in zip(before.columns, after.columns, strict=True)]


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> int:
    different = pc.sum(pc.not_equal(before, after)).as_py() or 0
    if before.null_count or after.null_count:
        different += pc.sum(pc.xor(pc.is_null(before), pc.is_null(after))).as_py() or 0
    return int(different)
