"""R: data frames with factors, ordered factors, dates and labels."""

from __future__ import annotations

import re

from rwn_core.io.format import Feature, Format, when_called

# what `save` begins with; what `saveRDS` does: packed numbers, those of this machine, or text,
# with the version of the format, and in a text those of R
_SIGN = re.compile(
    rb"RD[XAB][23]\r?\n|X\n\0\0|B\n[\2\3]\0\0\0|A\r?\n[23]\r?\n\d{6}\r?\n\d{5,6}\r?\n"
)


def detects(content: bytes) -> bool:
    """True if `save` or `saveRDS` wrote the content, packed or not."""
    from rwn_core.io.limits import first_bytes

    return _SIGN.match(first_bytes(content, 32)) is not None


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
