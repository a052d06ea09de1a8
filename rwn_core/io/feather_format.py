"""Feather: a table of Arrow as it lies in memory."""

from __future__ import annotations

from rwn_core.io.format import arrow_format

FORMAT = arrow_format(
    "feather",
    b"ARROW1",
    title="Feather",
    noun="a Feather (Arrow) file",
    suffixes=(".feather", ".arrow"),
    media_type="application/vnd.apache.arrow.file",
)
