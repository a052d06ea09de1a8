"""R: data frames with factors, ordered factors, dates and labels."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called


def detects(content: bytes) -> bool:
    """True if `save` or `saveRDS` wrote the content, packed or not."""
    from rwn_core.io.limits import first_bytes

    return first_bytes(content, 16).startswith(
        (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n", b"X\n\0\0")
    )


FORMAT = Format(
    key="r",
    title="R",
    noun="an R data file",
    suffixes=(".rds", ".rdata", ".rda"),
    media_type="application/x-r-data",
    read=when_called("rwn_core.io.r_files.read_r"),
    write=when_called("rwn_core.io.r_files.r_bytes"),
    keeps=frozenset(Feature) - {Feature.MISSING_LETTERS},
    detects=detects,
    again_by="rdata",  # files are written by R's own layout, see `r_writer`
)
