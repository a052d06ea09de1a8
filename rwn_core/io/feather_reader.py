"""Feather in: the columns of an Arrow file, and none of its metadata."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.io.arrow_columns import arrow_microdata, arrow_refusals, checked_fields, usable_fields
from rwn_core.io.limits import check_unpacked

_PACKED = (0xFD2FB528, 0x184D2204)  # how a part packed with zstd or lz4 begins


def read_feather(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a Feather file of version 2, which is an Arrow file."""
    check_unpacked(file, _unpacked_size(content))
    with arrow_refusals(file):
        source = pa.ipc.open_file(pa.BufferReader(content))
        fields = checked_fields(source.schema)
    with arrow_refusals(file):
        table = source.read_all()
        table.validate(full=True)
        table = table.unify_dictionaries()
    usable = usable_fields(file, fields, table.num_rows, schema, layout)
    return arrow_microdata(file, table, usable[0], schema, *usable[1:])


def _unpacked_size(content: bytes) -> int:
    """Add up the sizes that packed parts declare, each in the eight bytes before it."""
    # Arrow begins each part at a multiple of eight bytes and takes as much memory as it declares.
    words = np.frombuffer(content, dtype="<i8", count=len(content) // 8)
    begins = np.isin(words[1:] & 0xFFFFFFFF, _PACKED)
    return int(words[:-1][begins].clip(min=0).astype(np.float64).sum())
