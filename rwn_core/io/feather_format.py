"""Feather: a table of Arrow as it lies in memory."""

from __future__ import annotations

from rwn_core.io.format import arrow_format, when_called

FORMAT = arrow_format(
    "feather",
    b"ARROW1",
    read=when_called("rwn_core.io.arrow_files.read_feather"),
    write=when_called("rwn_core.io.arrow_files.feather_bytes"),
    title="Feather",
    noun="a Feather (Arrow) file",
    suffixes=(".feather", ".arrow"),
    media_type="application/vnd.apache.arrow.file",
)
