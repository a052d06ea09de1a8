"""Feather: a table of Arrow as it lies in memory."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rwn_core.io.format import Feature, Format
from rwn_core.io.other_readers import arrow_again

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def read(file: str, content: bytes, schema: Schema | None) -> Microdata:
    """Read an Arrow file, see `read_feather`."""
    from rwn_core.io.feather_reader import read_feather

    return read_feather(file, content, schema)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write values and types alone: no unused levels and no metadata."""
    import pyarrow as pa

    from rwn_core.io.arrow_table import arrow_table

    table = arrow_table(frame)
    stream = io.BytesIO()
    with pa.ipc.new_file(
        stream, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table)
    return stream.getvalue()


def detects(content: bytes) -> bool:
    """Recognize the sign at the beginning."""
    return content.startswith(b"ARROW1")


FORMAT = Format(
    key="feather",
    title="Feather",
    noun="a Feather (Arrow) file",
    suffixes=(".feather", ".arrow"),
    media_type="application/vnd.apache.arrow.file",
    read=read,
    write=write,
    keeps=frozenset({Feature.TRUTHS, Feature.DATES, Feature.TIME_ZONES, Feature.LEVEL_ORDER}),
    detects=detects,
    again=arrow_again,
    again_by="Arrow",
)
