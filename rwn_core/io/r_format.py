"""R: data frames with factors, ordered factors, dates and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rwn_core.io.format import Feature, Format

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def read(file: str, content: bytes, schema: Schema | None) -> Microdata:
    """Read a file of R, see `read_r`."""
    from rwn_core.io.r_reader import read_r

    return read_r(file, content, schema)


def write(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write one data frame as `saveRDS` does."""
    from rwn_core.io.r_writer import r_bytes

    return r_bytes(frame, schema)


def detects(content: bytes) -> bool:
    """Recognize what `save` and `saveRDS` write, packed or not."""
    from rwn_core.io.unpacked import first_bytes

    return first_bytes(content, 16).startswith(
        (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n", b"X\n\0\0")
    )


FORMAT = Format(
    key="r",
    title="R",
    noun="an R data file",
    suffixes=(".rds", ".rdata", ".rda"),
    media_type="application/x-r-data",
    read=read,
    write=write,
    keeps=frozenset(
        {
            Feature.TRUTHS,
            Feature.DATES,
            Feature.TIME_ZONES,
            Feature.LEVEL_ORDER,
            Feature.LABELS,
            Feature.VALUE_LABELS,
            Feature.MISSING_CODES,
        }
    ),
    detects=detects,
    again_by="rdata",  # files are written by R's own layout, see `r_writer`
)
